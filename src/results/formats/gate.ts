import type { Gate, GateNode, NodeGrade } from '../../analysis/gate/gate.js';
import { expositionText, inBytesPerSecond, inUnixSeconds } from './exposition.js';
import { type Ink, painter } from './text.js';

const inkOf: Partial<Record<NodeGrade, Ink>> = {
  degraded: 'yellow',
  fail: 'red',
  unmeasured: 'dim',
};

/** One line per node: its name, its grade and the reason. */
export function formatGate({ nodes }: Gate, { color = false }: { color?: boolean } = {}): string {
  const paint = painter(color);
  const width = (of: (node: GateNode) => string) => Math.max(...nodes.map((one) => of(one).length));
  const [name, word] = [width(({ node }) => node), width(({ grade }) => grade)];
  const lines = nodes.map(({ node, grade, reason }) => {
    const ink = inkOf[grade];
    const shown = grade.padEnd(word);
    return `${node.padEnd(name)}  ${ink === undefined ? shown : paint(ink, shown)}  ${reason}`;
  });
  return `${lines.join('\n')}\n`;
}

const levels: Record<NodeGrade, number> = { pass: 0, degraded: 1, fail: 2, unmeasured: 3 };

/** A text file for the Prometheus node exporter's textfile collector. */
export function formatGateMetrics({ grade, at, seconds, nodes }: Gate): string {
  const nics = nodes.flatMap(({ node, nics: own }) => own.map((nic) => ({ node, ...nic })));
  const grades = '0 pass, 1 degraded, 2 fail, 3 unmeasured';
  return expositionText([
    {
      name: 'weft_gate_grade',
      help: `Verdict of weft gate on the job: ${grades}.`,
      samples: [{ value: levels[grade] }],
    },
    {
      name: 'weft_gate_timestamp_seconds',
      help: 'When the verdict was given.',
      samples: [{ value: inUnixSeconds(at) }],
    },
    {
      name: 'weft_gate_duration_seconds',
      help: 'How long the measurement took.',
      samples: [{ value: seconds }],
    },
    {
      name: 'weft_gate_node_grade',
      help: `Verdict on one node: ${grades}.`,
      samples: nodes.map(({ node, grade: own }) => ({ labels: { node }, value: levels[own] })),
    },
    {
      name: 'weft_gate_node_bandwidth_bytes_per_second',
      help: 'Bandwidth of a node over all its NICs, in its slower direction.',
      samples: nodes.map(({ node, gbps }) => ({ labels: { node }, value: inBytesPerSecond(gbps) })),
    },
    ...(['out', 'in'] as const).map((way) => ({
      name: `weft_gate_nic_${way === 'out' ? 'transmit' : 'receive'}_bytes_per_second`,
      help: `Best bandwidth of a NIC, ${way === 'out' ? 'sending' : 'receiving'}.`,
      samples: nics.map(({ node, nic, outGbps, inGbps }) => ({
        labels: { node, nic },
        value: inBytesPerSecond(way === 'out' ? outGbps : inGbps),
      })),
    })),
    {
      name: 'weft_gate_nic_expected_bytes_per_second',
      help: 'Bandwidth that a NIC must reach to pass.',
      samples: nics.map(({ node, nic, expectedGbps }) => ({
        labels: { node, nic },
        value: inBytesPerSecond(expectedGbps),
      })),
    },
  ]);
}
