import { randomInt } from 'node:crypto';
import type { World } from '../../world/world.js';
import type { Backend, BackendId } from './backend.js';
import type { Contents, Verified } from './contents.js';
import type { Exchange } from './exchange.js';
import { lines } from './log.js';
import type { RankPart } from './row.js';

export interface RunOptions {
  readonly world: World;
  readonly exchange: Exchange;
  readonly backends: readonly Backend[];
  readonly contents: Contents;
  readonly iterations: number;
  say(text: string): void;
}

/** How many values of either end of the output are shown. */
const shownValues = 5;

/**
 * Every backend in turn, iteration by iteration, on the same tensors. First each exchanges a pattern of a fresh seed,
 * untimed, which also opens its connections; then the running numbers, timed. Before every exchange the output is
 * overwritten, and after it every element is compared. Every rank calls it and gets its own part.
 */
export async function runExchanges(options: RunOptions): Promise<Map<BackendId, RankPart>> {
  const { world, backends, contents, iterations } = options;
  const parts = new Map(
    backends.map(({ id }) => [id, { samples: [] as number[], verified: [] as Verified[] }]),
  );
  const seed = await world.broadcast('seed', randomInt(2 ** 40));
  for (const [index, backend] of backends.entries()) {
    world.note(`${backend.id}: exchanging a random pattern`);
    const own = seed + index * seedsPerBackend;
    await contents.writeSeeded(own);
    await backend.exchange();
    parts.get(backend.id)!.verified.push(await contents.verifySeeded(own));
  }
  await contents.writeNumbers();
  for (let iteration = 0; iteration < iterations; iteration++) {
    for (const backend of backends) {
      world.note(`${backend.id}: exchange ${iteration + 1} of ${iterations}`);
      const { samples, verified } = parts.get(backend.id)!;
      const part = await once(options, backend, iteration === 0);
      samples.push(part.nanoseconds);
      verified.push(part.verified);
    }
  }
  return parts;
}

/** More than two for every rank: patterns of input and output. */
const seedsPerBackend = 2 ** 17;

/** One timed exchange. The log tells of the first; the table of all. */
async function once(
  { world, exchange, backends, contents, say }: RunOptions,
  backend: Backend,
  aloud: boolean,
) {
  const { rank } = world;
  const name = backends.length > 1 ? backend.id : undefined;
  await contents.spoilOutput();
  if (aloud) say(lines.starting(rank, name));
  const nanoseconds = await backend.exchange();
  const verified = await contents.verifyNumbers();
  if (aloud) {
    const elements = exchange.targetBytes(rank) / exchange.elementBytes;
    say(lines.completed(rank, nanoseconds, name));
    say(lines.verification(rank, elements, contents.ends(shownValues), name));
  }
  return { nanoseconds: Math.round(nanoseconds), verified };
}
