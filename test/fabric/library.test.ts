import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { libraryCandidates, loadLibrary, refuseOld } from '../../src/fabric/library.js';
import { ignoresDirection, providerName } from '../../src/fabric/providers.js';

const dist = fileURLToPath(new URL('../../dist/fabric/library.js', import.meta.url));
const version = (major: number, minor: number) => ({
  path: '/lib/libfabric.so.1',
  major,
  minor,
  version: `${major}.${minor}`,
});

/** What loading libfabric gives in a process with this environment. */
async function load(WEFT_LIBFABRIC: string) {
  const program = `
    import { loadLibrary } from ${JSON.stringify(dist)};
    try { console.log(JSON.stringify(loadLibrary())); }
    catch (error) { console.log(JSON.stringify({ code: error.code, message: error.message, hint: error.hint, cause: error.cause?.text })); }`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', program],
    { env: { ...process.env, WEFT_LIBFABRIC } },
  );
  return JSON.parse(stdout);
}

describe('libfabric', () => {
  test('is looked for where WEFT_LIBFABRIC says, and nowhere else', () => {
    expect(libraryCandidates({ WEFT_LIBFABRIC: '/mine.so' })).toEqual(['/mine.so']);
  });

  test('is the system’s in the end', () => {
    expect(libraryCandidates({}).at(-1)).toBe('libfabric.so.1');
    expect(libraryCandidates({ WEFT_LIBFABRIC: '' })).toEqual(libraryCandidates({}));
  });

  test('is here, new enough, and says from which file', () => {
    const found = loadLibrary();
    expect(found.path).toMatch(/^\/.*libfabric\.so/);
    expect(found.version).toBe(`${found.major}.${found.minor}`);
  });

  test('that is not there is named, with a hint', async () => {
    expect(await load('/none/such.so')).toMatchObject({
      code: 'LIBFABRIC_NOT_FOUND',
      message: expect.stringContaining('/none/such.so'),
      hint: expect.stringContaining('WEFT_LIBFABRIC'),
      cause: expect.stringMatching(/No such file/),
    });
  });

  test('that is another library is told apart', async () => {
    expect(await load('libm.so.6')).toMatchObject({
      code: 'LIBFABRIC_NOT_FOUND',
      cause: expect.stringMatching(/fi_getinfo is missing/),
    });
  });

  test.each([
    [1, 17],
    [1, 22],
    [2, 0],
  ])('%i.%i is new enough', (major, minor) => {
    expect(() => refuseOld(version(major, minor))).not.toThrow();
  });

  test.each([
    [1, 16],
    [0, 99],
  ])('%i.%i is too old, and the message says what is needed', (major, minor) => {
    expect(() => refuseOld(version(major, minor))).toThrow(
      expect.objectContaining({
        code: 'LIBFABRIC_TOO_OLD',
        message: expect.stringMatching(`${major}.${minor}; Weft needs 1.17 or newer`),
      }),
    );
  });
});

describe('provider names', () => {
  test('tcp needs rxm before 1.18, and nothing from then on', () => {
    expect(providerName('tcp', version(1, 17))).toBe('tcp;ofi_rxm');
    expect(providerName('tcp', version(1, 18))).toBe('tcp');
    expect(providerName('tcp', version(2, 1))).toBe('tcp');
  });

  test.each(['shm', 'net', 'sockets', 'efa', 'verbs;ofi_rxm'])('%s stays as it is', (name) => {
    expect(providerName(name, version(1, 17))).toBe(name);
  });

  test('those that ignore the sender a receive names are known', () => {
    expect(['net', 'tcp'].map(ignoresDirection)).toEqual([true, true]);
    expect(['tcp;ofi_rxm', 'shm', 'sockets', 'efa'].some(ignoresDirection)).toBe(false);
  });
});
