import type {
  Channel,
  Fabric,
  FabricBuffer,
  FabricOptions,
  RemoteRegion,
} from '../../src/index.js';
import { openFabric } from '../../src/index.js';

/** Two ranks in one process, connected over `channels` channels, each with a buffer the other knows. */
export interface Pair extends AsyncDisposable {
  readonly fabrics: readonly [Fabric, Fabric];
  /** The path from rank 0 to rank 1 and back. */
  readonly a: Channel;
  readonly b: Channel;
  readonly source: FabricBuffer;
  readonly target: FabricBuffer;
  /** Rank 1's `target` as rank 0 reaches it, and rank 0's `source` as rank 1 does. */
  readonly remoteTarget: RemoteRegion;
  readonly remoteSource: RemoteRegion;
}

export interface ProviderCase {
  readonly name: string;
  readonly options: FabricOptions;
}

/** Those under test: of every machine, or those that only `npm run test:efa` has. */
const { WEFT_TEST_PROVIDERS: chosen } = process.env;
export const software = chosen?.split(',') ?? ['shm', 'tcp', 'net', 'sockets'];

/** Every provider through the same suite, and again behaving as RDMA hardware does, which efa does anyway. */
export const providers: ProviderCase[] = [
  ...software.map((provider) => ({ name: provider, options: { provider } })),
  ...software.flatMap((provider) => {
    const name = `${provider} with provider keys and virtual addresses`;
    return chosen ? [] : [{ name, options: { provider, basicRegistration: true } }];
  }),
  ...(chosen ? [] : ['shm', 'tcp']).map((provider) => ({
    name: `${provider} with acknowledged writes`,
    options: { provider, acknowledged: true },
  })),
];

/** Several ranks in one process, connected. */
export async function connectRanks(options: FabricOptions, count: number) {
  const fabrics: Fabric[] = [];
  for (let rank = 0; rank < count; rank++) fabrics.push(await openFabric(options));
  const everyone = fabrics.map((fabric) => fabric.addresses);
  for (const [rank, fabric] of fabrics.entries()) fabric.connect(rank, everyone);
  return {
    fabrics,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(fabrics.map((fabric) => fabric.close()));
    },
  };
}

export async function connectPair(
  options: FabricOptions,
  bytes: number,
  channels = 1,
): Promise<Pair> {
  const wanted = { ...options, channels };
  const fabrics = [await openFabric(wanted), await openFabric(wanted)] as const;
  const everyone = fabrics.map((fabric) => fabric.addresses);
  for (const [rank, fabric] of fabrics.entries()) fabric.connect(rank, everyone);
  const source = fabrics[0].allocate(bytes);
  const target = fabrics[1].allocate(bytes);
  return {
    fabrics,
    a: fabrics[0].channel(1),
    b: fabrics[1].channel(0),
    source,
    target,
    remoteTarget: fabrics[0].remote(target.describe()),
    remoteSource: fabrics[1].remote(source.describe()),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(fabrics.map((fabric) => fabric.close()));
    },
  };
}

interface Place {
  readonly offset: number;
  readonly bytes: number;
  readonly channel: number;
  readonly immediate: number;
}

/** Writes the pattern of `seed` to all places at once, awaits their immediates, and counts the bytes that are wrong. */
export async function wrongAfterWrites(
  { fabrics, source, target, remoteTarget }: Pair,
  places: readonly Place[],
  seed: number,
): Promise<number> {
  await source.fill(seed);
  await Promise.all(
    places.flatMap(({ offset, bytes, channel, immediate }) => [
      fabrics[0]
        .channel(1, channel)
        .write(source.slice(offset, bytes), remoteTarget.slice(offset, bytes), { immediate }),
      fabrics[1].channel(0, channel).immediate(immediate, { timeoutMs: 20_000 }),
    ]),
  );
  let wrong = 0;
  for (const { offset, bytes } of places) {
    wrong += (await target.verify(seed, { offset, bytes, position: offset })).wrong;
  }
  return wrong;
}
