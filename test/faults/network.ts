import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { addFault, findLab, heal, type Fault as LinkFault } from '../../src/lab/index.js';
import { hostSpace, management, switchSpace } from '../../src/lab/names.js';
import { readRun } from '../../src/results/read-run.js';
import type { Row } from '../../src/results/schema.js';
import { blameOn, missed } from './blame.js';
import {
  type Cell,
  type Ending,
  type Fault,
  type FileEnding,
  fileAt,
  fileWithoutRankZero,
  inJob,
  type Phase,
  passes,
} from './cell.js';
import type { Scene } from './scene.js';
import { toRank } from './signals.js';

/** Seconds of silence after which a rank counts as lost. */
const silence = 30;
/** Seconds in which a job on slow links is done. */
const restOfLabJob = 30;

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

const timeoutOfDown = 6;

const down = (phase: Phase): Cell => ({
  fault: onLink('link down for good', strikes({ down: true }), {
    timeout: timeoutOfDown,
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
  ...(endingsOfDown[phase] === undefined && { promised: timeoutOfDown }),
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
    says: [missed(1, 'h1')],
    file: fileAt(phase, /\brank 1\b/),
  },
  promised: silence,
});

const flapMs = 500;

const heals = async ({ lab }: Scene) => {
  await sleep(flapMs);
  await healed(lab);
};
const comesAndGoes = async (scene: Scene) => {
  await strikes({ down: true })(scene);
  await heals(scene);
};

const flap = (phase: Phase): Cell => {
  let before = 0;
  // Ranks that join or open endpoints would look at the link at any moment of it.
  const unseen = phase === 'join' || phase === 'set-up' || phase === 'write-out';
  return {
    fault: onLink('link flap', unseen ? comesAndGoes : strikes({ down: true }), {
      mode: phase === 'timed' ? 'pass' : 'hold',
      before: ({ lab }) => {
        before = carrierChanges(lab);
      },
      ...(!unseen && { after: heals }),
    }),
    phase,
    world: 'lab',
    ends: {
      ...passes,
      check: (scene) => {
        expect(carrierChanges(scene.lab) - before, 'the link went and came').toBe(2);
      },
    },
    promised: restOfLabJob,
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
  // Lost packets are waited for, some a second and more.
  promised: 3 * restOfLabJob,
});

/** What is said of a rank of the lab that a signal has hit. */
const causes = (rank: number) => ({
  SIGKILL: new RegExp(`rank ${rank} was killed by SIGKILL`),
  SIGTERM: new RegExp(`rank ${rank}( on host h${rank} .*)? was stopped by SIGTERM`),
  SIGSTOP: missed(rank, `h${rank}`),
});

const struck = (signal: keyof ReturnType<typeof causes>, rank: number, phase: Phase): Cell => ({
  fault: {
    ...toRank(signal, rank, phase),
    ...(signal === 'SIGSTOP' && { timeout: timeoutOfDown }),
  },
  phase,
  world: 'lab',
  ends: {
    exit: 1,
    says: [causes(rank)[signal]],
    // A rank that was stopped misses the others when it wakes up.
    ...(signal !== 'SIGSTOP' && { silent: blameOn(rank) }),
    file: fileOf(signal, rank, phase),
  },
  promised: signal === 'SIGSTOP' ? timeoutOfDown + 2 : 0,
});

/** All is measured when the last row is written: rank 0 may be done before it hears of anything. */
const fileOf = (signal: NodeJS.Signals, rank: number, phase: Phase): FileEnding | undefined =>
  rank === 0 && signal === 'SIGKILL'
    ? fileWithoutRankZero(phase)
    : fileAt(
        phase,
        signal === 'SIGKILL' ? /rank 2 on host h2 .*was lost/ : new RegExp(`rank ${rank}\\b`),
        phase === 'write-out' ? ['passed', 'aborted'] : ['aborted'],
      );

const beforeWriting: readonly Phase[] = ['join', 'set-up', 'verify', 'calibrate', 'timed'];
const untilWritten: readonly Phase[] = [...beforeWriting, 'write-out'];

export const networkCells: readonly Cell[] = [
  ...inJob.map(down),
  ...(['set-up', 'verify', 'timed'] as const).map(cutOff),
  ...(['join', 'set-up', 'verify', 'calibrate', 'timed', 'write-out'] as const).map(flap),
  ...worseLinks.flatMap((link) => untilWritten.map((phase) => worse(link, phase))),
  ...(['set-up', 'verify', 'timed', 'write-out'] as const).map((phase) =>
    struck('SIGKILL', 2, phase),
  ),
  struck('SIGKILL', 0, 'timed'),
  ...[0, 2].map((rank) => struck('SIGTERM', rank, 'timed')),
  struck('SIGSTOP', 2, 'timed'),
];
