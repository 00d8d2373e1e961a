import { peerIds } from '../../settings/table.js';

export const backendIds = ['fabric', ...peerIds] as const;
export type BackendId = (typeof backendIds)[number];

/** Something that carries out the exchange. Every rank makes the same calls in the same order. */
export interface Backend {
  readonly id: BackendId;
  readonly version: string;
  /**
   * One exchange from the input to the output tensor, a rank's own block included. All ranks meet before it and after
   * it; this rank's nanoseconds are those in between.
   */
  exchange(): Promise<number>;
  close(): Promise<void>;
}
