import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SoakVerdict } from '../../src/analysis/soak/verdict.js';
import { portName, switchSpace } from '../../src/lab/names.js';
import { readRun } from '../../src/results/read-run.js';
import { Desk } from '../benchmarks/weft.js';
import { inSpace, labName, until, whyNoLab } from './laboratory.js';

const lab = labName('soak');
const reason = whyNoLab();
/** What a loaded machine may add to a time. */
const loadMs = 3000;

describe('a soak in a lab', () => {
  const desk = new Desk();
  /** Returns when it was begun and done. */
  const link = (host: number, nic: number, to: 'up' | 'down'): [number, number] => {
    const begun = Date.now();
    inSpace('ip', switchSpace(lab), 'link', 'set', portName(host, nic), to);
    return [begun, Date.now()];
  };

  beforeAll(async () => {
    if (reason !== undefined) return;
    const up = await desk.weft(`lab up --name ${lab} --hosts 3 --nics 2 --rate 100mbit`);
    expect(up).toMatchObject({ exitCode: 0 });
  });
  beforeEach(({ skip }) => skip(reason !== undefined, reason));
  afterAll(async () => {
    if (reason === undefined) await desk.weft(`lab down --force --name ${lab}`);
    desk[Symbol.dispose]();
  });

  test('a link that is down for 2 s is found, timed and named, and nobody else', async () => {
    const soak = 'soak --every 2s --for 9s --format json -- all2all -b 512K -e 512K';
    const child = desk.start(`lab run --name ${lab} -- ${soak}`);
    await desk.rowsIn(1);
    await sleep(700);
    const [downFrom, downBy] = link(2, 1, 'down');
    await sleep(2000);
    const [upFrom, upBy] = link(2, 1, 'up');
    const expectInTime = (at: string) => {
      expect(Date.parse(at)).toBeGreaterThan(downFrom - 1000);
      expect(Date.parse(at)).toBeLessThan(upBy);
    };
    const { exitCode, stdout, stderr } = await child;
    expect(exitCode, String(stderr)).toBe(4);
    const verdict: SoakVerdict = JSON.parse(String(stdout));
    expect(verdict.links).toMatchObject([{ host: 'h2', nic: 'nic1', ranks: [2], downs: 1 }]);
    expectInTime(verdict.links[0]!.times[0]!);
    expect(verdict.links[0]!.longestMs).toBeGreaterThan(upFrom - downBy - 1000);
    expect(verdict.links[0]!.longestMs).toBeLessThan(upBy - downFrom + loadMs);
    const blamed = verdict.causes.filter(({ longestMs }) => longestMs > 1000);
    expect(blamed[0]).toMatchObject({ proven: true });
    for (const { suspects } of blamed) {
      expect(suspects).toMatchObject([{ host: 'h2', nic: 'nic1', why: 'link-down' }]);
    }
    expectInTime(blamed[0]!.times[0]!);
    const stall = verdict.stalls.longest.find(({ milliseconds }) => milliseconds > 1000)!;
    expect(stall.waiting, JSON.stringify(stall)).toContainEqual({ rank: 0, for: [2] });
    expect(verdict.nics.map(({ nic }) => nic).sort()).toEqual([
      'nic0',
      'nic0',
      'nic0',
      'nic1',
      'nic1',
      'nic1',
    ]);
  });

  test('a link that stays down ends it, with the link in the reason', async () => {
    const soak = 'soak --every 1s -- all2all -b 256K -e 256K --timeout 2';
    const file = join(desk.folder, 'stay.jsonl');
    const child = desk.start(`lab run --name ${lab} -- ${soak} --out ${file}`);
    const rows = () => (existsSync(file) ? readRun(file).run.rows.length : 0);
    await until('the first interval', () => rows() > 0, 20_000);
    link(1, 0, 'down');
    const { exitCode, stdout, stderr } = await child;
    link(1, 0, 'up');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/the link of nic0 on h1 has been down for \d\.\d s/);
    expect(stdout).toMatch(/all2all did not pass/);
    const { run } = readRun(file);
    expect(run).toMatchObject({
      outcome: 'aborted',
      errors: [{ message: expect.stringContaining('nic0 on h1') }],
    });
  });
});
