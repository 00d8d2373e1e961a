import { expect, test } from 'vitest';
import { gateOf } from '../../src/analysis/gate/of-run.js';
import { formatGate, formatGateMetrics } from '../../src/results/formats/gate.js';
import { nodePatch } from '../../src/results/formats/node-patch.js';
import type { Run } from '../../src/results/schema.js';
import { header } from '../results/fixtures.js';

const runOn = (emulated: boolean): Run => ({
  ...header,
  fabric: { ...header.fabric, ...(emulated && { emulated }) },
  settings: { nodes: ['n1', 'n2'] },
  world: { ...header.world, ranks: 2, hosts: ['n1', 'n2'], hostOfRank: ['n1', 'n2'] },
  endedAt: header.startedAt,
  outcome: 'passed',
  errors: [],
  rows: [],
});

test.each([true, false])('emulated devices (%s) are told wherever a verdict goes', (emulated) => {
  const gate = gateOf(runOn(emulated));
  const [node] = gate.nodes;
  const told = (text: string) => /emulated/.test(text);
  expect(told(formatGate(gate))).toBe(emulated);
  expect(told(formatGateMetrics(gate))).toBe(emulated);
  expect(told(JSON.stringify(nodePatch(node!, gate.at, 1000)))).toBe(emulated);
});
