import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';

const program = fileURLToPath(new URL('programs/terminated-worker.mjs', import.meta.url));

describe('a worker thread that is terminated', () => {
  test.each([
    ['while plans run', 'run'],
    ['while producers are served', 'serve'],
    ['while a queue is measured', 'queue'],
    ['while a buffer is prepared', 'prepare'],
    ['while a buffer is filled', 'fill'],
    ['while buffers are registered', 'register'],
    ['while threads write to another process', 'write'],
    ['while one copies to another process', 'copy'],
  ])('%s takes its native work along', async (_, kind) => {
    const { exitCode, stdout, stderr } = await execa(process.execPath, [program, kind, '4'], {
      reject: false,
      timeout: 50_000,
    });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: 'terminated 4',
      stderr: '',
    });
  });
});
