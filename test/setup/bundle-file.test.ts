import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { writeBundleFile } from '../../scripts/bundle-file.mjs';
import { temporaryFolders } from './folders.js';

const folder = temporaryFolders('weft-bundle-test-');

describe('the file of a bundle', () => {
  /** One whose Node is a script that says what it was called with. */
  function smallFile(says = 'echo "$(basename "$1")" "$2"'): string {
    const contents = folder();
    const node = `#!/bin/sh\n[ "$1" = --version ] || { ${says}; exit 7; }\n`;
    writeFileSync(join(contents, 'node'), node, { mode: 0o755 });
    const file = join(folder(), 'weft.run');
    writeBundleFile(file, { folder: contents, version: '1.2.3' });
    return file;
  }
  const start = (file: string, home: string, args = ['info']) =>
    startWith(file, { HOME: home, TMPDIR: home }, args);
  const startWith = (file: string, env: Record<string, string>, args = ['info']) =>
    execa(file, args, {
      env: { PATH: '/usr/bin:/bin', ...env },
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

  test('needs a folder of its own: others could put their Node into a shared one', async () => {
    const [file, home] = [smallFile(), folder()];
    const nowhere = await startWith(file, { TMPDIR: home });
    expect(nowhere).toMatchObject({ exitCode: 1 });
    expect(nowhere.stderr).toMatch(/HOME is not set\nSet WEFT_BUNDLE_DIR/);
    expect(readdirSync(home)).toEqual([]);
    const [shared, own] = ['shared', 'own'].map((name) => join(home, name)) as [string, string];
    mkdirSync(shared);
    chmodSync(shared, 0o755);
    symlinkSync(own, join(home, 'link'));
    expect(await startWith(file, { WEFT_BUNDLE_DIR: own })).toMatchObject({ exitCode: 7 });
    expect(statSync(own).mode & 0o777).toBe(0o700);
    for (const unsafe of [shared, join(home, 'link'), join(home, 'link/')]) {
      const { exitCode, stderr } = await startWith(file, { WEFT_BUNDLE_DIR: unsafe });
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/is not safe.*\nSet WEFT_BUNDLE_DIR/);
    }
  });

  test.skipIf(process.getuid?.() !== 0)('refuses the folder of another user', async () => {
    const [file, home] = [smallFile(), folder()];
    chownSync(home, 12_345, 12_345);
    const { exitCode, stderr } = await startWith(file, { WEFT_BUNDLE_DIR: home });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/is not safe/);
  });

  test('looks for the libfabric of its own node, whatever the node that submitted the job has', async () => {
    const file = smallFile('echo "$(printenv WEFT_LIBFABRIC) $LD_LIBRARY_PATH"');
    const [home, system] = [folder(), folder()];
    await start(file, home);
    const cache = join(home, '.cache/weft');
    const own = join(cache, readdirSync(cache)[0]!, 'lib');
    const submitted = {
      WEFT_LIBFABRIC: join(own, 'libfabric.so.1'),
      LD_LIBRARY_PATH: `${own}:${system}`,
    };
    const there = (env: Record<string, string>) => startWith(file, { HOME: home, ...env });
    expect(await there(submitted)).toMatchObject({ stdout: ` ${system}` });
    const chosen = { WEFT_LIBFABRIC: '/chosen', LD_LIBRARY_PATH: system };
    expect(await there(chosen)).toMatchObject({ stdout: `/chosen ${system}` });
  });

  test('tells Weft the file by which other nodes start it', async () => {
    const file = smallFile('echo "$WEFT_COMMAND"');
    symlinkSync(file, `${file}.link`);
    expect(await start(`${file}.link`, folder())).toMatchObject({ stdout: file });
  });
});
