import { describe, expect, test } from 'vitest';
import { formatCsv } from '../../src/results/formats/csv.js';
import { formatRun, formats } from '../../src/results/formats/format-run.js';
import { formatJson } from '../../src/results/formats/json.js';
import { formatMarkdown } from '../../src/results/formats/markdown.js';
import { notesOf } from '../../src/results/formats/notes.js';
import { wrap } from '../../src/results/formats/text.js';
import { skippedRow } from '../../src/results/rows.js';
import { runOf, sampleRow, writeRun } from './fixtures.js';

describe('Markdown', () => {
  test('is the reference’s table', () => {
    const lines = formatMarkdown(runOf(writeRun().rows.slice(0, 2))).split('\n');
    expect(lines.slice(2, 6)).toEqual([
      '| Size |   Count | SinglePin (Gbps) | BusBW (%) | Lat (us) |',
      '|-----:|--------:|-----------------:|----------:|---------:|',
      '| 256K |   65536 |            31.52 |      31.5 |    66.54 |',
      '|   4M | 1048576 |            86.24 |      86.2 |   389.09 |',
    ]);
  });

  test('lists what was skipped', () => {
    expect(formatMarkdown(writeRun())).toContain('- skipped SingleDMA, MultiDMA: no GPU here');
  });

  test('is not broken by a bar in a reason', () => {
    const text = formatMarkdown(runOf([skippedRow({ column: 'A', reason: 'a|b\nc' })]));
    expect(text).toContain('- skipped A: a\\|b c');
  });
});

describe('CSV', () => {
  const cells = (text: string) => text.split('\r\n').map((line) => line.split(','));

  test('begins with the columns of the reference data', () => {
    const [head, first] = cells(formatCsv(writeRun()));
    const names = 'benchmark nodes config size_bytes count gbps busbw_pct lat_us'.split(' ');
    expect(head!.slice(0, 8)).toEqual(names);
    expect(first!.slice(0, 5)).toEqual(['write', '4', 'SinglePin', '262144', '65536']);
    expect(first![7]).toBe('66.54');
  });

  test('has as many cells in every line', () => {
    const widths = cells(formatCsv(writeRun()).trimEnd()).map((line) => line.length);
    expect(new Set(widths).size).toBe(1);
  });

  test('leaves empty what is not known', () => {
    const text = formatCsv(runOf([skippedRow({ column: 'A', reason: 'x' })]));
    expect(text).toContain('write,4,A,,,,,,skipped,x');
  });

  test('quotes commas, quotes and line breaks', () => {
    const text = formatCsv(runOf([skippedRow({ column: 'A', reason: 'no "big", fast\nGPU' })]));
    expect(text).toContain(',"no ""big"", fast\nGPU",');
  });
});

describe('JSON', () => {
  test('is the run', () => expect(JSON.parse(formatJson(writeRun()))).toEqual(writeRun()));

  test('keeps samples on one line', () => {
    expect(formatJson(writeRun())).toContain('"samples": [66530, 66540, 66550],');
  });
});

describe.each(formats)('%s', (format) => {
  test('ends with a line break, even for a run without rows', () => {
    expect(formatRun(runOf([]), format)).toMatch(/\n$/);
  });

  test('shows a measured column', () => {
    const text = formatRun(runOf([sampleRow({ column: 'SinglePin', bytes: 64, us: 5 })]), format);
    expect(text).toContain('SinglePin');
  });
});

describe('notes', () => {
  const texts = (...run: Parameters<typeof runOf>) =>
    notesOf(runOf(...run)).map(({ text }) => text);
  const row = sampleRow({ column: 'OneWay', bytes: 16, us: 5 });

  test('tell of samples that two clocks made negative', () => {
    const breakdown = { stages: [], requests: 9, clockUncertaintyNanoseconds: 640.4 };
    const told = (negative: object) =>
      texts([{ ...row, kind: 'queue', breakdown: { ...breakdown, ...negative } }]);
    expect(told({ negativeSamples: 2 })).toContain(
      `OneWay: 2 of ${row.samples.length} samples came out below 0 and count as 0 (clocks ± 640 ns)`,
    );
    expect(told({}).join()).not.toContain('below 0');
  });

  test('tell that a kernel’s waiting and its peers’ copies share a GPU', () => {
    const labels = { memory: 'direct', producer: 'gpu', path: 'same GPU' } as const;
    const shared = sampleRow({ column: 'SingleNBI', bytes: 4096, us: 19, labels });
    expect(texts([shared]).join()).toContain('ranks share a GPU');
    const apart = { ...shared, labels: { memory: 'direct', producer: 'gpu' } as const };
    expect(texts([apart]).join()).not.toContain('share');
  });

  test('tell why NICs were not chosen by GPU', () => {
    const settings = { nicsNotByGpu: 'rank 1 on b has no NIC near its GPU' };
    expect(texts([row], { settings })).toContain(
      'all NICs used, not those nearest each GPU: rank 1 on b has no NIC near its GPU',
    );
  });
});

describe('more than three notes', () => {
  const settings = { nicsLeftOut: ['a is down', 'b is down'] };
  const errors = [{ code: 'PEER_LOST', message: 'rank 2 was killed' }];
  const run = runOf([sampleRow({ column: 'A', bytes: 64, us: 5, noisy: true })], {
    settings,
    errors,
  });

  test.each(['table', 'markdown'] as const)('are cut in a %s, the gravest stay', (format) => {
    const text = formatRun(run, format);
    expect(text).toContain('error: rank 2 was killed');
    expect(text).not.toContain('verified');
    expect(text).toContain('(--verbose shows 2 more notes)');
  });

  test('are all shown on request', () => {
    const text = formatRun(run, 'table', { verbose: true });
    expect(text).toContain('verified');
    expect(text).not.toContain('--verbose');
  });
});

describe('wrapped text', () => {
  test('is indented from the second line on', () => {
    expect(wrap('one two three', 9)).toEqual(['one two', '  three']);
  });

  test('cuts a word that fits no line', () => {
    expect(wrap('abcdefghij', 6)).toEqual(['abcdef', '  ghij']);
  });
});
