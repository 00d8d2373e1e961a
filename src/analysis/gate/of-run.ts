import { z } from 'zod';
import { gbpsOf, significant } from '../../measure/units.js';
import { pairColumns } from '../../results/column-name.js';
import type { Row, Run } from '../../results/schema.js';
import { placesOf, railLabel } from '../diagnosis/cells.js';
import { type Gate, type GateNode, worstOf } from './gate.js';
import { comparedWith, type GateCell, type GateFacts, judgeNodes } from './judge.js';

/** What each rank sent to each other, from the rows of a gate. Rows of one pair are looks at it: the best counts. */
export function gateCells(nics: readonly string[], rows: readonly Row[]): GateCell[] {
  const rails = new Map(nics.map((_, rail) => [railLabel(nics, rail), rail]));
  const cells = new Map<string, GateCell>();
  for (const { labels, nanoseconds, bytes, outcome, reason } of rows) {
    const { from, to } = labels;
    const rail = rails.get(labels.rail ?? '');
    if (from === undefined || to === undefined || rail === undefined || !nanoseconds) continue;
    const key = `${from} ${to} ${rail}`;
    const before = cells.get(key);
    const gbps = Math.max(before?.gbps ?? 0, gbpsOf(bytes ?? 0, Math.max(1, nanoseconds.p50)));
    const failure = outcome === 'passed' ? before?.failure : (reason ?? outcome);
    cells.set(key, { from, to, rail, gbps, ...(failure !== undefined && { failure }) });
  }
  return [...cells.values()];
}

const recorded = z.object({
  nodes: z.array(z.string()),
  own: z.object({ minGbps: z.number().optional() }).optional(),
});

/** The gate's answer, from its run. */
export function gateOf(run: Run): Gate {
  const { nodes, own } = recorded.parse(run.settings);
  const { nics } = placesOf(run);
  const facts: GateFacts = {
    nodes,
    nics,
    lineRatesGbps: run.fabric.channels.map(({ lineRateGbps }) => lineRateGbps),
    minGbps: own?.minGbps,
    cells: gateCells(nics, run.rows),
  };
  const findings = run.diagnosis?.findings ?? [];
  const judged = judgeNodes(facts, findings);
  const seconds = (Date.parse(run.endedAt ?? run.startedAt) - Date.parse(run.startedAt)) / 1000;
  return {
    schema: 'weft.gate/1',
    grade: worstOf(judged),
    at: run.endedAt ?? run.startedAt,
    seconds: Number(significant(seconds)),
    against: facts.cells.length === 0 ? 'nothing' : comparedWith(facts),
    run: run.id,
    ...(run.fabric.emulated && { emulated: true }),
    nodes: run.fabric.emulated ? judged.map(labelled) : judged,
    notes: [...notesOf(run), ...(run.diagnosis?.notConfirmed ?? [])],
  };
}

/** A reason goes alone into Slurm and Kubernetes: it says by itself that no hardware was measured. */
const labelled = (node: GateNode): GateNode => ({
  ...node,
  reason: `${node.reason} (emulated devices)`,
});

function notesOf({ rows, world, fabric }: Run): string[] {
  const alone = rows.filter(({ column }) => column === pairColumns.rail).length;
  const known = fabric.channels.every(({ lineRateGbps }) => lineRateGbps !== null);
  return [
    ...(alone > 0 ? ['What looked slow was measured again with all other nodes idle.'] : []),
    ...(world.hosts.length === 1
      ? ['All ranks run on this host, so this is only a trial: nothing was measured between nodes.']
      : []),
    ...(!known && world.hosts.length === 2
      ? [
          'The line rate is unknown, so the two nodes are only compared with each other. Set --min-gbps.',
        ]
      : []),
  ];
}
