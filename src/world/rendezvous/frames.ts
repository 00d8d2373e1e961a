/**
 * A message is JSON in UTF-8, cut into frames: 4 bytes (big endian; the top bit says that the message goes
 * on in the next frame, the rest is the length), then that many bytes. Both a frame and a whole message
 * are limited, so that a stranger or a broken rank cannot make this process allocate at will.
 */
interface FrameLimits {
  readonly frameBytes: number;
  readonly messageBytes: number;
}

/** Before a connection has proved that it knows the token. */
const strangerLimits: FrameLimits = { frameBytes: 4096, messageBytes: 4096 };
/** What a socket hands over in one piece, and a message. */
const mostAhead = 128 * 1024;
/** Between ranks of one job. */
export const memberLimits: FrameLimits = { frameBytes: 1 << 18, messageBytes: 64 << 20 };

/** What a rank may send: rank 0 wraps a value anew, and the result must fit too. */
export const requestLimits: FrameLimits = {
  ...memberLimits,
  messageBytes: memberLimits.messageBytes - 4096,
};

const headerBytes = 4;
const moreFollows = 0x8000_0000;

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Throws a RangeError when the message is larger than a receiver would take. */
export function encodeFrames(message: unknown, limits: FrameLimits = memberLimits): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > limits.messageBytes) {
    throw new RangeError(
      `a value of ${body.length} bytes is too large to exchange (at most ${limits.messageBytes})`,
    );
  }
  return frameBody(body, limits);
}

/** Cuts a message that is encoded already. */
export function frameBody(body: Buffer, { frameBytes }: FrameLimits = memberLimits): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += frameBytes) {
    const piece = body.subarray(at, at + frameBytes);
    const more = at + piece.length < body.length;
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32BE((more ? moreFollows : 0) + piece.length);
    pieces.push(header, piece);
  }
  return Buffer.concat(pieces);
}

/** A message, and the bytes it was read from: a relay passes those on. */
interface Received {
  readonly message: unknown;
  readonly body: Buffer;
}

/** Turns the bytes of one connection into messages. Not usable after it has thrown. */
export class FrameReader {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #body: Buffer[] = [];
  #bodyBytes = 0;
  limits: FrameLimits = strangerLimits;

  /** Holds more than anyone may have sent ahead: before they are trusted, nobody sends without being asked. */
  get isOverfull(): boolean {
    return this.limits === strangerLimits && this.#pendingBytes > mostAhead;
  }

  push(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
  }

  /** The next whole message, or undefined until more bytes come. Throws FrameError on a broken frame. */
  next(): Received | undefined {
    for (;;) {
      if (this.#pendingBytes < headerBytes) return undefined;
      const header = this.#peekHeader();
      const length = header % moreFollows;
      this.#checkLimits(length);
      if (this.#pendingBytes < headerBytes + length) return undefined;
      this.#take(headerBytes);
      this.#body.push(this.#take(length));
      this.#bodyBytes += length;
      if (header < moreFollows) return this.#finish();
    }
  }

  #checkLimits(length: number): void {
    if (length === 0) throw new FrameError('an empty frame');
    if (length > this.limits.frameBytes || this.#bodyBytes + length > this.limits.messageBytes) {
      throw new FrameError(`a frame of ${length} bytes is too large`);
    }
  }

  #finish(): Received {
    const body = Buffer.concat(this.#body);
    this.#body = [];
    this.#bodyBytes = 0;
    try {
      return { message: JSON.parse(body.toString('utf8')), body };
    } catch (cause) {
      throw new FrameError('a frame that is not JSON', { cause });
    }
  }

  #peekHeader(): number {
    const first = this.#pending[0];
    if (first !== undefined && first.length >= headerBytes) return first.readUInt32BE(0);
    const whole = Buffer.concat(this.#pending);
    this.#pending = [whole];
    return whole.readUInt32BE(0);
  }

  /** Removes exactly `length` bytes; the caller has checked that they are there. */
  #take(length: number): Buffer {
    const taken: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const first = this.#pending[0];
      if (first === undefined) throw new FrameError('bytes are missing');
      const piece = first.subarray(0, missing);
      taken.push(piece);
      missing -= piece.length;
      if (piece.length === first.length) this.#pending.shift();
      else this.#pending[0] = first.subarray(piece.length);
    }
    this.#pendingBytes -= length;
    return taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken);
  }
}
