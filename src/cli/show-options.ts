import { maxWorld } from '../plan/plan.js';
import { formats } from '../results/formats/format-run.js';
import { choice, onOff, option, text, type ValuesOf, wholeNumber } from '../settings/option.js';

/** Options of every command that runs on ranks: who runs. */
export const rankOptions = {
  ranks: option({
    flags: '--ranks <count>',
    help: 'local ranks (torchrun, srun, mpirun set their own)',
    kind: wholeNumber(1, maxWorld),
  }),
  quiet: onOff('--quiet', 'print results only'),
  verbose: onOff('--verbose', 'print all notes, causes and output of every rank'),
  iface: option({ flags: '--iface <name>', help: 'interface for rank 0 to listen on', kind: text }),
  tokenFile: option({
    flags: '--token-file <file>',
    help: 'file with a secret shared by all ranks',
    kind: text,
  }),
};

export const metricsOption = option({
  flags: '--metrics <file>',
  help: 'also write Prometheus metrics to this file',
  kind: text,
});

/** Options of every command that measures: what is shown. */
export const showOptions = {
  ...rankOptions,
  format: option({
    flags: '--format <format>',
    help: formats.join(', '),
    kind: choice(formats),
    default: 'table',
  }),
  out: option({
    flags: '--out <file>',
    help: 'run file',
    kind: text,
    defaultText: 'a new one in weft-results/',
  }),
  ncclJson: option({
    flags: '-J, --nccl-json <file>',
    help: 'also write JSON as nccl-tests does',
    kind: text,
  }),
  metrics: metricsOption,
  explain: onOff('--explain', 'draw the plan and its bound; run nothing'),
  live: onOff('--live', 'serve a web page that follows the run'),
};

/** Of commands whose output people or programs read. */
export const formatOption = option({
  flags: '--format <format>',
  help: 'output format: table, json',
  kind: choice(['table', 'json']),
  default: 'table',
});

/** Where ranks are not given, under a launcher it decides, and elsewhere the benchmark does. */
export type ShowOptions = ValuesOf<typeof showOptions>;

export const defaultRanks = 2;
