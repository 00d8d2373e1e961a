import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { bundlePaths, runner } from '../../scripts/bundle.mjs';
import { importedPackages, packagesFor } from '../../scripts/bundle-packages.mjs';

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

describe('a bundle', () => {
  test('has the command, the addon, the kernels and the packages they import, all of them there', () => {
    const paths = bundlePaths({ tests: false });
    for (const path of ['bin', 'dist', 'kernels/ptx', 'build/Release/weft.node']) {
      expect(paths).toContain(path);
    }
    for (const header of includedBy('kernels/weft-shmem.cuh')) expect(paths).toContain(header);
    for (const name of importedPackages(join(root, 'dist'))) {
      expect(paths).toContain(`node_modules/${name}`);
    }
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('has no compiler, and vitest only when asked for', () => {
    const plain = bundlePaths({ tests: false });
    expect(plain).not.toContain('node_modules/typescript');
    expect(plain).not.toContain('node_modules/esbuild');
    expect(plain).not.toContain('node_modules/vitest');
    const tests = bundlePaths({ tests: true });
    expect(tests).toEqual(expect.arrayContaining(['node_modules/vitest', 'test', 'src']));
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
    expect(packagesFor(checkout, [])).toEqual([
      'node_modules/outer',
      'node_modules/outer/node_modules/inner',
    ]);
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
