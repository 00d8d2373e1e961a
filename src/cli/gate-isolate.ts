import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Isolation, Search } from '../analysis/isolate/search.js';
import { WeftError } from '../errors.js';
import { findLab } from '../lab/index.js';
import { formatIsolation, type IsolationRecord } from '../results/formats/isolation.js';
import { newRunId } from '../results/run-name.js';
import { onOff, option, patience, text, type ValuesOf, wholeNumber } from '../settings/option.js';
import { expandHostList } from '../topology/host-list.js';
import { exitCode } from './output/failure.js';
import { printOut } from './output/print.js';
import { StatusLine } from './output/status-line.js';
import { writeWhole } from './output/write-whole.js';
import { ownCommand } from './own-command.js';
import { tryCommand } from './try-command.js';

export const isolateOptions = {
  isolate: onOff('--isolate', 'find the smallest set of nodes that fails'),
  nodes: option({
    flags: '--nodes <list>',
    help: 'nodes to search, e.g. node[1-8]',
    kind: text,
    defaultText: 'all',
  }),
  lab: option({ flags: '--lab <name>', help: 'search the hosts of this lab', kind: text }),
  tries: option({
    flags: '--tries <count>',
    help: 'run the command at most this many times',
    kind: wholeNumber(1),
    default: 32,
  }),
  tryTimeout: option({
    flags: '--try-timeout <time>',
    help: 'count a try as hung after this time',
    kind: patience,
    default: 60_000,
  }),
  minNodes: option({
    flags: '--min-nodes <count>',
    help: 'fewest nodes to try',
    kind: wholeNumber(1),
    defaultText: '2; 1 for a command',
  }),
};
type IsolateOptions = ValuesOf<typeof isolateOptions>;

interface Show {
  readonly format: 'table' | 'json';
  readonly quiet: boolean;
  readonly out?: string;
}

/** What is run on which nodes. */
interface Subject {
  readonly nodes: readonly string[];
  /** With {nodes} and {count}. */
  readonly command: readonly string[];
  /** Of Weft's own gate, whose exit codes are known. */
  readonly own: boolean;
}

const weft = ownCommand;

/**
 * `weft gate --isolate`: splits the nodes until the smallest failing set is left. Without a command it tries the gate
 * itself, with `gateWords`.
 */
export async function runIsolation(
  words: readonly string[],
  options: IsolateOptions,
  show: Show,
  gateWords: readonly string[],
): Promise<number> {
  const subject = await subjectOf(words, options, gateWords);
  const { tries, tryTimeout, minNodes = subject.own ? 2 : 1 } = options;
  const startedAt = new Date();
  const path = show.out ?? join('weft-results', `${newRunId('isolate', startedAt)}.json`);
  let record: IsolationRecord = {
    schema: 'weft.isolate/1',
    startedAt: startedAt.toISOString(),
    endedAt: null,
    nodes: subject.nodes,
    command: subject.command,
    tryTimeoutSeconds: tryTimeout / 1000,
    triesAllowed: tries,
    tries: [],
  };
  mkdirSync(dirname(path), { recursive: true });
  // Written anew after each try: what was found out survives whatever ends this process.
  const keep = (next: Partial<IsolationRecord>) => {
    record = { ...record, ...next };
    writeWhole(path, `${JSON.stringify(record, null, 2)}\n`, '--out');
  };
  keep({});
  using status = new StatusLine(show.quiet);
  const attempt = async (nodes: readonly string[]) => {
    status.say(`try ${record.tries.length + 1} of at most ${tries}: ${nodes.join(',')}`);
    const one = await tryCommand(wordsFor(subject, nodes), nodes, tryTimeout, subject.own);
    keep({ tries: [...record.tries, one] });
    return one.outcome;
  };
  const searched = new Search(subject.nodes, attempt, { tries, minNodes }).run();
  const found = await searched.finally(() => keep({ endedAt: new Date().toISOString() }));
  keep(found);
  status[Symbol.dispose]();
  const json = show.format === 'json';
  printOut(json ? `${JSON.stringify(record, null, 2)}\n` : formatIsolation(record));
  if (!json && !show.quiet) printOut(`${path}\n`);
  return codeOf[found.outcome];
}

const codeOf: Record<Isolation['outcome'], number> = {
  clean: exitCode.ok,
  found: exitCode.verdict,
  partly: exitCode.failed,
  unresolved: exitCode.nothing,
};

const wordsFor = ({ command }: Subject, nodes: readonly string[]): string[] =>
  command.map((word) =>
    word.replaceAll('{nodes}', nodes.join(',')).replaceAll('{count}', String(nodes.length)),
  );

async function subjectOf(
  words: readonly string[],
  options: IsolateOptions,
  gateWords: readonly string[],
): Promise<Subject> {
  const lab = options.lab === undefined ? undefined : await findLab(options.lab);
  const hosts = lab && `h[0-${lab.spec.hosts - 1}]`;
  const list = options.nodes ?? hosts ?? process.env.SLURM_JOB_NODELIST;
  if (list === undefined) {
    throw new WeftError('BAD_USAGE', '--isolate needs a list of nodes', {
      hint: 'Name them with --nodes, run it in a Slurm allocation, or choose a lab with --lab.',
    });
  }
  const nodes = expandHostList(list);
  if (words.length > 0) return { nodes, command: givenCommand(words), own: false };
  const gate = ['gate', '--quiet', ...gateWords];
  if (lab !== undefined) {
    const inLab = ['lab', 'run', '--name', lab.name, '--on', '{nodes}', '--', ...gate];
    return { nodes, command: [...weft(), ...inLab], own: true };
  }
  if (process.env.SLURM_JOB_ID === undefined) {
    throw new WeftError('BAD_USAGE', '--isolate needs a command that starts a job on the nodes', {
      hint: 'Put a command after --, run it in a Slurm allocation, or choose a lab with --lab.',
    });
  }
  const srun = ['srun', '--nodes={count}', '--ntasks-per-node=1', '--nodelist={nodes}'];
  return { nodes, command: [...srun, '--overlap', ...weft(), ...gate], own: true };
}

function givenCommand(words: readonly string[]): readonly string[] {
  if (words.some((word) => word.includes('{nodes}'))) {
    return words[0] === 'weft' ? [...weft(), ...words.slice(1)] : words;
  }
  throw new WeftError(
    'BAD_USAGE',
    'the command does not contain {nodes}, so every try would use the same nodes',
    {
      hint: 'Example: weft gate --isolate -- srun -N {count} -w {nodes} app',
    },
  );
}
