import { describe, expect, test } from 'vitest';
import { loadLibrary } from '../../src/fabric/library.js';
import { Desk } from '../benchmarks/weft.js';

const { major, minor } = loadLibrary();
const offered = major > 2 || (major === 2 && minor >= 1);
const timeout = 90_000;
const direct = '--provider efa-direct --format json';

if (!offered) {
  test('an older libfabric has no efa-direct, and Weft says so', async () => {
    using desk = new Desk();
    const { exitCode, stderr } = await desk.weft(`write --ranks 2 ${direct}`);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('has no efa-direct');
  });
}

if (offered) {
  describe('efa-direct', () => {
    test('sendrecv skips messages that the device cannot send', { timeout }, async () => {
      using desk = new Desk();
      const { exitCode, stdout } = await desk.weft(
        `sendrecv --ranks 2 -b 4K -e 16K -f 4 -n 5 --columns SinglePin ${direct}`,
      );
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout).rows).toMatchObject([
        { bytes: 4096, outcome: 'passed' },
        {
          bytes: 16384,
          outcome: 'skipped',
          reason: 'efa-direct sends messages of at most 8928 bytes',
        },
      ]);
    });

    test('devices without RDMA write are refused with the reason', { timeout }, async () => {
      using desk = new Desk();
      const { exitCode, stderr } = await desk.weft(
        `emulate efa --nics 2 --caps read,rnr,source -- weft write --ranks 2 ${direct}`,
      );
      expect(exitCode).toBe(3);
      expect(stderr).toContain('cannot write to remote memory, which efa-direct needs');
    });

    test('an immediate that takes a receive is no loss', { timeout }, async () => {
      using desk = new Desk();
      const { exitCode, stdout, stderr } = await desk.weft(
        `emulate efa --machine p5 --nics 2 -- weft all2all --ranks 3 -b 64K -e 64K -n 20 --columns SinglePin,MultiPin ${direct}`,
      );
      expect(exitCode, stderr).toBe(0);
      for (const row of JSON.parse(stdout).rows) {
        expect(row).toMatchObject({ outcome: 'passed', checked: { wrong: 0 } });
      }
    });
  });
}
