import { smallestP } from '../../measure/permutation.js';
import { defaultErrorRate, fewestBlocks } from './compare.js';

/** After so many rounds the runs are compared, at this error rate. */
export interface Look {
  readonly rounds: number;
  readonly errorRate: number;
}

/** Each about a third more rounds than the last: more looks would leave too little for each. */
const growth = 1.34;

/**
 * When a measurement in turns may stop. Whoever looks several times errs more often, so the looks share the error rate:
 * one half for the last, the other for those before it in equal parts. By Boole's inequality the chance that any look is
 * wrong is then at most the error rate, however the looks depend on each other. A look whose part is below the smallest
 * p that its rounds can give could prove nothing and is left out.
 */
export function looksOf(mostRounds: number, errorRate = defaultErrorRate): Look[] {
  let early: number[] = [];
  for (let at = fewestBlocks + 1; at < mostRounds; at = Math.round(at * growth)) early.push(at);
  const part = () => errorRate / 2 / early.length;
  while (early.some((rounds) => smallestP(rounds) > part())) early = early.slice(1);
  const looks = early.map((rounds) => ({ rounds, errorRate: part() }));
  const last = early.length === 0 ? errorRate : errorRate / 2;
  return [...looks, { rounds: mostRounds, errorRate: last }];
}
