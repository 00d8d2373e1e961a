/** What following costs this process: its CPU time while anyone looks, and the rows that came in that time. */
export class FollowCost {
  #viewers = 0;
  #mostViewers = 0;
  #cpuBefore: NodeJS.CpuUsage | undefined;
  #cpuMicroseconds = 0;
  #rows = 0;

  /** A viewer comes; the function it returns says that it left. */
  viewer(): () => void {
    if (this.#viewers++ === 0) this.#cpuBefore = process.cpuUsage();
    this.#mostViewers = Math.max(this.#mostViewers, this.#viewers);
    let gone = false;
    return () => {
      if (gone) return;
      gone = true;
      if (--this.#viewers > 0) return;
      this.#cpuMicroseconds = this.#total();
      this.#cpuBefore = undefined;
    };
  }

  get viewers(): number {
    return this.#viewers;
  }

  rowsCame(count: number): void {
    if (this.#viewers > 0) this.#rows += count;
  }

  /** Undefined where nobody followed anything. */
  report(): CostReport | undefined {
    if (this.#mostViewers === 0) return undefined;
    const cpuSeconds = this.#total() / 1e6;
    return {
      rows: this.#rows,
      cpuSeconds,
      mostViewers: this.#mostViewers,
      ...(this.#rows > 0 && { cpuSecondsPerRow: cpuSeconds / this.#rows }),
    };
  }

  #total(): number {
    if (this.#cpuBefore === undefined) return this.#cpuMicroseconds;
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    return this.#cpuMicroseconds + user + system;
  }
}

export interface CostReport {
  /** Rows that were written while somebody looked. */
  readonly rows: number;
  readonly cpuSeconds: number;
  readonly cpuSecondsPerRow?: number;
  readonly mostViewers: number;
}

export function describeCost({ rows, cpuSeconds, cpuSecondsPerRow, mostViewers }: CostReport): string {
  const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  const perRow =
    cpuSecondsPerRow === undefined ? '' : `, ${cpuSecondsPerRow.toFixed(4)} CPU seconds per row`;
  return `${plural(rows, 'row')} followed by at most ${plural(mostViewers, 'viewer')}: ${cpuSeconds.toFixed(2)} CPU seconds${perRow}`;
}
