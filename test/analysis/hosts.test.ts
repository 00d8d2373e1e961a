import { describe, expect, test } from 'vitest';
import { differenceFindings, differencesOf } from '../../src/analysis/hosts/differences.js';
import { judge } from '../../src/analysis/verdict/judge.js';
import { renderReport } from '../../src/report/html.js';
import { differenceLines } from '../../src/results/formats/differences.js';
import { formatRun } from '../../src/results/formats/format-run.js';
import { formatVerdict } from '../../src/results/formats/verdict.js';
import { type HostFacts, packFacts, valuesOf } from '../../src/results/host-facts.js';
import { type Run, runSchema } from '../../src/results/schema.js';
import { runOf, sampleRow } from '../results/fixtures.js';

const usual: HostFacts = { mtu: '9000', kernel: '6.1.0', memlock: 'unlimited' };

/** A world of hosts h0, h1, … in which some have other facts. */
function worldOf(size: number, odd: Readonly<Record<number, HostFacts>> = {}) {
  const hosts = Array.from({ length: size }, (_, i) => `h${i}`);
  return { hosts, facts: packFacts(hosts.map((_, i) => ({ ...usual, ...odd[i] }))) };
}

const sentences = (world: ReturnType<typeof worldOf>) =>
  differenceFindings(world).map(({ evidence }) => evidence);

describe('what should be equal on every host', () => {
  test('is one text where it is', () => {
    expect(worldOf(1024).facts).toEqual(usual);
    expect(differencesOf(worldOf(1024))).toEqual([]);
  });

  test('names the hosts where it is not', () => {
    const { hosts, facts } = worldOf(4, { 2: { mtu: '1500' } });
    expect(facts).toEqual({ ...usual, mtu: { 9000: '0-1,3', 1500: '2' } });
    expect(valuesOf(facts.mtu!, hosts)).toEqual([
      { value: '9000', hosts: ['h0', 'h1', 'h3'] },
      { value: '1500', hosts: ['h2'] },
    ]);
  });

  test('is unknown on a host that does not tell', () => {
    const facts = packFacts([{ mtu: '9000' }, {}, { mtu: '9000' }]);
    expect(facts).toEqual({ mtu: { 9000: '0,2', unknown: '1' } });
  });
});

describe('a difference', () => {
  test('is a finding about the odd host', () => {
    expect(differenceFindings(worldOf(4, { 2: { mtu: '1500' } }))).toMatchObject([
      {
        cause: 'host',
        symptom: 'differs',
        fact: 'mtu',
        who: { host: 'h2', hosts: ['h2'] },
        evidence: 'MTU: h2 has 1500; the other 3 hosts have 9000.',
        next: expect.stringMatching(/^Set the same MTU/),
      },
    ]);
  });

  test('of two hosts accuses neither', () => {
    const world = worldOf(2, { 1: { mtu: '1500' } });
    expect(sentences(world)).toEqual(['MTU: h0 has 9000, h1 has 1500.']);
    expect(differenceFindings(world)[0]!.who.hosts).toEqual(['h0', 'h1']);
  });

  test('without a majority accuses nobody', () => {
    const world = worldOf(4, { 2: { kernel: '6.2' }, 3: { kernel: '6.2' } });
    expect(sentences(world)).toEqual(['kernel: h0, h1 have 6.1.0, h2, h3 have 6.2.']);
  });

  test('of many hosts stays short: the odd ones are named, then counted', () => {
    const odd = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [40 * i, { mtu: '1500' }]));
    const world = worldOf(1024, odd);
    expect(sentences(world)).toEqual([
      'MTU: h0, h40, h80, h120 and 20 more have 1500; the other 1000 hosts have 9000.',
    ]);
    expect(differenceLines(differencesOf(world))).toEqual([
      'differs  most hosts          odd ones out',
      'MTU      9000 on 1000 hosts  1500 on h0, h40, h80, h120 and 20 more',
    ]);
    expect(JSON.stringify(world.facts).length).toBeLessThan(400);
  });
});

describe('a run on unequal hosts', () => {
  const world = { ...worldOf(4, { 2: { mtu: '1500' } }), ranks: 4, launcher: 'srun' };
  const findings = differenceFindings(world);
  const diagnosis = { retested: true, findings, notConfirmed: [], pace: [], retests: [] };
  const row = sampleRow({
    ...{ kind: 'pair', column: 'Bandwidth', bytes: 65_536, us: 5 },
    labels: { from: 0, to: 1 },
  });
  const pairs: Run = runOf([row], { benchmark: 'pairs', world, diagnosis });

  test('is read back from its file', () => {
    const read = runSchema.parse(JSON.parse(JSON.stringify(pairs)));
    expect(differencesOf(read.world)).toEqual(differencesOf(world));
    expect(read.diagnosis!.findings).toEqual(findings);
  });

  test.each(['table', 'markdown'] as const)('of pairs shows them in its %s', (format) => {
    const text = formatRun(pairs, format);
    expect(text).toMatch(/MTU +\|? *9000 on 3 hosts +\|? *1500 on h2/);
    expect(text).toContain('host h2: MTU differs');
    expect(text).toContain('No slow pair found');
  });

  test('of pairs tells of them in a report, where they are no fault', () => {
    const page = renderReport([pairs]);
    expect(page).toContain('No fault found. The hosts differ in 1 respect that should be equal.');
    expect(page).toContain('9000 on 3 hosts; 1500 on h2');
  });

  test('is degraded, once for all runs, and says where', () => {
    const write = runOf([sampleRow({ column: 'A', bytes: 64, us: 5 })], { world });
    const verdict = judge({ kind: 'none' }, [pairs, write], []);
    expect(verdict.items.filter(({ metric }) => metric === 'differs')).toEqual([
      expect.objectContaining({
        name: 'host h2: MTU differs',
        grade: 'degraded',
        reason: 'MTU: h2 has 1500; the other 3 hosts have 9000.',
      }),
    ]);
    expect(formatVerdict(verdict)).toMatch(/\nMTU +9000 on 3 hosts +1500 on h2\n$/);
  });

  test('passes where the hosts are alike', () => {
    const alike = { ...world, ...worldOf(4) };
    const run = runOf([sampleRow({ column: 'A', bytes: 64, us: 5 })], { world: alike });
    expect(judge({ kind: 'none' }, [run], []).items).toContainEqual(
      expect.objectContaining({ name: 'hosts', grade: 'pass' }),
    );
  });
});
