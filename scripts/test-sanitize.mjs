// Runs the native code under the sanitizers of GCC.
//   npm run test:sanitize                 both parts
//   npm run test:sanitize -- address      AddressSanitizer and UndefinedBehaviorSanitizer: the addon in the contract suite
//   npm run test:sanitize -- thread       ThreadSanitizer: executor, proxy and queue over shm, in a program of their own
// Further words choose test files of the first part.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countedOf, frameFormat } from './leak-reports.mjs';
import { runCommand } from './setup/command.mjs';
import { headerFolders, sources } from './setup/native-build.mjs';
import { compileAll } from './setup/native-objects.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'build/sanitize';
const suite = ['test/contract', ...engineTests(), 'test/memory/prepare.test.ts'];
suite.push('test/native/terminated-worker.test.ts', 'test/native/plans.test.ts');
suite.push('test/native/arguments.test.ts', 'test/fuzz/fuzz.test.ts');

const definitions = ['-DNAPI_VERSION=8', '-DNAPI_CPP_EXCEPTIONS'];
definitions.push(
  '-DNODE_ADDON_API_DISABLE_DEPRECATED',
  '-DNODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
);
const common = ['-std=c++20', '-O1', '-g', '-fno-omit-frame-pointer', '-fPIC', '-pthread'];
common.push('-ffp-contract=off', '-Wall', '-Wextra', '-Wno-unused-parameter', ...definitions);

const main = { address, thread };
const [first = '', ...rest] = process.argv.slice(2);
const parts = first in main ? [first] : Object.keys(main);
for (const part of parts) await main[part](first in main ? rest : [first, ...rest].filter(Boolean));

/** Without the one that counts what malloc holds: here malloc is the sanitizer's. */
function engineTests() {
  const files = readdirSync(join(root, 'test/engine')).filter((name) => name.endsWith('.test.ts'));
  return files.filter((name) => name !== 'many-runs.test.ts').map((name) => `test/engine/${name}`);
}

async function build(kind, flags, which, output, link) {
  const headers = headerFolders(root).flatMap((path) => ['-isystem', path]);
  const run = async (args) => {
    const { code, output: said } = await runCommand('g++', args, { cwd: root });
    if (code !== 0) throw new Error(`g++ failed:\n${said}`);
  };
  const compile = (source, object, more) =>
    run([...common, ...flags, ...headers, ...more, '-c', source, '-o', object]);
  const stamp = `sanitize-${kind}`;
  const tools = { flags: [...common, ...flags] };
  const where = `${folder}/${kind}`;
  const objects = await compileAll({ root, stamp, tools, sources: which, compile, folder: where });
  mkdirSync(join(root, folder), { recursive: true });
  await run([...flags, ...objects, ...link, '-pthread', '-ldl', '-o', output]);
}

async function address(chosen) {
  const flags = ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined'];
  const addon = join(root, folder, 'weft.node');
  const link = ['-shared', '-Wl,--version-script,native/exports.map', '-Wl,-z,nodelete'];
  await build('address', flags, sources(root), addon, link);
  const reports = join(root, folder, 'reports');
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports);
  const libraries = ['libasan.so', 'libubsan.so', 'libstdc++.so.6'].map((name) =>
    spawnSync('g++', [`-print-file-name=${name}`], { encoding: 'utf8' }).stdout.trim(),
  );
  const suppressions = join(root, 'scripts/sanitize-suppressions.txt');
  const env = {
    ...process.env,
    // Those that call the addon, a few thousand times.
    WEFT_FUZZ_TARGET: 'plans,addon',
    WEFT_FUZZ_INPUTS: '4000',
    LD_PRELOAD: libraries.join(':'),
    WEFT_SANITIZED: addon,
    NODE_OPTIONS: `--require=${join(root, 'scripts/sanitize-addon.cjs')}`,
    // Node has signal handlers and stacks of its own. Reports go to files: a child's stderr may be thrown away.
    ASAN_OPTIONS: `allow_user_segv_handler=1:allocator_may_return_null=1:detect_stack_use_after_return=0:log_path=${reports}/address:stack_trace_format='${frameFormat}'`,
    // Node always leaves something: what counts is told from the reports, and no process fails by it.
    LSAN_OPTIONS: `suppressions=${suppressions}:print_suppressions=0:report_objects=0:exitcode=0`,
    UBSAN_OPTIONS: `print_stacktrace=1:log_path=${reports}/undefined`,
  };
  const loads = `require(${JSON.stringify(join(root, 'build/Release/weft.node'))});
    process.exit(require('fs').readFileSync('/proc/self/maps', 'utf8').includes(${JSON.stringify(addon)}) ? 0 : 1)`;
  const loaded = spawnSync(process.execPath, ['-e', loads], { env, encoding: 'utf8' });
  if (loaded.status !== 0) throw new Error(`the watched addon does not load:\n${loaded.stderr}`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const tests = chosen.length > 0 ? chosen : suite;
  const slow = ['--testTimeout=300000', '--hookTimeout=300000'];
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...slow, ...tests], {
    ...{ cwd: root, env, stdio: 'inherit' },
  });
  const found = readdirSync(reports)
    .map((name) => [name, countedOf(readFileSync(join(reports, name), 'utf8'), addon)])
    .filter(([, counted]) => counted !== '');
  for (const [name, counted] of found) console.log(`${name}\n${counted.slice(0, 6000)}`);
  end('AddressSanitizer and UndefinedBehaviorSanitizer', status === 0 && found.length === 0);
}

async function thread() {
  // Everything below JavaScript's boundary, and the program in its place.
  const own = sources(root).filter((source) => !usesNode(source));
  const program = join(root, folder, 'fabric-threads');
  await build(
    'thread',
    ['-fsanitize=thread'],
    [...own, 'test/native/fabric-threads.cc'],
    program,
    [],
  );
  const suppressions = join(root, 'scripts/sanitize-threads.txt');
  const TSAN_OPTIONS = `suppressions=${suppressions}:exitcode=66:history_size=7`;
  const { status } = spawnSync(program, {
    env: { ...process.env, TSAN_OPTIONS },
    stdio: 'inherit',
  });
  end('ThreadSanitizer', status === 0);
}

/** Whether a source, or a header it includes, needs Node. */
function usesNode(source, seen = new Set()) {
  if (seen.has(source) || !existsSync(join(root, source))) return false;
  seen.add(source);
  const text = readFileSync(join(root, source), 'utf8');
  if (text.includes('#include <napi.h>')) return true;
  const included = [...text.matchAll(/#include "(.+)"/g)].map(([, path]) =>
    join(source, '..', path),
  );
  return included.some((path) => usesNode(path, seen));
}

function end(name, clean) {
  console.log(`${name}: ${clean ? 'clean' : 'NOT clean'}`);
  if (!clean) process.exitCode = 1;
}
