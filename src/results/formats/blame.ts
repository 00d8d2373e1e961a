import { placesOf } from '../../analysis/diagnosis/cells.js';
import { headline } from '../../analysis/diagnosis/diagnosis.js';
import { steadyOutliers } from '../../analysis/diagnosis/outliers.js';
import type { Run } from '../schema.js';
import type { Note } from './notes.js';

/** Who stands out: of `pairs` the findings, of other benchmarks ranks that are far slower than the rest. */
export function blame(run: Run): Note[] {
  return [...findings(run), ...outliers(run)];
}

function findings({ diagnosis, rows }: Run): Note[] {
  if (!diagnosis) return [];
  const named = diagnosis.findings.flatMap((finding): Note[] => [
    { kind: 'bad', text: headline(finding) },
    { kind: 'plain', text: `  ${finding.evidence} ${finding.next}` },
  ]);
  const dismissed = diagnosis.notConfirmed.map(
    (text): Note => ({ kind: 'plain', text: `not confirmed: ${text}` }),
  );
  const ways = new Set(rows.map(({ labels }) => `${labels.from} ${labels.to}`)).size;
  const none: Note = { kind: 'plain', text: `nobody stands out among ${ways} directed pairs` };
  return [...(named.length === 0 ? [none] : named), ...dismissed];
}

function outliers(run: Run): Note[] {
  const { hosts } = placesOf(run);
  const columns = [...new Set(run.rows.map((row) => row.column))];
  return columns.flatMap((column) =>
    steadyOutliers(run.rows.filter((row) => row.column === column)).map(({ rank, ratio }): Note => {
      const share = `${Math.round(ratio * 100)} % of the others’ speed`;
      const who = `rank ${rank} (${hosts[rank] ?? 'unknown host'})`;
      return {
        kind: 'doubt',
        text: `${who} stands out in ${column}: ${share}; weft pairs tells why`,
      };
    }),
  );
}
