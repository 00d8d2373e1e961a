import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { HostBuffer } from '../../src/memory/buffer.js';
import { connectPair } from '../contract/pair.js';
import { which } from '../ranks/processes.js';

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const run = promisify(execFile);
const program = (name: string) => fileURLToPath(new URL(`programs/${name}.mjs`, import.meta.url));
const kib = (file: string, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);

describe('a buffer', () => {
  test.each([-1, 0.5, Number.NaN, 2 ** 53])('of %d bytes is refused', (bytes) => {
    expect(() => new HostBuffer(bytes)).toThrow(TypeError);
  });

  test('starts out zeroed, and its views are the memory itself', () => {
    using buffer = new HostBuffer(100);
    expect(buffer.view().every((byte) => byte === 0)).toBe(true);
    buffer.view(10, 10)[0] = 5;
    expect(buffer.view()[10]).toBe(5);
  });

  test('closed twice is closed: views are empty and every use says so', async () => {
    const buffer = new HostBuffer(100);
    const views = [buffer.view(), buffer.view(50)];
    buffer.close();
    buffer.close();
    expect(views.map((view) => view.length)).toEqual([0, 0]);
    const closed = expect.objectContaining({ code: 'CLOSED' });
    expect(() => buffer.view()).toThrow(closed);
    expect(() => buffer.address).toThrow(closed);
    await expect(buffer.fill(1)).rejects.toEqual(closed);
  });

  test('closed while it is being filled is freed when that is done', async () => {
    const buffer = new HostBuffer(8 * MiB);
    const filled = buffer.fill(1);
    buffer.close();
    await expect(filled).resolves.toBeUndefined();
  });

  test('that nobody kept lives as long as a view of it; views that nobody kept do not', async () => {
    const { stdout } = await run(process.execPath, ['--expose-gc', program('forgotten-views')]);
    expect(JSON.parse(stdout)).toEqual({ intact: true, detached: true });
  });

  test('larger than memory is refused with what to do', () => {
    expect(() => new HostBuffer(2 ** 47)).toThrow(
      expect.objectContaining({ code: 'MEMORY_LIMIT', hint: expect.stringMatching(/smaller/) }),
    );
  });

  test.skipIf(!/\[(always|madvise)\]/.test(transparentHugePages()))(
    'of 1 MiB and more lies on huge pages (skipped where the kernel has none)',
    () => {
      using small = new HostBuffer(MiB);
      using large = new HostBuffer(8 * MiB);
      expect(hugePagesKib(small.address)).toBeGreaterThanOrEqual(2 * 1024);
      expect(hugePagesKib(large.address)).toBeGreaterThanOrEqual(8 * 1024);
    },
  );

  test('page-locked counts as such until it is closed', async () => {
    const { stdout } = await run(process.execPath, [program('pinned'), `${32 * 1024}`]);
    expect(JSON.parse(stdout)).toEqual({ duringKiB: 32, afterKiB: 0 });
  });

  test.skipIf(!which('setpriv') || !which('prlimit') || process.getuid?.() !== 0)(
    'above the memlock limit says so, and how to raise it (skipped without root, setpriv or prlimit)',
    async () => {
      const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
      const limited = ['prlimit', '--memlock=65536', process.execPath, program('pinned'), `${MiB}`];
      const { stdout } = await run('setpriv', [...nobody, ...limited]);
      expect(JSON.parse(stdout)).toMatchObject({
        code: 'MEMORY_LIMIT',
        message: expect.stringMatching(/cannot page-lock 1M/),
        hint: expect.stringMatching(/ulimit -l/),
      });
    },
  );
});

describe('beyond 4 GiB', () => {
  const enough = kib('/proc/meminfo', 'MemAvailable') / 2 ** 20 > 7 && availableParallelism() > 1;

  test.skipIf(!enough)(
    'slices are written, looked at and verified (skipped below 7 GiB)',
    async () => {
      await using link = await connectPair({ provider: 'shm' }, MiB);
      const large = link.fabrics[1].allocate(4 * GiB + 2 * MiB);
      const remote = link.fabrics[0].remote(large.describe());
      const place = { offset: 4 * GiB + 12_345, bytes: MiB };
      await link.source.fill(3);
      await link.a.write(link.source.slice(), remote.slice(place.offset, place.bytes));
      expect(await large.verify(3, place)).toMatchObject({ wrong: 0 });
      expect(large.view(place.offset, 64)).toEqual(link.source.view(0, 64));
      expect(large.view(place.offset - 4 * GiB, 64).every((byte) => byte === 0)).toBe(true);
      expect(() => large.view()).toThrow(/several views/);
      expect(await large.verify(3, { ...place, offset: place.offset + 1 })).not.toMatchObject({
        wrong: 0,
      });
    },
  );
});

function transparentHugePages(): string {
  try {
    return readFileSync('/sys/kernel/mm/transparent_hugepage/enabled', 'utf8');
  } catch {
    return '';
  }
}

/** Of the mapping that holds the address. */
function hugePagesKib(address: bigint): number | undefined {
  let inside = false;
  for (const line of readFileSync('/proc/self/smaps', 'utf8').split('\n')) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) /.exec(line) ?? [];
    if (from && to) inside = BigInt(`0x${from}`) <= address && address < BigInt(`0x${to}`);
    const huge = /^AnonHugePages:\s+(\d+)/.exec(line)?.[1];
    if (inside && huge) return Number(huge);
  }
  return undefined;
}
