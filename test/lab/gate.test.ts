import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/analysis/gate/gate.js';
import { hostSpace, railAddress } from '../../src/lab/names.js';
import { Desk } from '../benchmarks/weft.js';
import { labName, whyNoLab } from './laboratory.js';

const lab = labName('gate');
const reason = whyNoLab();

describe('the gate between the hosts of a lab', () => {
  const desk = new Desk();
  const weft = (line: string) => desk.weft(line.replace('LAB', `--name ${lab}`));

  beforeAll(async () => {
    if (reason !== undefined) return;
    expect(await weft('lab up LAB --hosts 3 --nics 1')).toMatchObject({ exitCode: 0 });
  });
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
  afterAll(async () => {
    if (reason === undefined) await weft('lab down LAB --force');
    desk[Symbol.dispose]();
  });

  test('names the node with a slow NIC, in one line each, in JSON and for Prometheus', async () => {
    await weft('lab fault LAB --host 1 --nic 0 --rate 50mbit --direction in');
    const { exitCode, stdout } = await weft('lab run LAB -- gate --metrics gate.prom --quiet');
    expect(exitCode).toBe(4);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^h0 {2}pass {2}nic0 reaches 0\.2\d* Gbps; expected at least 0.2 Gbps$/,
      ),
      expect.stringMatching(
        /^h1 {2}fail {2}nic0 receives 0\.0\d* Gbps, \d+ % of the line rate; exp/,
      ),
      expect.stringMatching(/^h2 {2}pass {2}/),
    ]);
    const metrics = readFileSync(join(desk.folder, 'gate.prom'), 'utf8');
    expect(metrics).toContain('weft_gate_grade 2\n');
    expect(metrics).toMatch(/weft_gate_node_grade\{node="h0"\} 0\n.*"h1"\} 2\n/);
    expect(metrics).toMatch(/weft_gate_node_bandwidth_bytes_per_second\{node="h0"\} \d+\n/);
  });

  test('two hosts that do not reach each other are found by --isolate', async () => {
    await weft('lab heal LAB');
    const cut = `table ip cut { chain in { type filter hook input priority 0
      ip saddr ${railAddress(2, 0)} drop
    }
    }\n`;
    const inside = ['netns', 'exec', hostSpace(lab, 0), 'nft', '-f', '-'];
    execFileSync('ip', inside, { input: cut });
    const gate = await weft('lab run LAB -- gate --timeout 4 --format json --quiet');
    expect(gate.exitCode).toBe(4);
    const { nodes } = JSON.parse(gate.stdout) as Gate;
    expect(nodes.map(({ grade }) => grade)).toEqual(['degraded', 'unmeasured', 'degraded']);
    const line = `gate --isolate --lab ${lab} --timeout 4 --format json --out isolate.json`;
    const { exitCode, stdout } = await weft(line);
    expect(exitCode).toBe(4);
    const found = JSON.parse(stdout);
    expect(found).toMatchObject({
      schema: 'weft.isolate/1',
      outcome: 'found',
      culprits: [{ nodes: ['h0', 'h2'], kind: 'together', blamed: ['h0', 'h2'] }],
    });
    const tried = found.tries.map((one: { nodes: string[]; outcome: string }) => [
      one.nodes.join(),
      one.outcome,
    ]);
    expect(tried).toContainEqual(['h0,h1,h2', 'failed']);
    expect(tried).toContainEqual(['h0,h1', 'passed']);
    expect(tried).toContainEqual(['h1,h2', 'passed']);
    expect(JSON.parse(readFileSync(join(desk.folder, 'isolate.json'), 'utf8'))).toEqual(found);
  });
});
