import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hostSpace } from '../../src/lab/names.js';
import type { Path } from '../../src/results/path.js';
import type { Row, Run } from '../../src/results/schema.js';
import { Desk, withFault } from '../benchmarks/weft.js';
import { inSpace, labName, whyNoLab } from './laboratory.js';

const lab = labName('path');

describe.runIf(whyNoLab() === undefined)('proof of the path', () => {
  const desk = new Desk();
  /** Host 0 sends what is for host 1's first rail another way. */
  const route = (verb: 'add' | 'delete', nic: string) =>
    inSpace('ip', hostSpace(lab, 0), 'route', verb, '10.77.0.2/32', 'dev', nic);
  const undo: (() => void)[] = [];
  const reroute = (nic: string) => {
    route('add', nic);
    undo.push(() => route('delete', nic));
  };
  const inLab = (line: string, env?: Record<string, string>) =>
    desk.weft(`lab run --name ${lab} -- ${line}`, env);
  const runOf = async (line: string, env?: Record<string, string>): Promise<Run> => {
    const { stdout, stderr } = await inLab(`${line} --format json`, env);
    return JSON.parse(stdout || JSON.stringify(stderr));
  };
  const pathsOf = async (line: string, env?: Record<string, string>) =>
    (await runOf(line, env)).rows.flatMap((row: Row) => (row.path ? [row.path] : []));
  const bytesOf = ({ nics }: Path, host: string, nic: string) =>
    nics.find((one) => one.host === host && one.nic === nic);

  beforeAll(async () => {
    const up = `lab up --name ${lab} --hosts 2 --nics 2 --rate 400mbit --mtu 1500`;
    expect(await desk.weft(up)).toMatchObject({ exitCode: 0 });
  });
  afterEach(async () => {
    for (const step of undo.splice(0)) step();
    await desk.weft(`lab heal --name ${lab}`);
  });
  afterAll(async () => {
    await desk.weft(`lab down --force --name ${lab}`);
    desk[Symbol.dispose]();
  });

  const pinned = '--columns SinglePin,MultiPin,RoundRobinPin -n 6 -c 0';

  test.for([
    ['write', `-b 64K -e 1M -f 4 ${pinned}`, 9],
    ['all2all', `-b 64K -e 1M -f 4 ${pinned}`, 9],
    ['sendrecv', '-b 64K -e 1M -f 4 --columns SinglePin -n 6', 3],
    ['proxy', '-b 256K -e 256K --producer cpu -n 6', 6],
    ['all-to-all-single', '--backend fabric -n 3', 1],
  ] as const)('%s goes over the NICs it should', async ([benchmark, options, rows]) => {
    const run = await runOf(`${benchmark} ${options}`);
    const judged = run.rows.flatMap(({ column, bytes, path }) =>
      path ? [{ column, bytes, asPlanned: path.asPlanned, text: path.text }] : [],
    );
    expect(judged.filter(({ asPlanned }) => !asPlanned)).toEqual([]);
    expect(judged).toHaveLength(rows);
  });

  test('every NIC has its share, with a few per cent of headers', async () => {
    const [path] = await pathsOf('write -b 1M -e 1M -n 8 --columns MultiPin');
    for (const nic of ['nic0', 'nic1']) {
      const [from, to] = [bytesOf(path!, 'h0', nic)!, bytesOf(path!, 'h1', nic)!];
      expect(from).toMatchObject({ ranks: [0], expectedTxBytes: 4 * 2 ** 20, expectedRxBytes: 0 });
      expect(to).toMatchObject({ ranks: [1], expectedTxBytes: 0, expectedRxBytes: 4 * 2 ** 20 });
      for (const counted of [from.txBytes, to.rxBytes]) {
        expect(counted / (4 * 2 ** 20)).toBeGreaterThan(1);
        expect(counted / (4 * 2 ** 20)).toBeLessThan(1.08);
      }
    }
  });

  test('what stays inside a host is on loopback', async () => {
    const line = `lab run --name ${lab} --ranks-per-host 2 -- all2all -b 256K -e 256K -n 4 --columns SinglePin`;
    const { stdout } = await desk.weft(`${line} --format json`);
    const path: Path = JSON.parse(stdout).rows[0].path;
    expect(path).toMatchObject({ asPlanned: true });
    expect(bytesOf(path, 'h0', 'lo')).toMatchObject({ ranks: [0, 1], expectedTxBytes: 2 ** 21 });
    expect(bytesOf(path, 'h1', 'nic0')).toMatchObject({ ranks: [2, 3], expectedTxBytes: 2 ** 22 });
  });

  test('packets sent again raise no alarm, and are told', async () => {
    await desk.weft(`lab fault --name ${lab} --host 1 --nic 0 --loss 1%`);
    const paths = await pathsOf('write -b 1M -e 1M -n 6 --columns SinglePin,MultiPin');
    expect(paths.map(({ asPlanned }) => asPlanned)).toEqual([true, true]);
    expect(paths[0]!.tcpRetransmits).toBeGreaterThan(0);
  });

  test('a route over the management network is found, and fails a check', async () => {
    reroute('mgmt');
    const found =
      /path not as planned: nic0 on h0 carried 0 bytes of 4\.2 MB; 4\.[0-9] MB went over mgmt/;
    const run = await runOf('write -b 1M -e 1M -n 4 --columns SinglePin,MultiPin');
    const [one, several] = run.rows.flatMap(({ path }) => path ?? []);
    expect(one).toMatchObject({ asPlanned: false, reason: 'elsewhere' });
    expect(one!.text).toMatch(found);
    expect(bytesOf(one!, 'h0', 'mgmt')?.txBytes).toBeGreaterThan(4 * 2 ** 20);
    expect(bytesOf(several!, 'h0', 'nic1')?.txBytes).toBeGreaterThan(2 * 2 ** 20);
    expect(several).toMatchObject({ asPlanned: false });

    const verdict = await inLab('check --quick --format json');
    expect(verdict.exitCode).toBe(4);
    const items: { name: string; grade: string; metric?: string }[] = JSON.parse(
      verdict.stdout,
    ).items;
    const off = items.filter(({ metric }) => metric === 'rowsOffPath');
    expect(off).toMatchObject([
      { name: 'pairs path', grade: 'fail' },
      { name: 'write path', grade: 'fail' },
    ]);
  });

  test('a route over another rail is found, in the pair that has it and no other', async () => {
    reroute('nic1');
    const run = await runOf('pairs --budget-ms 60 --per-rail -b 256K -e 256K');
    const astray = run.rows.filter(({ path }) => path?.asPlanned === false);
    expect(
      astray.map(({ column, labels: { from, to, rail } }) => [column, from, to, rail]),
    ).toEqual([['Bandwidth', 0, 1, 'nic0']]);
    expect(astray[0]!.path!.text).toMatch(/nic0 on h0 carried 0 bytes .* went over nic1$/);
    const quiet = run.rows.filter(({ path }) => path?.asPlanned !== false);
    expect(quiet.flatMap(({ path }) => path!.nics)).toEqual([]);
  });

  test('a channel bound to another device is found', async () => {
    const paths = await pathsOf(
      'all2all -b 1M -e 1M -n 4 --columns MultiPin',
      withFault('bind:1:0'),
    );
    expect(paths).toMatchObject([{ asPlanned: false }]);
    expect(paths[0]!.text).toMatch(
      /nic1 on h[01] carried \d+ (bytes|kB) of 2\.1 MB; 2(\.\d)? MB went over nic0 \(1 other NIC/,
    );
  });
});

describe('on one host', () => {
  test('loopback carries what it should, and shm has no counters', async () => {
    using desk = new Desk();
    const path = async (options: string): Promise<Path> => {
      const line = `write --ranks 2 -b 1M -e 1M -n 8 --columns SinglePin --format json ${options}`;
      const { stdout, stderr } = await desk.weft(line);
      return JSON.parse(stdout || JSON.stringify(stderr)).rows[0].path;
    };
    expect(await path('--provider tcp')).toMatchObject({
      asPlanned: true,
      nics: [{ nic: 'lo', ranks: [0, 1], expectedTxBytes: 2 ** 23, expectedRxBytes: 2 ** 23 }],
    });
    expect(await path('--provider shm')).toEqual({
      nics: [],
      asPlanned: null,
      reason: 'no-counters',
    });
  });
});
