import type { Finding } from '../../results/finding.js';
import type { PairMatrix } from './cells.js';
import { conclude, type RetestResult } from './conclude.js';
import type { Suspect } from './suspects.js';

interface Conclusions {
  readonly findings: readonly Finding[];
  readonly dismissed: readonly Suspect[];
}

/** On a busy host TCP sends this many segments again without any loss. */
const resentByChance = 2;

/**
 * Losses come by chance: of a host that loses a little, one pair may stand out alone. A pair that loses is therefore
 * held against all that is known of its ends: where one of them, and only that one, loses with others, too, that host
 * is to blame, and no other pair of it is a suspect of its own.
 */
export function concludeAll(results: readonly RetestResult[], matrix: PairMatrix): Conclusions {
  const concluded = results.map((result): Concluded => {
    const findings = conclude(result, matrix);
    const loses = findings.some(({ symptom }) => symptom === 'loss');
    const host = loses ? lossyEnd(result.suspect, results, matrix) : undefined;
    if (host === undefined) return { suspect: result.suspect, findings };
    const ranks = [...matrix.hosts.keys()].filter((rank) => matrix.hosts[rank] === host);
    const suspect: Suspect = { ...result.suspect, kind: 'place', ranks };
    return { suspect, findings: conclude({ ...result, suspect }, matrix), host };
  });
  const own = concluded.filter((one) => !isConsequence(one, concluded, matrix));
  return {
    findings: own.flatMap(({ findings }) => findings),
    dismissed: own.filter(({ findings }) => findings.length === 0).map(({ suspect }) => suspect),
  };
}

interface Concluded {
  readonly suspect: Suspect;
  readonly findings: readonly Finding[];
  /** Set where a pair became its host. */
  readonly host?: string;
}

/** Whether a host that is blamed for one of its pairs explains this one, too. */
function isConsequence(one: Concluded, all: readonly Concluded[], { hosts }: PairMatrix): boolean {
  const { kind, ranks } = one.suspect;
  if (kind !== 'pair' && one.host === undefined) return false;
  const blamed = all.find(({ host }) => ranks.some((rank) => hosts[rank] === host));
  return blamed !== undefined && blamed !== one;
}

/** The host of a pair that loses with most others, where the other one does not. */
function lossyEnd(
  { kind, ranks }: Suspect,
  results: readonly RetestResult[],
  matrix: PairMatrix,
): string | undefined {
  const ends = new Set(ranks.map((rank) => matrix.hosts[rank]!));
  if (kind !== 'pair' || ends.size < 2) return undefined;
  const looks = [matrix.cells, ...results.map(({ retests }) => retests)];
  const guilty = [...ends].filter((host) => {
    const others = resentWith(host, looks, matrix.hosts).filter(([peer]) => !ends.has(peer));
    const lossy = others.filter(([, resent]) => resent > resentByChance);
    return lossy.length > 0 && lossy.length >= others.length / 2;
  });
  return guilty.length === 1 ? guilty[0] : undefined;
}

/** One way of a pair on one rail, in the scan or in a retest. */
interface Look {
  readonly from: number;
  readonly to: number;
  readonly rail?: number | undefined;
  readonly resent?: number | null;
}

/** By peer host: the most that was sent again both ways on one rail in one look. */
function resentWith(
  host: string,
  looks: readonly (readonly Look[])[],
  hosts: readonly string[],
): [peer: string, resent: number][] {
  const most = new Map<string, number>();
  for (const look of looks) {
    const both = new Map<string, number>();
    for (const { from, to, rail, resent } of look) {
      const [near, far] = hosts[from] === host ? [from, to] : [to, from];
      const peer = hosts[far]!;
      if (hosts[near] !== host || peer === host || typeof resent !== 'number') continue;
      const key = `${near} ${far} ${rail}`;
      both.set(key, (both.get(key) ?? 0) + resent);
      most.set(peer, Math.max(most.get(peer) ?? 0, both.get(key)!));
    }
  }
  return [...most];
}
