import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './cell.js';

const limitBytes = 768 << 20;
/** The memory controller of cgroups, in its first or second version. */
const first = '/sys/fs/cgroup/memory';
const second = '/sys/fs/cgroup';
const isFirst = existsSync(join(first, 'memory.limit_in_bytes'));
let serial = 0;

/** A job in a cgroup that holds it, but no rank that takes ever more. The kernel kills the largest process. */
export function memoryLimit(): Pick<Fault, 'under' | 'before' | 'tidy'> {
  const group = join(isFirst ? first : second, `weft-fault-${process.pid}-${serial++}`);
  return {
    under: ['sh', '-c', 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"', 'sh', group],
    before: () => {
      if (!isFirst) writeFileSync(join(second, 'cgroup.subtree_control'), '+memory');
      mkdirSync(group);
      writeFileSync(join(group, isFirst ? 'memory.limit_in_bytes' : 'memory.max'), `${limitBytes}`);
    },
    tidy: async () => {
      // A process that was killed belongs to its group until the kernel is done with it.
      for (let tries = 0; existsSync(group); tries++, await sleep(20)) {
        try {
          rmdirSync(group);
        } catch (error) {
          if (tries > 100) throw error;
        }
      }
    },
  };
}
