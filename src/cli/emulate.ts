import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { WeftError } from '../errors.js';
import {
  efaEnvironment,
  machines,
  parseCapabilities,
  parseMachine,
  parseNicFaults,
  plantTree,
} from '../lab/index.js';
import { onOff, option, text, type ValuesOf, wholeNumber } from '../settings/option.js';
import { addOptions, readOptions } from './options.js';

const emulateOptions = {
  nics: option({
    flags: '--nics <count>',
    help: 'number of EFA devices',
    kind: wholeNumber(1),
    defaultText: 'by machine; p5: 4',
  }),
  machine: option({
    flags: '--machine <type>',
    help: `EC2 machine: ${machines.map(({ id }) => id).join(', ')}`,
    kind: { parse: parseMachine, format: ({ id }) => id, inFile: 'name' },
    default: parseMachine('p5'),
  }),
  gpus: onOff('--gpus', 'also show the machine’s GPUs on the PCI bus'),
  caps: option({
    flags: '--caps <list>',
    help: 'override the device capabilities, e.g. read,rnr,source',
    kind: { parse: parseCapabilities, inFile: 'list' },
  }),
  seed: option({
    flags: '--seed <number>',
    help: 'seed for the random delivery order',
    kind: wholeNumber(0),
    default: 1,
  }),
  ordered: onOff('--ordered', 'deliver in posting order, unlike hardware'),
  fault: option({
    flags: '--fault <list>',
    help: 'faults: [N:]KEY=VALUE[,…]; N picks a device',
    kind: { parse: parseNicFaults, inFile: 'list' },
    default: [],
    defaultText: 'none',
  }),
  keep: option({
    flags: '--keep <folder>',
    help: 'create the sysfs tree in this folder and keep it',
    kind: text,
  }),
};
type EmulateOptions = ValuesOf<typeof emulateOptions>;

/** `weft emulate …`: any command, with devices that this machine does not have. */
export function addEmulateCommand(program: Command): void {
  const emulate = program.command('emulate').description('Run a command with emulated devices.');
  const efa = emulate
    .command('efa')
    .summary('Run a command with emulated EFA devices.')
    .description('Run a command with emulated EFA devices under the real EFA provider.')
    .argument('<command...>', 'command to run, e.g. -- fi_info -p efa, or -- weft info')
    .passThroughOptions();
  addOptions(efa, emulateOptions).action(async (command: string[], raw: unknown) => {
    await emulateEfa(command, readOptions(raw, emulateOptions));
  });
}

async function emulateEfa(command: readonly string[], options: EmulateOptions): Promise<void> {
  const { keep } = options;
  const tree = keep === undefined ? mkdtempSync(join(tmpdir(), 'weft-efa-')) : resolve(keep);
  const remove = () => {
    if (keep === undefined) rmSync(tree, { recursive: true, force: true });
  };
  let signal: NodeJS.Signals | undefined;
  try {
    const env = efaEnvironment(tree);
    plant(tree, options);
    signal = await runCommand(command, { ...process.env, ...env });
  } finally {
    remove();
  }
  // Whoever waits for this process learns how the command ended.
  if (signal !== undefined) process.kill(process.pid, signal);
}

function plant(tree: string, options: EmulateOptions): void {
  const { machine, nics: count = machine.nicsPerGroup, fault, caps, gpus, seed, ordered } = options;
  const beyond = fault.find(({ nic = 0 }) => nic >= count);
  if (beyond) {
    throw new WeftError('BAD_USAGE', `--fault: there is no device ${beyond.nic}`, {
      hint: `Devices are 0 to ${count - 1}; --nics sets how many there are.`,
    });
  }
  const faultsOf = (index: number) =>
    fault.filter(({ nic = index }) => nic === index).map(({ faults }) => faults);
  plantTree(tree, {
    machine,
    nics: Array.from({ length: count }, (_, k) => ({
      address: `127.18.0.${k + 1}`,
      faults: Object.assign({}, ...faultsOf(k)),
    })),
    ...{ gpus, seed, ordered },
    ...(caps && { capabilities: caps }),
  });
}

/** At a terminal, Ctrl-C reaches the command too: it alone decides what to do, and this process waits for it. */
const heldSignals = ['SIGINT', 'SIGQUIT'] as const;
const passedSignals = ['SIGTERM', 'SIGHUP'] as const;

const atTerminal = (): boolean =>
  [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);

/** Resolves with the signal that ended the command, if one did; its exit code becomes ours. */
function runCommand(
  [name = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.Signals | undefined> {
  const own = name === 'weft' ? [process.execPath, process.argv[1]!] : [name];
  const [file = '', ...words] = [...own, ...args];
  return new Promise((done, fail) => {
    const child = spawn(file, words, { stdio: 'inherit', env });
    const pass = (signal: NodeJS.Signals) => void child.kill(signal);
    const hold = (signal: NodeJS.Signals) => void (atTerminal() || pass(signal));
    for (const signal of heldSignals) process.on(signal, hold);
    for (const signal of passedSignals) process.on(signal, pass);
    const release = () => {
      for (const signal of heldSignals) process.off(signal, hold);
      for (const signal of passedSignals) process.off(signal, pass);
    };
    child.once('error', (cause) => {
      release();
      fail(notStarted(name, cause));
    });
    child.once('exit', (code, signal) => {
      release();
      process.exitCode = code ?? 128 + constants.signals[signal!];
      done(signal ?? undefined);
    });
  });
}

function notStarted(name: string, cause: NodeJS.ErrnoException): WeftError {
  const why = cause.code === 'ENOENT' ? 'no such command' : cause.message;
  return new WeftError('BAD_USAGE', `${name}: ${why}`, {
    hint: 'Put the command and its options after `--`.',
    cause,
  });
}
