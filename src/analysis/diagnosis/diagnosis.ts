import type { Finding } from '../../results/finding.js';
import type { Places } from './cells.js';
import { confidenceFrom } from './conclude.js';
import { nameOf } from './finding-name.js';
import type { Suspect, Symptom } from './suspects.js';
import { nextStep } from './words.js';

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
