import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { identify } from '../../src/world/identity.js';
import { chooseToken } from '../../src/world/rendezvous/token.js';

const env = {
  RANK: '0',
  WORLD_SIZE: '2',
  LOCAL_RANK: '0',
  LOCAL_WORLD_SIZE: '1',
  MASTER_ADDR: 'a',
  MASTER_PORT: '1',
};
const identity = identify(env);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-token-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function tokenFile(mode: number, text = 'from the file\n'): string {
  const path = join(folder, 'token');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('the token', () => {
  test('WEFT_TOKEN comes first', () => {
    const chosen = chooseToken(
      { ...env, WEFT_TOKEN: 'from the variable' },
      identity,
      tokenFile(0o600),
    );
    expect(chosen).toEqual({ token: 'from the variable', authenticated: true });
  });

  test('then the file', () => {
    expect(chooseToken(env, identity, tokenFile(0o600)).token).toBe('from the file');
    expect(chooseToken(env, identity, tokenFile(0o400)).authenticated).toBe(true);
  });

  test.each([0o644, 0o640, 0o606])('a file of mode %o is refused', (mode) => {
    expect(() => chooseToken(env, identity, tokenFile(mode))).toThrowError(
      expect.objectContaining({ code: 'BAD_FILE', hint: expect.stringMatching(/chmod 600/) }),
    );
  });

  test('a missing file, a folder and an empty token are refused', () => {
    expect(() => chooseToken(env, identity, join(folder, 'none'))).toThrowError(/cannot be read/);
    expect(() => chooseToken(env, identity, folder)).toThrowError(/not a token file/);
    expect(() => chooseToken(env, identity, tokenFile(0o600, ''))).toThrowError(/shorter than/);
  });

  test("else it derives from the launcher's ids, the same on every rank, and says so", () => {
    const first = chooseToken(env, identity);
    expect(first.authenticated).toBe(false);
    expect(chooseToken(env, identify({ ...env, RANK: '1', MASTER_ADDR: 'b' }))).toEqual(first);
    const other = identify({ ...env, MASTER_PORT: '2' });
    expect(chooseToken(env, other).token).not.toBe(first.token);
  });

  test('a process alone makes its own', () => {
    const one = chooseToken({}, identify({}));
    expect(one.authenticated).toBe(true);
    expect(one.token).not.toBe(chooseToken({}, identify({})).token);
  });
});
