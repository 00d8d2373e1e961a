import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PageDesk, row } from '../live/desk.js';
import { sampleRow } from '../results/fixtures.js';
import { noBrowser, Tab, useBrowser } from './browser.js';

const columns = ['SinglePin', 'MultiPin', 'RoundRobinPin'];
/** Rows that take `factor` times as long, with as many samples as a judgement needs. */
const rowsOf = (factor: number) =>
  [1, 2, 4, 8].flatMap((times) =>
    columns.map((column) => {
      const us = factor * (65 * times + 5);
      const samples = Array.from({ length: 40 }, (_, i) => Math.round(us * 1000) + i);
      return sampleRow({ column, bytes: 65_536 * times, us, samples });
    }),
  );
const rows = rowsOf(1);

/** Two runs to compare, one that runs, and one that cannot be read. */
async function furnished(): Promise<PageDesk> {
  const desk = await PageDesk.open();
  desk.finished('one', rows, { startedAt: '2026-01-02T00:00:00.000Z' });
  desk.finished('two', rowsOf(12), { startedAt: '2026-01-01T00:00:00.000Z' });
  desk.begin('three', { benchmark: 'all2all' }).append(row(64));
  writeFileSync(join(desk.folder, 'broken.jsonl'), 'not a run\n');
  return desk;
}

const places = {
  list: { path: '/', ready: '.runs tbody tr' },
  run: { path: '/run/one', ready: '[data-chart=bandwidth] svg' },
  history: { path: '/history', ready: '[data-chart=history] svg' },
  comparison: { path: '/compare?a=one&b=two', ready: '[data-chart=bandwidth] svg' },
};

describe.skipIf(noBrowser)(`the pages in a browser${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  useBrowser();

  describe.each(Object.entries(places))('%s', (_, { path, ready }) => {
    test.each([
      ['light', 1200],
      ['dark', 1200],
      ['light', 400],
      ['dark', 400],
    ] as const)('has no grave fault for anybody: %s, %i px', async (colorScheme, width) => {
      await using desk = await furnished();
      await using tab = await Tab.open({ colorScheme, viewport: { width, height: 800 } });
      await tab.page.goto(desk.page.address());
      await tab.page.goto(new URL(path, tab.page.url()).href);
      await tab.page.locator(ready).first().waitFor();
      expect(await tab.violations()).toEqual([]);
      await tab.expectNoSideways();
      expect(tab.complaints).toEqual([]);
    });
  });

  test('the list names every run and its state', async () => {
    await using desk = await furnished();
    await using tab = await Tab.open();
    await tab.page.goto(desk.page.address());
    await tab.page.locator('.runs tbody tr').nth(3).waitFor();
    const states = await tab.page.locator('.runs .state').allTextContents();
    expect(states.sort()).toEqual(['passed', 'passed', 'running', 'unreadable']);
    await tab.page.getByText('not a run file').waitFor();
    expect(tab.page.url()).not.toContain('token');
  });

  test('two runs are picked by keyboard alone, and compared', async () => {
    await using desk = await furnished();
    await using tab = await Tab.open();
    const { page } = tab;
    await page.goto(desk.page.address());
    await page.locator('.runs tbody tr').nth(3).waitFor();
    const focused = () =>
      page.evaluate(() => {
        const at = document.activeElement!;
        return at.getAttribute('aria-label') ?? at.textContent ?? '';
      });
    const tabTo = async (text: string) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press('Tab');
        if ((await focused()).startsWith(text)) return;
      }
      throw new Error(`no way to ${text} by keyboard`);
    };
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await tabTo('Compare write');
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement!).outlineStyle,
    );
    expect(outline).not.toBe('none');
    await page.keyboard.press('Space');
    await tabTo('Compare write');
    await page.keyboard.press('Space');
    await page.getByText('two runs selected').waitFor();
    await page.keyboard.press('Shift+Tab');
    while ((await focused()) !== 'Compare') await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/compare\?/);
    await page.locator('.rows tbody tr').first().waitFor();
    expect(await page.locator('.rows tbody tr').count()).toBe(rows.length);
    await page
      .getByText(/^write: 12 of 12 rows look .* slower; single runs cannot prove it/)
      .waitFor();
    const judged = await page.locator('.rows tbody td:last-child').allTextContents();
    expect(new Set(judged)).toEqual(new Set(['unclear']));
    expect(await page.locator('[data-chart=bandwidth] .legend-item').count()).toBe(6);
    expect(tab.complaints).toEqual([]);
  });

  test('a third run cannot be picked', async () => {
    await using desk = await furnished();
    await using tab = await Tab.open();
    await tab.page.goto(desk.page.address());
    const boxes = tab.page.locator('.runs input');
    await boxes.nth(3).waitFor();
    expect(await tab.page.locator('.runs input:enabled').count()).toBe(3);
    for (let i = 0; i < 2; i++) {
      await tab.page.locator('.runs input:enabled:not(:checked)').first().check();
    }
    expect(await tab.page.locator('.runs input:enabled').count()).toBe(2);
  });

  test('different benchmarks are not held against each other', async () => {
    await using desk = await furnished();
    await using tab = await Tab.open();
    await tab.page.goto(desk.page.address());
    await tab.page.goto(new URL('/compare?a=one&b=three', tab.page.url()).href);
    await tab.page.getByText('These are runs of different benchmarks').waitFor();
  });

  test('a comparison with a run that is not there says so', async () => {
    await using desk = await furnished();
    await using tab = await Tab.open();
    await tab.page.goto(desk.page.address());
    await tab.page.route('**/api/compare*', (route) => route.abort());
    await tab.page.goto(new URL('/compare?a=one&b=two', tab.page.url()).href);
    await tab.page.getByText('the connection was lost').waitFor();
    await tab.page.unroute('**/api/compare*');
    await tab.page.route('**/api/compare*', (route) =>
      route.fulfill({ status: 404, body: 'No such run.' }),
    );
    await tab.page.reload();
    await tab.page.getByText('refused: No such run.').waitFor();
    expect(tab.complaints.filter((text) => !text.includes('Failed to load'))).toEqual([]);
  });

  test('what a file says stays text', async () => {
    await using desk = await PageDesk.open();
    const evil = '<img src=x onerror=alert(1)>';
    desk.finished('evil', [row(64, evil), row(128, evil)], { benchmark: evil });
    await using tab = await Tab.open();
    const { page } = tab;
    await page.goto(desk.page.address());
    await page.getByText(evil).first().waitFor();
    await page.goto(new URL('/run/evil', page.url()).href);
    await page.locator('.rows tbody tr').first().waitFor();
    await page
      .locator('[data-chart] svg')
      .first()
      .hover({ position: { x: 200, y: 120 } });
    await page.locator('.tip').first().waitFor();
    expect(await page.locator('.tip').first().textContent()).toContain(evil);
    expect(await page.locator('img').count()).toBe(0);
    expect(tab.complaints).toEqual([]);
  });

  test('a page without the token shows nothing', async () => {
    await using desk = await furnished();
    await using tab = await Tab.open();
    const response = await tab.page.goto(`http://127.0.0.1:${desk.page.port}/run/one`);
    expect(response!.status()).toBe(401);
    expect(await tab.page.textContent('body')).not.toContain('write');
  });

  test('legends hide and show by keyboard', async () => {
    await using desk = await furnished();
    await using tab = await Tab.open();
    const { page } = tab;
    await page.goto(desk.page.address('/run/one'));
    const item = page.locator('[data-chart=bandwidth] .legend-item').first();
    await item.waitFor();
    const color = await item.locator('svg path').first().getAttribute('stroke');
    const strokes = page.locator(`[data-chart=bandwidth] .canvas svg path[stroke="${color}"]`);
    await strokes.first().waitFor({ state: 'attached' });
    await item.focus();
    await page.keyboard.press('Enter');
    expect(await item.getAttribute('aria-pressed')).toBe('false');
    await strokes.first().waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    expect(await item.getAttribute('aria-pressed')).toBe('true');
    await strokes.first().waitFor({ state: 'attached' });
  });
});
