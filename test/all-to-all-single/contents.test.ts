import { describe, expect, test } from 'vitest';
import { Contents } from '../../src/benchmarks/all-to-all-single/contents.js';
import {
  type Dtype,
  dtypes,
  pythonFloat,
  stored,
} from '../../src/benchmarks/all-to-all-single/dtype.js';
import { Exchange, uniformMatrix } from '../../src/benchmarks/all-to-all-single/exchange.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { addon } from '../../src/native/addon.js';

/** The elements a rank's input holds, from a first number on. */
async function numbers(dtype: Dtype, first: number, count: number): Promise<Uint8Array> {
  const bytes = count * (dtype === 'int64' ? 8 : 4);
  const buffer = new HostBuffer(bytes);
  await addon().sequence(
    buffer.native,
    dtypes.indexOf(dtype),
    0,
    Float64Array.from([0, bytes, first]),
  );
  return buffer.view();
}

describe('running numbers are stored as the dtype stores them', () => {
  test('float32 rounds above 2²⁴, ties to even', async () => {
    const found = new Float32Array((await numbers('float32', 2 ** 24 - 1, 6)).buffer);
    expect([...found]).toEqual([16777215, 16777216, 16777216, 16777218, 16777220, 16777220]);
    expect([...found]).toEqual([...found.keys()].map((i) => stored(2 ** 24 - 1 + i, 'float32')));
  });

  test('float32 rounds once, from the whole number: not over a double', async () => {
    const first = 2 ** 40 + 2 ** 16;
    const found = new Float32Array((await numbers('float32', first, 1000)).buffer);
    expect([...found]).toEqual([...found.keys()].map((i) => Math.fround(first + i)));
  });

  test('int32 wraps', async () => {
    const found = new Int32Array((await numbers('int32', 2 ** 31 - 2, 4)).buffer);
    expect([...found]).toEqual([2147483646, 2147483647, -2147483648, -2147483647]);
    expect(stored(2 ** 31, 'int32')).toBe(-2147483648);
  });

  test('int64 is exact', async () => {
    const found = new BigInt64Array((await numbers('int64', 2 ** 33, 3)).buffer);
    expect([...found]).toEqual([8589934592n, 8589934593n, 8589934594n]);
  });

  test('values are written as Python writes them', () => {
    const values = [0, 1048576, 1.5, 1e16, 2 ** 60, Number.NaN, Number.NEGATIVE_INFINITY];
    const texts = ['0.0', '1048576.0', '1.5', '1e+16', '1.152921504606847e+18', 'nan', '-inf'];
    expect(values.map(pythonFloat)).toEqual(texts);
  });
});

describe.each(dtypes)('the output tensor of %s', (dtype) => {
  const exchange = new Exchange(uniformMatrix(2, 8000), dtype);
  const open = () => {
    const input = new HostBuffer(exchange.sourceBytes(1));
    const output = new HostBuffer(exchange.targetBytes(1));
    return { output, contents: new Contents(exchange, 1, { input, output }) };
  };
  /** What rank 1 must receive, put there by hand. */
  const deliver = async (output: HostBuffer) => {
    const blocks = exchange
      .incoming(1)
      .flatMap(({ offset, bytes, first }) => [offset, bytes, first]);
    await addon().sequence(output.native, dtypes.indexOf(dtype), 0, Float64Array.from(blocks));
  };

  test('passes when every element came', async () => {
    const { output, contents } = open();
    await deliver(output);
    expect(await contents.verifyNumbers()).toEqual({ bytes: 16_000, wrong: 0 });
  });

  test('differs in every byte after it was spoilt', async () => {
    const { output, contents } = open();
    await deliver(output);
    await contents.spoilOutput();
    expect(await contents.verifyNumbers()).toMatchObject({ bytes: 16_000, wrong: 16_000 });
  });

  test('shows a single wrong bit, and where', async () => {
    const { output, contents } = open();
    await deliver(output);
    const size = exchange.elementBytes;
    output.view()[8000 + 5 * size]! ^= 1;
    const verified = await contents.verifyNumbers();
    expect(verified.wrong).toBe(1);
    expect(verified.wrongElement).toMatch(
      /^on rank 1, element 5 from rank 1 is \S+ instead of \S+$/,
    );
  });

  test('of an earlier seed does not pass for a later one', async () => {
    const { contents } = open();
    await contents.writeSeeded(1 << 20);
    const { wrong } = await contents.verifySeeded(1 << 21);
    expect(wrong).toBeGreaterThan(15_000);
  });
});
