import type { NicTraffic, Path } from './path.js';
import type { Labels, Row } from './schema.js';

/** A row as a line of a run file. */
export type RowLine = { line: 'row' } & Row;

type Check = (value: unknown) => boolean;
type Checks<Of> = { readonly [Key in keyof Of]?: Check };

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = Number.isFinite;
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isOneOf =
  (...texts: readonly string[]): Check =>
  (value) =>
    texts.includes(value as string);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isInterval: Check = (value) => isListOf(isNumber)(value) && (value as unknown[]).length === 2;

/** Objects with all of the first keys, any of the second, and no other. */
function hasKeys<Of>(required: Checks<Of>, optional: Checks<Of> = {}): Check {
  const checks = new Map<string, Check>(Object.entries({ ...required, ...optional }));
  const names = Object.keys(required);
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    for (const key in value) {
      if (!checks.get(key)?.((value as Readonly<Record<string, unknown>>)[key])) return false;
    }
    return names.every((name) => name in value);
  };
}

const isTimes = hasKeys<NonNullable<Row['nanoseconds']>>({
  min: isNumber,
  mean: isNumber,
  p50: isNumber,
  p95: isNumber,
  p99: isNumber,
  max: isNumber,
  stddev: orNull(isNumber),
  ci95: orNull(isInterval),
});

const isPairLabels = hasKeys<Labels>(
  { from: isCount, to: isCount },
  {
    memory: isOneOf('host', 'pinned', 'staged', 'direct'),
    stagedBecause: isText,
    rail: isText,
    burst: isFlag,
  },
);

const isNicTraffic = hasKeys<NicTraffic>(
  {
    host: isText,
    ranks: isListOf(isCount),
    nic: isText,
    txBytes: isCount,
    rxBytes: isCount,
    expectedTxBytes: isCount,
  },
  {
    expectedRxBytes: isCount,
    rdmaWriteBytes: isCount,
    expectedRdmaWriteBytes: isCount,
    retransmits: isCount,
    drops: isCount,
  },
);

const isPath = hasKeys<Path>(
  { nics: isListOf(isNicTraffic), asPlanned: orNull(isFlag) },
  { reason: isText, text: isText, tcpRetransmits: isCount },
);

/**
 * Whether this is a row of two ranks that passed, has nothing unusual in it, and that the schema therefore takes as it is:
 * in a tenth of the schema's time. False says nothing: then the schema must be asked.
 */
export const isPlainPair = hasKeys<RowLine>(
  {
    line: isOneOf('row'),
    kind: isOneOf('pair'),
    column: isText,
    bytes: isCount,
    count: isCount,
    outcome: isOneOf('passed'),
    noisy: isFlag,
    labels: isPairLabels,
    iterations: isCount,
    batch: isCount,
    nanoseconds: isTimes,
    samples: isListOf(isCount),
    gbps: orNull(isNumber),
    lineGbps: orNull(isNumber),
    busbwPercent: orNull(isNumber),
    linePercent: orNull(isNumber),
    ofBoundPercent: orNull(isNumber),
    checked: hasKeys<Row['checked']>({ bytes: isCount, wrong: isCount }),
  },
  { halfRoundTripNanoseconds: isNumber, samplesTaken: isCount, resent: isCount, path: isPath },
) as (json: unknown) => json is RowLine;
