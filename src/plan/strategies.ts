/** A contiguous part of a block that travels on one channel. */
export interface Piece {
  readonly offset: number;
  readonly bytes: number;
}

/** Which piece is asked about: `buffer` numbers a rank's independent buffers to that peer. */
export interface Placement {
  readonly rank: number;
  readonly peer: number;
  readonly buffer: number;
  readonly piece: number;
  readonly channels: number;
}

/** How a block is spread over channels. Pure, so that both sides derive the same pieces. */
export interface Strategy {
  readonly id: 'single' | 'multi' | 'roundRobin';
  /** As it begins the name of a column: `Single`Pin. */
  readonly title: string;
  readonly summary: string;
  /** How many channels a configuration may use: the denominator of `busbw %`. */
  allowedChannels(channels: number): number;
  /** The most pieces a block is cut into. */
  maxPieces(channels: number): number;
  /**
   * Adjoining pieces that cover the block. Depends on nothing but these numbers. Pieces begin at multiples of
   * `unitBytes`; default: of `pieceAlignment`.
   */
  split(bytes: number, channels: number, unitBytes?: number): readonly Piece[];
  channelOf(placement: Placement): number;
  /** `channelOf` stays the same when rank and peer both move on by this number, a divisor of `channels`. */
  rankPeriod(channels: number): number;
}

/** Pieces start on a cache line, so no two channels write into the same one. */
export const pieceAlignment = 64;

const whole = (bytes: number): readonly Piece[] => [{ offset: 0, bytes }];

/**
 * Pieces differ by at most `unitBytes`. A block with fewer units than channels becomes fewer pieces; only an empty
 * block has an empty piece.
 */
function splitEvenly(
  bytes: number,
  channels: number,
  unitBytes = pieceAlignment,
): readonly Piece[] {
  const units = Math.ceil(bytes / unitBytes);
  const count = Math.max(1, Math.min(channels, units));
  const unitsEach = Math.floor(units / count);
  // The last pieces take the extra units: the very last one is also cut short by the odd bytes.
  const firstLonger = count - (units % count);
  const pieces: Piece[] = [];
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const end = offset + (unitsEach + (i >= firstLonger ? 1 : 0)) * unitBytes;
    pieces.push({ offset, bytes: Math.min(end, bytes) - offset });
    offset = end;
  }
  return pieces;
}

/** Everything goes over channel 0. */
export const single: Strategy = {
  id: 'single',
  title: 'Single',
  summary: 'everything on channel 0',
  allowedChannels: () => 1,
  maxPieces: () => 1,
  split: whole,
  channelOf: () => 0,
  rankPeriod: () => 1,
};

/** One rail alone. */
export const onChannel = (channel: number): Strategy => ({
  ...single,
  summary: `everything on channel ${channel}`,
  channelOf: () => channel,
});

/** Each block is split over all channels. */
export const multi: Strategy = {
  id: 'multi',
  title: 'Multi',
  summary: 'each buffer split over all channels',
  allowedChannels: (channels) => channels,
  maxPieces: (channels) => channels,
  split: splitEvenly,
  channelOf: ({ piece }) => piece,
  rankPeriod: () => 1,
};

/** Each peer has a channel of its own, in turn: `(peer + rank) % channels`. */
export const roundRobin: Strategy = {
  id: 'roundRobin',
  title: 'RoundRobin',
  summary: 'each buffer on channel (peer + rank) % channels',
  allowedChannels: (channels) => channels,
  maxPieces: () => 1,
  split: whole,
  channelOf: ({ peer, rank, buffer, channels }) => (peer + rank + buffer) % channels,
  rankPeriod: (channels) => (channels % 2 === 0 ? channels / 2 : channels),
};

export const strategies: readonly Strategy[] = [single, multi, roundRobin];

/**
 * The same, with every piece cut into `count` adjoining ones on its channel; all pieces into as many. Those of
 * all channels take turns: piece i lies in piece i mod `maxPieces` of the strategy.
 */
export const cutFurther = (strategy: Strategy, count: number): Strategy => ({
  ...strategy,
  maxPieces: (channels) => count * strategy.maxPieces(channels),
  split: (bytes, channels, unitBytes = pieceAlignment) => {
    const pieces = strategy.split(bytes, channels, unitBytes);
    const fewestUnits = Math.floor(Math.min(...pieces.map((one) => one.bytes)) / unitBytes);
    const each = Math.max(1, Math.min(count, fewestUnits));
    const cut = pieces.map((piece) =>
      splitEvenly(piece.bytes, each, unitBytes).map((part) => ({
        ...part,
        offset: piece.offset + part.offset,
      })),
    );
    return Array.from({ length: each }, (_, i) => cut.map((parts) => parts[i]!)).flat();
  },
  channelOf: (placement) => {
    const piece = placement.piece % strategy.maxPieces(placement.channels);
    return strategy.channelOf({ ...placement, piece });
  },
});
