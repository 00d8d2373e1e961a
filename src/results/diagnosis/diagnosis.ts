import type { Run } from '../schema.js';
import { matrixOf, type Places, railCellsOf } from './cells.js';
import { confidenceFrom } from './conclude.js';
import type { Diagnosis, Finding } from './finding.js';
import { nameOf } from './finding-name.js';
import { findSuspects, type Suspect, type Symptom } from './suspects.js';
import { nextStep } from './words.js';

/**
 * Who is to blame in a run of `pairs`. What the run itself found, retests and all; where it has none (it ended early,
 * or comes from elsewhere), what its matrix alone suggests, said to be no more than that.
 */
export function diagnosisOf(run: Run): Diagnosis {
  if (run.diagnosis) return run.diagnosis;
  const matrix = matrixOf(run);
  const suspects = findSuspects({ matrix, railCells: railCellsOf(run), pace: [] });
  const findings = suspects.map((suspect) => suspicionOf(suspect, matrix));
  return { retested: false, findings, notConfirmed: [], pace: [], retests: [] };
}

const symptomOf: Record<Symptom['metric'], Finding['symptom']> = {
  slow: 'slow',
  late: 'late',
  stall: 'late',
  loss: 'loss',
  pace: 'stalls',
};

/** What a suspect is called before its retest: by the symptom that is plainest. */
export function suspicionOf(suspect: Suspect, places: Places): Finding {
  const symptom = suspect.symptoms.reduce((a, b) => (b.sigmas > a.sigmas ? b : a));
  const { metric, effect, sigmas, consistency } = symptom;
  const subject = { ...whoOf(suspect, symptom, places), symptom: symptomOf[metric] };
  const ratio = Math.exp(subject.symptom === 'late' ? -effect : effect);
  const share = Math.round(consistency * 100);
  return {
    ...subject,
    effect: ratio,
    // Nobody has looked twice.
    confidence: Math.round(confidenceFrom(sigmas, consistency) * 50) / 100,
    evidence: `${share} % of the pairs of ${nameOf(subject)} stand out (${ratio.toFixed(2)} of the healthy); not retested.`,
    next: nextStep(subject),
  };
}

function whoOf({ ranks, rail }: Suspect, { cause }: Symptom, { hosts, nics }: Places) {
  if (cause) return { cause: cause.kind, who: cause.who };
  if (rail !== undefined) {
    return { cause: 'rail', who: { rail, nic: nics[rail]!, direction: 'both' } } as const;
  }
  const [rank = 0] = ranks;
  return { cause: 'rank', who: { rank, host: hosts[rank]!, direction: 'both' } } as const;
}

/** `NIC nic1 of h2: slow, 70 % of the healthy (confidence 0.97)` */
export function headline(finding: Finding): string {
  const { symptom, effect, confidence } = finding;
  const percent = `${Math.round(effect * 100)} %`;
  const what: Record<Finding['symptom'], string> = {
    slow: `slow, ${percent} of the healthy`,
    late: `late, ${effect.toFixed(1)} times the latency of the healthy`,
    loss: `loses packets, ${percent} of the healthy bandwidth`,
    stalls: `stands still, runs ${percent} of the time`,
    down: 'down',
  };
  return `${nameOf(finding)}: ${what[symptom]} (confidence ${confidence.toFixed(2)})`;
}
