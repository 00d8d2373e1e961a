import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { addFault, findLab, heal, type Fault as LinkFault } from '../../src/lab/index.js';
import { hostSpace, management, switchSpace } from '../../src/lab/names.js';
import { readRun } from '../../src/results/read-run.js';
import type { Row } from '../../src/results/schema.js';
import { type Cell, type Ending, type Fault, fileAt, inJob, type Phase, passes } from './cell.js';
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

const inSpace = (space: string, ...command: string[]): string =>
  execFileSync('ip', ['netns', 'exec', space, ...command], { encoding: 'utf8' });

/** How often the link of the NIC has come or gone. */
const carrierChanges = (lab: string): number =>
  Number(inSpace(hostSpace(lab, 1), 'cat', '/sys/class/net/nic1/carrier_changes'));

const down = (phase: Phase): Cell => ({
  fault: onLink('link down for good', strikes({ down: true }), {
    timeout: 6,
    mode: phase === 'timed' ? 'forever' : 'hold',
  }),
  phase,
  world: 'lab',
  ends: endingsOfDown[phase] ?? {
    exit: 1,
    // Either end of the link may be the first to give up.
    says: [/on host h1\b.*channel 1 \(nic1\)/],
    file: fileAt(phase, /on host h1\b.*channel 1 \(nic1\)/),
  },
  deadline: 60,
  chosen: phase === 'timed' || phase === 'join',
});

const isDown = ({ lab }: Scene) =>
  expect(inSpace(hostSpace(lab, 1), 'cat', '/sys/class/net/nic1/operstate')).toMatch(/down/);

const endingsOfDown: Partial<Record<Phase, Ending>> = {
  join: { exit: 1, says: [/rail nic1 .*no carrier on h1/] },
  // The NICs are chosen: a rank that cannot open one says so, and the job goes on with the others.
  'set-up': { ...passes, says: [/NIC not used: nic1 on h1/] },
  // When all rows are measured, links are not needed any more.
  'write-out': { ...passes, check: isDown },
  footer: { ...passes, check: isDown },
};

const setManagement = (lab: string, to: 'up' | 'down') =>
  inSpace(hostSpace(lab, 1), 'ip', 'link', 'set', management.nic, to);

/** The rendezvous of a host is cut off while its measured traffic flows: only the silence tells. */
const cutOff = (phase: Phase): Cell => ({
  fault: {
    ...{ name: 'link of the rendezvous down', on: `h1 ${management.nic}`, held: 1 },
    mode: phase === 'timed' ? 'forever' : 'hold',
    strike: ({ lab }) => void setManagement(lab, 'down'),
    tidy: (lab) => void setManagement(lab, 'up'),
  },
  phase,
  world: 'lab',
  ends: {
    exit: 1,
    // Both ends of the link hear nothing for as long; what the other ranks see of rank 1's end may come first.
    says: [phase === 'timed' ? /\brank 1\b/ : /\brank 1 on host h1\b/],
    file: fileAt(phase, /\brank 1\b/),
  },
  deadline: 60,
});

const flapMs = 500;

const flap = (phase: Phase): Cell => {
  let before = 0;
  return {
    fault: onLink('link flap', strikes({ down: true }), {
      mode: phase === 'timed' ? 'pass' : 'hold',
      before: ({ lab }) => {
        before = carrierChanges(lab);
      },
      after: async ({ lab }) => {
        await sleep(flapMs);
        await healed(lab);
      },
    }),
    phase,
    world: 'lab',
    ends: {
      ...(phase === 'set-up' ? endingsOfDown['set-up']! : passes),
      check: (scene) => {
        expect(carrierChanges(scene.lab) - before, 'the link went and came').toBe(2);
      },
    },
    deadline: 60,
    chosen: phase === 'timed',
  };
};

const lastRow = ({ place }: Scene): Row => readRun(place.runFile).run.rows.at(-1)!;

interface Worse {
  readonly name: string;
  readonly what: Omit<LinkFault, 'host' | 'nic'>;
  /** What the row shows of it. */
  felt(row: Row): void;
  /** That it is there. */
  there(lab: string): void;
}

const slowBits = 10e6;
/** Half a row goes over each NIC, to two peers. */
const bytesOverNic = 2 * 4096;

const worseLinks: readonly Worse[] = [
  {
    name: 'loss of 1 %',
    what: { lossPercent: 1 },
    felt: ({ path }) => expect(path?.tcpRetransmits ?? 0, 'sent again').toBeGreaterThan(0),
    there: (lab) =>
      expect(inSpace(switchSpace(lab), 'nft', 'list', 'ruleset')).toMatch(/"h1r1".* drop/),
  },
  {
    name: '10 times slower',
    what: { bitsPerSecond: slowBits },
    // Half of what the slow link needs is five times what the others do.
    felt: ({ nanoseconds }) =>
      expect(nanoseconds!.mean).toBeGreaterThan((0.5 * bytesOverNic * 8e9) / slowBits),
    there: (lab) =>
      expect(inSpace(hostSpace(lab, 1), 'tc', 'qdisc', 'show', 'dev', 'nic1')).toMatch(/10Mbit/),
  },
];

const worse = ({ name, what, felt, there }: Worse, phase: Phase): Cell => ({
  fault: onLink(name, strikes(what), { mode: phase === 'timed' ? 'pass' : 'hold' }),
  phase,
  world: 'lab',
  ends: {
    ...passes,
    check: (scene) => {
      there(scene.lab);
      if (phase !== 'write-out') felt(lastRow(scene));
    },
  },
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
    // All is measured when the last row is written: rank 0 may be done before it hears of anything.
    file: fileAt(
      phase,
      /rank 2 on host h2 /,
      phase === 'write-out' ? ['passed', 'aborted'] : ['aborted'],
    ),
  },
  deadline: 30,
});

const beforeWriting: readonly Phase[] = ['join', 'set-up', 'verify', 'calibrate', 'timed'];
const untilWritten: readonly Phase[] = [...beforeWriting, 'write-out'];

export const networkCells: readonly Cell[] = [
  ...inJob.map(down),
  ...(['set-up', 'verify', 'timed'] as const).map(cutOff),
  ...(['set-up', 'verify', 'calibrate', 'timed'] as const).map(flap),
  ...worseLinks.flatMap((link) => untilWritten.map((phase) => worse(link, phase))),
  ...(['set-up', 'verify', 'timed', 'write-out'] as const).map(killed),
];
