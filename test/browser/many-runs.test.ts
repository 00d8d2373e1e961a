import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtFolder, token } from '../live/desk.js';
import { writeManyRuns } from '../live/many-runs.js';
import { noBrowser, Tab, useBrowser } from './browser.js';

/** `npm run bench:history` sets it, and then time and memory count. */
const asked = Number(process.env.WEFT_MANY_RUNS ?? 0);
const runs = asked || 250;
const rows = asked ? 60 : 6;
const mostSeconds = 2;
const mostMiB = 300;

describe.skipIf(noBrowser)(`a folder of ${runs} runs${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  useBrowser();
  const folder = mkdtempSync(join(tmpdir(), 'weft-many-runs-'));
  const serve = () =>
    execa(process.execPath, [join(builtFolder, '../bin/weft'), 'serve', folder], {
      env: { WEFT_PAGE_TOKEN: token },
      reject: false,
    });
  let server: ReturnType<typeof serve>;
  let address: string;

  beforeAll(async () => {
    writeManyRuns(folder, { runs, rows, samples: 20 });
    // The first look makes the index.
    await execa(process.execPath, [join(builtFolder, '../bin/weft'), 'history', folder]);
    server = serve();
    address = await new Promise<string>((resolve) => {
      server.stdout.once('data', (text) => resolve(String(text).trim()));
    });
  }, 600_000);
  afterAll(async () => {
    server.kill('SIGINT');
    await server;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Of the server and of the page's process. */
  async function memoryMiB(tab: Tab) {
    const browser = await tab.context.browser()!.newBrowserCDPSession();
    const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
    const pages = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => rssMiB(id));
    return { server: rssMiB(server.pid!), page: Math.max(...pages) };
  }

  const rssMiB = (pid: number): number =>
    Math.round(
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024,
    );

  /** Shows what was seen; holds it against the limits where that was asked for. */
  function judge(what: string, seconds: number, memory: { server: number; page: number }): void {
    if (!asked) return;
    console.log(
      `${what}: ${seconds.toFixed(2)} s, server ${memory.server} MiB, page ${memory.page} MiB`,
    );
    expect(seconds).toBeLessThan(mostSeconds);
    expect(Math.max(memory.server, memory.page)).toBeLessThan(mostMiB);
  }

  test('is listed page by page, with trends', async () => {
    await using tab = await Tab.open();
    const { page } = tab;
    const begun = performance.now();
    await page.goto(address);
    await page.locator('.runs tbody tr .spark').first().waitFor();
    const seconds = (performance.now() - begun) / 1000;
    expect(await page.locator('.runs tbody tr').count()).toBe(100);
    judge('the list', seconds, await memoryMiB(tab));
    await page.getByText(`1 to 100 of ${runs}`).waitFor();
    await page.locator('.runs input').nth(0).check();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText(`101 to 200 of ${runs}`).waitFor();
    // What was picked on another page counts.
    await page.locator('.runs input').nth(0).check();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: 'Comparison' }).waitFor();
    expect(tab.complaints).toEqual([]);
  });

  test('has a history with charts', async () => {
    await using tab = await Tab.open();
    const { page } = tab;
    await page.goto(address);
    await page.getByRole('link', { name: 'History' }).waitFor();
    const begun = performance.now();
    await page.getByRole('link', { name: 'History' }).click();
    await page.locator('[data-chart=history] .canvas svg').waitFor();
    const seconds = (performance.now() - begun) / 1000;
    judge('the history', seconds, await memoryMiB(tab));
    await page.getByText('libfabric 1.17 → 1.22').waitFor();
    await page.locator('.rows').getByRole('button', { name: 'MultiPin 4K' }).click();
    await page.locator('[data-chart=history-row] .canvas svg').waitFor();
    expect(await tab.violations()).toEqual([]);
    await tab.expectNoSideways();
    expect(tab.complaints).toEqual([]);
  });
});
