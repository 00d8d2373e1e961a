// Joins and meets the others again and again, until TEST_ROUNDS are done or somebody fails.
import { openWorld } from '../../../dist/world/index.js';

const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
const rounds = number('TEST_ROUNDS', 1e9);

try {
  const world = await openWorld({
    timeoutMs: number('TEST_TIMEOUT_MS', 20_000),
    heartbeatMs: number('TEST_HEARTBEAT_MS', 2000),
    silenceMs: number('TEST_SILENCE_MS', 30_000),
  });
  console.log(`joined ${world.rank} ${process.pid}`);
  try {
    for (let round = 0; round < rounds; round += 1) {
      await world.barrier('round');
      if (process.env.TEST_FAIL === `${world.rank}` && round === 3) throw new Error('told to fail');
      if (process.env.TEST_EXIT === `${world.rank}` && round === 3) process.exit(42);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } catch (error) {
    await world.fail(error);
    throw error;
  } finally {
    // A slow exit: whoever notices a failure may be gone before the one that caused it.
    if (process.env.TEST_FAIL === `${world.rank}`) await new Promise((r) => setTimeout(r, 50));
    await world.close();
  }
} catch (error) {
  console.error(`${error.code ?? 'ERROR'}: ${error.message}`);
  process.exitCode = 1;
}
