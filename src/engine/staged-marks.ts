import type { Staged } from '../plan/staged.js';
import type { RunOptions } from './engine.js';

type Marks = NonNullable<RunOptions['marks']>;

/** Marks of a plan as those of its staged form: a step is done when all that it became is done. */
export function stagedMarks({ ends }: Pick<Staged, 'ends'>, { steps, heard }: Marks): Marks {
  const endsOf = steps.map((step) => ends[step]!);
  const flat = endsOf.flat();
  return {
    steps: flat,
    heard: (times) => {
      const latest = new Float64Array((times.length / flat.length) * steps.length);
      let at = 0;
      for (let i = 0; i < latest.length; i++) {
        const { length } = endsOf[i % steps.length]!;
        latest[i] = times.subarray(at, at + length).reduce((a, b) => Math.max(a, b));
        at += length;
      }
      heard(latest);
    },
  };
}
