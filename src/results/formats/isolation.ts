import type { Culprit, Isolation, TryOutcome } from '../../analysis/isolate/search.js';
import { plural } from '../../measure/units.js';

/** One run of the command on some nodes. */
export interface RecordedTry {
  readonly nodes: readonly string[];
  readonly outcome: TryOutcome;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly seconds: number;
  /** The end of what it printed. */
  readonly output: string;
}

/** Everything that was tried, and what follows from it. */
export interface IsolationRecord extends Partial<Isolation> {
  readonly schema: 'weft.isolate/1';
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly nodes: readonly string[];
  /** As it was given, with its placeholders. */
  readonly command: readonly string[];
  readonly tryTimeoutSeconds: number;
  readonly triesAllowed: number;
  readonly tries: readonly RecordedTry[];
}

const listed = (names: readonly string[]): string =>
  names.length < 3 ? names.join(' and ') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

function culpritText({ kind, blamed, nodes }: Culprit): string {
  switch (kind) {
    case 'alone':
      if (nodes.length === 1) return `${blamed[0]} fails by itself.`;
      return blamed.length === 1
        ? `${blamed[0]} fails with any other node.`
        : `${listed(blamed)} each fail with any other node.`;
    case 'together':
      return `${listed(blamed)} fail only together. Each of them passes with other nodes.`;
    case 'any':
      return `Any ${plural(nodes.length, 'node')} fail: the cause is the number of nodes, not one of them.`;
    case 'undecided':
      return `${listed(nodes)} fail together. There were too few healthy nodes or tries to find out which of them is to blame.`;
  }
}

/** The answer in sentences. */
export function isolationSentences({
  nodes,
  tries,
  triesAllowed,
  outcome,
  culprits = [],
  healthy = [],
}: IsolationRecord): string[] {
  if (outcome === 'clean') return [`All ${nodes.length} nodes pass together: nothing to isolate.`];
  if (outcome === 'unresolved') {
    return [`The command could not run on all ${nodes.length} nodes: ${tries[0]?.output ?? ''}`];
  }
  const passing =
    healthy.length === 1
      ? `The other node passes: ${healthy[0]}.`
      : `The other ${healthy.length} nodes pass together: ${healthy.join(', ')}.`;
  return [
    ...culprits.map(culpritText),
    ...(outcome === 'partly'
      ? [`Stopped after ${triesAllowed} tries; more nodes may be at fault.`]
      : []),
    ...(healthy.length > 0 ? [passing] : []),
  ];
}

/** Every try, then the answer. */
export function formatIsolation(record: IsolationRecord): string {
  const { tries } = record;
  const width = String(tries.length).length;
  const lines = tries.map(({ nodes, outcome, seconds }, index) =>
    [
      `try ${String(index + 1).padStart(width)}`,
      outcome.padEnd(Math.max(...tries.map((one) => one.outcome.length))),
      `${seconds.toFixed(1).padStart(5)} s`,
      nodes.join(','),
    ].join('  '),
  );
  return `${[...lines, ...isolationSentences(record)].join('\n')}\n`;
}
