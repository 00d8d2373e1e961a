import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isPlainPair } from '../../src/results/plain-pair.js';
import { type ReadRun, RunReader } from '../../src/results/run-reader.js';
import { rowSchema } from '../../src/results/schema.js';
import { header, sampleRow } from './fixtures.js';

const lineSchema = rowSchema.extend({ line: z.literal('row') });
type Json = Record<string, unknown>;

/** With everything that a row of `weft pairs` may have. */
const fullRow = (): Json =>
  JSON.parse(
    JSON.stringify({
      line: 'row',
      ...sampleRow({
        kind: 'pair',
        column: 'Latency',
        bytes: 8,
        us: 18,
        allowedGbps: 100,
        roundTrip: true,
        labels: { memory: 'staged', from: 0, to: 5, rail: 'nic1', burst: true },
        resent: 0,
        path: {
          nics: [
            {
              ...{ host: 'a', ranks: [0], nic: 'nic1', txBytes: 9, rxBytes: 9 },
              ...{ expectedTxBytes: 8, expectedRxBytes: 8, retransmits: 0, drops: 0 },
              ...{ rdmaWriteBytes: 8, expectedRdmaWriteBytes: 8 },
            },
          ],
          asPlanned: null,
          reason: 'few-bytes',
        },
      }),
    }),
  );

const oddNumbers = [0, -0, -1, 0.5, 2 ** 53, -(2 ** 53), Infinity, -Infinity];
const odd = fc.oneof(
  fc.constantFrom<unknown>(...oddNumbers, null, true, '', 'passed', 'row', 'pair', 'direct'),
  fc.constantFrom<unknown>([], {}, [1], [1, 2], [1, 2, 3], [[1, 2]], { bytes: 1, wrong: 0 }),
  fc.double(),
  fc.jsonValue(),
);
const keys = [
  ...Object.keys(rowSchema.shape),
  ...Object.keys(rowSchema.shape.labels.shape),
  ...['p50', 'ci95', 'stddev', 'wrong', 'nics', 'asPlanned', 'text', 'tcpRetransmits', 'host'],
  ...['0', '__proto__', 'constructor', 'temperature'],
];
/** Where in the row, as a share of its objects and lists; which key; its new value, or none. */
const change = fc.record({
  place: fc.double({ min: 0, max: 0.999, noNaN: true }),
  key: fc.constantFrom(...keys),
  own: fc.boolean(),
  value: fc.option(odd, { nil: undefined }),
});

function* objectsIn(json: unknown): Generator<Json> {
  if (typeof json !== 'object' || json === null) return;
  yield json as Json;
  for (const inner of Object.values(json)) yield* objectsIn(inner);
}

const changedRow = fc.array(change, { maxLength: 3 }).map((changes) => {
  const row = fullRow();
  for (const { place, key, own, value } of changes) {
    const all = [...objectsIn(row)];
    const object = all[Math.floor(place * all.length)]!;
    const has = Object.keys(object);
    if (Array.isArray(object)) {
      if (value === undefined) object.pop();
      else object[Math.floor(place * 1e6) % (has.length + 1)] = structuredClone(value);
      continue;
    }
    const name = own && has.length > 0 ? has[Math.floor(place * 1e6) % has.length]! : key;
    if (value === undefined) delete object[name];
    else {
      const fresh = { value: structuredClone(value), enumerable: true, configurable: true };
      Object.defineProperty(object, name, { ...fresh, writable: true });
    }
  }
  return row;
});

describe('a plain pair', () => {
  test('is what `weft pairs` writes', () => {
    expect(isPlainPair(fullRow())).toBe(true);
    const { rail: _, burst: __, ...labels } = fullRow().labels as Json;
    const { path: ___, resent: ____, halfRoundTripNanoseconds: _____, ...row } = fullRow();
    expect(isPlainPair({ ...row, labels })).toBe(true);
    expect(isPlainPair({ ...row, gbps: null, samples: [] })).toBe(true);
  });

  test('is taken by the schema, as it is', () => {
    let plain = 0;
    fc.assert(
      fc.property(changedRow, (json) => {
        if (!isPlainPair(json)) return;
        plain++;
        expect(lineSchema.parse(json)).toEqual(json);
      }),
      { numRuns: 5000 },
    );
    expect(plain).toBeGreaterThan(500);
  });

  test.each([
    ['failed', { outcome: 'failed', reason: 'x' }],
    ['has a key that came later', { temperature: 21 }],
    ['is negative', { labels: { from: -1, to: 0 } }],
    ['is of no list of keys', { labels: [] }],
  ])('is none that %s', (_, changes) => {
    expect(isPlainPair({ ...fullRow(), ...changes })).toBe(false);
  });
});

describe('a line of a large run', () => {
  const large = { ...header, world: { ...header.world, ranks: 1024 } };
  const read = (take: (reader: RunReader) => void): ReadRun => {
    const reader = new RunReader('x');
    reader.take(JSON.stringify({ line: 'header', ...large }));
    take(reader);
    return reader.finish();
  };
  const number = fc.oneof(
    fc.nat().map(String),
    fc.constantFrom('0', '01', '00', '-1', '-0', '1.5', '1e3', '1e999', '', ' 7', '"7"', '[]'),
    fc.constantFrom('999999999999999', '9007199254740991', '9007199254740992', '1]', '1}', ']'),
  );

  test('is read in the quick way exactly where the schema takes it', () => {
    fc.assert(
      fc.property(fc.array(number, { maxLength: 4 }), changedRow, (samples, row) => {
        const text = JSON.stringify({ ...row, samples: 0 });
        const line = text.replace('"samples":0', `"samples":[${samples.join()}]`);
        const bytes = Buffer.from(line);
        const quick = read((reader) =>
          reader.takeCut({ kind: 'line', bytes, end: bytes.length, lines: 1 }),
        );
        expect(quick).toEqual(read((reader) => reader.take(line)));
      }),
      { numRuns: 1000 },
    );
  });
});
