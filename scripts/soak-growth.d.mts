type Figure = 'heapKiB' | 'mallocKiB' | 'residentKiB' | 'descriptors' | 'threads' | 'sharedKiB';

export interface Growth {
  readonly figure: Figure;
  readonly first: number;
  readonly last: number;
  readonly perHour: number;
  readonly most: number;
}

type Sample = Record<Figure, number> & { readonly atMs: number };

export interface Series {
  readonly job: string;
  readonly title: string;
  readonly samples: readonly Sample[];
}

export interface Judgement {
  readonly rows: readonly (Growth & { readonly title: string; readonly grows: boolean })[];
  /** Empty where everything is flat. */
  readonly against: readonly string[];
}

export function judge(
  series: readonly Series[],
  run: { readonly jobs: readonly string[]; readonly minutes: number; readonly warmUp: number },
): Judgement;

export const bounds: Record<Figure, { unit: string; most(first: number): number }>;

export function growthOf(samples: readonly Sample[], figure: Figure): Growth;

export function isGrowth(growth: Growth, hours: number): boolean;
