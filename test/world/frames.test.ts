import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeFrames, FrameReader, memberLimits } from '../../src/world/rendezvous/frames.js';

function readAll(bytes: Buffer, cuts: number[], limits = memberLimits): unknown[] {
  const reader = new FrameReader();
  reader.limits = limits;
  const messages: unknown[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    const end = Math.min(bytes.length, at + cut);
    reader.push(bytes.subarray(at, end));
    at = end;
    for (let next = reader.next(); next !== undefined; next = reader.next())
      messages.push(next.message);
  }
  return messages;
}

describe('frames', () => {
  test('messages survive any cutting of the stream and of themselves', () => {
    const limits = { frameBytes: 7, messageBytes: 10_000 };
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 5 }),
        fc.array(fc.nat(20), { maxLength: 50 }),
        (messages, cuts) => {
          const bytes = Buffer.concat(messages.map((message) => encodeFrames(message, limits)));
          expect(readAll(bytes, cuts, limits)).toEqual(JSON.parse(JSON.stringify(messages)));
        },
      ),
    );
  });

  test('a large message is cut into bounded frames', () => {
    const bytes = encodeFrames('x'.repeat(1_000_000));
    expect(bytes.readUInt32BE(0) % 0x8000_0000).toBe(memberLimits.frameBytes);
    expect(readAll(bytes, [])).toEqual(['x'.repeat(1_000_000)]);
  });

  test('a message larger than a receiver takes is refused where it is sent', () => {
    expect(() => encodeFrames('xxxx', { frameBytes: 2, messageBytes: 4 })).toThrowError(RangeError);
  });

  test.each([
    ['a frame larger than a stranger may send', Buffer.from([0, 0, 0x10, 1])],
    ['a length near 2 GiB', Buffer.from([0x7f, 0xff, 0xff, 0xff])],
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['an empty frame', Buffer.from([0, 0, 0, 0])],
    ['not JSON', Buffer.from([0, 0, 0, 2, 0x7b, 0x7b])],
  ])('%s', (_, bytes) => {
    const reader = new FrameReader();
    reader.push(bytes);
    expect(() => reader.next()).toThrowError(expect.objectContaining({ name: 'FrameError' }));
  });

  test('endless continuation ends at the limit', () => {
    const reader = new FrameReader();
    const frame = Buffer.concat([Buffer.from([0x80, 0, 0x0c, 0]), Buffer.alloc(3072, 0x20)]);
    reader.push(frame);
    expect(reader.next()).toBeUndefined();
    reader.push(frame);
    expect(() => reader.next()).toThrowError(/too large/);
  });
});
