import { describe, expect, test } from 'vitest';
import { gapFindings } from '../../../src/analysis/diagnosis/gaps.js';
import type { Finding } from '../../../src/results/finding.js';

describe('rails that do not carry', () => {
  const names = (findings: readonly Finding[]) =>
    findings.map(({ cause, who }) => ({ cause, ...who }));

  test('an interface without a carrier is the NIC', () => {
    expect(names(gapFindings([{ nic: 'nic1', from: 'h2' }]))).toEqual([
      { cause: 'nic', host: 'h2', nic: 'nic1', direction: 'both' },
    ]);
  });

  test('a host in every gap is blamed, with its direction', () => {
    const gaps = ['h0', 'h1', 'h3'].map((to) => ({ nic: 'nic0', from: 'h2', to }));
    expect(names(gapFindings(gaps))).toEqual([
      { cause: 'nic', host: 'h2', nic: 'nic0', direction: 'out' },
    ]);
  });

  test('two hosts that do not reach each other are a pair', () => {
    const gaps = [
      { nic: 'nic0', from: 'h0', to: 'h1' },
      { nic: 'nic0', from: 'h1', to: 'h0' },
      { nic: 'nic0', from: 'h0', to: 'h1' },
    ];
    expect(names(gapFindings(gaps))).toEqual([
      { cause: 'pair', from: 'h0', to: 'h1', nic: 'nic0', direction: 'both' },
    ]);
  });
});
