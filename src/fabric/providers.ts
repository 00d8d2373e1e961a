import { isIP } from 'node:net';
import { WeftError } from '../errors.js';
import { formatBytesRounded } from '../measure/units.js';
import { addon } from '../native/addon.js';
import type { NativeInfo, NativeQuery } from '../native/fabric.js';
import { calling } from './faults.js';
import { devicesWithoutNodes, nodesHint } from './hidden-devices.js';
import { immediateBytes } from './immediates.js';
import { loadLibrary } from './library.js';
import { lacksSharedMemory, readLimits, sharedMemoryHint } from './limits.js';
import { mrBits, offeredMrMode } from './memory-mode.js';
import { listNics } from './nics.js';
import { segmentName } from './segments.js';

/** One endpoint to be: what libfabric offers for one NIC. */
export interface Offer {
  readonly info: NativeInfo;
  /** Whether a receive can name its sender. */
  readonly directed: boolean;
  /** Whether targets acknowledge writes, because the provider does not say when they are delivered. */
  readonly acknowledged: boolean;
  /** As the user knows it: interface, RDMA device, or `shm`. */
  readonly nic: string;
  readonly lineRateGbps: number | undefined;
}

export interface OfferOptions {
  /** `shm`, `tcp`, `net`, `sockets`, `efa`, `efa-direct`, `verbs`, or any name `fi_info` lists. */
  readonly provider: string;
  /** Interfaces, RDMA devices or addresses, one endpoint each; default: loopback, or every RDMA device. */
  readonly nics?: readonly string[];
  /** How many endpoints; more than NICs go round. Default: one per NIC. */
  readonly channels?: number;
  /** Ask for FI_MR_BASIC, which makes software providers behave as RDMA hardware does. */
  readonly basicRegistration?: boolean;
  /** Do without directed receives even where they are offered. */
  readonly undirected?: boolean;
  /** Let targets acknowledge writes even where the provider says when they are delivered. */
  readonly acknowledged?: boolean;
  /** Only what says that it moves a GPU's memory (FI_HMEM). */
  readonly deviceMemory?: boolean;
  /** Let efa use shared memory between ranks of a host. Decided when libfabric loads, where it is older than 1.21. */
  readonly localShm?: boolean;
}

/** `tcp` became a reliable-datagram provider of its own in 1.18; before, it needs rxm on top. */
export function providerName(asked: string, version: { major: number; minor: number }): string {
  const layered = version.major === 1 && version.minor < 18;
  return asked === 'tcp' && layered ? 'tcp;ofi_rxm' : asked;
}

/** `net`, and `tcp` since it absorbed it, accept FI_DIRECTED_RECV and heed it for tagged messages only. */
export const ignoresDirection = (provider: string): boolean => /^(net|tcp)$/.test(provider);

/** The fabric of the EFA provider without its protocols: what the device does, and no more. Since libfabric 2.1. */
export const efaDirect = 'efa-direct';

/** A provider as users name it: `efa` has two fabrics, and `efa-direct` is one of them. */
export const offeredName = ({ provider, fabric }: NativeInfo): string =>
  fabric === efaDirect ? efaDirect : provider;

export const isRdma = (provider: string): boolean => /^(efa|verbs)\b/.test(provider);
export const isSockets = (provider: string): boolean => /^(tcp|net|sockets|udp)\b/.test(provider);

/** What to open, one entry per channel, in the order of the NICs. */
export function findOffers(options: OfferOptions): Offer[] {
  const provider = providerName(options.provider, loadLibrary());
  const found = isRdma(provider)
    ? rdmaOffers(provider, options)
    : addressedOffers(provider, options);
  const channels = options.channels ?? found.length;
  return Array.from({ length: channels }, (_, i) => {
    if (i < found.length) return found[i]!;
    // Another endpoint on the same NIC; shm and sockets need an address of its own.
    const again = options.nics?.[i % found.length];
    return isRdma(provider)
      ? found[i % found.length]!
      : addressedOffer(provider, options, provider === 'shm' ? undefined : (again ?? '127.0.0.1'));
  });
}

/** What libfabric has of this provider for us. */
export function usableInfos(provider: string): readonly NativeInfo[] {
  loadLibrary();
  return ask({ provider }, { provider }).infos;
}

/** Whether libfabric has this provider for us at all. */
export const isOffered = (provider: string): boolean => usableInfos(provider).length > 0;

function addressedOffers(provider: string, options: OfferOptions): Offer[] {
  if (provider === 'shm') return [addressedOffer(provider, options, undefined)];
  return (options.nics ?? ['127.0.0.1']).map((nic) => addressedOffer(provider, options, nic));
}

/** tcp-like providers ignore the domain's name: a NIC is chosen by binding to its address. */
function addressedOffer(provider: string, options: OfferOptions, nic: string | undefined): Offer {
  const node = nic === undefined ? segmentName() : addressOf(nic);
  const service = nic === undefined ? {} : { service: '0' };
  const { infos, ...use } = ask({ provider, node, ...service }, options);
  const info = infos[0];
  if (!info) throw noProvider(provider, options.nics && nic);
  const known = listNics().find((one) => one.name === nic || one.addresses.includes(node));
  return { info, ...use, nic: known?.name ?? nic ?? 'shm', lineRateGbps: known?.rateGbps };
}

/** efa and verbs name a NIC by its domain; one offer each, though one NIC may be offered in several fabrics. */
function rdmaOffers(provider: string, options: OfferOptions): Offer[] {
  const { infos, ...use } = ask({ provider }, options);
  const byDomain = byNic(infos);
  const wanted = options.nics ?? [...byDomain.keys()];
  if (infos.length === 0 && provider === efaDirect) throw noEfaDirect();
  if (wanted.length === 0) throw allHidden(provider) ?? noProvider(provider);
  const rates = new Map(listNics().map(({ name, rateGbps }) => [name, rateGbps]));
  return wanted.map((nic) => {
    const info = byDomain.get(nic);
    if (!info) throw noProvider(provider, nic, [...byDomain.keys()]);
    // The kernel knows rates that libfabric's table of speeds lacks, and those of shaped links.
    const bits = info.nic?.bitsPerSecond;
    const lineRateGbps = rates.get(nic) ?? (bits ? bits / 1e9 : undefined);
    return { info, ...use, nic, lineRateGbps };
  });
}

/** The first that is offered for each NIC. */
function byNic(infos: readonly NativeInfo[]): Map<string, NativeInfo> {
  const found = new Map<string, NativeInfo>();
  for (const info of infos) {
    const nic = info.nic?.name ?? info.domain.replace(/-(rdm|dgrm)$/, '');
    if (!found.has(nic)) found.set(nic, info);
  }
  return found;
}

/** The NICs that efa or verbs offers, by name. */
export function offeredNics(provider: string): string[] {
  const name = providerName(provider, loadLibrary());
  return [...byNic(ask({ provider: name }, { provider: name }).infos).keys()];
}

function ask(query: NativeQuery, options: OfferOptions) {
  const mrMode = options.basicRegistration ? mrBits.BASIC : offeredMrMode;
  const { provider = '' } = query;
  const { deviceMemory = false } = options;
  const direct = provider === efaDirect;
  const acknowledged = direct || (options.acknowledged ?? false);
  const named = direct ? { ...query, provider: 'efa', fabric: efaDirect } : query;
  const usable = (more: NativeQuery) =>
    calling(() =>
      addon().getInfo({ ...named, mrMode, acknowledged, deviceMemory, ...more }),
    ).filter((info) => info.cqDataSize >= immediateBytes && (info.fabric === efaDirect) === direct);
  const undirected = options.undirected || direct || ignoresDirection(provider);
  const directed = undirected ? [] : usable({ directed: true });
  if (directed.length > 0) return { infos: directed, directed: true, acknowledged };
  const plain = usable({});
  // Only where nothing else is offered: the provider would also let immediates take receives where they need not.
  const infos = plain.length > 0 ? plain : usable({ receivesForData: true });
  return { infos, directed: false, acknowledged };
}

/** The address of an interface, or the address itself. */
function addressOf(nic: string): string {
  if (isIP(nic)) return nic;
  const found = listNics().find((one) => one.name === nic);
  const address = found?.addresses[0];
  if (address) return address;
  throw new WeftError(
    'NO_PROVIDER',
    found ? `${nic} has no IP address` : `this host has no network interface ${nic}`,
    {
      hint: `Interfaces here: ${listNics()
        .map((one) => one.name)
        .join(', ')}.`,
    },
  );
}

function noProvider(provider: string, nic?: string, known: string[] = []): WeftError {
  const limits = readLimits();
  if (provider === 'shm' && lacksSharedMemory(limits)) {
    const free = formatBytesRounded(limits.sharedMemoryFreeBytes ?? 0);
    const message = `libfabric does not offer shm: /dev/shm has only ${free} free`;
    return new WeftError('NO_PROVIDER', message, { hint: sharedMemoryHint });
  }
  const where = nic === undefined ? '' : ` on ${nic}`;
  const nics = known.length > 0 ? ` The devices of ${provider} are ${known.join(', ')}.` : '';
  return new WeftError('NO_PROVIDER', `libfabric has no usable provider ${provider}${where}`, {
    hint: `Run \`weft info\` to see the available providers and NICs.${nics}`,
  });
}

/** The system has RDMA devices, and libfabric shows none: its EFA provider gives up all where one does not open. */
function allHidden(provider: string): WeftError | undefined {
  const devices = listNics().flatMap(({ name, kind }) => (kind === 'rdma' ? [name] : []));
  if (devices.length === 0) return undefined;
  const text = `libfabric offers no RDMA device of this host for ${provider}; the host has ${devices.join(', ')}`;
  const closed = devicesWithoutNodes().length > 0;
  if (closed) {
    const why = `this host has ${devices.join(', ')}, but no /dev/infiniband/uverbs* to open them`;
    return new WeftError('NO_PROVIDER', why, { hint: nodesHint });
  }
  const hint = /^efa/.test(provider)
    ? 'If one EFA device fails to open, libfabric shows none. Find it with FI_LOG_LEVEL=warn fi_info -p efa, or in dmesg.'
    : 'Run FI_LOG_LEVEL=warn fi_info to see why, or look in dmesg.';
  return new WeftError('NO_PROVIDER', text, { hint });
}

function noEfaDirect(): WeftError {
  const { major, minor, version } = loadLibrary();
  const old = major < 2 || (major === 2 && minor < 1);
  const query = { provider: 'efa', fabric: efaDirect, anything: true };
  if (!old && addon().getInfo(query).length === 0) {
    return allHidden(efaDirect) ?? noProvider(efaDirect);
  }
  const message = old
    ? `libfabric ${version} has no efa-direct`
    : 'the EFA devices of this host cannot write to remote memory, which efa-direct needs';
  const hint = old ? 'Install libfabric 2.1 or newer, or use efa.' : 'Use efa.';
  return new WeftError('NO_PROVIDER', message, { hint });
}
