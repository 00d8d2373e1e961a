import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { load } from './load.js';

const { isKnownDistribution, readOsRelease } = await load('distribution');
const script = resolve('scripts/setup.mjs');
const isRoot = process.getuid?.() === 0;

/** Runs the script as someone who may become nobody else: PATH holds nothing but a dpkg-query that knows no package. */
function setupWithoutRights(path: string, ...args: string[]) {
  const drop = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath];
  const [file, before] = isRoot ? [setpriv(), drop] : [process.execPath, []];
  return spawnSync(file, [...before, script, ...args], { encoding: 'utf8', env: { PATH: path } });
}

const setpriv = () => execFileSync('which', ['setpriv'], { encoding: 'utf8' }).trim();

describe.skipIf(!isKnownDistribution(readOsRelease()))('without root on Debian or Ubuntu', () => {
  let path: string;
  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), 'weft-path-'));
    chmodSync(path, 0o755);
    writeFileSync(join(path, 'dpkg-query'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  });
  afterAll(() => rmSync(path, { recursive: true }));

  test('set-up stops with the list of what is missing and the command', () => {
    const { status, stderr, stdout } = setupWithoutRights(path, 'run');
    expect(stderr).toContain('2 system packages are missing');
    expect(stderr).toContain('apt-get install --no-install-recommends libfabric-dev g++\n');
    expect(stdout).toBe('');
    expect(status).toBe(1);
  });

  test('the list grows with the profile', () => {
    expect(setupWithoutRights(path, 'test').stderr).toMatch(/slurm-wlm +srun, for the launcher/);
  });
});

test('an unknown profile is bad usage', () => {
  const { status, stderr } = spawnSync(process.execPath, [script, 'everything'], {
    encoding: 'utf8',
  });
  expect(stderr).toContain('usage: node scripts/setup.mjs [run|test|bench|build|native]');
  expect(status).toBe(2);
});
