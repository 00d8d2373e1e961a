// Many inputs for everything that reads from outside. docs/security.md has the figures of the last whole run.
//   npm run test:fuzz -- [--inputs N] [--seed N] [--target NAME[,NAME]] [--from N]
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const names = ['inputs', 'seed', 'target', 'from'];
const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
const { values } = parseArgs({ options });
// Another seed every day; the same for everybody who looks into a finding of that day.
const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
const given = { inputs: '1000000', seed: today, ...values };
const env = { ...process.env };
for (const [name, value] of Object.entries(given)) env[`WEFT_FUZZ_${name.toUpperCase()}`] = value;
console.log(`fuzz: seed ${given.seed}`);
const { status } = spawnSync('npx', ['vitest', 'run', 'test/fuzz/fuzz.test.ts'], {
  env,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
