import { expandHostList } from '../../topology/host-list.js';
import { conflict, derivedPort, integer, type Reader, successors } from './reading.js';

/**
 * One process per node, each told the names of all nodes and its own: for prologs, health checks and cron jobs, which
 * no launcher starts. The first node has rank 0.
 */
export const nodes: Reader = (env) => {
  if (env.WEFT_NODES === undefined) return undefined;
  const list = expandHostList(env.WEFT_NODES);
  const rank = list.indexOf(env.WEFT_NODE ?? '');
  if (rank === -1 || new Set(list).size < list.length || env.WEFT_JOB === undefined) {
    throw conflict(
      'WEFT_NODES must list different nodes, WEFT_NODE must be one of them, and WEFT_JOB must be set',
      env,
    );
  }
  const at = { rank, size: list.length };
  return {
    launcher: 'nodes',
    ...at,
    mayRunInside: () => true,
    identity: () => {
      const jobId = `nodes:${env.WEFT_JOB}`;
      const given =
        env.MASTER_PORT === undefined ? undefined : integer(env, 'MASTER_PORT', 1, 65_535);
      const port = given ?? derivedPort(jobId);
      return {
        launcher: 'nodes',
        ...at,
        localRank: 0,
        localSize: 1,
        hostIndex: rank,
        oneHost: list.length === 1,
        expectedHosts: list,
        masterHost: env.MASTER_ADDR ?? list[0],
        ports: given === undefined ? [port, ...successors(port)] : [port],
        jobId,
      };
    },
  };
};
