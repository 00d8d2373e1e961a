import type { Engine } from '../engine/engine.js';
import { figuresOf } from '../measure/figures.js';
import { pairedRatio } from '../measure/paired-ratio.js';
import { summarize } from '../measure/statistics.js';
import type { Peer } from '../peers/peer.js';
import { measuredRow } from '../results/rows.js';
import type { Row } from '../results/schema.js';
import { type RoundTimes, rounds } from './in-turns.js';
import type { Ready } from './runner.js';
import { type Checked, describeWrong } from './verify.js';

/** A column of Weft's, as a contender. */
export interface Ours {
  readonly column: string;
  readonly memory: 'pinned' | 'device';
  readonly engine: Engine;
  readonly plan: Ready['plans'][number];
  readonly turn: Ready['turns'][number];
}

interface PeerRow {
  readonly name: string;
  readonly ours: readonly Ours[];
  /** Of Weft's columns, then of the libraries. */
  readonly times: readonly RoundTimes[];
  readonly own: RoundTimes;
  readonly bytes: number;
  readonly checked: Checked;
  /** What its times include besides the call. */
  readonly includes?: string | undefined;
  /** Hashes of what was moved: by Weft's columns in their order, and by this library. */
  readonly moved?: { readonly ours: readonly string[]; readonly theirs: string } | undefined;
}

/** Made on rank 0. Its line is not known: what a library uses is its own affair. */
export function rowOfPeer(peer: Peer, parts: PeerRow): Row {
  const { name, ours, own, bytes, checked, includes, moved } = parts;
  const { batch, samples } = own;
  const ratios = ratiosOf(peer, parts);
  const other = ratios.find((one) => moved && one.moved !== moved.theirs);
  const failure =
    checked.wrong > 0
      ? describeWrong(checked)
      : other && `${peer.id} was not given the bytes that ${other.column} moves between ranks`;
  return measuredRow({
    column: name,
    bytes,
    samples,
    batch,
    figures: figuresOf({
      bytes: ours[0]!.turn.figureBytes,
      meanNanoseconds: summarize(samples, batch).mean,
    }),
    checked: { bytes: checked.bytes, wrong: checked.wrong },
    labels: peer.memory === 'device' ? {} : { memory: 'host' },
    failure,
    against: {
      ...{ library: peer.version, rounds, ratios },
      ...(own.alone && includes !== undefined && { includes }),
      ...(moved && { moved: moved.theirs }),
    },
  });
}

/** Weft's times to the library's. GPU memory is compared with GPU memory. */
function ratiosOf({ memory }: Peer, { ours, times, own, moved }: PeerRow) {
  const theirs = perIteration(own);
  const callAlone = own.alone && perIteration({ ...own, samples: own.alone });
  return ours.flatMap((one, index) => {
    if (one.memory !== memory) return [];
    const mine = perIteration(times[index]!);
    return {
      column: one.column,
      ...pairedRatio(mine, theirs),
      ...(callAlone && { callAlone: pairedRatio(mine, callAlone) }),
      ...(moved && { moved: moved.ours[index]! }),
    };
  });
}

const perIteration = ({ samples, batch }: RoundTimes): number[] =>
  samples.map((sample) => sample / batch);
