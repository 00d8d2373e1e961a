import type { RunOptions } from './engine.js';

type Marks = NonNullable<RunOptions['marks']>;

/** Marks of groups of steps: a group is done when its last step is. Groups may share steps. */
export function marksOf(groups: readonly (readonly number[])[], heard: Marks['heard']): Marks {
  const steps = [...new Set(groups.flat())];
  const places = new Map(steps.map((step, place) => [step, place]));
  const placesOf = groups.map((group) => group.map((step) => places.get(step)!));
  return {
    steps,
    heard: (times) => {
      const latest = new Float64Array((times.length / steps.length) * groups.length);
      for (let i = 0; i < latest.length; i++) {
        const first = Math.floor(i / groups.length) * steps.length;
        for (const place of placesOf[i % groups.length]!) {
          latest[i] = Math.max(latest[i]!, times[first + place]!);
        }
      }
      heard(latest);
    },
  };
}
