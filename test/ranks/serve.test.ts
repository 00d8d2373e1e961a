// Transfers that producers ask for, served with real ranks. A kernel's producers are in test/gpu/own-kernel.test.ts.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { run } from './processes.js';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const library = at('../../dist/index.js');
const program = at('../shmem/programs/serve.mjs');

/** With what every rank says, or only what rank 0 does. */
async function inRanks(ranks: number, what: string, provider: string, prefix = true) {
  const driver = `
    import { spawnRanks } from ${JSON.stringify(library)};
    const job = await spawnRanks({ ranks: ${ranks}, prefix: ${prefix}, command: process.execPath, args: [${JSON.stringify(program)}, '${what}'] });
    process.exit((await job.done).ok ? 0 : 1);`;
  const args = ['--input-type=module', '-e', driver];
  return run(process.execPath, args, { env: { SERVE_PROVIDER: provider } });
}

async function said(ranks: number, what: string, provider: string): Promise<string> {
  const { code, stdout, stderr } = await inRanks(ranks, what, provider, false);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout.trim();
}

describe.each(['shm', 'tcp'])('over %s', (provider) => {
  test('requests of different sizes to several peers arrive, quiet after each or at the end', async () => {
    expect(await said(3, 'each', provider)).toBe('0 wrong');
  });

  test('closing delivers what was asked for, and leaves the fabric usable', async () => {
    expect(await said(3, 'drained', provider)).toBe('0 wrong');
  });

  test('closing when nothing was asked for ends well', async () => {
    expect(await said(2, 'nothing', provider)).toBe('nothing asked, then CLOSED');
  });

  test('a rank that is killed ends the service of the others, with its name', async () => {
    const { stdout, stderr } = await inRanks(3, 'killed', provider);
    expect(stdout).toMatch('rank 0: PEER_LOST PEER_LOST');
    expect(stderr).toMatch('rank 1: PEER_LOST PEER_LOST');
  });
});

test('a transfer that does not exist ends the service aloud', async () => {
  const { stdout, stderr } = await inRanks(2, 'unknown', 'shm');
  expect(stdout).toMatch('BAD_USAGE: producer 0 of 1 requested transfer 8 of 8');
  expect(stdout).toMatch('rank 0: BAD_USAGE');
  expect(stderr).toMatch(/rank 1: (ABORTED|BAD_USAGE)/);
});

test('wrong peers, ranges, producers and uses are refused', async () => {
  expect(await said(2, 'misuse', 'shm')).toBe('TypeError TypeError TypeError BAD_USAGE BUSY done');
});
