import { createHash } from 'node:crypto';
import { WeftError } from '../../errors.js';
import type { Environment, IdentifyOptions, Identity, Launcher } from '../identity.js';

/** What one launcher's variables say. `identity()` may still refuse: only the chosen launcher is asked. */
export interface LauncherReading {
  readonly launcher: Launcher;
  readonly rank: number;
  readonly size: number;
  /** Whether this launcher, as seen here, is one that `outer` usually starts. */
  mayRunInside(outer: LauncherReading): boolean;
  identity(): Identity;
}

export type Reader = (env: Environment, options: IdentifyOptions) => LauncherReading | undefined;

const sparePorts = 16;
export const successors = (port: number): number[] =>
  Array.from({ length: sparePorts }, (_, i) => port + 1 + i).filter((next) => next <= 65_535);

/** A port for a job that was given none: 20000…29983, so that its successors stay below 30000. */
export const derivedPort = (jobId: string): number =>
  20_000 + (createHash('sha256').update(jobId).digest().readUInt32BE(0) % 9_984);

export function integer(env: Environment, name: string, least: number, most = 32_768): number {
  const text = env[name];
  const value = Number(text);
  if (text === undefined || !/^\d+$/.test(text) || value < least || value > most) {
    const what =
      text === undefined ? `${name} is missing` : `${name}=${text} is not a valid number`;
    throw conflict(what, env);
  }
  return value;
}

export const optional = (env: Environment, name: string, least: number): number | undefined =>
  env[name] === undefined ? undefined : integer(env, name, least);

/** Rank and size, or undefined when the launcher left neither; one without the other is a conflict. */
export function place(env: Environment, rankName: string, sizeName: string) {
  if (env[rankName] === undefined && env[sizeName] === undefined) return undefined;
  const size = integer(env, sizeName, 1);
  const rank = integer(env, rankName, 0);
  if (rank >= size) throw conflict(`${rankName}=${rank} is not below ${sizeName}=${size}`, env);
  return { rank, size };
}

export function localPlace(env: Environment, rankName: string, sizeName: string, size: number) {
  const local = place(env, rankName, sizeName);
  if (local !== undefined && local.size > size) {
    throw conflict(`${sizeName}=${local.size} is more than the ${size} ranks of the job`, env);
  }
  return local;
}

/** Ranks are dealt out from the first host on, so only there is a local rank the rank itself. */
export const firstHost = (rank: number, localRank: number): 0 | undefined =>
  rank === localRank ? 0 : undefined;

export function master(env: Environment): { host: string; port: number } | undefined {
  if (env.MASTER_ADDR === undefined && env.MASTER_PORT === undefined) return undefined;
  const port = integer(env, 'MASTER_PORT', 1, 65_535);
  if (env.MASTER_ADDR === undefined || env.MASTER_ADDR === '') {
    throw conflict('MASTER_PORT is set but MASTER_ADDR is not', env);
  }
  return { host: env.MASTER_ADDR, port };
}

const telling =
  /^(WEFT_(RANK|SIZE|NODE|LOCAL|MASTER|JOB|LAUNCHER|PODS)|JOB_COMPLETION_INDEX$|JOBSET_|PET_|K_MPI_JOB_ROLE$|(RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|GROUP_RANK|GROUP_WORLD_SIZE)$|TORCHELASTIC_(RUN_ID|USE)|SLURM_(JOB_ID|STEP_ID|PROCID|NTASKS|LOCALID|NODEID|STEP_NUM|STEP_NODELIST|STEP_TASKS)|OMPI_COMM_WORLD|PMI_(RANK|SIZE|FD)|PMIX_(RANK|NAMESPACE)|MPI_LOCAL|MV2_COMM|PALS_|ALPS_|JSM_NAMESPACE|FLUX_)/;

/** An error that prints the launcher variables it saw. */
export function conflict(what: string, env: Environment, hint?: string): WeftError {
  const seen = Object.keys(env)
    .filter((name) => telling.test(name) && env[name] !== undefined)
    .sort()
    .map((name) => `${name}=${env[name]}`);
  return new WeftError(
    'LAUNCHER_CONFLICT',
    `${what} (seen: ${seen.length === 0 ? 'nothing' : seen.join(' ')})`,
    {
      hint:
        hint ??
        'Unset the variables that do not belong to this run, or name the launcher: WEFT_LAUNCHER=srun.',
    },
  );
}
