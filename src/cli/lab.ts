import { type Command, Option } from 'commander';
import { WeftError } from '../errors.js';
import {
  addFault,
  defaultName,
  defaultSpec,
  type Fault,
  findLab,
  formatRate,
  heal,
  type LabSpec,
  type LabState,
  listLabs,
  lowerLab,
  parseFaults,
  processesIn,
  raiseLab,
  removeLab,
  startInLab,
  topologyFile,
} from '../lab/index.js';
import { userSignals } from '../native/process.js';
import { expandHostList } from '../topology/host-list.js';
import { conclude } from './in-ranks.js';
import { addSpecOptions, natural, percent, rate, readSpec } from './lab-options.js';
import { withLivePage } from './live-page.js';
import { addOptions, parsed, readOptions } from './options.js';
import { exitCode } from './output/failure.js';
import { printOut } from './output/print.js';
import { formatOption } from './show-options.js';

interface Named {
  readonly name?: string;
}

const say = (text: string): void => printOut(`${text}\n`);

/** `weft lab …`: hosts and rails on this machine. */
export function addLabCommand(program: Command): void {
  const lab = program.command('lab').description('Emulate hosts and rails on this machine.');
  addSpecOptions(lab.command('up').description('Build a lab and keep it.'))
    .option('--name <name>', 'name of the lab', defaultName)
    .action(async (raw: { name: string }) => {
      say(describe(await raiseLab(raw.name, readSpec(raw) ?? defaultSpec)));
    });
  addDownCommand(lab);
  const status = lab.command('status').description('List the labs that are up.');
  addOptions(status, { format: formatOption }).action(async (raw: unknown) => {
    const labs = await listLabs();
    const { format } = readOptions(raw, { format: formatOption });
    if (format === 'json') say(JSON.stringify(labs, null, 2));
    else say(labs.length === 0 ? 'No lab is up.' : labs.map(describe).join('\n'));
  });
  addRunCommand(lab);
  addFaultCommands(lab);
}

function addDownCommand(lab: Command): void {
  lab
    .command('down')
    .description('Remove a lab. Succeeds if there is none.')
    .option('--name <name>', 'name of the lab', defaultName)
    .option('--force', 'kill the processes that run in it')
    .action(async ({ name, force }: { name: string; force?: boolean }) => {
      const running = (await listLabs()).some((one) => one.name === name) ? processesIn(name) : [];
      if (running.length > 0 && !force) {
        throw new WeftError(
          'BUSY',
          `processes are still running in lab ${name}: ${running.join(', ')}`,
          { hint: 'Wait until they exit, or kill them with --force.' },
        );
      }
      say((await lowerLab(name)) ? `Removed lab ${name}.` : `There is no lab ${name}.`);
    });
}

interface RunOptions extends Named {
  readonly ranksPerHost: number;
  readonly on?: readonly number[];
  readonly verbose?: boolean;
}

function addRunCommand(lab: Command): void {
  addSpecOptions(
    lab
      .command('run')
      .summary('Run a weft command on every host.')
      .argument('<command...>', 'weft command and options, e.g. -- write -b 16M')
      .description('Run a weft command on every host. Lab options build a temporary lab.'),
  )
    .option('--name <name>', 'lab to use (default: the only one up)')
    .option('--ranks-per-host <count>', 'ranks per host', natural, 1)
    .option('--on <hosts>', 'run only on these hosts, e.g. h0,h2', parsed(parseHosts))
    .option('--verbose', 'show the output of every rank')
    .action(async (words: string[], options: RunOptions) => {
      // `weft lab run -- weft write` says the same.
      const command = words[0] === 'weft' ? words.slice(1) : words;
      check(command, options);
      const spec = readSpec(options);
      process.exitCode = spec
        ? await runInNewLab(spec, command, options)
        : await runInLab(await findLab(options.name), command, options);
    });
}

/** `h0,h[2-3]`: numbers of hosts. */
function parseHosts(text: string): number[] {
  const hosts = expandHostList(text).map((name) => {
    const number = /^h(\d+)$/.exec(name)?.[1];
    if (number === undefined)
      throw new Error(`${name} is not a lab host; hosts are named h0, h1 and so on.`);
    return Number(number);
  });
  if (new Set(hosts).size < hosts.length) throw new Error('A host is named twice.');
  return hosts;
}

function check([first = '']: string[], { ranksPerHost }: RunOptions): void {
  if (ranksPerHost < 1) throw new WeftError('BAD_USAGE', '--ranks-per-host must be 1 or more');
  if (first !== 'lab') return;
  throw new WeftError('BAD_USAGE', 'a lab cannot run inside a lab');
}

async function runInLab(lab: LabState, command: string[], options: RunOptions): Promise<number> {
  const { ranksPerHost, on, verbose = false } = options;
  const run = async () => {
    const job = await startInLab(lab, {
      command: process.execPath,
      args: [process.argv[1]!, ...command],
      ranksPerHost,
      hosts: on,
      prefix: verbose,
    });
    return conclude(await job.done);
  };
  // The page belongs to the host that the user sits at, which none of the lab's is.
  if (!command.includes('--live')) return run();
  return withLivePage(outOf(command), run);
}

/** Where a command of weft writes its run: `--out FILE` or `--out=FILE`, the last one as it is read. */
function outOf(command: readonly string[]): string | undefined {
  const at = command.findLastIndex((word) => word === '--out' || word.startsWith('--out='));
  const word = command[at];
  return word === '--out' ? command[at + 1] : word?.slice('--out='.length);
}

/** Whatever happens in between, the lab is removed; after SIGKILL the next command of a lab does it. */
async function runInNewLab(spec: LabSpec, command: string[], options: RunOptions): Promise<number> {
  let ended: NodeJS.Signals | undefined;
  const end = (signal: NodeJS.Signals) => {
    ended = signal;
  };
  const signals = userSignals();
  for (const signal of signals) process.on(signal, end);
  try {
    const lab = await raiseLab(options.name ?? `run-${process.pid}`, spec, { owned: true });
    try {
      // A signal during the building was held back until here; from here on it ends the ranks.
      await new Promise(setImmediate);
      return ended ? exitCode.failed : await runInLab(lab, command, options);
    } finally {
      await removeLab(lab.name);
    }
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}

function addFaultCommands(lab: Command): void {
  const named = (command: Command) =>
    command.option('--name <name>', 'lab to use (default: the only one up)');
  named(lab.command('fault').description('Slow down, degrade or cut a NIC.'))
    .requiredOption('--host <number>', 'host number', natural)
    .requiredOption('--nic <number>', 'NIC number on that host', natural)
    .option('--rate <rate>', 'reduce the line rate, e.g. 25mbit', rate)
    .option('--loss <percent>', 'percentage of frames to drop, e.g. 2 or 0.1%', percent)
    .option('--down', 'take the link down')
    .option('--device <faults>', 'faults of its EFA device: KEY=VALUE[,…]', parsed(parseFaults))
    .addOption(new Option('--direction <way>', 'affect only this direction').choices(['out', 'in']))
    .action(async ({ name, rate: bitsPerSecond, loss: lossPercent, ...where }: FaultOptions) => {
      const fault = {
        ...where,
        ...(bitsPerSecond !== undefined && { bitsPerSecond }),
        ...(lossPercent !== undefined && { lossPercent }),
      };
      say(describe(addFault(await findLab(name), fault)));
    });
  named(lab.command('heal').description('Remove faults.'))
    .option('--host <number>', 'only this host', natural)
    .option('--nic <number>', 'only this NIC', natural)
    .action(async ({ name, ...where }: Named & { host?: number; nic?: number }) => {
      say(describe(heal(await findLab(name), where)));
    });
}

type FaultOptions = Named & Fault & { readonly rate?: number; readonly loss?: number };

function describe({ name, spec, faults }: LabState): string {
  const { hosts, nics, bitsPerSecond, mtu, queueMs, delayMs, lossPercent, efa, leaves } = spec;
  const { spineBitsPerSecond: spine } = spec;
  const parts = [
    `lab ${name}: ${hosts} hosts × ${nics} NICs at ${formatRate(bitsPerSecond)}`,
    ...(leaves === undefined ? [] : [`${leaves} leaves`]),
    ...(spine === undefined ? [] : [`spine links at ${formatRate(spine)}`]),
    ...(efa === undefined ? [] : [`emulated EFA (${efa})`]),
    `MTU ${mtu}`,
    `queue ${queueMs} ms`,
    ...(delayMs === undefined ? [] : [`delay ${delayMs} ms`]),
    ...(lossPercent === undefined ? [] : [`loss ${lossPercent} %`]),
  ];
  const broken = faults.map((fault) => {
    const what = [
      ...(fault.bitsPerSecond === undefined ? [] : [formatRate(fault.bitsPerSecond)]),
      ...(fault.lossPercent === undefined ? [] : [`loss ${fault.lossPercent} %`]),
      ...(fault.down ? ['down'] : []),
      ...Object.entries(fault.device ?? {}).map(([key, value]) => `${key}=${value}`),
      ...(fault.direction ? [fault.direction === 'out' ? 'outgoing only' : 'incoming only'] : []),
    ];
    return `  h${fault.host} nic${fault.nic}: ${what.join(', ')}`;
  });
  const network = leaves === undefined ? [] : [`  network description: ${topologyFile(name)}`];
  return [parts.join(', '), ...network, ...broken].join('\n');
}
