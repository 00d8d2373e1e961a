import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alignedTable } from '../../src/results/formats/plain-table.js';
import { painter, printable } from '../../src/results/formats/text.js';
import { RunFile } from '../../src/results/run-file.js';
import { identify } from '../../src/world/identity.js';
import { RendezvousClient } from '../../src/world/rendezvous/client.js';
import { Desk } from '../benchmarks/weft.js';
import { header, sampleRow } from '../results/fixtures.js';
import { freePort, rankEnv } from '../world/ranks-in-process.js';

/** Sets the title of the window, wipes the screen in two ways, and writes over its own line. */
const evil = 'h\u001b]0;owned\u0007\u001b[2J\u009b2J\rowned';
const controls = /(?!\n)\p{Cc}/u;

describe('text to print', () => {
  test('has its control characters as escapes; lines, tabs and line ends of CSV stay', () => {
    expect(printable('a\tb\n\u001b[2Jc\r\nd\re\u0085')).toBe(
      'a\tb\n\\u001b[2Jc\r\nd\\u000de\\u0085',
    );
  });

  test('keeps what a painter adds, and only that', () => {
    const red = painter(true)('red', 'bad');
    expect(printable(red, { painted: true })).toBe(red);
    expect(printable('\u001b[8mhidden\u001b[2J', { painted: true })).not.toMatch(controls);
    expect(printable(red)).not.toMatch(controls);
  });

  test('is still the same JSON', () => {
    const value = { [evil]: [evil, '\u007f'] };
    expect(JSON.parse(printable(JSON.stringify(value, null, 2)))).toEqual(value);
  });

  test('a cell of a table cannot begin a line', () => {
    expect(alignedTable({ heads: ['a\nb'], lines: [['weft:\r\npassed']] })).toHaveLength(2);
  });
});

describe('names with control characters', () => {
  const commands = [
    'compare a.jsonl b.jsonl',
    'compare a.jsonl b.jsonl --format json',
    'compare a.jsonl b.jsonl --format markdown',
    'history .',
    'history . --format json',
    `compare a.jsonl ${evil.replaceAll(' ', '')}`,
  ];

  test('from run files and arguments do not reach the terminal', { timeout: 60_000 }, async () => {
    using desk = new Desk();
    const world = { ...header.world, hosts: [evil, 'b'], launcher: evil };
    const fabric = { ...header.fabric, provider: evil };
    for (const id of ['a', 'b']) {
      const path = join(desk.folder, `${id}.jsonl`);
      const file = new RunFile({ ...header, id, world, fabric } as never, { path });
      for (const bytes of [64, 128]) {
        file.append(sampleRow({ column: evil, bytes, us: 10, reason: evil } as never));
      }
      const endedAt = '2026-01-02T03:05:00.000Z';
      file.finish({
        endedAt,
        outcome: 'failed',
        errors: [{ code: 'ABORTED', message: evil }],
      } as never);
    }
    const ended = await Promise.all(commands.map((line) => desk.weft(line)));
    for (const [index, { stdout, stderr }] of ended.entries()) {
      expect(stdout + stderr, commands[index]).not.toMatch(controls);
      if (commands[index]!.endsWith('json')) JSON.parse(stdout);
    }
    expect(ended.map(({ stdout, stderr }) => stdout + stderr).join()).toContain('\\u001b]0;owned');
  });

  test('from another rank do not reach the terminal of rank 0', { timeout: 60_000 }, async () => {
    using desk = new Desk();
    const place = { port: await freePort(), size: 2, token: 'a token for tests' };
    const line = 'write --provider tcp -b 4K -e 4K --timeout 20';
    const first = desk.weft(line, rankEnv(0, place));
    const { jobId, ports } = identify(rankEnv(1, place), { ancestors: () => [] });
    const rank = await RendezvousClient.join({
      ...{ hosts: ['127.0.0.1'], ports, size: 2, timeoutMs: 20_000 },
      ...{ heartbeatMs: 1000, silenceMs: 10_000, secret: { token: place.token, jobId } },
      member: { rank: 1, host: evil, bootId: 'b', netns: 'n', pid: 7, localRank: 1 },
    });
    await rank.fail({ code: 'ABORTED', message: `it is ${evil}` });
    const { stdout, stderr } = await first;
    await rank.close();
    expect(stderr).toContain('failed: it is h\\u001b]0;owned');
    expect(stdout + stderr).not.toMatch(controls);
  });
});

test('every command prints through one place', () => {
  const folder = resolve(import.meta.dirname, '../../src/cli');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const direct = files
    .filter((file) => file.endsWith('.ts') && !file.startsWith('output/'))
    .filter((file) =>
      /\bprocess\.std(out|err)\.write\(|\bconsole\./.test(readFileSync(join(folder, file), 'utf8')),
    );
  expect(direct).toEqual([]);
});
