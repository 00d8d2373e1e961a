/** Browsers load this as well: it imports no package. */

const perOctave = 64;
const octaves = 48;

/**
 * Durations in buckets that grow by 1.1 %, so that any number of them takes the same memory. Smallest, largest and mean
 * are exact; percentiles are right within 0.6 %. From 1 ns to 78 hours; longer ones count as the last bucket.
 */
export class Histogram {
  readonly #counts = new Float64Array(perOctave * octaves);
  #sum = 0;
  count = 0;
  min = Number.POSITIVE_INFINITY;
  max = 0;

  add(nanoseconds: number): void {
    this.#counts[bucketOf(nanoseconds)]! += 1;
    this.#sum += nanoseconds;
    this.count += 1;
    this.min = Math.min(this.min, nanoseconds);
    this.max = Math.max(this.max, nanoseconds);
  }

  /** 0 where nothing was added. */
  get mean(): number {
    return this.count === 0 ? 0 : this.#sum / this.count;
  }

  /** Nearest ranks, as those of rows are; percents in rising order. Throws where nothing was added. */
  percentiles(percents: readonly number[]): number[] {
    if (this.count === 0) throw new TypeError('there are no samples');
    const found: number[] = [];
    let below = 0;
    let bucket = -1;
    for (const percent of percents) {
      const rank = Math.max(1, Math.ceil((this.count * percent) / 100 - 1e-9));
      while (below < rank) below += this.#counts[++bucket]!;
      found.push(Math.min(this.max, Math.max(this.min, middleOf(bucket))));
    }
    return found;
  }

  /** This many durations that are spread as all are, smallest and largest among them. */
  spread(count: number): number[] {
    if (this.count <= 1 || count <= 1) return this.count === 0 ? [] : [this.max];
    const few = Math.min(count, this.count);
    const inner = Array.from({ length: few - 2 }, (_, i) => ((i + 1) * 100) / (few - 1));
    return [this.min, ...this.percentiles(inner), this.max];
  }
}

const bucketOf = (nanoseconds: number): number =>
  Math.min(
    perOctave * octaves - 1,
    Math.max(0, Math.floor(Math.log2(Math.max(1, nanoseconds)) * perOctave)),
  );

const middleOf = (bucket: number): number => 2 ** ((bucket + 0.5) / perOctave);
