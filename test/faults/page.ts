import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Scene } from './scene.js';

/** The page of `weft report`, which must be whole. */
export function readPage({ place }: Scene): string {
  const page = readFileSync(`${place.results}/run.html`, 'utf8');
  expect(page).toContain('SinglePin');
  expect(page.trimEnd()).toMatch(/<\/html>$/);
  return page;
}

/** What a job left that could say nothing tells that it did not finish. */
export async function checkAbortedReport({ place }: Scene): Promise<void> {
  if (!existsSync(place.runFile)) return;
  const { code, stderr } = await place.weft(['report', place.runFile]).finished;
  expect(code, stderr).toBe(0);
  const page = readFileSync(`${place.results}/run.html`, 'utf8');
  expect(page).toMatch(/did not finish: these are partial results/);
}
