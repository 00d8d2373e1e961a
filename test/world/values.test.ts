import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packValue, unpackValue } from '../../src/world/rendezvous/values.js';

const travel = (value: unknown) => unpackValue(JSON.parse(JSON.stringify(packValue(value))));

describe('values between ranks', () => {
  test('any JSON comes back the same', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) => {
        expect(travel(value)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test.each([
    new Uint8Array([0, 255, 7]),
    new Uint32Array([1, 0xffff_ffff]),
    new Float64Array([0.1, Number.NaN, Number.NEGATIVE_INFINITY]),
    new BigUint64Array([0n, 2n ** 64n - 1n]),
    new Float64Array(0),
  ])('typed array %s', (array) => {
    const back = travel({ nested: [array] });
    expect(back).toEqual({ nested: [array] });
  });

  test('a view into the middle of a buffer brings only its own bytes', () => {
    expect(travel(new Uint32Array([1, 2, 3]).subarray(1, 2))).toEqual(new Uint32Array([2]));
    expect(travel(Buffer.from('ab').subarray(1))).toEqual(new Uint8Array([98]));
  });

  test.each([12n, undefined, Number.NaN, Number.POSITIVE_INFINITY, null])('%s', (value) => {
    expect(travel(value)).toBe(value);
  });

  test('an object that looks like our own marks stays what it is', () => {
    const odd = { $: 'bigint', v: '12', deep: { $: 'object', v: {} } };
    expect(travel(odd)).toEqual(odd);
  });

  test('a member named __proto__ stays data', () => {
    const back = unpackValue(JSON.parse('{"__proto__": {"polluted": true}}')) as object;
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(Object.hasOwn(back, '__proto__')).toBe(true);
  });

  test.each([[() => 1], [Symbol('s')], [new Map()], [new ArrayBuffer(1)]])(
    'refuses %s',
    (value) => {
      expect(() => packValue(value)).toThrowError(TypeError);
    },
  );

  test('refuses marks that were never written', () => {
    expect(() => unpackValue({ $: 'Function', v: 'x' })).toThrowError(/unknown kind/);
    expect(() => unpackValue({ $: 'bigint', v: 'twelve' })).toThrowError(/a rank sent/);
    expect(() => unpackValue({ $: 'Float64Array', v: 'AAAA' })).toThrowError(/a rank sent/);
  });
});
