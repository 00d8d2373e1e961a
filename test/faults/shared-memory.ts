import { statfsSync } from 'node:fs';
import { expect } from 'vitest';
import { type Cell, type Phase, passes, restOfJob } from './cell.js';

/** An endpoint takes all of its shared memory when it is opened: nothing is missing later. */
const fillsLate = (phase: Phase): Cell => ({
  fault: {
    ...{ name: '/dev/shm fills up', on: 'host', shm: '64M' },
    mode: phase === 'timed' ? 'pass' : 'hold',
    strike: ({ place }) => {
      place.fillShm();
      expect(statfsSync(place.shm).bavail).toBe(0);
    },
  },
  phase,
  world: 'local',
  ends: passes,
});

/** What can go wrong with /dev/shm. */
export const sharedMemoryCells: readonly Cell[] = [
  {
    fault: { name: '/dev/shm too small', on: 'host', shm: '256K' },
    phase: 'join',
    world: 'local',
    ends: { ...passes, says: [/\/dev\/shm has only \S+ free/] },
  },
  {
    fault: {
      name: '/dev/shm fills up',
      on: 'host',
      shm: '64M',
      strike: ({ place }) => place.fillShm(),
    },
    phase: 'set-up',
    world: 'local',
    ends: { exit: 3, says: [/\/dev\/shm has only 0 free/] },
    promised: restOfJob,
  },
  ...(['verify', 'calibrate', 'timed'] as const).map(fillsLate),
  {
    fault: {
      ...{ name: 'shared memory cut off', on: 'rank 2', mode: 'forever' },
      strike: ({ place }) => place.cutSegments(2),
    },
    phase: 'timed',
    world: 'local',
    ends: {
      exit: 1,
      // Every rank writes to these pages: the first that touches them is killed, and it need not be their owner.
      says: [
        /^weft: rank \d was killed by SIGBUS$/m,
        /Check `df -h \/dev\/shm`; in a container, enlarge it/,
      ],
      silent: /exited with code/,
      file: { outcome: ['aborted'], rows: 1 },
    },
  },
];
