import {
  type Change,
  type Gain,
  type OpenQuestion,
  type RunAdvice,
  sizesText,
} from '../../analysis/advice/change.js';
import { significant } from '../../measure/units.js';
import { wrap } from './text.js';

/** What was measured of a change in turns with what is in use. */
export interface Tried {
  readonly change: Change;
  readonly rounds: number;
  /** How many times as fast; over all rows, as the change's own. */
  readonly gain: Gain;
  readonly confidence: number;
  readonly rows: readonly { readonly bytes: number; readonly gain: Gain }[];
  readonly verdict: TriedVerdict;
  readonly folder: string;
}
export type TriedVerdict = 'as expected' | 'more than expected' | 'less than expected' | 'slower';

/** The command lines of changes and questions. */
export interface Commands {
  change(change: Change): string | undefined;
  question(question: OpenQuestion): string | undefined;
}

export const gainText = ({ factor, interval: [low, high] }: Gain): string =>
  `${factor.toFixed(2)}× as fast (${low.toFixed(2)} to ${high.toFixed(2)})`;

/** Changes by number, what is not known, and where predictions come from. Commands stay on one line, to be copied. */
export function formatAdvice(advice: RunAdvice, commands: Commands, width: number): string {
  const { changes, open, models, state } = advice;
  const indented = (text: string) => wrap(text, width - 3).map((line) => `   ${line.trimStart()}`);
  const changeLines = changes.flatMap((change, i) => [
    ...wrap(`${i + 1}. ${titleOf(change)}`, width),
    ...indented(`${whereOf(change)}. ${change.reason}`),
    ...[commands.change(change)].flatMap((line) => (line === undefined ? [] : [`   ${line}`])),
  ]);
  const openLines = open.flatMap((question) => [
    ...wrap(`- ${question.what}: ${question.reason}`, width),
    ...[commands.question(question)].flatMap((line) => (line === undefined ? [] : [`  ${line}`])),
  ]);
  const sections = [
    changes.length === 0
      ? ['No change would gain 3 % or more, as far as these runs show.']
      : ['What to change, the most valuable first:', '', ...changeLines],
    ...(state.length === 0 ? [] : [state.flatMap((line) => wrap(line, width))]),
    ...(open.length === 0 ? [] : [['Not known:', ...openLines]]),
    ...(changes.some(({ known }) => known === 'predicted')
      ? [models.flatMap((model) => wrap(modelText(model), width))]
      : []),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

const titleOf = ({ what, from, to, gain, known }: Change): string =>
  `${what}: ${from} → ${to}, ${gain === undefined ? 'gain not known' : `${gainText(gain)}, ${known}`}`;

const whereOf = ({ run, bytes }: Change): string =>
  bytes.length === 0 ? run.benchmark : `${run.benchmark}, ${sizesText(bytes)}`;

function modelText({ name, parameters, fit }: RunAdvice['models'][number]): string {
  const { nicGbps, writeMicroseconds } = parameters;
  const rows = fit === undefined ? '' : ` from ${fit.rows} rows`;
  const cost = writeMicroseconds > 0 ? `, ${significant(writeMicroseconds)} us per write` : '';
  return `Predicted with the model ${name}${rows}: ${significant(nicGbps)} Gbps per NIC${cost}.`;
}

export function formatTried(tried: Tried, width: number): string {
  const { change, rounds, gain, confidence, rows, verdict, folder } = tried;
  const expected = change.gain === undefined ? 'not known' : gainText(change.gain);
  const sure = `${Number((confidence * 100).toFixed(1))} % confidence`;
  const lines = [
    `Tried ${change.from} → ${change.to} (${change.run.benchmark}) in turns, ${rounds} rounds:`,
    `  ${change.known.padEnd(9)} ${expected}`,
    `  in turns  ${gainText(gain)}, ${sure}: ${verdict}`,
    ...(rows.length < 2
      ? []
      : rows.map((row) => `    ${sizesText([row.bytes]).padStart(6)}  ${gainText(row.gain)}`)),
    `run files: ${folder}`,
  ];
  return `\n${lines.flatMap((line) => (line.length > width ? wrap(line, width) : [line])).join('\n')}\n`;
}

export function adviceJson(advice: RunAdvice, commands: Commands, tried?: Tried): string {
  const { runs, changes, open, models, state } = advice;
  const record = {
    schema: 'weft.advice/1',
    runs: runs.map(({ id, benchmark }) => ({ id, benchmark })),
    models: models.map(({ name, source, parameters, fit }) => ({ name, source, parameters, fit })),
    changes: changes.map((change) => changeRecord(change, commands)),
    open: open.map((question) => ({
      what: question.what,
      run: question.run?.id,
      reason: question.reason,
      command: commands.question(question),
    })),
    state,
    ...(tried && { tried: triedRecord(tried, changes) }),
  };
  return `${JSON.stringify(record, null, 2)}\n`;
}

const changeRecord = (change: Change, commands: Commands) => {
  const { what, run, from, to, bytes, gain = null, known, reason } = change;
  const command = commands.change(change) ?? null;
  return {
    what,
    benchmark: run.benchmark,
    run: run.id,
    from,
    to,
    bytes,
    command,
    gain,
    known,
    reason,
  };
};

function triedRecord({ change, ...tried }: Tried, changes: readonly Change[]) {
  return { change: changes.indexOf(change), expected: change.gain ?? null, ...tried };
}
