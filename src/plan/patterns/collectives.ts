import type { Plan, Step, SumDtype } from '../plan.js';
import { cutFurther, type Piece } from '../strategies.js';
import { type Block, checkCount, checkRank, type Traffic } from '../traffic.js';
import {
  type PlacedPiece,
  placePieces,
  planFor,
  type WritePlanOptions,
  waitFor,
  writeOf,
} from '../write-plan.js';
import { CollectiveLayout, type CollectiveTraffic, type Duty } from './collective-layout.js';

/** A collective: who sends what to whom, and the plan of each rank. */
export interface PlannedCollective {
  readonly traffic: Traffic;
  plan(options: WritePlanOptions): Plan;
}

/**
 * Every rank owns an equal share of the bytes (broadcast: the root owns all). Shares are added up towards their owners
 * along the route, and spread from them. A rank's own share stays where it is: nobody copies it.
 *
 * Sums and what they are made of have places of their own behind the result, so that no byte of a target buffer changes
 * twice in an iteration: a peer that is one iteration ahead overwrites bytes with the same bytes.
 */
export function collective(options: CollectiveTraffic): PlannedCollective {
  const layout = new CollectiveLayout(options);
  const { kind, world, bytes, dtype = 'float32', route } = options;
  const duties = (rank: number) => {
    checkRank('rank', rank, world);
    return layout.duties(rank);
  };
  const traffic: Traffic = {
    title: `${kind} (${route.title})`,
    world,
    sequential: false,
    shifted: kind !== 'broadcast' && layout.shares.every((share) => share.bytes === bytes / world),
    outgoing: (rank) => duties(rank).flatMap(({ give, pass }) => (give ? [give, ...pass] : pass)),
    incoming: (rank) =>
      duties(rank).flatMap(({ get, addends }) => [...addends, ...(get ? [get] : [])]),
    contents: (rank) => layout.contents(rank),
    ...(layout.adds && {
      numbers: { dtype, weight: world, of: () => [{ offset: 0, bytes }] },
    }),
    sourceBytes: (rank) => layout.sourceBytes(rank),
    targetBytes: (rank) => layout.targetBytes(rank),
  };
  return { traffic, plan: (how) => planOf(traffic, layout, dtype, how) };
}

/**
 * Each channel has its own part of every share and takes it all along the route: a ring per channel, and no channel
 * waits for another.
 */
function planOf(
  traffic: Traffic,
  layout: CollectiveLayout,
  dtype: SumDtype,
  how: WritePlanOptions,
): Plan {
  const { rank, channels, strategy } = how;
  checkCount('channels', channels);
  checkRank('rank', rank, traffic.world);
  const cut = cutFurther(strategy, layout.pieces(strategy, channels));
  const shares = layout.duties(rank).map((duty) => ({
    duty,
    pieces: cut.split(duty.share.bytes, channels),
    placed: new Map(blocksOf(duty).map((block) => [block, placePieces(block, cut, channels)])),
  }));
  const rounds = Math.max(...shares.map(({ pieces }) => pieces.length));
  const steps: Step[] = [];
  // The first piece of every share, then the second of each.
  for (let round = 0; round < rounds; round++) {
    for (const { duty, pieces, placed } of shares) {
      const piece = pieces[round];
      if (piece) addPiece(steps, duty, dtype, piece, (block) => placed.get(block)![round]!);
    }
  }
  return planFor(traffic, how, steps);
}

const blocksOf = ({ addends, give, get, pass }: Duty): Block[] =>
  [...addends, give, get, ...pass].filter((block) => block !== undefined);

/** One sum per piece, of all that arrives at once: every number is read and rounded once. */
function addPiece(
  steps: Step[],
  { share, addends, give, get, pass, sumOffset }: Duty,
  dtype: SumDtype,
  { offset, bytes }: Piece,
  placed: (block: Block) => PlacedPiece,
): void {
  const add = (step: Step): number => steps.push(step) - 1;
  const arrived = addends.map((block) => add(waitFor(block, placed(block))));
  let ready: number[] = [];
  if (sumOffset !== undefined) {
    const own = { buffer: 'source', offset: share.offset + offset } as const;
    const others = addends.map(
      ({ targetOffset }) => ({ buffer: 'target', offset: targetOffset + offset }) as const,
    );
    const parts = [{ into: sumOffset + offset, bytes, from: [own, ...others] }];
    ready = [add({ kind: 'sum', dtype, parts, after: arrived })];
  }
  if (give) add({ ...writeOf(give, placed(give)), after: ready });
  if (get) ready = [add(waitFor(get, placed(get)))];
  for (const block of pass) add({ ...writeOf(block, placed(block)), after: ready });
}
