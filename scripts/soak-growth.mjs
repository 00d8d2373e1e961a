// Whether what a process holds stays flat while it runs for long.

/**
 * What the last third of the samples may hold more than the first, by their medians. What leaks a descriptor, a thread, a
 * segment or some KiB per connection is beyond these bounds after minutes. Resident memory breathes by some MiB: pages
 * are used in part, and compiled code comes and goes.
 */
export const bounds = {
  heapKiB: { unit: 'KiB', most: () => 1024 },
  mallocKiB: { unit: 'KiB', most: () => 1024 },
  residentKiB: { unit: 'KiB', most: (first) => Math.max(0.05 * first, 8192) },
  descriptors: { unit: '', most: () => 1 },
  threads: { unit: '', most: () => 1 },
  sharedKiB: { unit: 'KiB', most: () => 64 },
};

/** Not the mean: some samples fall into the moment between two connections, which has less. */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of one figure: the first and the last third, and what a line through all samples gains per hour. */
export function growthOf(samples, figure) {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const first = median(samples.slice(0, third).map((sample) => sample[figure]));
  const last = median(samples.slice(-third).map((sample) => sample[figure]));
  const middleMs = mean(samples.map(({ atMs }) => atMs));
  const middle = mean(samples.map((sample) => sample[figure]));
  let [product, square] = [0, 0];
  for (const sample of samples) {
    product += (sample.atMs - middleMs) * (sample[figure] - middle);
    square += (sample.atMs - middleMs) ** 2;
  }
  const perHour = square === 0 ? 0 : (product / square) * 3_600_000;
  return { figure, first, last, perHour, most: bounds[figure].most(first) };
}

/** Samples after the warm-up without which nothing can be said of a process: two for each third. */
const fewestSamples = 6;
/** A launcher and two ranks. */
const fewestProcesses = 3;

/**
 * Of every process that lived long enough, what it gained; and what stands against the verdict: figures that grow, and
 * jobs of which too few processes were seen for long enough. Helper processes that came and went do not count.
 */
export function judge(series, { jobs, minutes, warmUp }) {
  const seen = series.flatMap(({ job, title, samples }) => {
    const steady = samples.filter(({ atMs }) => atMs > warmUp * minutes * 60_000);
    return steady.length < fewestSamples ? [] : [{ job, title, steady }];
  });
  const rows = seen.flatMap(({ title, steady }) =>
    Object.keys(bounds).map((figure) => {
      const growth = growthOf(steady, figure);
      return { title, ...growth, grows: isGrowth(growth, minutes / 60) };
    }),
  );
  const unseen = jobs.flatMap((name) => {
    const count = seen.filter(({ job }) => job === name).length;
    return count >= fewestProcesses
      ? []
      : [`${name}: too few samples of ${fewestProcesses - count} of ${fewestProcesses} processes`];
  });
  const grown = rows
    .filter(({ grows }) => grows)
    .map(({ title, figure }) => `${title}: ${figure} grows`);
  return { rows, against: [...unseen, ...grown] };
}

/** Both must be beyond the bound: one odd sample bends the line, and one busy minute lifts a third. */
export function isGrowth({ first, last, perHour, most }, hours) {
  return last - first > most && perHour * hours > most;
}
