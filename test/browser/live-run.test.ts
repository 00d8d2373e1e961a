import { appendFileSync, renameSync, utimesSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { answerOf } from '../../src/report/answer.js';
import { mergeRepeats } from '../../src/results/repeats.js';
import { Desk, liveAddress } from '../benchmarks/weft.js';
import { finish, PageDesk, row } from '../live/desk.js';
import { runOf, sampleRow } from '../results/fixtures.js';
import { noBrowser, Tab, useBrowser } from './browser.js';

describe.skipIf(noBrowser)(`a run in a browser${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  useBrowser();

  test('is followed from its start to its end', async () => {
    using desk = new Desk();
    await using tab = await Tab.open();
    const { page } = tab;
    const columns = '--columns SinglePin,MultiPin,RoundRobinPin';
    const child = desk.start(
      `write -b 4K -e 64K -f 4 --provider shm --budget-ms 2000 ${columns} --live`,
    );
    await page.goto((await liveAddress(child)).href);
    await page.waitForURL(/\/run\/\S+-write-\w+$/);
    expect(page.url()).not.toContain('token');
    await page.getByText('running', { exact: true }).waitFor();
    const rows = page.locator('.rows tbody tr');
    await rows.nth(1).waitFor();
    const early = await rows.count();
    await page.locator('.state[data-state=passed]').waitFor();
    const { exitCode } = await child;
    expect(exitCode).toBe(0);
    const { run } = desk.runs()[0]!;
    expect(early).toBeLessThan(run.rows.length);
    expect(await rows.count()).toBe(run.rows.length);
    const sizes = await rows.locator('td:first-child').allTextContents();
    expect(new Set(sizes)).toEqual(new Set(['4K', '16K', '64K']));
    expect(await page.locator('[data-chart=bandwidth] svg path').count()).toBeGreaterThan(3);
    expect(await tab.layoutShift()).toBeLessThan(0.02);
    expect(tab.complaints).toEqual([]);
  }, 120_000);

  test('goes on after a lost connection, without gaps or doubles', async () => {
    await using desk = await PageDesk.open();
    await using tab = await Tab.open();
    const { page } = tab;
    const file = desk.begin('cut-off');
    file.append(row(64));
    await page.goto(desk.page.address('/run/cut-off'));
    const rows = page.locator('.rows tbody tr');
    await rows.nth(0).waitFor();
    const { port } = desk.page;
    await desk.page.close();
    await page.getByText('connection lost').waitFor();
    for (const bytes of [128, 256]) file.append(row(bytes));
    await desk.serve({ port });
    await rows.nth(2).waitFor();
    await page.getByText('connected', { exact: true }).waitFor();
    file.append(row(512));
    finish(file);
    await page.locator('.state[data-state=passed]').waitFor();
    expect(await rows.locator('td:first-child').allTextContents()).toEqual([
      '64',
      '128',
      '256',
      '512',
    ]);
    // The browser itself tells of the connection that it lost.
    expect(tab.complaints.filter((text) => !text.includes('net::ERR_'))).toEqual([]);
  });

  test('says when it was refused, and does not promise to try again', async () => {
    await using desk = await PageDesk.open();
    await using tab = await Tab.open();
    const { page } = tab;
    desk.begin('known').append(row(64));
    await page.goto(desk.page.address('/run/known'));
    await page.locator('.rows tbody tr').first().waitFor();
    const { port } = desk.page;
    await desk.page.close();
    await desk.serve({ port, token: 'another-token-for-tests' });
    await page.getByText('refused: open the address').waitFor();
  });

  test('is running again when rows come after its writer seemed gone', async () => {
    await using desk = await PageDesk.open();
    await using tab = await Tab.open();
    const { page } = tab;
    const file = desk.begin('remote');
    file.append(row(64));
    utimesSync(file.path, 1e9, 1e9);
    file.close();
    await page.goto(desk.page.address('/run/remote'));
    await page.locator('.state[data-state=aborted]').waitFor();
    appendFileSync(file.path, `${JSON.stringify({ line: 'row', ...row(128) })}\n`);
    await page.locator('.state[data-state=running]').waitFor();
    await page.locator('.rows tbody tr').nth(1).waitFor();
    expect(tab.complaints).toEqual([]);
  });

  test('says the same of repeats as a report', async () => {
    await using desk = await PageDesk.open();
    await using tab = await Tab.open();
    const rows = [10, 20, 60].map((us, repeat) => ({
      ...sampleRow({ column: 'SinglePin', bytes: 65_536, us }),
      repeat,
    }));
    desk.finished('again', rows);
    await tab.page.goto(desk.page.address('/run/again'));
    await tab.page.locator('.state[data-state=passed]').waitFor();
    const { headline } = answerOf([mergeRepeats(runOf(rows))]);
    expect(await tab.page.locator('.standing').textContent()).toContain(headline);
  });

  test('says when its file was replaced, and shows the new one', async () => {
    await using desk = await PageDesk.open();
    await using tab = await Tab.open();
    const { page } = tab;
    desk.begin('first').append(row(64));
    await page.goto(desk.page.address('/run/first'));
    await page.locator('.rows tbody tr').first().waitFor();
    desk.finished('second', [row(4096), row(8192)]);
    renameSync(`${desk.folder}/second.jsonl`, `${desk.folder}/first.jsonl`);
    await page.locator('.state[data-state=passed]').waitFor();
    expect(await page.locator('.rows tbody td:first-child').allTextContents()).toEqual([
      '4K',
      '8K',
    ]);
  });

  test('nothing moves as rows arrive, and who scrolled up stays there', async () => {
    await using desk = await PageDesk.open();
    await using tab = await Tab.open();
    const { page } = tab;
    const file = desk.begin('moving');
    await page.goto(desk.page.address('/run/moving'));
    await page.locator('.state[data-state=running]').waitFor();
    for (let i = 0; i < 40; i++) {
      file.append(row(64 * 2 ** (i % 16), ['SinglePin', 'MultiPin', 'RoundRobinPin'][i % 3]!));
      if (i % 8 === 0) await sleep(150);
    }
    const rows = page.locator('.rows tbody tr');
    await rows.nth(39).waitFor();
    const box = page.locator('.rows');
    const atEnd = (element: Element) =>
      element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
    expect(await box.evaluate(atEnd)).toBe(true);
    await box.evaluate((element) => element.scrollTo(0, 0));
    file.append(row(2 ** 20));
    await rows.nth(40).waitFor();
    expect(await box.evaluate((element) => element.scrollTop)).toBe(0);
    await sleep(600);
    expect(await tab.layoutShift()).toBeLessThan(0.02);
    finish(file);
    await page.locator('.state[data-state=passed]').waitFor();
    expect(await tab.layoutShift()).toBeLessThan(0.02);
    expect(tab.complaints).toEqual([]);
  });

  test('new rows are told to those who listen', async () => {
    await using desk = await PageDesk.open();
    await using tab = await Tab.open();
    const { page } = tab;
    const file = desk.begin('spoken');
    file.append(row(64));
    await page.goto(desk.page.address('/run/spoken'));
    const news = page.locator('main [aria-live=polite]');
    await page.waitForFunction(() =>
      document.querySelector('main [aria-live=polite]')?.textContent?.startsWith('SinglePin'),
    );
    expect(await news.textContent()).toMatch(/^SinglePin 64 bytes: \S+ Gbps$/);
    finish(file);
    await page.locator('.state[data-state=passed]').waitFor();
    expect(await news.textContent()).toBe('The run has ended: passed.');
  });
});
