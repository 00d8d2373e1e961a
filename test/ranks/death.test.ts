import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { spawnRanks } from '../../src/world/index.js';
import { freePort, rankEnv } from '../world/ranks-in-process.js';
import { marked, newMark, pause, program, type Running, start } from './processes.js';

const node = process.execPath;
const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;

/** One local job of three, one of which is killed after `delayMs`. */
async function killOne(delayMs: number): Promise<void> {
  const mark = newMark();
  const silent = new PassThrough().resume();
  const job = await spawnRanks({
    ranks: 3,
    command: node,
    args: [program('steady')],
    env: mark,
    stdout: silent,
    stderr: silent,
  });
  await pause(delayMs);
  const victim = pick([0, 1, 2]);
  const signal = pick(['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGSEGV'] as const);
  process.kill(job.pids[victim] ?? 0, signal);
  const what = `rank ${victim}, ${signal}, after ${delayMs} ms`;
  const outcome = await Promise.race([job.done, pause(10_000)]);
  expect(outcome, `${what}: hangs`).toBeDefined();
  expect(outcome?.failure, what).toMatchObject({ rank: victim, signal });
  expect(marked(mark), what).toEqual([]);
}

describe('killing a rank', () => {
  test('at any moment, 50 times: never hangs, is named, leaves no process', async () => {
    const lane = async () => {
      for (let i = 0; i < 25; i += 1) await killOne(Math.round(Math.random() * 700));
    };
    await Promise.all([lane(), lane()]);
  }, 120_000);
});

describe('ranks without a parent to end them', () => {
  interface Trio {
    ranks: Running[];
    mark: ReturnType<typeof newMark>;
  }

  async function trio(env: NodeJS.ProcessEnv = {}): Promise<Trio> {
    const place = { port: await freePort(), size: 3 };
    const mark = newMark();
    const ranks = [0, 1, 2].map((rank) =>
      start(node, [program('steady')], { env: { ...rankEnv(rank, place), ...mark, ...env } }),
    );
    await Promise.all(ranks.map((rank) => rank.says(/joined/)));
    return { ranks, mark };
  }

  test.each([0, 1, 2])('rank %i dies: the others end and name it', async (victim) => {
    const { ranks, mark } = await trio();
    await pause(Math.random() * 100);
    ranks[victim]!.child.kill('SIGKILL');
    const started = performance.now();
    for (const [rank, { finished }] of ranks.entries()) {
      if (rank === victim) continue;
      const { code, stderr } = await finished;
      expect(code).toBe(1);
      expect(stderr).toMatch(
        new RegExp(
          `PEER_LOST: rank ${victim} on host \\S+ \\(pid ${ranks[victim]!.child.pid}\\) was lost`,
        ),
      );
    }
    expect(performance.now() - started).toBeLessThan(5000);
    expect(marked(mark)).toEqual([]);
  });

  test.each([0, 2])('rank %i is stopped for a while: nobody is lost', async (stopped) => {
    const { ranks } = await trio({
      TEST_ROUNDS: '60',
      TEST_HEARTBEAT_MS: '100',
      TEST_SILENCE_MS: '4000',
    });
    ranks[stopped]!.child.kill('SIGSTOP');
    await pause(1500);
    ranks[stopped]!.child.kill('SIGCONT');
    for (const { finished } of ranks) expect(await finished).toMatchObject({ code: 0, stderr: '' });
  });

  test('a rank stopped for longer than silence is allowed is lost', async () => {
    const { ranks } = await trio({ TEST_HEARTBEAT_MS: '100', TEST_SILENCE_MS: '800' });
    ranks[1]!.child.kill('SIGSTOP');
    for (const rank of [0, 2]) {
      expect((await ranks[rank]!.finished).stderr).toMatch(
        /PEER_LOST: rank 1 on host .*silent for/,
      );
    }
    ranks[1]!.child.kill('SIGKILL');
  });

  test('rank 0 stopped for longer than silence is allowed is lost', async () => {
    const { ranks } = await trio({ TEST_HEARTBEAT_MS: '100', TEST_SILENCE_MS: '800' });
    ranks[0]!.child.kill('SIGSTOP');
    for (const rank of [1, 2]) {
      expect((await ranks[rank]!.finished).stderr).toMatch(
        /PEER_LOST: rank 0 on host .*silent for/,
      );
    }
    ranks[0]!.child.kill('SIGKILL');
  });

  test('a stopped rank is named by the barrier that waits for it', async () => {
    const { ranks } = await trio({ TEST_TIMEOUT_MS: '1000' });
    ranks[1]!.child.kill('SIGSTOP');
    expect((await ranks[2]!.finished).stderr).toMatch(
      /barrier "round" timed out after 1.0 s; missing: rank 1 on host \S+ \(pid \d+\): last step: (joined|finished barrier "round")/,
    );
    ranks[1]!.child.kill('SIGKILL');
  });
});
