import type { Gate, GateNic, GateNode, NodeGrade } from '../../analysis/gate/gate.js';
import { expositionText, type Family, inBytesPerSecond, inUnixSeconds } from './exposition.js';
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

const grades = '0 pass, 1 degraded, 2 fail, 3 unmeasured';

/** A text file for the Prometheus node exporter's textfile collector. */
export const formatGateMetrics = (gate: Gate): string =>
  expositionText([...jobFamilies(gate), ...nodeFamilies(gate), ...nicFamilies(gate)]);

const jobFamilies = ({ grade, at, seconds, emulated }: Gate): Family[] => [
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
    name: 'weft_gate_emulated',
    help: '1 if any measured device was emulated.',
    samples: emulated ? [{ value: 1 }] : [],
  },
];

const nodeFamilies = ({ nodes }: Gate): Family[] => [
  {
    name: 'weft_gate_node_grade',
    help: `Verdict on one node: ${grades}.`,
    samples: nodes.map(({ node, grade }) => ({ labels: { node }, value: levels[grade] })),
  },
  {
    name: 'weft_gate_node_bandwidth_bytes_per_second',
    help: 'Bandwidth of a node over all its NICs, in its slower direction.',
    samples: nodes.map(({ node, gbps }) => ({ labels: { node }, value: inBytesPerSecond(gbps) })),
  },
];

function nicFamilies({ nodes }: Gate): Family[] {
  const family = (what: string, help: string, gbpsOf: (nic: GateNic) => number | null): Family => ({
    name: `weft_gate_nic_${what}_bytes_per_second`,
    help,
    samples: nodes.flatMap(({ node, nics }) =>
      nics.map((one) => ({
        labels: { node, nic: one.nic },
        value: inBytesPerSecond(gbpsOf(one)),
      })),
    ),
  });
  return [
    family('transmit', 'Best bandwidth of a NIC, sending.', ({ outGbps }) => outGbps),
    family('receive', 'Best bandwidth of a NIC, receiving.', ({ inGbps }) => inGbps),
    family('expected', 'Bandwidth that passes.', ({ expectedGbps }) => expectedGbps),
  ];
}
