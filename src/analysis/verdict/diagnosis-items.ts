import type { Finding } from '../../results/finding.js';
import type { Run } from '../../results/schema.js';
import { nameOf } from '../diagnosis/finding-name.js';
import type { Item } from './verdict.js';

/** Below this share of what the others reach, or with no link, a finding fails. */
const failingShare = 0.5;

/** What was found about hosts, NICs, rails, pairs and ranks; or that nothing was. */
export function judgeDiagnoses(runs: readonly Run[]): Item[] {
  return runs.flatMap(({ benchmark, diagnosis }) => {
    if (!diagnosis) return [];
    if (diagnosis.findings.length > 0) return diagnosis.findings.map(itemOf);
    return [{ name: `${benchmark} outliers`, grade: 'pass', reason: 'No outliers found.' }];
  });
}

function itemOf(finding: Finding): Item {
  const { symptom, effect, evidence, next } = finding;
  const fails = symptom === 'down' || (symptom === 'slow' && effect < failingShare);
  return {
    name: nameOf(finding),
    grade: fails ? 'fail' : 'degraded',
    reason: evidence,
    next,
    metric: symptom,
    value: effect,
  };
}
