import { conflict, firstHost, localPlace, optional, place, type Reader } from './reading.js';

export const local: Reader = (env) => {
  const at = place(env, 'WEFT_RANK', 'WEFT_SIZE');
  if (at === undefined) return undefined;
  const split = /^(.+):(\d+)$/.exec(env.WEFT_MASTER ?? '');
  if (split === null || env.WEFT_JOB === undefined) {
    throw conflict('WEFT_RANK and WEFT_SIZE also need WEFT_MASTER=host:port and WEFT_JOB', env);
  }
  const host = (split[1] ?? '').replace(/^\[(.*)\]$/, '$1');
  // Only ranks on several hosts of this machine are told their place; otherwise all are on one.
  const where = localPlace(env, 'WEFT_LOCAL_RANK', 'WEFT_LOCAL_SIZE', at.size) ?? at;
  return {
    launcher: 'local',
    ...at,
    mayRunInside: () => true,
    identity: () => ({
      launcher: 'local',
      ...at,
      localRank: where.rank,
      localSize: where.size,
      hostIndex: firstHost(at.rank, where.rank),
      oneHost: where.size === at.size,
      masterHost: host,
      ports: [Number(split[2])],
      listenFd: at.rank === 0 ? optional(env, 'WEFT_LISTEN_FD', 3) : undefined,
      jobId: `local:${env.WEFT_JOB}`,
    }),
  };
};
