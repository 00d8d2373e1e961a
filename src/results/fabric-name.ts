import type { Run } from './schema.js';

/** A run's provider as people read it: `emulated EFA` where no EFA hardware was measured, and what it really ran over. */
export function fabricName({ provider, emulated, channels }: Run['fabric']): string | null {
  if (provider === null) return null;
  const name = emulated ? `emulated ${provider.replace(/^efa/, 'EFA')}` : provider;
  const bypassed = provider !== 'shm' && channels.some(({ nic }) => nic === 'shm');
  return bypassed ? `${name} over shared memory` : name;
}
