import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runSchema } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';
import { labName, whyNoLab } from './laboratory.js';

const lab = labName('pairs');

const reason = whyNoLab();

describe('the guilty in a lab', () => {
  const desk = new Desk();
  const weft = (line: string) =>
    desk.weft(line.replace(/^lab \w+/, (words) => `${words} --name ${lab}`));
  const findings = async () => {
    const { exitCode, stdout } = await weft('lab run -- pairs --budget-ms 300 --format json');
    expect(exitCode).toBe(0);
    const { diagnosis, rows } = runSchema.parse(JSON.parse(stdout));
    return { findings: diagnosis!.findings, rows };
  };

  beforeAll(async () => {
    if (reason !== undefined) return;
    expect(await weft('lab up --hosts 4 --nics 2 --rate 100mbit')).toMatchObject({ exitCode: 0 });
  });
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
  afterEach(async () => {
    if (reason === undefined) await weft('lab heal');
  });
  afterAll(async () => {
    if (reason === undefined) await weft('lab down --force');
    desk[Symbol.dispose]();
  });

  test('in a healthy lab nobody is accused', async () => {
    expect((await findings()).findings).toEqual([]);
  });

  test('a NIC that sends at a fifth is named, with its direction', async () => {
    const told = await weft('lab fault --host 2 --nic 1 --rate 20mbit --direction out');
    expect(told.stdout).toMatch(/h2 nic1: 20mbit, outgoing only/);
    expect((await findings()).findings).toContainEqual(
      expect.objectContaining({
        cause: 'nic',
        symptom: 'slow',
        who: { host: 'h2', nic: 'nic1', rail: 1, direction: 'out' },
      }),
    );
  });

  test('a link that is down is a finding, and the other rail is measured', async () => {
    await weft('lab fault --host 1 --nic 0 --down');
    const { findings: found, rows } = await findings();
    expect(found).toContainEqual(
      expect.objectContaining({
        cause: 'nic',
        symptom: 'down',
        who: { host: 'h1', nic: 'nic0', direction: 'both' },
      }),
    );
    expect(rows.filter((row) => row.column === 'Bandwidth')).toHaveLength(12);
  });
});
