import { expect, test } from 'vitest';
import { loadLibrary } from '../../src/fabric/library.js';
import { Desk } from '../benchmarks/weft.js';

const provider = process.env.WEFT_TEST_PROVIDERS ?? 'efa';
const timeout = 90_000;

/** A benchmark on devices that do something wrong. */
const faulty = (desk: Desk, faults: string, line: string) =>
  desk.weft(`emulate efa --nics 2 --fault ${faults} -- weft ${line} --provider ${provider}`);

// Before 1.18 the provider makes sends of writes: their immediates cannot come before the data.
const { major, minor } = loadLibrary();
if (major >= 2 || minor >= 18) {
  test('an immediate that overtakes its data is found', { timeout }, async () => {
    using desk = new Desk();
    const line = 'write --ranks 2 -b 1M -e 1M -n 5 --columns SinglePin';
    const { exitCode, stdout } = await faulty(desk, 'early_immediate=1', line);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('an immediate overtook its data');
  });
}

test('a corrupted byte fails the row and is named', { timeout }, async () => {
  using desk = new Desk();
  const line = 'write --ranks 2 -b 1M -e 1M -n 5 --columns SinglePin';
  const { exitCode, stdout } = await faulty(desk, 'corrupt=50', line);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/bytes are wrong: on rank 1, byte \d+ from rank 0/);
});

test('receivers that are not ready are tried again', { timeout }, async () => {
  using desk = new Desk();
  const line = 'sendrecv --ranks 2 -b 4K -e 4K -n 20';
  const { exitCode, stderr } = await faulty(desk, 'rnr=20', line);
  expect(exitCode, stderr).toBe(0);
});

test('a device that fails is named, and every rank ends', { timeout }, async () => {
  using desk = new Desk();
  const line = 'write --ranks 2 -b 64K -e 64K --columns MultiPin --timeout 5';
  const { exitCode, stderr } = await faulty(desk, '1:error=12', line);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('rdmap80s0');
  expect(stderr).toMatch(/rank [01]/);
});

test('a device that falls silent ends the run in time', { timeout }, async () => {
  using desk = new Desk();
  const line = 'write --ranks 2 -b 64K -e 64K --columns SinglePin --timeout 3';
  const { exitCode, stderr } = await faulty(desk, '0:silent=1', line);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('rdmap79s0');
});

test('a device that does not open is left out and told', { timeout }, async () => {
  using desk = new Desk();
  const line = 'write --ranks 2 -b 64K -e 64K -n 5 --columns MultiPin --format json';
  const { exitCode, stdout, stderr } = await faulty(desk, '1:queues=1', line);
  expect(exitCode, stderr).toBe(0);
  const { fabric, settings } = JSON.parse(stdout);
  expect(fabric.channels).toMatchObject([{ nic: 'rdmap79s0' }]);
  expect(settings.nicsLeftOut.join()).toContain('rdmap80s0');
});

test('a device that libfabric cannot open hides the others, which Weft says', {
  timeout,
}, async () => {
  using desk = new Desk();
  const { exitCode, stderr } = await faulty(desk, '1:open=1', 'write --ranks 2');
  expect(exitCode).toBe(3);
  expect(stderr).toContain('no RDMA device of this host');
});
