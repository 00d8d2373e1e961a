import type { FabricModel, NicFault, SwitchTier } from './fabric-model.js';

/** Where ranks are, and what lies between them. */
export interface SimulatedWorld {
  readonly fabric: FabricModel;
  readonly nodes: number;
  readonly ranksPerNode: number;
  readonly memory: 'host' | 'device';
  readonly switches?: SwitchTier | undefined;
  readonly faults?: readonly NicFault[] | undefined;
}

/** A transfer's ends, and the channel that it takes on both sides. */
export interface Ends {
  readonly from: number;
  readonly to: number;
  readonly channel: number;
}

/** Whether transfers of a plan both leave and enter this NIC. */
type Duplex = (rank: number, channel: number) => boolean;

const bytesPerNanosecond = (gbps: number): number => gbps / 8;

/** Whether a period does not hold whole leaves, so that all hosts count as alike. That is not exact. */
export function hostsAreAlike(
  { nodes, ranksPerNode, switches }: Omit<SimulatedWorld, 'memory'>,
  period: number,
): boolean {
  const ofLeaf = ranksPerNode * (switches?.hostsPerLeaf ?? 1);
  return period < nodes * ranksPerNode && period % ofLeaf !== 0;
}

/**
 * Numbers the links of a world as transfers ask for them. Ranks that differ by `period` share links.
 *
 * Where `hostsAreAlike`, each host has its share of what its leaf carries to the spines as a link of its own, and it
 * shares its leaf with the hosts next to it on both sides, whatever its place.
 */
export class Wiring {
  readonly #world: SimulatedWorld;
  readonly #period: number;
  readonly #alike: boolean;
  readonly #links = new Map<string, number>();
  readonly #capacities: number[] = [];
  readonly #groups = new Map<number, number>();
  readonly #paths: number[][] = [];

  constructor(world: SimulatedWorld, period: number) {
    this.#world = world;
    this.#period = period;
    this.#alike = hostsAreAlike(world, period);
  }

  /** In bytes per nanosecond. */
  get capacities(): Float64Array {
    return Float64Array.from(this.#capacities);
  }

  nodeOf(rank: number): number {
    return Math.floor(rank / this.#world.ranksPerNode);
  }

  /** The links of each group of transfers. */
  get paths(): readonly (readonly number[])[] {
    return this.#paths;
  }

  /** The number of the group of transfers over the same links. `duplex` says whether a NIC has transfers both ways. */
  groupOf(ends: Ends, duplex: Duplex): number {
    const key = this.#keyOf(ends);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = this.#paths.push(this.#pathOf(ends, duplex)) - 1;
    this.#groups.set(key, group);
    return group;
  }

  #keyOf({ from, to, channel }: Ends): number {
    const { switches, fabric } = this.#world;
    const period = this.#period;
    const pair = (from % period) * period + (to % period);
    const sameLeaf = switches !== undefined && this.#shareLeaf(from, to) ? 1 : 0;
    return (pair * fabric.nicsPerRank + channel) * 2 + sameLeaf;
  }

  #leafOf(rank: number): number {
    return Math.floor(this.nodeOf(rank) / (this.#world.switches?.hostsPerLeaf ?? 1));
  }

  #shareLeaf(from: number, to: number): boolean {
    if (!this.#alike) return this.#leafOf(from) === this.#leafOf(to);
    const { nodes, switches } = this.#world;
    const others = (switches?.hostsPerLeaf ?? 1) - 1;
    const ahead = (this.nodeOf(to) - this.nodeOf(from) + nodes) % nodes;
    return ahead <= Math.ceil(others / 2) || nodes - ahead <= Math.floor(others / 2);
  }

  #pathOf(ends: Ends, duplex: Duplex): number[] {
    const [from, to] = [ends.from % this.#period, ends.to % this.#period];
    const { channel } = ends;
    return [
      ...this.#sideOf(from, channel, 'out', duplex(from, channel)),
      ...this.#between(ends),
      ...this.#sideOf(to, channel, 'in', duplex(to, channel)),
    ];
  }

  #sideOf(rank: number, channel: number, way: 'in' | 'out', duplex: boolean): number[] {
    const { fabric, memory } = this.#world;
    const { nicGbps, duplexEfficiency, hostGbps } = fabric.parameters;
    const rate = nicGbps * this.#healthOf(rank, channel);
    const shared = (fabric.limits ?? []).filter(({ nics }) => nics.includes(channel));
    return [
      this.#link(`${rank} nic ${channel} ${way}`, rate),
      ...(duplex && duplexEfficiency < 1
        ? [this.#link(`${rank} nic ${channel} both`, 2 * rate * duplexEfficiency)]
        : []),
      ...(memory === 'host' && hostGbps !== undefined
        ? [this.#link(`${rank} host memory`, hostGbps)]
        : []),
      ...shared.map(({ name, gbps }) => this.#link(`${rank} ${name} ${way}`, gbps)),
    ];
  }

  #healthOf(rank: number, channel: number): number {
    const { faults = [], ranksPerNode, fabric } = this.#world;
    const nic = (rank % ranksPerNode) * fabric.nicsPerRank + channel;
    const found = faults.filter((fault) => fault.host === this.nodeOf(rank) && fault.nic === nic);
    return found.reduce((rate, fault) => rate * fault.rate, 1);
  }

  /** Up to a spine and down again, where the ends are below different leaves. */
  #between({ from, to, channel }: Ends): number[] {
    const { switches, fabric, ranksPerNode } = this.#world;
    if (switches === undefined) return [];
    const { hostsPerLeaf, oversubscription, routing, seed } = switches;
    if (this.#shareLeaf(from, to)) return [];
    const alike = this.#alike;
    const [up, down] = [from, to].map((rank) =>
      alike ? this.nodeOf(rank % this.#period) : this.#leafOf(rank % this.#period),
    );
    const nics = (alike ? 1 : hostsPerLeaf) * ranksPerNode * fabric.nicsPerRank;
    const gbps = (nics * fabric.parameters.nicGbps) / oversubscription;
    if (routing === 'spray') {
      return [this.#link(`leaf ${up} up`, gbps), this.#link(`leaf ${down} down`, gbps)];
    }
    // Uplinks of the rate of a NIC, as many as the oversubscription leaves.
    const spines = Math.max(1, Math.round(nics / oversubscription));
    const spine = hashOf([seed, from, to, channel]) % spines;
    return [
      this.#link(`leaf ${up} to ${spine}`, gbps / spines),
      this.#link(`${spine} to leaf ${down}`, gbps / spines),
    ];
  }

  #link(name: string, gbps: number): number {
    const known = this.#links.get(name);
    if (known !== undefined) return known;
    const number = this.#capacities.length;
    this.#links.set(name, number);
    this.#capacities.push(bytesPerNanosecond(gbps));
    return number;
  }
}

/** Mixes whole numbers into one of 32 bits, the same everywhere (FNV-1a with a final mix). */
function hashOf(values: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const value of values) {
    for (let byte = 0; byte < 4; byte++) {
      hash = Math.imul(hash ^ ((value >>> (8 * byte)) & 0xff), 0x01000193);
    }
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
