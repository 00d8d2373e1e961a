import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { renderReport } from '../../src/report/html.js';
import { PageDesk } from '../live/desk.js';
import { header, runOf, sampleRow } from '../results/fixtures.js';
import { noBrowser, Tab, useBrowser } from './browser.js';

/** Whichever way it got into a page, it would leave a mark on the window. */
const evil =
  '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script><svg onload="hacked=1">';
const world = { ranks: 2, hosts: [evil, 'b'], hostOfRank: [evil, 'b'], launcher: evil };
const fabric = {
  ...{ library: evil, version: evil, provider: evil },
  channels: [{ nic: evil, lineRateGbps: 100 }],
};
const names = { world, fabric, settings: { [evil]: evil } };
const rows = [65_536, 131_072].map((bytes) =>
  sampleRow({ column: evil, bytes, us: 10, labels: { rail: evil }, reason: evil } as never),
);

const marked = (tab: Tab) =>
  tab.page.evaluate(() => [
    (window as unknown as { hacked?: number }).hacked,
    document.querySelectorAll('img, [onerror], [onload]').length,
  ]);

describe.skipIf(noBrowser)(`names that are HTML${noBrowser ? ` (${noBrowser})` : ''}`, () => {
  useBrowser();

  test('are text on the live page', async () => {
    await using desk = await PageDesk.open();
    desk.finished('evil', rows, { ...names, benchmark: evil });
    await using tab = await Tab.open();
    await tab.page.goto(desk.page.address());
    for (const [path, ready] of [
      ['/', '.runs tbody tr'],
      ['/run/evil', 'svg'],
      ['/history', 'main'],
    ] as const) {
      await tab.page.goto(new URL(path, tab.page.url()).href);
      await tab.page.locator(ready).first().waitFor();
      await tab.page.waitForTimeout(200);
      expect(await marked(tab), path).toEqual([undefined, 0]);
    }
    expect(await tab.page.content()).toContain('&lt;img');
    expect(tab.complaints).toEqual([]);
  });

  test('are text in a report', async () => {
    await using desk = await PageDesk.open();
    const file = join(desk.folder, 'report.html');
    writeFileSync(file, renderReport([runOf(rows, { ...header, ...names, benchmark: evil })]));
    await using tab = await Tab.open();
    await tab.page.goto(pathToFileURL(file).href);
    await tab.page.locator('svg').first().waitFor();
    await tab.page.waitForTimeout(200);
    expect(await marked(tab)).toEqual([undefined, 0]);
    expect(tab.complaints).toEqual([]);
  });
});
