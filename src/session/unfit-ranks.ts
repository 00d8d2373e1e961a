/** Cause of the error that ends a job because the hosts of these ranks lack what it needs. */
export class UnfitRanks extends Error {
  readonly ranks: readonly number[];

  constructor(ranks: readonly number[]) {
    super(`unfit: rank ${ranks.join(', ')}`);
    this.ranks = ranks;
  }
}
