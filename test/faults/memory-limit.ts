import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './cell.js';

const limitBytes = 256 << 20;
/** The memory controller of cgroups, in its first or second version. */
const first = '/sys/fs/cgroup/memory';
const second = '/sys/fs/cgroup';
const isFirst = existsSync(join(first, 'memory.limit_in_bytes'));
let serial = 0;

/** A control group for a rank that takes ever more memory, until the kernel kills it. */
export function memoryLimit(): { group: string; around: Pick<Fault, 'before' | 'tidy'> } {
  const group = join(isFirst ? first : second, `weft-fault-${process.pid}-${serial++}`);
  const around = {
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
  return { group, around };
}
