import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Change, gainOver } from '../analysis/advice/change.js';
import type { Comparison } from '../analysis/compare/compare.js';
import { WeftError } from '../errors.js';
import { formatRate, listLabs } from '../lab/index.js';
import type { Tried, TriedVerdict } from '../results/formats/advice.js';
import { resultsFolder } from '../results/run-file.js';
import { newRunId } from '../results/run-name.js';
import type { Run } from '../results/schema.js';
import { inTurns } from './ab-contest.js';
import { refuseUsed } from './ab-refusals.js';
import { type Contest, parseVariant, sideFolder } from './ab-turns.js';
import { launcherOf, runWords, variantWords } from './ab-words.js';
import { shellWords } from './shell-words.js';

export interface TryOptions {
  readonly rounds: number;
  readonly launch: string;
  readonly out?: string | undefined;
  readonly seed?: number | undefined;
  readonly quiet: boolean;
}

/** Measures a change in turns with what is in use, in the world of its run. */
export async function tryChange(change: Change, options: TryOptions): Promise<Tried> {
  const { run } = change;
  const { from, to, shared = {} } = change.options!;
  const sized = {
    ...shared,
    minBytes: Math.min(...change.bytes),
    maxBytes: Math.max(...change.bytes),
  };
  const both = 'minBytes' in run.settings ? sized : shared;
  const own = Object.fromEntries(Object.keys({ ...from, ...to }).map((key) => [key, undefined]));
  const words = shellWords(runWords(run, { ...own, ...both }));
  const folder = options.out ?? join(resultsFolder, newRunId('advise', new Date()));
  const contest: Contest = {
    variants: {
      a: parseVariant(variantWords(run, from)),
      b: parseVariant(variantWords(run, to)),
    },
    command: words,
    launch: shellWords(options.launch === '' ? await launchFor(change) : options.launch),
    folder,
    compareAs: (one) => sameNames(one, change),
  };
  for (const side of ['a', 'b'] as const) refuseUsed(sideFolder(contest, side));
  const course = { ...options, seed: options.seed ?? randomInt(1_000_000), tolerance: 3 };
  const { comparison, rounds, failed, interrupted } = await inTurns(contest, {
    ...course,
    abWords: '',
  });
  if (failed)
    throw unfinished(`${failed.side === 'a' ? change.from : change.to} failed: ${failed.words}`);
  if (interrupted || comparison === undefined) throw unfinished('interrupted');
  return { change, rounds, ...cameTrue(change, comparison), folder };
}

/** Both sides under the name of the column in use, so that their rows are compared. */
function sameNames(run: Run, { options }: Change): Run {
  const [from, to] = [options!.from.columns, options!.to.columns] as (
    | readonly string[]
    | undefined
  )[];
  if (from === undefined || to === undefined) return run;
  const rows = run.rows.map((row) => (row.column === to[0] ? { ...row, column: from[0]! } : row));
  return { ...run, rows };
}

function cameTrue(change: Change, { rows, errorRate }: Comparison) {
  const gains = rows.flatMap(({ bytes, ratio, interval }) => {
    if (bytes === null || ratio === null || interval === null) return [];
    return [
      { bytes, gain: { factor: 1 / ratio, interval: [1 / interval[1], 1 / interval[0]] as const } },
    ];
  });
  if (gains.length === 0) throw unfinished('no row was measured on both sides');
  const gain = gainOver(gains.map((one) => one.gain));
  return { gain, rows: gains, confidence: 1 - errorRate, verdict: verdictOf(change, gain) };
}

function verdictOf({ gain: expected }: Change, { factor, interval }: Tried['gain']): TriedVerdict {
  if (interval[1] < 1) return 'slower';
  if (expected === undefined) return 'as expected';
  const [low, high] = expected.interval;
  if (interval[0] <= high && interval[1] >= low) return 'as expected';
  return factor > expected.factor ? 'more than expected' : 'less than expected';
}

/** What starts ranks in the world of a run, from here. */
async function launchFor(change: Change): Promise<string> {
  const { run } = change;
  const { launcher, hosts } = run.world;
  if (launcher !== 'local') throw elsewhere(run, `${launcher} started its ranks`);
  if (hosts.length > 1) return labLaunch(change);
  if (hosts[0] === hostname()) return '';
  throw elsewhere(run, `it was measured on ${hosts[0]}, and this is ${hostname()}`);
}

/** The lab that is up and has the hosts and NICs of the run. */
async function labLaunch({ run, options }: Change): Promise<string> {
  const { hosts, ranks } = run.world;
  const nics = Math.max(run.fabric.channels.length, Number(options!.to.channels ?? 0));
  const bits = (run.fabric.channels[0]?.lineRateGbps ?? 0) * 1e9;
  const labs = (await listLabs()).filter(
    ({ spec }) =>
      spec.hosts >= hosts.length && spec.nics >= nics && Math.abs(spec.bitsPerSecond - bits) < 1,
  );
  if (labs.length === 1) {
    const perHost = ranks > hosts.length ? ` --ranks-per-host ${ranks / hosts.length}` : '';
    return `weft lab run --name ${labs[0]!.name} --on ${hosts.join(',')}${perHost} --`;
  }
  const shape = `--hosts ${hosts.length} --nics ${nics}${bits > 0 ? ` --rate ${formatRate(bits)}` : ''}`;
  const why = labs.length === 0 ? 'no lab like that is up' : `${labs.length} labs like that are up`;
  throw new WeftError('BAD_USAGE', `the run was measured on ${hosts.join(', ')}, and ${why}`, {
    hint:
      labs.length === 0
        ? `Start one with weft lab up ${shape}, or name the launcher with --launch.`
        : `Choose one with --launch 'weft lab run --name ${labs[0]!.name} --'.`,
  });
}

const elsewhere = (run: Run, why: string): WeftError =>
  new WeftError('BAD_USAGE', `--try cannot repeat run ${run.id}: ${why}`, {
    hint: `Name what starts ranks in that world with --launch, e.g. --launch '${launcherOf(run) ?? `ssh ${run.world.hosts[0]}`}'.`,
  });

const unfinished = (why: string): WeftError =>
  new WeftError('ABORTED', `--try did not finish: ${why}`, {
    hint: 'Run the command of the advice by hand.',
  });
