import type { Grade } from '../verdict/verdict.js';

/** How a node stands; `unmeasured` where nothing could be said of it. */
export type NodeGrade = Grade | 'unmeasured';

/** What a node sends and receives on one rail, with the peer it does best with. */
export interface GateNic {
  readonly nic: string;
  readonly outGbps: number | null;
  readonly inGbps: number | null;
  /** Below this it is degraded. */
  readonly expectedGbps: number | null;
}

export interface GateNode {
  readonly node: string;
  readonly grade: NodeGrade;
  /** One sentence. */
  readonly reason: string;
  /** Of all its NICs together: the sum of the slower direction of each; null where any was not measured. */
  readonly gbps: number | null;
  readonly nics: readonly GateNic[];
}

/** The gate's answer for every node of a job. */
export interface Gate {
  readonly schema: 'weft.gate/1';
  /** The worst of the nodes' grades. */
  readonly grade: NodeGrade;
  readonly at: string;
  readonly seconds: number;
  /** What the nodes were compared with, in words. */
  readonly against: string;
  /** The id of the run file; null where nothing was measured. */
  readonly run: string | null;
  readonly emulated?: boolean;
  readonly nodes: readonly GateNode[];
  readonly notes: readonly string[];
}

const order: readonly NodeGrade[] = ['pass', 'unmeasured', 'degraded', 'fail'];

export const worse = (a: NodeGrade, b: NodeGrade): NodeGrade =>
  order.indexOf(b) > order.indexOf(a) ? b : a;

export const worstOf = (nodes: readonly Pick<GateNode, 'grade'>[]): NodeGrade =>
  nodes.reduce<NodeGrade>((worst, { grade }) => worse(worst, grade), 'pass');

/** A gate that could not measure: who did not come, or why nothing was measured, by node. */
export function unfinishedGate(
  nodes: readonly string[],
  blamed: ReadonlyMap<string, string>,
  why: string,
  at: { readonly at: string; readonly seconds: number },
): Gate {
  const of = (node: string): GateNode => {
    const reason = blamed.get(node);
    const grade = reason === undefined ? 'unmeasured' : 'fail';
    return { node, grade, reason: reason ?? why, gbps: null, nics: [] };
  };
  const all = nodes.map(of);
  return {
    schema: 'weft.gate/1',
    grade: worstOf(all),
    ...at,
    against: 'nothing',
    run: null,
    nodes: all,
    notes: [],
  };
}
