import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/results/schema.js';
import { Desk } from '../benchmarks/weft.js';
import { row } from '../live/desk.js';
import { runOf } from '../results/fixtures.js';
import { noBrowser, Tab, useBrowser } from './browser.js';

const columns = ['SinglePin', 'MultiPin'];
const small = runOf([row(65_536, 'SinglePin')]);
const run = runOf([1, 2, 4].flatMap((times) => columns.map((name) => row(65_536 * times, name))));

class Reported implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'weft-report-'));
  readonly url = pathToFileURL(join(this.folder, 'report.html')).href;

  /** As `weft report` writes it. */
  async write(runs: readonly Run[] = [run]): Promise<void> {
    using desk = new Desk();
    const files = runs.map((one, i) => {
      const file = join(this.folder, `run${i}.json`);
      writeFileSync(file, JSON.stringify(one));
      return file;
    });
    const { exitCode } = await desk.weft(`report ${files.join(' ')} -o ${this.folder}/report.html`);
    expect(exitCode).toBe(0);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe.skipIf(noBrowser)(`a report in a browser${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  useBrowser();

  test('opens from disk with the network cut, and asks for nothing', async () => {
    using reported = new Reported();
    await reported.write();
    await using tab = await Tab.open({ offline: true });
    await tab.page.goto(reported.url);
    await tab.page.locator('[data-chart=bandwidth] .canvas svg').waitFor();
    expect(tab.requests.filter((url) => !url.startsWith('data:'))).toEqual([reported.url]);
    expect(await tab.page.locator('[data-chart=bandwidth] svg path').count()).toBeGreaterThan(3);
    expect(tab.complaints).toEqual([]);
  });

  test('shows values where the pointer is', async () => {
    using reported = new Reported();
    await reported.write();
    await using tab = await Tab.open();
    await tab.page.goto(reported.url);
    const drawing = tab.page.locator('[data-chart=bandwidth] .canvas svg');
    await drawing.waitFor();
    await drawing.hover({ position: { x: 300, y: 150 } });
    const tip = tab.page.locator('[data-chart=bandwidth] .tip');
    await tip.waitFor();
    expect(await tip.textContent()).toMatch(/(64|128|256)K.*SinglePin[\d.]+ Gbps.*MultiPin/);
  });

  test('prints white, with its charts and every row, also from dark', async () => {
    using reported = new Reported();
    await reported.write();
    await using tab = await Tab.open({ colorScheme: 'dark' });
    const { page } = tab;
    await page.goto(reported.url);
    await page.locator('[data-chart=bandwidth] .canvas svg').waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(ground).toBe('rgb(255, 255, 255)');
    const charts = page.locator('[data-chart]');
    expect(await charts.count()).toBeGreaterThan(2);
    expect(await page.locator('[data-chart] .canvas svg').count()).toBe(await charts.count());
    expect(await page.locator('[data-chart=bandwidth] .canvas svg').isVisible()).toBe(true);
    expect(await page.locator('details:not([open])').count()).toBe(0);
    const pdf = (await page.pdf()).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)!.length).toBeGreaterThan(1);
  });

  test.each([
    ['light', 1200],
    ['dark', 1200],
    ['light', 400],
    ['dark', 400],
  ] as const)('has no grave fault for anybody: %s, %i px', async (colorScheme, width) => {
    using reported = new Reported();
    await reported.write();
    await using tab = await Tab.open({ colorScheme, viewport: { width, height: 800 } });
    await tab.page.goto(reported.url);
    await tab.page.locator('[data-chart=bandwidth] .canvas svg').waitFor();
    expect(await tab.violations()).toEqual([]);
    await tab.expectNoSideways();
    expect(tab.complaints).toEqual([]);
  });

  test.each([
    ['light', 1200, 3],
    ['dark', 400, 1],
  ] as const)(
    'of eight runs has a card for each: %s, %i px',
    async (colorScheme, width, columns) => {
      using reported = new Reported();
      await reported.write(
        Array.from({ length: 8 }, (_, i) => ({ ...small, id: `run-${i}`, benchmark: `bench${i}` })),
      );
      await using tab = await Tab.open({ colorScheme, viewport: { width, height: 800 } });
      await tab.page.goto(reported.url);
      const cards = await tab.page.locator('.run-cards .run').all();
      const boxes = await Promise.all(cards.map((card) => card.boundingBox()));
      expect(boxes).toHaveLength(8);
      expect(new Set(boxes.map((box) => box!.x)).size).toBe(columns);
      expect(await tab.violations()).toEqual([]);
      await tab.expectNoSideways();
    },
  );
});
