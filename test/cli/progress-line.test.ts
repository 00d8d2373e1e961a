import { describe, expect, test } from 'vitest';
import { progressLine, type Standing } from '../../src/cli/output/progress-line.js';

const standing: Standing = {
  title: 'write',
  index: 5,
  total: 24,
  column: 'MultiPin',
  bytes: 262_144,
  last: '24.40 Gbps',
  rates: [3, 12, 24.4],
  lastRowMs: 1000,
  elapsedMs: 10_000,
};
const plain = { color: false, unicode: true, bars: true };

describe('the progress line', () => {
  test.each([20, 40, 80, 120, 200])('fits %i columns', (width) => {
    expect(progressLine(standing, { ...plain, width }).length).toBeLessThanOrEqual(width);
  });

  test('has the row in work, the last rate and the time left', () => {
    const line = progressLine(standing, { ...plain, width: 79 });
    expect(line).toContain('5/24 write MultiPin 256K · 24.40 Gbps · 38 s left');
    expect(line).toMatch(/^█+░+ /);
  });

  test('has the time left as the last row took it, where that was longer than the mean', () => {
    const slower = progressLine({ ...standing, lastRowMs: 6000 }, { ...plain, width: 79 });
    expect(slower).toContain('1 min 54 s left');
  });

  test('has the course of the column where there is room', () => {
    expect(progressLine(standing, { ...plain, width: 119 })).toMatch(/▁▄█$/);
  });

  test('gives up the rate before the time left, and that before the row in work', () => {
    expect(progressLine(standing, { ...plain, width: 44 })).toBe(
      '5/24 write MultiPin 256K · 38 s left',
    );
    expect(progressLine(standing, { ...plain, width: 30 })).toBe('5/24 write MultiPin 256K');
  });

  test('promises nothing before the first row', () => {
    expect(progressLine({ ...standing, index: 0 }, { ...plain, width: 120 })).not.toContain('left');
  });

  test('says hours and minutes', () => {
    const line = (elapsedMs: number) =>
      progressLine({ ...standing, elapsedMs }, { ...plain, width: 120 });
    expect(line(100_000)).toContain('6 min 20 s left');
    expect(line(2_000_000)).toContain('2 h 6 min left');
  });

  test('is ASCII where that is all there is', () => {
    expect(progressLine(standing, { ...plain, width: 120, unicode: false })).toMatch(/^[ -~]+$/);
  });

  test('is the same under its colours', () => {
    const colored = progressLine(standing, { ...plain, width: 120, color: true });
    const escapeCharacter = String.fromCharCode(27);
    expect(colored).toContain(`${escapeCharacter}[36m`);
    expect(colored.replaceAll(new RegExp(`${escapeCharacter}\\[\\d+m`, 'g'), '')).toBe(
      progressLine(standing, { ...plain, width: 120 }),
    );
  });
});
