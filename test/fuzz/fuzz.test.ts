import { beforeAll, describe, expect, test } from 'vitest';
import { again, buildChild, findingsFolder, mostMebibytes, runTarget } from './run-target.js';
import { targets } from './targets/index.js';

// `npm run test:fuzz` sets these; docs/security.md has its last figures.
const env = process.env;
const inputs = Number(env.WEFT_FUZZ_INPUTS ?? 50_000);
const seed = Number(env.WEFT_FUZZ_SEED ?? 1);
const from = Number(env.WEFT_FUZZ_FROM ?? 0);
const names = env.WEFT_FUZZ_TARGET?.split(',');
const chosen = targets.filter(({ name }) => names?.includes(name) ?? true);
const shares = chosen.reduce((sum, { share }) => sum + share, 0);

beforeAll(async () => void (await buildChild()));

// Each target is a process: some at a time use all cores.
describe.concurrent('input from outside ends in a result or a refusal', () => {
  test.each(chosen)('$name', { timeout: 4 * 3600 * 1000 }, async (target) => {
    const count = Math.ceil((inputs * target.share) / shares);
    const startedMs = performance.now();
    const { accepted, refused, findings, mebibytes } = await runTarget(target, {
      seed,
      from,
      count,
    });
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    process.stdout.write(
      `fuzz: ${target.name}: ${count} inputs, ${accepted} accepted, ${refused} refused, ${findings.length} findings, ${seconds} s, ${Math.ceil(mebibytes)} MiB\n`,
    );
    const told = findings.map(
      ({ index, text }) => `${again(target.name, seed, index)} (${findingsFolder})\n${text}`,
    );
    expect(told, told.join('\n\n')).toEqual([]);
    expect(mebibytes).toBeLessThan(mostMebibytes);
    // A target that refuses everything, or nothing, tests little.
    if (count > 500) expect(Math.min(accepted, refused)).toBeGreaterThan(0);
  });
});
