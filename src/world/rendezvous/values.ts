/**
 * Values as ranks exchange them: JSON, plus typed arrays, bigint, undefined and the numbers JSON loses
 * (NaN, Infinity). Those travel as `{"$": kind, "v": text}`; an object of the caller's own that has a key
 * `$` travels as `{"$": "object", "v": {…}}`, so nothing is mistaken.
 */
const arrays = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
} as const;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const tagged = (kind: string, v: Json): Json => ({ $: kind, v });

export function packValue(value: unknown): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (value === undefined) return tagged('undefined', '');
  if (typeof value === 'bigint') return tagged('bigint', String(value));
  if (typeof value === 'number') {
    return Number.isFinite(value) ? value : tagged('number', String(value));
  }
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} cannot be sent to a rank`);
  if (Array.isArray(value)) return value.map(packValue);
  if (ArrayBuffer.isView(value)) return packArray(value);
  if (value instanceof Map || value instanceof Set || value instanceof ArrayBuffer) {
    throw new TypeError(`a ${value.constructor.name} cannot be sent to a rank`);
  }
  const packed = packMembers(value);
  return Object.hasOwn(value, '$') ? tagged('object', packed) : packed;
}

/** As in JSON, members that are undefined are left out. */
const packMembers = (value: object): Json =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, packValue(member)]),
  );

function packArray(view: ArrayBufferView): Json {
  // A Buffer arrives as the Uint8Array it is.
  const kind = view instanceof Uint8Array ? 'Uint8Array' : view.constructor.name;
  if (!(kind in arrays)) throw new TypeError(`a ${kind} cannot be sent to a rank`);
  const bytes = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  return tagged(kind, bytes.toString('base64'));
}

/** The inverse of `packValue`; throws a TypeError on a tag that `packValue` never writes. */
export function unpackValue(json: unknown): unknown {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(unpackValue);
  if (!Object.hasOwn(json, '$')) return unpackMembers(json);
  const { $: kind, v } = json as { $: unknown; v?: unknown };
  if (kind === 'object' && typeof v === 'object' && v !== null) return unpackMembers(v);
  if (kind === 'undefined') return undefined;
  if (typeof v === 'string') {
    if (kind === 'bigint' && /^-?\d+$/.test(v)) return BigInt(v);
    if (kind === 'number') return Number(v);
    if (typeof kind === 'string' && Object.hasOwn(arrays, kind)) {
      return unpackArray(kind as keyof typeof arrays, v);
    }
  }
  throw new TypeError(`a rank sent a value of unknown kind ${JSON.stringify(kind)}`);
}

// Object.fromEntries defines own members, so a key such as __proto__ stays data.
const unpackMembers = (value: object): object =>
  Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unpackValue(member)]));

function unpackArray(kind: keyof typeof arrays, text: string) {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % arrays[kind].BYTES_PER_ELEMENT !== 0) {
    throw new TypeError(`a rank sent a ${kind} of ${bytes.length} bytes`);
  }
  const copy = new Uint8Array(bytes.length); // owns its memory: aligned for every element type
  copy.set(bytes);
  return new arrays[kind](copy.buffer);
}
