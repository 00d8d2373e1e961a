import type { Command } from 'commander';
import { WeftError } from '../errors.js';
import { type Inspection, inspect, type Missing } from '../fabric/inspect.js';
import { mayLockMore } from '../fabric/limits.js';
import { type GpuAvailability, gpuAvailability } from '../gpu/gpu.js';
import { formatBytesRounded, plural } from '../measure/units.js';
import { onOff, option, text, type ValuesOf } from '../settings/option.js';
import { readHwlocFile } from '../topology/hwloc.js';
import { readSysfs } from '../topology/sysfs.js';
import { infoOfAllRanks } from './info-hosts.js';
import { efaJson, efaLines, gpuPostingLines, portWords, rdmaJson } from './info-rdma.js';
import {
  gpuLines,
  gpusJson,
  type MachineMap,
  mapText,
  nicsJson,
  unusedJson,
} from './info-topology.js';
import { addOptions, readOptions } from './options.js';
import { printOut } from './output/print.js';
import { stdoutTerminal } from './output/terminal.js';
import { formatOption, rankOptions } from './show-options.js';

const infoOptions = {
  format: formatOption,
  topology: option({
    flags: '--topology <file>',
    help: 'read an hwloc XML file instead of this machine',
    kind: text,
  }),
  allRanks: onOff('--all-ranks', 'compare the hosts of all ranks; measure nothing'),
  ...rankOptions,
};
type InfoOptions = ValuesOf<typeof infoOptions>;

/** `weft info`: what this machine can do, and what is missing. Works without libfabric too. */
export function addInfoCommand(program: Command): void {
  const command = program
    .command('info')
    .description('Show libfabric, NICs, GPUs and what is missing.');
  addOptions(command, infoOptions).action(async (raw: unknown) => {
    const options = readOptions(raw, infoOptions);
    refuseIdle(options);
    if (options.allRanks) {
      process.exitCode = await infoOfAllRanks(options);
      return;
    }
    const text = options.topology === undefined ? here(options) : fromFile(options);
    printOut(`${text}\n`);
  });
}

/** An option that would do nothing is a misunderstanding. */
function refuseIdle({ allRanks, topology, ranks, iface, tokenFile }: InfoOptions): void {
  const idle =
    allRanks && topology !== undefined
      ? '--topology has no effect with --all-ranks'
      : !allRanks && (ranks ?? iface ?? tokenFile) !== undefined
        ? '--ranks, --iface and --token-file have no effect without --all-ranks'
        : undefined;
  if (idle !== undefined) throw new WeftError('BAD_USAGE', idle, { hint: 'Leave it out.' });
}

function here({ format }: InfoOptions): string {
  const inspected = inspect();
  const available = gpuAvailability();
  const facts = available.gpus;
  const topology = readSysfs({ nics: inspected.nics, gpus: facts.map(({ pci }) => pci) });
  const map = { topology, facts };
  const found = { ...inspected, missing: [...inspected.missing, ...unusableGpus(map, available)] };
  if (format === 'json') return JSON.stringify(infoJson(found, map), null, 2);
  const drawing = mapText(map, stdoutTerminal());
  const noGpu = 'reason' in available ? `none: ${available.reason.message}` : 'none';
  return [infoText(found, map, noGpu), ...(drawing === '' ? [] : [drawing])].join('\n\n');
}

/** Without a GPU on the bus nobody misses its driver. */
function unusableGpus({ topology }: MachineMap, available: GpuAvailability): Missing[] {
  if (topology.gpus.length === 0 || !('reason' in available)) return [];
  const { message, hint } = available.reason;
  return [{ what: message, hint: hint ?? '' }];
}

function fromFile({ format, topology: file = '' }: InfoOptions): string {
  const map = { topology: readHwlocFile(file), facts: [] };
  if (format === 'json') return JSON.stringify(fileJson(file, map), null, 2);
  const { gpus, nics } = map.topology;
  const drawing = mapText(map, stdoutTerminal());
  return drawing === ''
    ? `${file}: no GPU and no NIC found. If the machine has some, export it with: lstopo --whole-io --of xml FILE`
    : `${file}: ${plural(gpus.length, 'GPU')}, ${plural(nics.length, 'NIC')}\n\n${drawing}`;
}

/** The same keys as of this machine; what a file cannot tell is null or empty. */
export function fileJson(file: string, map: MachineMap) {
  return {
    schema: 'weft.info/1',
    topology: file,
    libfabric: null,
    providers: [],
    nics: nicsJson(map.topology),
    gpus: gpusJson(map),
    unusedNics: unusedJson(map),
    limits: null,
    missing: [],
  };
}

function infoJson(found: Inspection, map: MachineMap) {
  const { libfabric, providers, nics, efa, limits, missing } = found;
  return {
    schema: 'weft.info/1',
    libfabric: libfabric ? { path: libfabric.path, version: libfabric.version } : null,
    providers,
    nics: nics.map((nic) => ({
      ...nic,
      pci: nic.pci ?? null,
      numaNode: nic.numaNode ?? null,
      rateGbps: nic.rateGbps ?? null,
      ...(nic.device && { device: rdmaJson(nic.device) }),
    })),
    efa: efaJson(efa),
    gpus: gpusJson(map),
    unusedNics: unusedJson(map),
    limits: {
      ...limits,
      lockedMemoryBytes: limits.lockedMemoryBytes ?? null,
      openFiles: limits.openFiles ?? null,
      sharedMemoryFreeBytes: limits.sharedMemoryFreeBytes ?? null,
    },
    missing,
  };
}

function infoText(found: Inspection, map: MachineMap, noGpu: string): string {
  const { libfabric, providers, nics, efa, limits, missing } = found;
  const lines: [string, string][] = [
    ['libfabric', libfabric ? `${libfabric.version}  ${libfabric.path}` : 'not found'],
    ...section(
      'providers',
      providers,
      ({ name, domains, usable }) =>
        `${name.padEnd(14)} ${usable ? 'usable    ' : 'not usable'}  ${shorten(nicsOf(domains))}`,
    ),
    ...section('NICs', nics, describeNic),
    ...(efa ? section('EFA', efaLines(found), (line) => line) : []),
    ...(efa ? section('GPU posting', gpuPostingLines(efa), (line) => line) : []),
    ...section('GPUs', map.topology.gpus.length > 0 ? gpuLines(map) : [noGpu], (line) => line),
    ['cores', String(limits.cores)],
    ['memory', formatBytesRounded(limits.memoryBytes)],
    ['locked memory', describeLimit(limits.lockedMemoryBytes)],
    [
      '/dev/shm free',
      limits.sharedMemoryFreeBytes === undefined
        ? 'no /dev/shm'
        : formatBytesRounded(limits.sharedMemoryFreeBytes),
    ],
    ['open files', String(limits.openFiles ?? 'unlimited')],
    ['huge pages', `transparent: ${limits.transparentHugePages}`],
    ...(missing.length === 0
      ? [['missing', 'nothing'] as [string, string]]
      : section(
          'missing',
          missing.flatMap(({ what, hint }) => [`${what}.`, hint]),
          (line) => line,
        )),
  ];
  const width = Math.max(...lines.map(([label]) => label.length));
  return lines.map(([label, text]) => `${label.padEnd(width)}  ${text}`).join('\n');
}

/** The label stands before the first line only. */
const section = <T>(label: string, items: readonly T[], line: (item: T) => string) =>
  items.length === 0
    ? [[label, 'none'] as [string, string]]
    : items.map((item, index): [string, string] => [index === 0 ? label : '', line(item)]);

/** efa offers each NIC in two domains, one for each kind of endpoint. */
const nicsOf = (domains: readonly string[]): string[] => [
  ...new Set(domains.map((domain) => domain.replace(/-(rdm|dgrm)$/, ''))),
];

const shorten = (names: readonly string[]): string =>
  names.length <= 4
    ? names.join(' ')
    : `${names.slice(0, 4).join(' ')} … (${names.length} in total)`;

function describeNic(nic: Inspection['nics'][number]): string {
  const rate = nic.rateGbps === undefined ? 'rate unknown' : `${nic.rateGbps} Gbps`;
  const place = [nic.pci, nic.numaNode === undefined ? undefined : `NUMA ${nic.numaNode}`];
  const kind = nic.loopback ? 'loopback' : nic.emulated ? 'emulated' : nic.kind;
  return [
    nic.name.padEnd(12),
    (nic.up ? 'up' : 'down').padEnd(4),
    kind.padEnd(8),
    rate.padEnd(12),
    ...[...place, ...nic.addresses, ...portWords(nic)].filter((part) => part !== undefined),
  ].join('  ');
}

function describeLimit(bytes: number | undefined): string {
  if (bytes === undefined) return 'unlimited';
  const note = mayLockMore() ? ' (does not apply to root)' : '';
  return `${formatBytesRounded(bytes)}${note}`;
}
