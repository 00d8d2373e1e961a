import { afterEach, describe, expect, test } from 'vitest';
import { compareRuns } from '../../src/analysis/compare/compare.js';
import { answerOf } from '../../src/report/answer.js';
import { chartsOf } from '../../src/report/charts.js';
import { reportKinds } from '../../src/report/report-kinds.js';
import { pairMetricOf, traitsOf } from '../../src/results/column-name.js';
import { formatRun } from '../../src/results/formats/format-run.js';
import { parseRun } from '../../src/results/read-run.js';
import { rowKinds } from '../../src/results/row-kinds.js';
import { runOf, sampleRow } from './fixtures.js';

const run = runOf(
  [1024, 2048].map((bytes) => ({
    ...sampleRow({ column: 'Dispatch', bytes, us: 10 }),
    kind: 'tokens',
    mops: bytes / 100,
  })),
);

describe('a new kind of row', () => {
  afterEach(() => {
    rowKinds.delete('tokens');
    reportKinds.delete('tokens');
  });

  const addTokens = () => {
    rowKinds.set('tokens', {
      layout: 'grid',
      figures: () => [
        { title: 'Mtokens/s', longTitle: 'Mtokens/s', text: (row) => String(row.mops) },
      ],
      notes: (rows) => [{ kind: 'doubt', text: `${rows.length} rows count tokens` }],
    });
    reportKinds.set('tokens', {
      finding: (of) => `${of.benchmark} moves tokens.`,
      charts: (of) => [['mops', chartsOf([{ ...of, rows: [] }]).concat(plain)]],
    });
  };
  const plain = { title: 'Tokens', caption: '', summary: '', heightPx: 1, option: {} } as never;

  test('is one entry for every format', () => {
    addTokens();
    for (const format of ['table', 'markdown'] as const) {
      const text = formatRun(run, format, { width: 120 });
      expect(text).toMatch(/Mtokens\/s[\s\S]*20\.48/);
      expect(text).toContain('2 rows count tokens');
    }
    expect(formatRun(run, 'csv')).toContain(',tokens,');
  });

  test('is a second one for a headline and charts of its own', () => {
    addTokens();
    expect(answerOf([run]).headline).toBe('write moves tokens.');
    expect(chartsOf([run]).map(({ title }) => title)).toContain('Tokens');
  });

  test('that this version does not know is read and shown as a transfer', () => {
    const { run: read } = parseRun(JSON.stringify(run));
    expect(formatRun(read, 'table')).toContain('Gbps');
    expect(chartsOf([read]).map(({ kind }) => kind)).toContain('bandwidth');
    expect(compareRuns([read], [read]).rows).toHaveLength(2);
  });
});

describe('the name of a column', () => {
  test.each([
    ['SinglePin', { strategy: 'single', memory: 'pinned' }],
    ['RoundRobinDMA', { strategy: 'round-robin', memory: 'device' }],
    ['DispatchMultiPin', { strategy: 'multi', memory: 'pinned' }],
    ['MultiNBI', { strategy: 'multi', waits: 'nbi' }],
    ['SingleBlocking', { strategy: 'single', waits: 'blocking' }],
    ['gloo', {}],
  ])('%s says what it measured', (column, traits) => expect(traitsOf(column)).toEqual(traits));

  test('tells a rail alone from the matrix; a round trip is a latency', () => {
    const between = (column: string, roundTrip: boolean) =>
      pairMetricOf(sampleRow({ column, bytes: 8, us: 5, roundTrip }));
    expect(between('Bandwidth', false)).toBe('bandwidth');
    expect(between('Latency', true)).toBe('latency');
    expect(between('Rail', false)).toBe('rail');
  });
});
