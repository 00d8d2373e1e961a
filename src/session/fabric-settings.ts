/** What a fabric is opened with, and how plans run on it; the same on every rank. */
export interface FabricSettings {
  readonly chunkBytes?: number;
  readonly window?: number;
  readonly timeoutMs: number;
  /** `auto` lets ranks that share cores yield at once. */
  readonly pin: 'auto' | 'none';
  readonly provider?: string;
  /** CUDA's numbers of the GPUs that the ranks of a host take in turn; default: all. */
  readonly gpus?: readonly number[];
  readonly nics?: readonly string[];
  readonly channels?: number;
  readonly lineRateGbps?: number;
}
