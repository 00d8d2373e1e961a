import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runSchema } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';
import { inSpace, labName, whyNoLab } from './laboratory.js';

const lab = labName('scan');
const network = `/run/weft-lab/${lab}/topology.yaml`;
const reason = whyNoLab();

describe('a lab of 2 leaves with 4 hosts each', () => {
  const desk = new Desk();
  const weft = (line: string) =>
    desk.weft(line.replace(/^lab \w+/, (words) => `${words} --name ${lab}`));

  beforeAll(async () => {
    if (reason !== undefined) return;
    const up = await weft('lab up --hosts 8 --nics 1 --rate 25mbit --leaves 2 --spine-rate 25mbit');
    expect(up).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(network) });
  });
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
  afterAll(async () => {
    if (reason === undefined) await weft('lab down --force');
    desk[Symbol.dispose]();
  });

  test('links between leaves and spine have the rate asked for, and a file describes them', () => {
    const shaped = inSpace('tc', `weft-lab.${lab}.sw`, 'qdisc', 'show');
    for (const port of ['rail0l0u', 'rail0l0d', 'rail0l1u', 'rail0l1d']) {
      expect(shaped).toMatch(new RegExp(`qdisc tbf \\w+: dev ${port} root .*rate 25Mbit`));
    }
    expect(readFileSync(network, 'utf8')).toContain('leaf1: [h4, h5, h6, h7]');
  });

  test('a spine with a quarter of what hosts need is named, and no host', async () => {
    const line = `lab run -- pairs --scope all --network ${network} --budget-ms 300 --format json`;
    const { exitCode, stdout } = await weft(line);
    expect(exitCode).toBe(0);
    const { diagnosis, rows } = runSchema.parse(JSON.parse(stdout));
    const slow = diagnosis!.findings.filter(({ symptom }) => symptom === 'slow');
    expect(slow.map(({ cause, who }) => ({ cause, who }))).toEqual([
      { cause: 'spine', who: { spine: 'spine0', direction: 'both' } },
    ]);
    expect(slow[0]!.effect).toBeLessThan(0.5);
    expect(slow[0]!.evidence).toMatch(/one pair alone carries/);
    expect(rows.filter(({ column }) => column === 'Bandwidth').length).toBeGreaterThanOrEqual(48);
    expect(diagnosis!.scan).toMatchObject({
      scope: 'all',
      network,
      hosts: { covered: 8, all: 8 },
      leaves: { covered: 2, all: 2 },
      crossings: { covered: 1, all: 1 },
    });
  });

  test('a host that the network description does not name is an error that names it', async () => {
    const short = join(desk.folder, 'short.yaml');
    writeFileSync(short, 'leaves:\n  a: h[0-3]\n  b: h[4-6]\n');
    const { exitCode, stderr } = await weft(`lab run -- pairs --scope all --network ${short}`);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/does not say where these hosts are attached: h7/);
  });
});
