import { describe, expect, test } from 'vitest';
import { load } from './load.js';

const { missingModules } = await load('npm-packages');
const { completeLock, platformOf } = await load('complete-lock');

const wanted = {
  '': { version: '0.1.0' },
  'node_modules/zod': { version: '4.0.0' },
  'node_modules/vitest': { version: '4.1.0', dev: true },
  'node_modules/tool-darwin-arm64': { version: '1.0.0', optional: true },
};
const all = {
  'node_modules/zod': { version: '4.0.0' },
  'node_modules/vitest': { version: '4.1.0' },
};
const check = (installed: object, options = {}) =>
  missingModules({ wanted, installed, exists: () => true, ...options });

describe('npm packages', () => {
  test('for other platforms do not count', () => {
    expect(check(all)).toEqual([]);
  });

  test('for development count: the build needs them', () => {
    const installed = { 'node_modules/zod': { version: '4.0.0' } };
    expect(check(installed)).toEqual(['node_modules/vitest']);
  });

  test('another version is as good as none', () => {
    const installed = { ...all, 'node_modules/zod': { version: '3.0.0' } };
    expect(check(installed)).toEqual(['node_modules/zod']);
  });

  test('a folder deleted by hand is noticed', () => {
    const exists = (path: string) => path !== 'node_modules/zod';
    expect(check(all, { exists })).toEqual(['node_modules/zod']);
  });
});

describe('completing the lock', () => {
  test.each([
    ['@a/b-linux-x64-musl', { cpu: ['x64'], libc: ['musl'], os: ['linux'] }],
    ['@a/b-linux-arm-gnueabihf', { cpu: ['arm'], libc: ['glibc'], os: ['linux'] }],
    ['@a/b-win32-arm64-msvc', { cpu: ['arm64'], os: ['win32'] }],
    ['@a/b-wasm32-wasi', { cpu: ['wasm32'] }],
  ])('%s names its platform', (name, platform) => {
    expect(platformOf(name)).toEqual(platform);
  });

  test('adds what is pinned and absent, and keeps what is there', () => {
    const there = { version: '1.0.0', integrity: 'x' };
    const lock = {
      packages: {
        'node_modules/b': {
          dev: true,
          optionalDependencies: { 'b-linux-x64': '1.0.0', 'b-darwin-x64': '1.0.0' },
        },
        'node_modules/b-linux-x64': there,
      },
    };
    expect(completeLock(lock)).toEqual(['b-darwin-x64']);
    expect(lock.packages).toMatchObject({
      'node_modules/b-linux-x64': there,
      'node_modules/b-darwin-x64': { version: '1.0.0', os: ['darwin'], dev: true, optional: true },
    });
  });
});
