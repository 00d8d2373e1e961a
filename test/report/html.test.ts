import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answerOf } from '../../src/report/answer.js';
import type { Chart } from '../../src/report/chart.js';
import { renderReport } from '../../src/report/html.js';
import { skippedRow } from '../../src/results/rows.js';
import type { Run } from '../../src/results/schema.js';
import * as made from './fixtures.js';

const evil = '</script><script>alert("x")</script><img src=x onerror=alert(1)>\u2028<!--';

const chartsIn = (html: string): Chart[] =>
  JSON.parse(/<script type="application\/json" id="charts">(.*?)<\/script>/s.exec(html)![1]!);

/** The page less the code in it, which is not made from runs. */
const withoutScripts = (html: string): string =>
  html.replace(/<script type="module">.*?<\/script>/gs, '');

describe('a report', () => {
  test('says things in the order a reader asks', () => {
    const html = renderReport([made.referenceRun('all2all')]);
    const headings = [...html.matchAll(/<h2[^>]*>(.*?)<\/h2>/g)].map(([, text]) => text);
    expect(headings).toEqual([
      'Bandwidth and latency',
      'Share of the line rate and of the best possible',
      'Configurations and scale',
      'Ranks, peers and rails',
      'Samples',
      'Tables',
      'How it was measured',
      'Machine',
    ]);
    expect(html.indexOf('<h1>')).toBeLessThan(html.indexOf('<h2'));
  });

  test('allows exactly its own scripts and style, and fetches nothing', () => {
    const html = renderReport([made.referenceRun('write')]);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)![1]!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const inline = [
      ...html.matchAll(/<script type="module">(.*?)<\/script>/gs),
      ...html.matchAll(/<style>(.*?)<\/style>/gs),
    ];
    expect(inline).toHaveLength(2);
    for (const [, text] of inline) {
      expect(policy).toContain(createHash('sha256').update(text!).digest('base64'));
    }
    const own = withoutScripts(html);
    expect(own).not.toMatch(/(?:src|href)="(?!#|data:)/);
    expect(own).not.toMatch(/ style="| on\w+="/);
  });

  test('has one script without anything that joins modules', () => {
    const html = renderReport([made.referenceRun('write')]);
    const script = /<script type="module">(.*?)<\/script>/s.exec(html)![1]!;
    expect(script).not.toMatch(/\b(?:import|export)\b *[{"'*(]/);
    expect(script).toContain('Apache ECharts\nCopyright');
  });

  test('takes everything that a file says as text', () => {
    const rows = [1024, 2048].flatMap((bytes) => [
      made.row({ column: evil, bytes, us: 5, failure: evil }),
      made.row({
        kind: 'pair',
        column: evil,
        bytes,
        us: 5,
        labels: { from: 0, to: 1, rail: evil },
      }),
    ]);
    const run: Run = made.run(evil, [...rows, skippedRow({ column: evil, reason: evil })], {
      id: evil,
      world: { ranks: 2, hosts: [evil], launcher: evil },
      fabric: {
        library: evil,
        version: evil,
        provider: evil,
        channels: [{ nic: evil, lineRateGbps: 1 }],
      },
      settings: { [evil]: evil },
      errors: [{ code: evil, message: evil }],
    });
    const html = renderReport([run, { ...run, id: `${evil}2` }]);
    const own = withoutScripts(html);
    expect(own).not.toContain('<img');
    expect(own).not.toContain('alert("x")');
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(chartsIn(html)[0]!.benchmark).toBe(evil);
  });

  test('of 5,000 rows with many samples stays under 5 MB', () => {
    const rows = Array.from({ length: 5000 }, (_, i) =>
      made.row({
        column: `Column${i % 50}`,
        bytes: 1024 * (1 + Math.floor(i / 50)),
        us: 10 + (i % 97),
        allowedGbps: 400,
        boundGbps: 300,
        count: 500,
      }),
    );
    const bytes = Buffer.byteLength(renderReport([made.run('write', rows)]));
    expect(bytes).toBeLessThan(5_000_000);
  });

  test('shows skipped and failed rows with their reasons', () => {
    const html = renderReport([
      made.run('write', [
        made.row({ column: 'SinglePin', bytes: 1024, us: 5, failure: 'faster than the line' }),
        skippedRow({ column: 'MultiDMA', reason: 'no GPU here' }),
      ]),
    ]);
    expect(html).toContain('no GPU here');
    expect(html).toContain('faster than the line');
    expect(html).toContain('<td class="text failed">failed</td>');
  });

  test('of an aborted run shows what it has', () => {
    const run = made.run('write', [made.row({ column: 'SinglePin', bytes: 1024, us: 5 })], {
      outcome: 'aborted',
      endedAt: null,
      errors: [{ code: 'PEER_LOST', message: 'rank 1 on node-2 died' }],
    });
    const html = renderReport([run]);
    expect(html).toContain('did not finish: these are partial results');
    expect(html).toContain('rank 1 on node-2 died');
    expect(html).toContain('did not finish');
    expect(chartsIn(html)).not.toHaveLength(0);
  });

  test('is the same for the same runs', () => {
    expect(renderReport(made.nodeRuns())).toBe(renderReport(made.nodeRuns()));
  });

  test('names charts for those who do not see them, and gives tables captions', () => {
    const html = renderReport([made.referenceRun('write')]);
    expect(html).toMatch(/aria-label="Bandwidth by size\. SinglePin highest 97\.\d+ Gbps at 1G/);
    const tables = html.match(/<table>/g)!;
    expect(html.match(/<table><caption>[^<]+<\/caption>/g)).toHaveLength(tables.length);
  });
});

describe('the answer', () => {
  test('is what was reached, where, and its share of the possible', () => {
    expect(answerOf([made.referenceRun('write')]).headline).toMatch(
      /^write reached 37\d\.\d Gbps with MultiDMA at 1G, 9\d\.\d % of the best possible\.$/,
    );
    expect(answerOf([made.referenceRun('all2all')]).headline).toMatch(/per peer \(14\d/);
  });

  test('begins with what is wrong', () => {
    const wrong = made.row({ column: 'a', bytes: 8, us: 5, checked: { bytes: 16, wrong: 2 } });
    expect(answerOf([made.run('write', [wrong])]).headline).toBe('write delivered wrong data.');
    const skipped = skippedRow({ column: 'a', reason: 'no GPU here' });
    expect(answerOf([made.run('write', [skipped])]).headline).toBe(
      'write measured nothing: no GPU here.',
    );
  });

  test('does not count bursts or failed rows as reached', () => {
    const rows = [
      made.row({ column: 'a', bytes: 1024, us: 1, labels: { burst: true } }),
      made.row({ column: 'b', bytes: 1024, us: 2, failure: 'too good' }),
      made.row({ column: 'c', bytes: 1024, us: 4 }),
    ];
    expect(answerOf([made.run('write', rows)]).headline).toContain('with c at 1K');
  });

  test('names the slow pair', () => {
    expect(answerOf([made.pairsRun(8)]).headline).toMatch(
      /slowest [\d.]+ Gbps \(rank 2 to rank 6\)\. Slow pairs: 1;/,
    );
  });

  test('leaves blame to the diagnosis where there is one', () => {
    const none = { retested: true, findings: [], notConfirmed: [], pace: [], retests: [] };
    const finding = {
      cause: 'pair' as const,
      who: { from: 'node-3', to: 'node-7', direction: 'out' as const },
      symptom: 'slow' as const,
      effect: 0.3,
      confidence: 0.9,
      evidence: 'node-3 to node-7 is slow alone too.',
      next: 'Look at its cable.',
    };
    const healthy = answerOf([{ ...made.pairsRun(8), diagnosis: none }]);
    expect(healthy.headline).toMatch(/No fault found\.$/);
    const sick = answerOf([{ ...made.pairsRun(8), diagnosis: { ...none, findings: [finding] } }]);
    expect(sick.headline).toMatch(/1 fault found\.$/);
    expect(sick.points[0]).toEqual({
      kind: 'bad',
      text: 'pair node-3 → node-7: slow, 30 % of healthy bandwidth (confidence 0.90). node-3 to node-7 is slow alone too. Look at its cable.',
    });
  });
});
