import type { Diagnosis, Finding } from '../../results/finding.js';
import { titleOf } from '../hosts/differences.js';
import type { Places } from './cells.js';
import type { RetestResult } from './conclude.js';
import { nameOf } from './finding-name.js';
import { type Gap, gapFindings } from './gaps.js';
import { concludeAll } from './loss.js';
import type { ScanResult, Suspect, Symptom } from './suspects.js';
import type { Measured } from './words.js';

interface Examined {
  readonly scan: ScanResult;
  readonly suspects: readonly Suspect[];
  /** Of the first suspects, in their order. */
  readonly results: readonly RetestResult[];
  readonly gaps: readonly Gap[];
}

export function diagnosisOf({ scan, suspects, results, gaps }: Examined): Diagnosis {
  const { matrix, pace } = scan;
  const { findings, dismissed } = concludeAll(results, matrix);
  const suspicion = (outcome: string) => (suspect: Suspect) => {
    const { subject, symptom } = suspicionOf(suspect, matrix);
    return `${nameOf(subject)} ${looked[symptom]} in the scan ${outcome}`;
  };
  return {
    retested: true,
    findings: [...gapFindings(gaps), ...findings],
    notConfirmed: [
      ...dismissed.map(suspicion('but was fine when measured alone')),
      ...suspects
        .slice(results.length)
        .map(suspicion('but was not retested: there were too many suspects')),
    ],
    pace: [...pace],
    retests: results.flatMap(({ retests }) => retests),
  };
}

const looked: Record<Measured, string> = {
  slow: 'looked slow',
  late: 'had high latency',
  loss: 'seemed to lose packets',
  stalls: 'seemed to stall',
  down: 'seemed down',
};

const symptomOf: Record<Symptom['metric'], Measured> = {
  slow: 'slow',
  late: 'late',
  stall: 'late',
  loss: 'loss',
  pace: 'stalls',
};

/** What a suspect is called before its retest: by the symptom that is plainest. */
function suspicionOf(suspect: Suspect, places: Places) {
  const symptom = suspect.symptoms.reduce((a, b) => (b.sigmas > a.sigmas ? b : a));
  return { subject: whoOf(suspect, symptom, places), symptom: symptomOf[symptom.metric] };
}

function whoOf({ ranks, rail }: Suspect, { cause }: Symptom, { hosts, nics }: Places) {
  if (cause) return { cause: cause.kind, who: cause.who };
  if (rail !== undefined) {
    return { cause: 'rail', who: { rail, nic: nics[rail]!, direction: 'both' } } as const;
  }
  const [rank = 0] = ranks;
  return { cause: 'rank', who: { rank, host: hosts[rank]!, direction: 'both' } } as const;
}

/** `NIC nic1 of h2: slow, 70 % of healthy bandwidth (confidence 0.97)` */
export function headline(finding: Finding): string {
  const { symptom, effect, confidence } = finding;
  if (symptom === 'differs') return `${nameOf(finding)}: ${titleOf(finding)} differs`;
  const percent = `${Math.round(effect * 100)} %`;
  const what: Record<Measured, string> = {
    slow: `slow, ${percent} of healthy bandwidth`,
    late: `high latency, ${effect.toFixed(1)} times healthy`,
    loss: `loses packets, ${percent} of healthy bandwidth`,
    stalls: `stalls, runs only ${percent} of the time`,
    down: 'down',
  };
  return `${nameOf(finding)}: ${what[symptom]} (confidence ${confidence.toFixed(2)})`;
}
