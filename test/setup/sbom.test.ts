import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeAudit } from '../../scripts/audit.mjs';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
interface Component {
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly hashes?: unknown[];
  readonly licenses: unknown[];
}

describe('the bill of materials', () => {
  const text = read('dist/sbom.cdx.json');
  const { components } = JSON.parse(text) as { components: Component[] };

  test('names every package that is bundled, and every dependency', () => {
    const notices = read('dist/THIRD-PARTY-NOTICES.txt');
    const bundled = [...notices.matchAll(/^== (\S+)$/gm)].map(([, name]) => name!);
    expect(bundled.length).toBeGreaterThan(3);
    const { dependencies } = JSON.parse(read('package.json'));
    // The last two are in the pages alone.
    const wanted = [...bundled, ...Object.keys(dependencies), 'echarts', 'zrender'];
    const names = components.map(({ name }) => name);
    expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
    expect(names).toContain('libstdc++');
  });

  test('has the version, checksum and licence that the lock has', () => {
    const { packages } = JSON.parse(read('package-lock.json'));
    const zod = components.find(({ name }) => name === 'zod')!;
    expect(zod.version).toBe(packages['node_modules/zod'].version);
    for (const { name, purl, hashes, licenses } of components.filter((one) => one.purl)) {
      expect([name, purl!.startsWith('pkg:npm/'), hashes?.length, licenses.length]).toEqual([
        name,
        true,
        1,
        1,
      ]);
    }
  });

  test('says nothing about where packages were fetched', () => {
    expect(text).not.toMatch(/https?:|resolved/);
  });
});

describe('the audit', () => {
  const vulnerable = (severity: string) => ({
    vulnerabilities: { yaml: { name: 'yaml', severity, range: '<2.9.1' } },
  });

  test.each(['high', 'critical'])('fails for a %s vulnerability of what is shipped', (level) => {
    const { failed, lines } = judgeAudit(vulnerable(level), ['yaml', 'zod']);
    expect(failed).toBe(true);
    expect(lines).toContain(`audit: shipped: yaml <2.9.1 (${level})`);
  });

  test('names what is lower or not shipped, and passes', () => {
    expect(judgeAudit(vulnerable('moderate'), ['yaml']).failed).toBe(false);
    const { failed, lines } = judgeAudit(vulnerable('critical'), ['zod']);
    expect([failed, lines.at(-1)]).toEqual([
      false,
      'audit: not shipped, or below high: yaml <2.9.1 (critical)',
    ]);
  });

  test('says so and passes where no registry answers', () => {
    for (const report of [undefined, { error: { code: 'ENOTFOUND' } }]) {
      const { failed, lines } = judgeAudit(report, ['yaml']);
      expect(failed).toBe(false);
      expect(lines[0]).toMatch(/nothing was audited: no registry answered/);
    }
  });
});
