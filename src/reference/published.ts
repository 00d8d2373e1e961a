/** Where figures were published, and when they were read there. */
export interface Source {
  readonly name: string;
  readonly url: string;
  /** Year and month. */
  readonly read: string;
}

/** What a figure is, and how a measured row gives the same: its rate, NCCL's bus bandwidth, its mean time. */
export const quantities = {
  gbps: { unit: 'Gbps', moreIsBetter: true },
  busbwGBps: { unit: 'GB/s BusBW', moreIsBetter: true },
  meanUs: { unit: 'us', moreIsBetter: false },
  /** A bandwidth by the publisher's own definition, which no row has: shown, never compared. */
  theirGBps: { unit: 'GB/s', moreIsBetter: true },
} as const;
export type Quantity = keyof typeof quantities;

/** One published number. */
export interface PublishedFigure {
  /** A column of the benchmark, or how the names of those begin that do the same. */
  readonly column: string;
  /** As in a row of that benchmark: per peer for all2all, the tokens of a rank for moe. */
  readonly bytes: number;
  readonly nodes: number;
  readonly ranksPerNode: number;
  /** One pair at a time: the number of nodes does not matter. */
  readonly pairwise?: boolean;
  /** Options of the benchmark that the publisher states. */
  readonly options?: Readonly<Record<string, string | number>>;
  readonly quantity: Quantity;
  readonly value: number;
}

/** Figures of one operation on one kind of machine, from one source. */
export interface Publication {
  readonly source: Source;
  /** As machines.ts has it, or the NICs alone where no more is stated. */
  readonly machine: string;
  /** The benchmark of Weft that does the same. */
  readonly benchmark: string;
  /** What moved the bytes. */
  readonly library: string;
  readonly nicsPerRank: number;
  /** How it was measured, in the publisher's words as far as they go. */
  readonly conditions: string;
  readonly figures: readonly PublishedFigure[];
}
