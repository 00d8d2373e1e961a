import {
  type Difference,
  differencesOf,
  oddText,
  usualText,
} from '../analysis/hosts/differences.js';
import { isWeftError } from '../errors.js';
import { loadLibrary } from '../fabric/library.js';
import { plural } from '../measure/units.js';
import { alignedTable } from '../results/formats/plain-table.js';
import { factKeys, factTitles, type WorldFacts } from '../results/host-facts.js';
import { gatherFacts } from '../session/host-facts.js';
import type { ValuesOf } from '../settings/option.js';
import { fabricOptions } from '../settings/table.js';
import type { World } from '../world/index.js';
import { inRanks } from './in-ranks.js';
import { exitCode } from './output/failure.js';
import { printOut } from './output/print.js';
import type { formatOption, rankOptions } from './show-options.js';

type HostsOptions = ValuesOf<typeof rankOptions & { format: typeof formatOption }>;

/** `weft info --all-ranks`: what should be equal on every host of a job, and where it is not. */
export const infoOfAllRanks = (options: HostsOptions): Promise<number> =>
  inRanks({
    show: options,
    localRanks: () => options.ranks ?? 1,
    preflight: () => undefined,
    pin: 'none',
    timeoutMs: fabricOptions.timeoutMs.default,
    work: async (world) => {
      const facts = await gatherFacts(world, libfabricVersion());
      if (facts) printOut(`${textOf(world, facts, options)}\n`);
      return exitCode.ok;
    },
  });

function libfabricVersion(): string {
  try {
    return loadLibrary().version;
  } catch (error) {
    if (!isWeftError(error)) throw error;
    return 'not found';
  }
}

function textOf({ size, hosts: hostOfRank }: World, facts: WorldFacts, { format }: HostsOptions) {
  const hosts = [...new Set(hostOfRank)];
  const differences = differencesOf({ hosts, facts });
  if (format === 'json') {
    return JSON.stringify(
      { schema: 'weft.info/1', ranks: size, hosts, facts, differences },
      null,
      2,
    );
  }
  const differing = differences.map(({ title }) => title).join(', ');
  return [
    `${plural(hosts.length, 'host')}, ${plural(size, 'rank')}: ${hosts.join(' ')}`,
    '',
    ...factTable(facts, differences),
    ...(hosts.length === 1
      ? []
      : [
          '',
          differing === ''
            ? 'No differences between the hosts.'
            : `The hosts differ in ${differing}.`,
        ]),
  ].join('\n');
}

function factTable(facts: WorldFacts, differences: readonly Difference[]): string[] {
  const lines = factKeys.flatMap((key) => {
    const fact = facts[key];
    const difference = differences.find((one) => one.fact === key);
    if (fact === undefined) return [];
    const cells = difference
      ? [usualText(difference) ?? '-', oddText(difference)]
      : [typeof fact === 'string' ? fact : '-', ''];
    return [[factTitles[key], ...cells]];
  });
  const odd = differences.length === 0 ? [] : ['odd ones out'];
  const heads = ['', differences.length === 0 ? 'every host' : 'most hosts', ...odd];
  return alignedTable({
    heads,
    lines: lines.map((l) => l.slice(0, heads.length)),
    left: [0, 1, 2],
  });
}
