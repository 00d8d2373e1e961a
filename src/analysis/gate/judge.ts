import { median } from '../../measure/quantile.js';
import { plural, significant } from '../../measure/units.js';
import type { Finding } from '../../results/finding.js';
import { anyMachine } from '../verdict/machines.js';
import { type GateNic, type GateNode, type NodeGrade, worse } from './gate.js';

/** What one rank sent to another on one rail, the best of several looks. */
export interface GateCell {
  readonly from: number;
  readonly to: number;
  readonly rail: number;
  readonly gbps: number;
  /** Why the row failed, such as wrong bytes. */
  readonly failure?: string;
}

export interface GateFacts {
  /** The node of each rank. */
  readonly nodes: readonly string[];
  /** The NIC of each rail. */
  readonly nics: readonly string[];
  /** Of each rail; null where it is not known. */
  readonly lineRatesGbps: readonly (number | null)[];
  /** What each NIC must reach, where the user says so. */
  readonly minGbps?: number | undefined;
  readonly cells: readonly GateCell[];
}

/** A share of this base passes, a smaller one fails; between the two a NIC is degraded. */
interface Expectation {
  readonly base: number;
  readonly pass: number;
  readonly fail: number;
  readonly of: string;
}

/**
 * Of the other nodes, because a slow node must not lower what is expected of it, and on the same rail, because rails
 * may differ. Between two nodes there are only their rails to compare.
 */
export function expectationFor(
  node: string,
  rail: number,
  facts: GateFacts,
): Expectation | undefined {
  const { minGbps, lineRatesGbps, cells, nodes } = facts;
  if (minGbps !== undefined) {
    return { base: minGbps, pass: minGbps, fail: minGbps, of: '--min-gbps' };
  }
  const rate = lineRatesGbps[rail] ?? undefined;
  const alike = new Set(nodes).size > 2 ? cells.filter((cell) => cell.rail === rail) : cells;
  const others = alike.filter(({ from, to }) => nodes[from] !== node && nodes[to] !== node);
  const compared = others.length > 0 ? others : alike;
  if (rate === undefined && compared.length === 0) return undefined;
  const base = rate ?? median(compared.map(({ gbps }) => gbps));
  const of = rate === undefined ? 'the median of the other nodes' : 'the line rate';
  const { pass, fail } = anyMachine;
  return { base, pass: (base * pass) / 100, fail: (base * fail) / 100, of };
}

/** In words, for all nodes. */
export function comparedWith({ minGbps, lineRatesGbps }: GateFacts): string {
  if (minGbps !== undefined) return `${significant(minGbps)} Gbps per NIC (--min-gbps)`;
  const { pass, fail } = anyMachine;
  const limits = `${pass} % passes, below ${fail} % fails`;
  return lineRatesGbps.some((rate) => rate === null)
    ? `the median of the other nodes, since no line rate is known (${limits})`
    : `the line rate of each NIC (${limits})`;
}

type Way = 'out' | 'in';

const cellsOf = (
  { cells, nodes }: GateFacts,
  node: string,
  rail: number,
  way: Way,
): readonly GateCell[] =>
  cells.filter((cell) => cell.rail === rail && nodes[way === 'out' ? cell.from : cell.to] === node);

const bestOf = (cells: readonly GateCell[]): number | null =>
  cells.length === 0 ? null : Math.max(...cells.map(({ gbps }) => gbps));

export const gradeOf = (gbps: number, { pass, fail }: Expectation): NodeGrade =>
  gbps >= pass ? 'pass' : gbps >= fail ? 'degraded' : 'fail';

/** One thing that is wrong with a node. */
interface Trouble {
  readonly grade: NodeGrade;
  readonly reason: string;
  /** How far it is from healthy: the worst of a node is told. */
  readonly share: number;
}

/** Every node's grade, its reason in one sentence, and what its NICs reach. */
export function judgeNodes(facts: GateFacts, findings: readonly Finding[]): GateNode[] {
  const names = [...new Set(facts.nodes)];
  const own = new Map(names.map((node) => [node, ownTroubles(node, facts)]));
  return names.map((node) => {
    const nics = facts.nics.map((_, rail) => nicOf(node, rail, facts));
    const slower = nics.map(({ outGbps, inGbps }) =>
      outGbps === null || inGbps === null ? null : Math.min(outGbps, inGbps),
    );
    const known = slower.length > 0 && !slower.includes(null);
    const gbps = known ? slower.reduce<number>((sum, one) => sum + one!, 0) : null;
    const troubles = [
      ...downOf(node, facts, findings),
      ...failedRows(node, facts),
      ...own.get(node)!,
      ...pairTroubles(node, facts, (peer) => own.get(peer)!.length > 0),
    ];
    return { node, ...verdictOf(troubles, nics, gbps), gbps, nics };
  });
}

function verdictOf(
  troubles: readonly Trouble[],
  nics: readonly GateNic[],
  gbps: number | null,
): Pick<GateNode, 'grade' | 'reason'> {
  const [first, ...rest] = [...troubles].sort((a, b) =>
    a.grade === b.grade ? a.share - b.share : worse(a.grade, b.grade) === a.grade ? -1 : 1,
  );
  if (first !== undefined) {
    const more = rest.length > 0 ? `; ${plural(rest.length, 'more fault')}` : '';
    return { grade: first.grade, reason: `${first.reason}${more}` };
  }
  if (gbps === null) return { grade: 'unmeasured', reason: 'not measured: no NIC carries data' };
  const expected = nics.reduce((sum, { expectedGbps }) => sum + (expectedGbps ?? 0), 0);
  const reach = nics.length === 1 ? `${nics[0]!.nic} reaches` : `${nics.length} NICs reach`;
  const reason = `${reach} ${significant(gbps)} Gbps; expected at least ${significant(expected)} Gbps`;
  return { grade: 'pass', reason };
}

function nicOf(node: string, rail: number, facts: GateFacts): GateNic {
  return {
    nic: facts.nics[rail]!,
    outGbps: bestOf(cellsOf(facts, node, rail, 'out')),
    inGbps: bestOf(cellsOf(facts, node, rail, 'in')),
    expectedGbps: expectationFor(node, rail, facts)?.pass ?? null,
  };
}

const ways: readonly Way[] = ['out', 'in'];
const verbs = { out: 'sends', in: 'receives' } as const;

/** What a node does badly with every peer it was measured with. */
function ownTroubles(node: string, facts: GateFacts): Trouble[] {
  return facts.nics.flatMap((nic, rail) => {
    const expected = expectationFor(node, rail, facts);
    if (expected === undefined) return [];
    return ways.flatMap((way): Trouble[] => {
      const best = bestOf(cellsOf(facts, node, rail, way));
      const grade = best === null ? 'pass' : gradeOf(best, expected);
      if (best === null || grade === 'pass') return [];
      const share = best / expected.base;
      const slow = `${nic} ${verbs[way]} ${slowText(best, expected)}`;
      return [{ grade, share, reason: `${slow}${eitherOf(facts)}` }];
    });
  });
}

/** Between two nodes a measurement does not tell which of them is slow. */
const eitherOf = ({ nodes }: GateFacts): string =>
  new Set(nodes).size === 2 ? '; either node may be at fault' : '';

function slowText(gbps: number, { base, pass, of }: Expectation): string {
  const share = `${Math.round((gbps / base) * 100)} % of ${of}`;
  return `${significant(gbps)} Gbps, ${share}; expected at least ${significant(pass)} Gbps`;
}

/** What is very slow with one peer only, while both are fine with others. A little slower may be chance. */
function pairTroubles(node: string, facts: GateFacts, isBad: (peer: string) => boolean): Trouble[] {
  return facts.nics.flatMap((nic, rail) => {
    const expected = expectationFor(node, rail, facts);
    if (expected === undefined) return [];
    return ways.flatMap((way): Trouble[] => {
      const cells = cellsOf(facts, node, rail, way);
      if (gradeOf(bestOf(cells) ?? 0, expected) !== 'pass') return [];
      return cells.flatMap((cell) => {
        const peer = facts.nodes[way === 'out' ? cell.to : cell.from]!;
        if (gradeOf(cell.gbps, expected) !== 'fail' || isBad(peer)) return [];
        const where = way === 'out' ? `to ${peer}` : `from ${peer}`;
        const reason = `${nic} ${verbs[way]} ${where} only ${slowText(cell.gbps, expected)}; both are fine with other nodes`;
        return [{ grade: 'degraded', share: cell.gbps / expected.base, reason }];
      });
    });
  });
}

/** Wrong bytes, and rates above what the line can carry. */
const failedRows = (node: string, { cells, nodes, nics }: GateFacts): Trouble[] =>
  cells
    .filter((cell) => cell.failure !== undefined)
    .filter(({ from, to }) => nodes[from] === node || nodes[to] === node)
    .map(({ from, to, rail, failure }) => ({
      grade: 'fail',
      share: 0,
      reason: `${nics[rail]} from ${nodes[from]} to ${nodes[to]}: ${failure}`,
    }));

/** Rails that do not carry. Where only a pair does not reach each other, neither of the two is proven bad. */
function downOf(node: string, facts: GateFacts, findings: readonly Finding[]): Trouble[] {
  return findings
    .filter(({ symptom }) => symptom === 'down')
    .flatMap(({ cause, who }): Trouble[] => {
      const { nic = 'a NIC', host, from, to } = who;
      if (cause === 'nic' && host === node) {
        const reason = `${nic} is missing or down: it reaches no other node`;
        return [{ grade: 'fail', share: 0, reason }];
      }
      if (cause !== 'pair' || (from !== node && to !== node)) return [];
      const peer = from === node ? to : from;
      const either = eitherOf(facts);
      const reason = `${nic} does not reach ${peer}, or ${peer} does not reach it${either}`;
      return [{ grade: either === '' ? 'degraded' : 'fail', share: 0, reason }];
    });
}
