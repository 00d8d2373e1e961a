import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/measure/seeded-random.js';
import { header, sampleRow } from '../results/fixtures.js';

interface Many {
  readonly runs: number;
  readonly rows: number;
  readonly samples: number;
}

const columns = ['SinglePin', 'MultiPin', 'RoundRobinPin'];

/** Fills a folder with runs, one an hour. After 70 % of them one column takes half as long again, with another libfabric. */
export function writeManyRuns(folder: string, { runs, rows, samples }: Many): void {
  mkdirSync(folder, { recursive: true });
  const random = seededRandom(1);
  const text = (line: object) => `${JSON.stringify(line)}\n`;
  for (let i = 0; i < runs; i++) {
    const startedAt = new Date(Date.UTC(2025, 0, 1) + i * 3_600_000).toISOString();
    const id = `${startedAt.replace(/[-:.]/g, '')}-write-${String(i).padStart(6, '0')}`;
    const late = i >= 0.7 * runs;
    const fabric = { ...header.fabric, version: late ? '1.22' : '1.17' };
    const mood = 1 + 0.02 * (random() - 0.5);
    const lines = Array.from({ length: rows }, (_, j) => {
      const column = columns[j % columns.length]!;
      const bytes = 4096 * (1 + Math.floor(j / columns.length));
      const us = (bytes / 1000 + 5) * mood * (late && column === 'MultiPin' ? 1.5 : 1);
      const own = Array.from({ length: samples }, () =>
        Math.round(us * 1000 * (1 + 0.05 * random())),
      );
      return text({ line: 'row', ...sampleRow({ column, bytes, us, samples: own }) });
    });
    const first = text({ line: 'header', ...header, id, startedAt, fabric });
    const last = text({ line: 'footer', endedAt: startedAt, outcome: 'passed', errors: [] });
    writeFileSync(join(folder, `${id}.jsonl`), first + lines.join('') + last);
  }
}
