type Figure = 'heapKiB' | 'mallocKiB' | 'residentKiB' | 'descriptors' | 'threads' | 'sharedKiB';

export interface Growth {
  readonly figure: Figure;
  readonly first: number;
  readonly last: number;
  readonly perHour: number;
  readonly most: number;
}

export const bounds: Record<Figure, { unit: string; most(first: number): number }>;

export function growthOf(
  samples: readonly (Record<Figure, number> & { readonly atMs: number })[],
  figure: Figure,
): Growth;

export function isGrowth(growth: Growth, hours: number): boolean;
