import { plural } from '../measure/units.js';

/** What following costs this process: its CPU time while anyone looks, and the rows that came in that time. */
export class FollowCost {
  #viewers = 0;
  #mostViewers = 0;
  #cpuBefore: NodeJS.CpuUsage | undefined;
  #cpuMicroseconds = 0;
  #rows = 0;
  #rowsBefore = 0;
  readonly #rowsNow: () => number;

  /** `rowsNow` counts all rows ever seen to be appended. */
  constructor(rowsNow: () => number) {
    this.#rowsNow = rowsNow;
  }

  /** A viewer comes; the function it returns, called once, says that it left. */
  viewer(): () => void {
    if (this.#viewers++ === 0) {
      this.#cpuBefore = process.cpuUsage();
      this.#rowsBefore = this.#rowsNow();
    }
    this.#mostViewers = Math.max(this.#mostViewers, this.#viewers);
    return () => {
      if (--this.#viewers > 0) return;
      [this.#cpuMicroseconds, this.#rows] = this.#totals();
      this.#cpuBefore = undefined;
    };
  }

  get viewers(): number {
    return this.#viewers;
  }

  report(): CostReport | undefined {
    if (this.#mostViewers === 0) return undefined;
    const [cpuMicroseconds, rows] = this.#totals();
    const cpuSeconds = cpuMicroseconds / 1e6;
    const perRow = rows > 0 && { cpuSecondsPerRow: cpuSeconds / rows };
    return { rows, cpuSeconds, mostViewers: this.#mostViewers, ...perRow };
  }

  #totals(): [cpuMicroseconds: number, rows: number] {
    if (this.#cpuBefore === undefined) return [this.#cpuMicroseconds, this.#rows];
    const { user, system } = process.cpuUsage(this.#cpuBefore);
    const rows = this.#rowsNow() - this.#rowsBefore;
    return [this.#cpuMicroseconds + user + system, this.#rows + rows];
  }
}

export interface CostReport {
  readonly rows: number;
  readonly cpuSeconds: number;
  readonly cpuSecondsPerRow?: number;
  readonly mostViewers: number;
}

export function describeCost({
  rows,
  cpuSeconds,
  cpuSecondsPerRow,
  mostViewers,
}: CostReport): string {
  const perRow = cpuSecondsPerRow === undefined ? '' : ` (${cpuSecondsPerRow.toFixed(4)} per row)`;
  return `${plural(rows, 'row')} shown to up to ${plural(mostViewers, 'viewer')}, using ${cpuSeconds.toFixed(2)} CPU seconds${perRow}`;
}
