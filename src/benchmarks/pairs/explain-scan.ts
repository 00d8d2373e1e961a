import { formatDuration, plural } from '../../measure/units.js';
import { coverageOf, type Share } from '../../plan/scan-coverage.js';
import { peersPerHost, type ScanPlaces, scanRounds } from '../../plan/scan-rounds.js';
import type { Asked } from '../../runner/benchmark.js';
import { readNetworkFile } from './network.js';
import { roundMs } from './pair-meter.js';
import type { pairOptions } from './pairs.js';
import { mostRetests } from './retest-plan.js';

const number = (value: number): string => value.toLocaleString('en');
const shareText = ({ covered, all }: Share): string => `${number(covered)} of ${number(all)}`;

/** What a scan measures, in which rounds, and how long it takes: for the hosts in the network description, or for `ranks` hosts. */
export function explainScan(asked: Asked<typeof pairOptions>, ranks: number): string {
  const { scope, network: file } = asked.options;
  const network = file === undefined ? undefined : readNetworkFile(file);
  const places: ScanPlaces = {
    hosts:
      network?.hosts.map(({ names }) => names[0]!) ??
      [...Array(ranks).keys()].map((i) => `host ${i}`),
    leaves: network?.hosts.map(({ leaf }) => leaf),
  };
  const rounds = scanRounds(places, scope);
  const leaves = new Set(places.leaves).size;
  const where = network
    ? `, ${leaves === 1 ? '1 leaf' : `${leaves} leaves`} (${network.file})`
    : '';
  const which = scope === undefined ? 'every pair' : `scope ${scope}`;
  return [
    `pairs, ${which}: ${plural(places.hosts.length, 'host')} with one rank each${where}`,
    '',
    ...aligned(figures(asked, places, rounds)),
    '',
    ...aligned(
      rounds.slice(0, roundsShown).map((round, i) => [`round ${i + 1}`, roundText(round, places)]),
    ),
    ...(rounds.length > roundsShown ? [`… and ${rounds.length - roundsShown} more`] : []),
  ].join('\n');
}

/** Name and text of each. */
function figures(
  { settings, options: { scope, perRail } }: Asked<typeof pairOptions>,
  places: ScanPlaces,
  rounds: ReturnType<typeof scanRounds>,
): string[][] {
  const channels = settings.channels ?? settings.nics?.length ?? 1;
  const { pairs, hosts, nics, leaves, crossings } = coverageOf(places, rounds, channels);
  const peers = peersPerHost(hosts.all);
  const seconds = (roundMs(settings.budgetMs) * rounds.length * (perRail ? channels : 1)) / 1000;
  const limit = scope === undefined ? '' : ` (at most n · ⌈log2 n⌉ = ${number(hosts.all * peers)})`;
  const closer = `up to ${2 * peers} rounds more, around hosts that stand out`;
  return [
    ['pairs', `${shareText(pairs)}${limit}, in both directions`],
    ['rounds', `${number(rounds.length)}; a rank is in at most one pair of a round`],
    ['hosts', `${shareText(hosts)} covered`],
    ['NICs', `${shareText(nics)} covered, ${plural(channels, 'channel')} per rank`],
    ...(leaves ? [['leaves', `${shareText(leaves)} covered`]] : []),
    ...(crossings ? [['crossings', `${shareText(crossings)} pairs of leaves covered`]] : []),
    ['time', `about ${formatDuration(Math.max(1, Math.round(seconds)) * 1000)} for these rounds`],
    ...(scope === undefined ? [] : [['closer', closer]]),
    ['retest', `at most ${mostRetests} suspects, next to a control`],
  ];
}

const roundsShown = 6;
const pairsShown = 3;

function roundText(
  round: readonly (readonly [number, number])[],
  { hosts, leaves }: ScanPlaces,
): string {
  const [a, b] = round[0]!;
  const kind = leaves ? (leaves[a] === leaves[b] ? ', inside leaves' : ', across') : '';
  const some = round.slice(0, pairsShown).map(([from, to]) => `${hosts[from]}–${hosts[to]}`);
  const more = round.length > pairsShown ? ', …' : '';
  return `${plural(round.length, 'pair')}${kind}: ${some.join(', ')}${more}`;
}

function aligned(lines: readonly (readonly string[])[]): string[] {
  const width = Math.max(...lines.map(([name]) => name!.length));
  return lines.map(([name, text]) => `${name!.padEnd(width)}  ${text}`);
}
