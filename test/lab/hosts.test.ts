import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hostSpace } from '../../src/lab/names.js';
import { runSchema } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';
import { labName, whyNoLab } from './laboratory.js';

const lab = labName('hosts');
const reason = whyNoLab();
const timeout = 60_000;

describe('a host with another MTU', () => {
  const desk = new Desk();
  const weft = (line: string) =>
    desk.weft(line.replace(/^lab \w+/, (words) => `${words} --name ${lab}`));

  beforeAll(async () => {
    if (reason !== undefined) return;
    expect(await weft('lab up --hosts 3 --nics 1 --rate 500mbit')).toMatchObject({ exitCode: 0 });
    execFileSync('ip', ['-n', hostSpace(lab, 2), 'link', 'set', 'nic0', 'mtu', '1500']);
  }, timeout);
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
  afterAll(async () => {
    if (reason === undefined) await weft('lab down --force');
    desk[Symbol.dispose]();
  });

  test('is shown by info --all-ranks', { timeout }, async () => {
    const { stdout, exitCode } = await weft('lab run -- info --all-ranks');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^3 hosts, 3 ranks: h0 h1 h2\n/);
    expect(stdout).toMatch(/\nMTU +9000 on 2 hosts +1500 on h2\n/);
    expect(stdout).toMatch(/\nThe hosts differ in MTU\.$/);
  });

  test('is a finding of pairs, and in the header of its run', { timeout }, async () => {
    const { stdout } = await weft('lab run -- pairs --budget-ms 100 --format json');
    const { world, diagnosis } = runSchema.parse(JSON.parse(stdout));
    expect(world.facts!.mtu).toEqual({ 9000: '0-1', 1500: '2' });
    expect(diagnosis!.findings).toContainEqual(
      expect.objectContaining({
        symptom: 'differs',
        fact: 'mtu',
        who: expect.objectContaining({ host: 'h2' }),
      }),
    );
  });
});
