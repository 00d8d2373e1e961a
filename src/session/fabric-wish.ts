import type { FabricSettings } from '../settings/table.js';

/** Which fabric is wanted; whatever is absent is chosen. */
export interface FabricWish
  extends Pick<FabricSettings, 'provider' | 'nics' | 'channels' | 'gpus' | 'localShm'> {
  /** NICs to use where the provider runs over sockets and `nics` names none. */
  readonly socketNics?: readonly string[];
}

/**
 * What becomes of rails that do not reach every rank: the job ends, or they are left out and told. Where no rail is
 * left, rank 0 ends the job; with `everyone`, each rank throws by itself and the world lives on.
 */
export type GapPolicy = 'refuse' | 'report' | 'everyone';
