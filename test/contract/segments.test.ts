import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openFabric } from '../../src/index.js';

const program = fileURLToPath(new URL('programs/shm.mjs', import.meta.url));

const segmentsOf = (pid: number | undefined): string[] =>
  readdirSync('/dev/shm').filter((name) => name.startsWith('weft-') && name.includes(`-${pid}-`));

async function startHolder(end: string) {
  const child = spawn(process.execPath, [program, end], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { child, ended };
}

describe('shared-memory segments', () => {
  test('of a killed process are swept by the next to open shared memory', async () => {
    const { child, ended } = await startHolder('stay');
    expect(segmentsOf(child.pid)).not.toEqual([]);
    child.kill('SIGKILL');
    await ended;
    expect(segmentsOf(child.pid)).not.toEqual([]);
    await using _fabric = await openFabric({ provider: 'shm' });
    expect(segmentsOf(child.pid)).toEqual([]);
  });

  test('of a living process stay', async () => {
    const { child, ended } = await startHolder('stay');
    const before = segmentsOf(child.pid);
    await using _fabric = await openFabric({ provider: 'shm' });
    expect(segmentsOf(child.pid)).toEqual(before);
    child.kill('SIGKILL');
    await ended;
  });

  test.each(['exit', 'throw', 'return'])('are gone when a process ends by %s', async (end) => {
    const { child, ended } = await startHolder(end);
    await ended;
    expect(segmentsOf(child.pid)).toEqual([]);
  });

  test('are gone when the fabric closes', async () => {
    const before = segmentsOf(process.pid);
    const fabric = await openFabric({ provider: 'shm', channels: 2 });
    expect(segmentsOf(process.pid).length).toBeGreaterThan(before.length);
    await fabric.close();
    expect(segmentsOf(process.pid)).toEqual(before);
  });
});
