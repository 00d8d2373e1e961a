import { describe, expect, test } from 'vitest';
import type { Row, Run } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';

const provider = process.env.WEFT_TEST_PROVIDERS ?? 'efa';
const timeout = 90_000;

/** Of a benchmark on emulated devices of its own. */
async function measured(devices: string, line: string, env: Record<string, string> = {}) {
  using desk = new Desk();
  const whole = `emulate efa --nics 2 ${devices} -- weft ${line} --provider ${provider} --format json`;
  const { stdout, stderr } = await desk.weft(whole, env);
  const run: Run = JSON.parse(stdout || JSON.stringify(stderr));
  expect(run.errors, stderr).toEqual([]);
  return { run, paths: run.rows.flatMap(({ path }: Row) => path ?? []) };
}

const write = 'write --ranks 2 -b 1M -e 1M -n 10 --columns SinglePin,MultiPin';

describe.runIf(provider === 'efa')('shared memory between ranks of a host', () => {
  test('is no EFA, however it came about', { timeout }, async () => {
    const { run, paths } = await measured('', write, { FI_EFA_ENABLE_SHM_TRANSFER: '1' });
    // From 1.21 on the variable has no say: the endpoints refuse shared memory.
    if (!run.fabric.localShm?.allowed) {
      expect(paths.map(({ asPlanned }) => asPlanned)).toEqual([true, true]);
      return;
    }
    expect(paths).toMatchObject([{ asPlanned: false }, { asPlanned: false }]);
    expect(paths[0]!.text).toBe(
      `path not as planned: rdmap79s0 on ${run.world.hosts[0]} carried 0 bytes of 10 MB; ` +
        'no other NIC carried the rest',
    );
  });

  test('cannot be told where the user allowed it', { timeout }, async () => {
    const { paths } = await measured('', `${write} --local-shm`, {
      FI_EFA_ENABLE_SHM_TRANSFER: '1',
    });
    const untold = { nics: [], asPlanned: null, reason: 'no-counters' };
    expect(paths).toEqual([untold, untold]);
  });
});

describe.runIf(provider === 'efa')('a device without RDMA writes', () => {
  test('sends, as planned where writes are emulated', { timeout }, async () => {
    const { paths } = await measured('--caps read,rnr,source', write);
    expect(paths.map(({ asPlanned, text }) => text ?? asPlanned)).toEqual([true, true]);
    for (const { nics } of paths) {
      for (const nic of nics) {
        expect(nic).toMatchObject({ rdmaWriteBytes: 0, expectedRdmaWriteBytes: 0 });
        expect(nic.txBytes).toBeGreaterThanOrEqual(nic.expectedTxBytes);
      }
    }
  });
});

test('segments that are lost and sent again are told, and raise no alarm', {
  timeout,
}, async () => {
  const { paths } = await measured('--fault drop=5', write);
  expect(paths.map(({ asPlanned, text }) => text ?? asPlanned)).toEqual([true, true]);
  const sentAgain = paths.flatMap(({ nics }) => nics.map(({ retransmits = 0 }) => retransmits));
  expect(Math.max(...sentAgain)).toBeGreaterThan(0);
});
