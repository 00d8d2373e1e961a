import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bundlePaths, lackingIn, runner } from '../../scripts/bundle.mjs';
import { importedPackages, packagesFor } from '../../scripts/bundle-packages.mjs';
import { readNeeds, unmet } from '../../scripts/elf.mjs';
import { temporaryFolders } from './folders.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolders('weft-bundle-test-');

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
  test('has the command, the addon and the kernels, all of them there', () => {
    const paths = placesIn(false);
    for (const path of ['bin', 'kernels/ptx', 'build/Release/weft.node']) {
      expect(paths).toContain(path);
    }
    for (const header of includedBy('kernels/weft-shmem.cuh')) expect(paths).toContain(header);
    expect(bundlePaths({ tests: false }).filter(({ from }) => !existsSync(from))).toEqual([]);
  });

  test('has of dist what the package has', () => {
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const wanted = files.filter((path: string) => /^dist\/.*(?<!\.d\.ts)$/.test(path));
    const packed = placesIn(false).filter((path) => path.startsWith('dist'));
    const found = packed.map((path) => path.replace(/^(dist\/entry)\/\w+/, '$1/*'));
    expect([...new Set(found)].sort()).toEqual(wanted.sort());
  });

  test('has what its scripts import, so that a bundle packs bundles', () => {
    const paths = placesIn(false);
    const scripts = paths.filter((path) => path.startsWith('scripts/'));
    expect(scripts).toContain('scripts/bundle.mjs');
    for (const script of scripts) {
      const text = readFileSync(join(root, script), 'utf8');
      for (const [, file] of text.matchAll(/ from '(\..*)';$/gm)) {
        expect(paths).toContain(join(dirname(script), file!));
      }
    }
  });

  test('has packages only for tests: those of dist and vitest', () => {
    expect(placesIn(false).filter((path) => path.startsWith('node_modules'))).toEqual([]);
    const imported = importedPackages(join(root, 'dist')).map((name) => `node_modules/${name}`);
    const needed = ['node_modules/vitest', 'test', 'src', 'dist', 'comparisons', ...imported];
    expect(placesIn(true)).toEqual(expect.arrayContaining(needed));
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

  test('runs the tests and the GPU benchmarks by name', () => {
    expect(runIt(['test']).stdout).toBe('vitest.mjs run test/gpu\n');
    expect(runIt(['bench-gpu', '--sweep']).stdout).toBe('bench-gpu.mjs --sweep \n');
    expect(runIt(['bench-tokens']).stdout).toBe('bench-tokens.mjs  \n');
  });

  test('leaves nothing behind, unless it was told where to unpack', () => {
    const { cwd } = runIt(['info']);
    expect(execFileSync('ls', ['-A', cwd], { encoding: 'utf8' })).toBe('');
    const kept = join(folder(), 'kept');
    runIt(['info'], { WEFT_BUNDLE_DIR: kept });
    expect(existsSync(join(kept, 'node'))).toBe(true);
  });
});
