import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lackingIn } from '../../scripts/bundle.mjs';
import { readNeeds, unmet } from '../../scripts/elf.mjs';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'weft-package-'));
const project = join(folder, 'project');
const installed = join(project, 'node_modules/@weft-fabric/weft');
afterAll(() => rmSync(folder, { recursive: true }));

/** Without what npm tells the scripts it runs: a user's shell has none of it. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST|WEFT_)/i.test(name)),
);

function run(command: string, args: string[], options: { cwd?: string; env?: object } = {}) {
  const { stdout, stderr, status } = spawnSync(command, args, {
    cwd: project,
    env,
    encoding: 'utf8',
    ...options,
  } as { encoding: 'utf8' });
  return { status, stdout, stderr };
}

// The addon of a package is made where glibc is old enough for it.
const { glibcVersionRuntime = '' } = (
  process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
).header;
const canPack = Number(glibcVersionRuntime.split('.')[1]) <= 36;

describe.skipIf(!canPack)('a new user, with the package and libfabric alone', () => {
  beforeAll(() => {
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
    const archive = join(folder, packed.stdout.trim().split('\n').at(-1)!);
    const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', archive];
    expect(run('npm', install)).toMatchObject({ status: 0 });
  }, 120_000);

  test('gets no compiler and less than 25 MB', () => {
    const { stdout } = run('du', ['-sk', 'node_modules']);
    expect(Number.parseInt(stdout, 10)).toBeLessThan(25 * 1024);
    for (const name of ['typescript', 'echarts', 'esbuild', 'node-gyp']) {
      expect(existsSync(join(project, 'node_modules', name)), name).toBe(false);
    }
  });

  test('has a bill of materials', () => {
    const bill = JSON.parse(readFileSync(join(installed, 'dist/sbom.cdx.json'), 'utf8'));
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(bill.components.length).toBeGreaterThan(10);
  });

  test('has an addon for every glibc from 2.34 on and any libstdc++', () => {
    const { versions } = readNeeds(join(installed, 'prebuilds/linux-x64/weft.node'))!;
    expect(versions).toContain('GLIBC_2.34');
    expect(unmet(versions)).toEqual([]);
    expect(unmet(['GLIBC_2.35', 'GLIBCXX_3.4', 'CXXABI_1.3', 'GCC_3.0'])).toHaveLength(3);
  });

  test('has the emulated EFA device for the same systems', () => {
    for (const library of ['libibverbs.so.1', 'libefa.so.1']) {
      const { versions } = readNeeds(join(installed, 'prebuilds/linux-x64/efa', library))!;
      expect(unmet(versions), library).toEqual([]);
    }
  });

  test('measures', () => {
    expect(run('npx', ['weft', 'info'])).toMatchObject({ status: 0 });
    const write = run('npx', ['weft', 'write', '--ranks', '2', '-b', '64K', '-e', '64K']);
    expect(write).toMatchObject({ status: 0, stdout: expect.stringContaining('none wrong') });
    expect(existsSync(join(installed, 'build'))).toBe(false);
  });

  test.each(['write-to-each-other', 'ring'])('runs the example %s', (name) => {
    cpSync(join(installed, `examples/${name}.mjs`), join(project, `${name}.mjs`));
    expect(run(process.execPath, [`${name}.mjs`])).toMatchObject({ status: 0 });
  });

  test('compiles against the types of every entry point', () => {
    writeFileSync(join(project, 'program.ts'), program);
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
    const language = ['--target', 'es2022', '--lib', 'es2023,esnext.disposable'];
    const args = ['--noEmit', '--strict', '--module', 'nodenext', ...language, ...types];
    expect(run(process.execPath, [compiler, ...args, 'program.ts'])).toMatchObject({ stdout: '' });
  });

  test('packs a bundle that runs where there is no Node and no libfabric', {
    timeout: 120_000,
  }, () => {
    const pack = [join(installed, 'bin/weft'), 'bundle', '--out', 'bundle'];
    expect(run(process.execPath, pack)).toMatchObject({ status: 0, stderr: '' });
    const [file = '', sum = ''] = readdirSync(join(project, 'bundle'));
    expect(file).toMatch(/^weft-\d+\.\d+\.\d+-linux-x64\.run$/);
    expect(sum).toBe(`${file}.sha256`);
    expect(run('sha256sum', ['-c', sum], { cwd: join(project, 'bundle') })).toMatchObject({
      status: 0,
    });
    const hidden = [process.execPath, '/lib/x86_64-linux-gnu/libfabric.so.1', '/etc/ld.so.cache'];
    const hide = hidden.map((path) => `mount --bind /dev/null "$(readlink -f ${path})" && `);
    const bare = { PATH: '/usr/bin:/bin', HOME: folder, WEFT_BUNDLE_DIR: join(folder, 'unpacked') };
    const command = `${hide.join('')}./bundle/${file} write --ranks 2 -b 64K -e 64K`;
    expect(run('unshare', ['--mount', 'sh', '-c', command], { env: bare })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/libfabric 1\.17.*none wrong/s),
    });
    const [unpacked = ''] = readdirSync(bare.WEFT_BUNDLE_DIR);
    const contents = join(bare.WEFT_BUNDLE_DIR, unpacked);
    expect(existsSync(join(contents, 'lib/libibverbs.so.1'))).toBe(true);
    expect(lackingIn(contents)).toEqual([]);
  });

  test('is told what to do where no addon loads and none can be built', () => {
    const copy = join(folder, 'copy');
    cpSync(project, copy, { recursive: true });
    rmSync(join(copy, 'node_modules/@weft-fabric/weft/prebuilds'), { recursive: true });
    const bin = join(copy, 'node_modules/@weft-fabric/weft/bin/weft');
    const { status, stderr } = run(process.execPath, [bin, 'write', '-e', '64K'], {
      cwd: copy,
      env: { ...env, PATH: '/nowhere' },
    });
    expect(status).toBe(3);
    expect(stderr).toContain('the native addon could not be loaded');
    expect(stderr).toContain('apt-get install g++ libfabric-dev');
    expect(stderr).not.toContain('checkout');
  });
});

const program = `
import { openFabric, openWorld, WeftError, type Channel } from '@weft-fabric/weft';
import { columns, defineBenchmark, pinned, single, type Turn } from '@weft-fabric/weft/benchmark';
import { compareRuns, readRun, type Run } from '@weft-fabric/weft/results';
import { chartsOf, renderReport, renderSvg } from '@weft-fabric/weft/report';

const run: Run = readRun('a.jsonl').run;
export const page: string = renderReport([run]);
export const picture: string = renderSvg(chartsOf([run]));
export const changes = compareRuns([run], [run]).rows.map((row) => row.verdict);
export const names: string[] = columns([single], [pinned]).map((column) => column.name);
export const turns: Turn[] = [];
export const all = [openFabric, openWorld, WeftError, defineBenchmark];
export const send = (channel: Channel) => channel.peer;
// @ts-expect-error
export const wrong: number = renderReport([run]);
`;
