import { execFileSync } from 'node:child_process';
import {
  chmodSync,
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
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';
import { bundlePaths, lackingIn, runner } from '../../scripts/bundle.mjs';
import { writeBundleFile } from '../../scripts/bundle-file.mjs';
import { importedPackages, packagesFor } from '../../scripts/bundle-packages.mjs';
import { readNeeds, unmet } from '../../scripts/elf.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders: string[] = [];
const folder = () => {
  folders.push(mkdtempSync(join(tmpdir(), 'weft-bundle-test-')));
  return folders.at(-1)!;
};
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true });
});

/** A header and all of ours that it includes. */
function includedBy(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = readFileSync(join(root, path), 'utf8');
  for (const [, file] of text.matchAll(/^#include "([^"]+)"/gm)) {
    includedBy(join(dirname(path), file!), seen);
  }
  return seen;
}

const placesIn = (tests: boolean) => bundlePaths({ tests }).map(({ to }) => to);

describe('a bundle', () => {
  test('has the command, the addon, the kernels and the packages they import, all of them there', () => {
    const paths = placesIn(false);
    for (const path of ['bin', 'dist', 'kernels/ptx', 'build/Release/weft.node']) {
      expect(paths).toContain(path);
    }
    for (const header of includedBy('kernels/weft-shmem.cuh')) expect(paths).toContain(header);
    for (const name of importedPackages(join(root, 'dist'))) {
      expect(paths).toContain(`node_modules/${name}`);
    }
    expect(bundlePaths({ tests: false }).filter(({ from }) => !existsSync(from))).toEqual([]);
  });

  test('has no compiler, and vitest only when asked for', () => {
    const plain = placesIn(false);
    expect(plain).not.toContain('node_modules/typescript');
    expect(plain).not.toContain('node_modules/esbuild');
    expect(plain).not.toContain('node_modules/vitest');
    expect(placesIn(true)).toEqual(expect.arrayContaining(['node_modules/vitest', 'test', 'src']));
  });

  test('needs a package that is not installed: an error, not a bundle that fails later', () => {
    expect(() => packagesFor(root, ['no-such-package'])).toThrow(/no-such-package/);
  });

  test('takes packages inside packages along', () => {
    const checkout = folder();
    const add = (path: string, manifest: object) => {
      mkdirSync(join(checkout, path), { recursive: true });
      writeFileSync(join(checkout, path, 'package.json'), JSON.stringify(manifest));
    };
    mkdirSync(join(checkout, 'dist'));
    writeFileSync(
      join(checkout, 'dist/a.js'),
      "import { x } from 'outer/part';\nimport './b.js';\nimport { readFileSync } from 'node:fs';\n",
    );
    add('node_modules/outer', {
      dependencies: { inner: '2' },
      optionalDependencies: { elsewhere: '1' },
    });
    add('node_modules/outer/node_modules/inner', {});
    add('node_modules/inner', {});
    const places = ['node_modules/outer', 'node_modules/outer/node_modules/inner'];
    expect(packagesFor(checkout, []).map(({ to }) => to)).toEqual(places);
    // Beside an installed package, the same.
    const installed = join(checkout, 'node_modules/@weft-fabric/weft');
    cpSync(join(checkout, 'dist'), join(installed, 'dist'), { recursive: true });
    expect(packagesFor(installed, [])).toEqual(
      places.map((to) => ({ from: join(checkout, to), to })),
    );
  });
});

describe('the file of a bundle', () => {
  /** One whose Node is a script that says what it was called with. */
  function smallFile(): string {
    const contents = folder();
    const node = '#!/bin/sh\n[ "$1" = --version ] || { echo "$(basename "$1")" "$2"; exit 7; }\n';
    writeFileSync(join(contents, 'node'), node, { mode: 0o755 });
    const file = join(folder(), 'weft.run');
    writeBundleFile(file, { folder: contents, version: '1.2.3' });
    return file;
  }
  const start = (file: string, home: string, args = ['info']) =>
    execa(file, args, {
      env: { PATH: '/usr/bin:/bin', HOME: home, TMPDIR: home },
      ...{ extendEnv: false, reject: false },
    });

  test('unpacks once into the cache, runs weft with its arguments, and ends with its exit code', async () => {
    const [file, home] = [smallFile(), folder()];
    for (const args of [['info'], ['list']]) {
      expect(await start(file, home, args)).toMatchObject({
        stdout: `weft ${args[0]}`,
        exitCode: 7,
      });
    }
    const unpacked = readdirSync(join(home, '.cache/weft'));
    expect(unpacked).toEqual([expect.stringMatching(/^1\.2\.3-[0-9a-f]{12}$/)]);
  });

  test('unpacks once for ranks that start together', async () => {
    const [file, home] = [smallFile(), folder()];
    const ended = await Promise.all(Array.from({ length: 8 }, () => start(file, home)));
    expect(ended.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(
      Array(8).fill([7, 'weft info']),
    );
    expect(readdirSync(join(home, '.cache/weft'))).toHaveLength(1);
  });

  test('refuses a damaged copy and leaves nothing behind', async () => {
    const [file, home] = [smallFile(), folder()];
    const bytes = readFileSync(file);
    bytes[bytes.length - 20]! ^= 1;
    writeFileSync(file, bytes);
    const { exitCode, stderr } = await start(file, home);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/is damaged: its checksum is wrong\nCopy it again/);
    expect(readdirSync(join(home, '.cache/weft'))).toEqual([]);
  });

  test('says where it cannot unpack, and what to set', async () => {
    const home = folder();
    writeFileSync(join(home, '.cache'), 'no folder');
    const { exitCode, stderr } = await start(smallFile(), home);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/cannot write to .*\nSet WEFT_BUNDLE_DIR/);
  });

  test('holds nothing that a system with glibc 2.34 lacks', () => {
    const contents = folder();
    const libc = '/lib/x86_64-linux-gnu/libc.so.6';
    expect(readNeeds(process.execPath)?.libraries).toContain('libc.so.6');
    expect(readNeeds(libc)?.versions).toContain('GLIBC_PRIVATE');
    cpSync(process.execPath, join(contents, 'other'));
    expect(lackingIn(contents)).toContain('other: libstdc++.so.6');
    cpSync(process.execPath, join(contents, 'node'));
    expect(lackingIn(contents).filter((text) => text.startsWith('node:'))).toEqual([]);
    const versions = [
      'GLIBC_2.34',
      'GLIBC_2.2.5',
      'GLIBC_2.35',
      'GLIBC_3.0',
      'GCC_3.0',
      'GCC_12.0',
    ];
    expect(unmet(versions)).toEqual(['GLIBC_2.35', 'GLIBC_3.0', 'GCC_12.0']);
    expect(unmet(['GLIBCXX_3.4.29', 'GLIBCXX_3.4.30'], { cxx: true })).toEqual(['GLIBCXX_3.4.30']);
    expect(unmet(['GLIBCXX_3.4', 'CXXABI_1.3'])).toHaveLength(2);
  });
});

describe('run.sh', () => {
  /** A bundle whose Node is a script that says what it was called with. */
  function smallBundle(): string {
    const contents = folder();
    const bundle = folder();
    writeFileSync(join(contents, 'node'), '#!/bin/sh\necho "$(basename "$1")" "$2" "$3"\nexit 7\n');
    chmodSync(join(contents, 'node'), 0o755);
    execFileSync('tar', ['-cJf', join(bundle, 'weft.tar.xz'), '-C', contents, '.']);
    writeFileSync(join(bundle, 'run.sh'), runner, { mode: 0o755 });
    return bundle;
  }

  function runIt(args: string[], env: NodeJS.ProcessEnv = {}) {
    const cwd = folder();
    try {
      const stdout = execFileSync(join(smallBundle(), 'run.sh'), args, {
        cwd,
        env: { PATH: '/usr/bin:/bin', TMPDIR: cwd, ...env },
        encoding: 'utf8',
      });
      return { stdout, status: 0, cwd };
    } catch (error) {
      const { stdout, status } = error as { stdout: string; status: number };
      return { stdout, status, cwd };
    }
  }

  test('runs weft with its arguments, and ends with its exit code', () => {
    expect(runIt(['info', '--format'])).toMatchObject({
      stdout: 'weft info --format\n',
      status: 7,
    });
  });

  test('runs the tests and the GPU benchmark by name', () => {
    expect(runIt(['test']).stdout).toBe('vitest.mjs run test/gpu\n');
    expect(runIt(['bench-gpu', '--sweep']).stdout).toBe('bench-gpu.mjs --sweep \n');
  });

  test('leaves nothing behind, unless it was told where to unpack', () => {
    const { cwd } = runIt(['info']);
    expect(execFileSync('ls', ['-A', cwd], { encoding: 'utf8' })).toBe('');
    const kept = join(folder(), 'kept');
    runIt(['info'], { WEFT_BUNDLE_DIR: kept });
    expect(existsSync(join(kept, 'node'))).toBe(true);
  });
});
