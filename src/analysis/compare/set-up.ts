import { fabricName } from '../../results/fabric-name.js';
import type { RunHeader } from '../../results/schema.js';

/** What a run was made with. */
export type SetUp = Pick<RunHeader, 'benchmark' | 'world' | 'fabric' | 'settings'>;

/** Settings that say which rows are measured, how long, and what is verified: they decide nothing about a row's time. */
export const withoutEffect: ReadonlySet<string> = new Set([
  ...['minBytes', 'maxBytes', 'stepFactor', 'stepBytes', 'columns', 'iterations', 'budgetMs'],
  ...['warmup', 'repeats', 'check', 'timeoutMs', 'authenticated', 'attempt', 'boundNanoseconds'],
]);

/** Equal for runs whose rows can be expected to take the same time: benchmark, ranks, hosts, fabric, settings. */
export function setUpKey({ benchmark, world, fabric, settings }: SetUp): string {
  const { library, version, channels } = fabric;
  const kept = Object.entries(settings)
    .filter(([key]) => !withoutEffect.has(key))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const where = world.hostOfRank ?? world.hosts;
  return JSON.stringify([
    ...[benchmark, world.ranks, where, fabricName(fabric), library, version, channels, kept],
  ]);
}

/** Whether the noise of one set-up can be that of the other, where only line rates or settings differ. */
export const mayShareNoise = (a: SetUp, b: SetUp): boolean =>
  fabricName(a.fabric) === fabricName(b.fabric) &&
  JSON.stringify([...a.world.hosts].sort()) === JSON.stringify([...b.world.hosts].sort());

/** What else differs between two runs, in words. */
export function setUpDifferences(a: SetUp, b: SetUp): string[] {
  const facts: [string, (run: SetUp) => unknown][] = [
    ['ranks', (run) => run.world.ranks],
    ['hosts', (run) => run.world.hosts.length],
    ['provider', (run) => fabricName(run.fabric)],
    ['libfabric', (run) => run.fabric.version],
    ['channels', (run) => run.fabric.channels.length],
    ['line rates', (run) => lineRates(run)],
  ];
  return facts
    .filter(([, of]) => of(a) !== of(b))
    .map(([what, of]) => `${what}: ${String(of(a))} in A, ${String(of(b))} in B`);
}

function lineRates({ fabric }: SetUp): string {
  const rates = new Set(fabric.channels.map(({ lineRateGbps }) => lineRateGbps));
  return [...rates].map((rate) => (rate === null ? 'unknown' : `${rate} Gbps`)).join(', ');
}
