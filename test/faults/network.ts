import { setTimeout as sleep } from 'node:timers/promises';
import { addFault, findLab, heal, type Fault as LinkFault } from '../../src/lab/index.js';
import { type Cell, type Ending, type Fault, fileAt, type Phase } from './cell.js';
import type { Scene } from './scene.js';

const nic = { host: 1, nic: 1 };
const strikes = (what: Omit<LinkFault, 'host' | 'nic'>) => async (scene: Scene) =>
  void addFault(await findLab(scene.lab), { ...nic, ...what });
const healed = async (lab: string) => void heal(await findLab(lab), {});

const onLink = (name: string, strike: Fault['strike'], more: Partial<Fault> = {}): Fault => ({
  name,
  on: 'h1 nic1',
  held: 1,
  ...(strike && { strike }),
  tidy: (lab) => healed(lab),
  ...more,
});

const passes: Ending = {
  exit: 0,
  says: [/verified: .* none wrong/],
  file: { outcome: ['passed'], rows: 2 },
};

const down = (phase: Phase): Cell => ({
  fault: onLink('link down for good', strikes({ down: true }), {
    timeout: 6,
    mode: phase === 'timed' ? 'forever' : 'hold',
  }),
  phase,
  world: 'lab',
  ends: endingsOfDown[phase] ?? {
    exit: 1,
    says: [/(rank 1|h1).*(channel 1|nic1)|(channel 1|nic1).*(rank 1|h1)/],
    file: fileAt(phase, /rank 1|h1/),
  },
  deadline: 60,
  chosen: phase === 'timed' || phase === 'join',
});

const endingsOfDown: Partial<Record<Phase, Ending>> = {
  join: { exit: 1, says: [/rail nic1 .*no carrier on h1/] },
  // The NICs are chosen: a rank that cannot open one says so, and the job goes on with the others.
  'set-up': { ...passes, says: [/NIC not used: nic1 on h1/] },
};

/** When all rows are measured, links are not needed any more. */
const downAtTheEnd: Cell = {
  fault: onLink('link down for good', strikes({ down: true })),
  phase: 'write-out',
  world: 'lab',
  ends: passes,
  deadline: 60,
};

const flap = (phase: Phase): Cell => ({
  fault: onLink('link flap', strikes({ down: true }), {
    mode: phase === 'timed' ? 'pass' : 'hold',
    after: async ({ lab }) => {
      await sleep(500);
      await healed(lab);
    },
  }),
  phase,
  world: 'lab',
  ends: passes,
  deadline: 60,
  chosen: phase === 'timed',
});

const worse = (name: string, what: Omit<LinkFault, 'host' | 'nic'>, phase: Phase): Cell => ({
  fault: onLink(name, strikes(what), { mode: phase === 'timed' ? 'pass' : 'hold' }),
  phase,
  world: 'lab',
  ends: passes,
  deadline: 90,
});

const killed = (phase: Phase): Cell => ({
  fault: {
    name: 'SIGKILL',
    on: 'rank 2',
    mode: phase === 'timed' ? 'forever' : 'hold',
    strike: ({ place }) => void process.kill(place.pidOf(2), 'SIGKILL'),
  },
  phase,
  world: 'lab',
  ends: {
    exit: 1,
    says: [/rank 2 was killed by SIGKILL/],
    file: fileAt(phase, /rank 2 on host h2 /),
  },
  deadline: 30,
});

const inJob: readonly Phase[] = ['join', 'set-up', 'verify', 'calibrate', 'timed'];

export const networkCells: readonly Cell[] = [
  ...inJob.map(down),
  downAtTheEnd,
  ...(['verify', 'calibrate', 'timed'] as const).map(flap),
  ...inJob.map((phase) => worse('loss of 1 %', { lossPercent: 1 }, phase)),
  ...inJob.map((phase) => worse('10 times slower', { bitsPerSecond: 10e6 }, phase)),
  ...(['set-up', 'timed'] as const).map(killed),
];
