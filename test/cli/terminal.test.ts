import { resolve } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { terminalOf } from '../../src/cli/output/terminal.js';
import { Desk } from '../benchmarks/weft.js';

const escapeCharacter = String.fromCharCode(27);
const bin = resolve(import.meta.dirname, '../../bin/weft');
const small = 'write -b 4K -e 64K -f 4 -n 5 --provider shm';

/** Runs the command with a real terminal of this width as its stdout and stderr. */
async function inTerminal(columns: number, env: Record<string, string> = {}): Promise<string> {
  using desk = new Desk();
  const line = `stty cols ${columns}; exec ${process.execPath} ${bin} ${small}`;
  const { stdout } = await execa('script', ['-qec', line, '/dev/null'], {
    cwd: desk.folder,
    env: { LANG: 'C.UTF-8', LC_ALL: '', TERM: 'xterm-256color', ...env },
    // Before the test's own: it would not say what hung.
    timeout: 40_000,
  });
  return stdout.replaceAll('\r\n', '\n');
}

const withoutEscapes = (text: string) =>
  text.replaceAll(new RegExp(`${escapeCharacter}\\[[\\d;]*[A-Za-z]`, 'g'), '');
/** What is left on the screen when everything that was wiped is gone. */
const lastOf = (text: string) => text.slice(text.lastIndexOf(`${escapeCharacter}[J`) + 3);

describe('on a terminal', () => {
  test.each([80, 120, 200])('everything fits %i columns', async (columns) => {
    const text = await inTerminal(columns);
    const pieces = withoutEscapes(text).split(/[\n\r]/);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(columns);
    expect(text).toMatch(/1\/9 write MultiPin 4K · \d+\.\d+ Gbps · \d+ s left/);
    expect(text).toContain(`${escapeCharacter}[36m`);
    expect(lastOf(text)).not.toContain('left');
  });

  test('bars show beside the numbers where they fit', async () => {
    expect(lastOf(await inTerminal(200))).toMatch(/█/);
  });

  test('NO_COLOR leaves no colour', async () => {
    const text = await inTerminal(120, { NO_COLOR: '1' });
    expect(text).not.toMatch(new RegExp(`${escapeCharacter}\\[\\d+m`));
    expect(text).toContain('SinglePin');
  });

  test('a terminal that cannot move its cursor is sent no escapes', async () => {
    const text = await inTerminal(120, { TERM: 'dumb' });
    expect(text).not.toContain(escapeCharacter);
    expect(text).toContain('SinglePin');
  });

  test('the C locale gets ASCII', async () => {
    expect(withoutEscapes(await inTerminal(120, { LC_ALL: 'C' }))).toMatch(/^[ -~\n\r]+$/);
  });
});

test('a pipe gets neither progress nor colours nor bars', async () => {
  using desk = new Desk();
  const { stdout, stderr } = await desk.weft(small, { LANG: 'C.UTF-8' });
  expect(stderr).toBe('');
  expect(stdout).not.toContain(escapeCharacter);
  expect(stdout).not.toContain('█');
});

describe('what a stream can show', () => {
  const terminal = { isTTY: true, columns: 100 };
  const pipe = { isTTY: false, columns: 0 };

  test('FORCE_COLOR colours pipes, and NO_COLOR wins over it', () => {
    expect(terminalOf(pipe, {}).color).toBe(false);
    expect(terminalOf(pipe, { FORCE_COLOR: '1' }).color).toBe(true);
    expect(terminalOf(pipe, { FORCE_COLOR: '0' }).color).toBe(false);
    expect(terminalOf(terminal, { FORCE_COLOR: '1', NO_COLOR: '1' }).color).toBe(false);
  });

  test('a dumb terminal has no colours', () => {
    expect(terminalOf(terminal, {}).color).toBe(true);
    expect(terminalOf(terminal, { TERM: 'dumb' }).color).toBe(false);
  });

  test.each([
    [{}, true],
    [{ LANG: 'C.UTF-8' }, true],
    [{ LANG: 'de_DE.utf8' }, true],
    [{ LANG: 'C' }, false],
    [{ LANG: 'C.UTF-8', LC_ALL: 'POSIX' }, false],
  ])('Unicode with %j: %s', (env, unicode) => {
    expect(terminalOf(pipe, env).unicode).toBe(unicode);
  });
});
