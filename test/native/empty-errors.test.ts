import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'weft-empty-errors-'));
const library = join(folder, 'libfabric-empty-errors.so');
const program = join(folder, 'wait.mjs');
const dist = (path: string) => JSON.stringify(new URL(`../../dist/${path}`, import.meta.url).href);

beforeAll(() => {
  const source = fileURLToPath(new URL('empty-errors.cc', import.meta.url));
  const versions = join(folder, 'versions.map');
  writeFileSync(versions, 'FABRIC_1.1 { global: fi_fabric; local: *; };');
  // The rest of libfabric is found behind this library, because it is linked with it.
  const flags = ['-std=c++20', '-shared', '-fPIC', `-Wl,--version-script,${versions}`];
  const linked = ['-Wl,--no-as-needed', '-l:libfabric.so.1', '-ldl'];
  execFileSync('g++', [...flags, '-o', library, source, ...linked], { stdio: 'pipe' });
  // Rank 1 runs nothing: rank 0 waits for it until its time is over.
  writeFileSync(
    program,
    `import { openFabric } from ${dist('index.js')};
    import { encodePlan } from ${dist('plan/encode.js')};
    const fabrics = [await openFabric({ provider: 'shm' }), await openFabric({ provider: 'shm' })];
    fabrics[0].connect(0, fabrics.map((fabric) => fabric.addresses));
    const { port } = fabrics[0];
    const [source, target] = [fabrics[0].allocate(64), fabrics[0].allocate(64)];
    const plan = { version: 2, rank: 0, world: 2, channels: 1, chunkBytes: 4096, window: 8,
      delivery: 'complete', sourceBytes: 64, targetBytes: 64,
      steps: [{ kind: 'wait', source: 1, slot: 0, after: [], offset: 0, bytes: 8 }] };
    const remote = fabrics[0].remote(target.describe()).id;
    const run = port.drive((native) => native.run({ plan: encodePlan(plan), source: source.region(port),
      target: target.region(port), remotes: [remote, remote], iterations: 1, batch: 1, timeoutMs: 200,
      expectedMs: 0, spinsBeforeYield: 0 }));
    console.log(await run.then(() => 'done', (error) => error.code));
    process.exit(0);`,
  );
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a run ends at its deadline when a provider announces errors that are not there', async () => {
  const env = { WEFT_LIBFABRIC: library };
  const { stdout, timedOut } = await execa(process.execPath, [program], {
    env,
    reject: false,
    timeout: 20_000,
  });
  expect({ stdout, timedOut }).toEqual({ stdout: 'TIMEOUT', timedOut: false });
});
