// Runs the tests of vitest.efa.config.ts on emulated EFA devices, once per fabric that libfabric has for them:
// `npm run test:efa` with the system's libfabric, `npm run test:efa -- /opt/x/libfabric.so.1` with another build.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const weft = [process.execPath, `${root}bin/weft`];
const vitest = ['npx', 'vitest', 'run', '--config', 'vitest.efa.config.ts'];

const [library, ...filters] = process.argv.slice(2).filter((word) => word !== '--');
if (library !== undefined && !existsSync(library)) {
  console.error(`test:efa: there is no ${library}\nName a libfabric.so.1, or nothing.`);
  process.exit(2);
}
const env = { ...process.env, ...(library && { WEFT_LIBFABRIC: library }) };

/** Runs a command with four devices, by default of a p5en. */
const emulated = (command, more = {}, stdio = 'inherit', machine = 'p5en') => {
  const [node, ...words] = [...weft, 'emulate', 'efa', '--machine', machine, '--nics', '4', '--'];
  return spawnSync(node, [...words, ...command], { cwd: root, env: { ...env, ...more }, stdio });
};

const { providers } = JSON.parse(
  emulated([...weft, 'info', '--format', 'json'], {}, 'pipe').stdout.toString(),
);
const usable = new Set(providers.filter((one) => one.usable).map(({ name }) => name));
const fabrics = ['efa', 'efa-direct'].filter((name) => usable.has(name));
if (fabrics.length === 0) {
  console.error('test:efa: this libfabric does not offer the emulated EFA devices');
  process.exit(1);
}
const test = (fabric, which, machine) => {
  const { status } = emulated(
    [...vitest, ...which],
    { WEFT_TEST_PROVIDERS: fabric },
    'inherit',
    machine,
  );
  if (status !== 0) process.exit(status ?? 1);
};
for (const fabric of fabrics) test(fabric, filters);
// The devices of a p5 have no unsolicited receives: there an immediate takes a posted receive.
const onP5 = filters.length > 0 ? filters : ['test/contract', 'test/engine'];
if (fabrics.includes('efa-direct')) test('efa-direct', onP5, 'p5');
