import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../../comparisons/build.mjs';

/** What a program prints, and checks before it does: every byte that arrived. */
const printed = (name: string, line: string) =>
  JSON.parse(execFileSync(buildProgram(name), line.split(' '), { encoding: 'utf8' })) as {
    samples: number[];
    nanoseconds: { min: number; median: number };
  };
const rxm = 'tcp;ofi_rxm';

describe('the C programs that workloads are compared with', () => {
  test.each([
    'shm --op write',
    'shm --op send --channels 2',
    `${rxm} --op write --channels 2 --window 3`,
    `${rxm} --op send`,
  ])('fabric-rate over %s', (how) => {
    const line = `--size 64 --messages 100 --samples 3 --warmup 1 --provider ${how}`;
    const { samples, nanoseconds } = printed('fabric-rate', line);
    expect(samples).toHaveLength(3);
    const [min, median] = [...samples].sort((a, b) => a - b);
    expect(nanoseconds).toMatchObject({ min, median });
  });

  test.each(['shm --chunk 65536', `${rxm} --chunk 7000 --window 3`])(
    'fabric-bidir over %s',
    (how) => {
      const line = `--size 100000 --iterations 5 --warmup 2 --provider ${how}`;
      expect(printed('fabric-bidir', line).samples).toHaveLength(5);
    },
  );

  test('what makes no sense is refused', () => {
    for (const line of ['--window 0', '--channels 65', '--op read', 'more']) {
      const { status, stderr } = spawnSync(buildProgram('fabric-rate'), line.split(' '));
      expect([status, String(stderr).slice(0, 5)]).toEqual([2, 'usage']);
    }
  });
});
