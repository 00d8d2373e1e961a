import type { Run } from './schema.js';

/** A run's provider as people read it: `efa`, but `emulated EFA` where no EFA hardware was measured. */
export function fabricName({ provider, emulated }: Run['fabric']): string | null {
  if (provider === null || !emulated) return provider;
  return `emulated ${provider.replace(/^efa/, 'EFA')}`;
}
