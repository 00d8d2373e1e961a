import { isWeftError } from '../errors.js';
import { formatBytesRounded } from '../measure/units.js';
import { addon } from '../native/addon.js';
import type { NativeInfo } from '../native/fabric.js';
import { type Library, loadLibrary } from './library.js';
import { type Limits, mayLockMore, readLimits } from './limits.js';
import { listNics, type Nic } from './nics.js';
import { offeredName, providerName, usableInfos } from './providers.js';
import { type EfaFacts, efaFacts, type Offered, type RdmaFacts, rdmaFacts } from './rdma-facts.js';

/** A provider as `info` lists it. */
interface ProviderInfo {
  readonly name: string;
  readonly domains: readonly string[];
  /** Whether Weft can measure over it: reliable datagrams, RMA, and 32 bits of immediate data. */
  readonly usable: boolean;
}

export interface Missing {
  readonly what: string;
  readonly hint: string;
}

/** What this machine can do. */
export interface Inspection {
  readonly libfabric: Library | undefined;
  readonly providers: readonly ProviderInfo[];
  readonly nics: readonly (Nic & { readonly device?: RdmaFacts })[];
  /** Where a NIC is an EFA device. */
  readonly efa: EfaFacts | undefined;
  readonly limits: Limits;
  readonly missing: readonly Missing[];
}

/** Never throws for what is missing: that is part of the answer. */
export function inspect(): Inspection {
  const missing: Missing[] = [];
  let libfabric: Library | undefined;
  let providers: ProviderInfo[] = [];
  let offered: Offered = { anyhow: [], unsolicited: [] };
  try {
    libfabric = loadLibrary();
    offered = {
      anyhow: addon().getInfo({ anything: true }),
      unsolicited: addon().getInfo({ anything: true, unsolicited: true }),
    };
    providers = listProviders(libfabric, offered.anyhow);
  } catch (error) {
    if (!isWeftError(error)) throw error;
    missing.push({ what: error.message, hint: error.hint ?? '' });
  }
  const limits = readLimits();
  const nics: Inspection['nics'] = listNics().map((nic) =>
    nic.kind === 'rdma' ? { ...nic, device: rdmaFacts(nic.name, offered) } : nic,
  );
  return {
    libfabric,
    providers,
    nics,
    efa: nics.some(({ device }) => device?.driver === 'efa') ? efaFacts() : undefined,
    limits,
    missing: [...missing, ...lacks(limits)],
  };
}

function listProviders(library: Library, offered: readonly NativeInfo[]): ProviderInfo[] {
  const domains = new Map<string, Set<string>>();
  for (const info of offered) {
    const name = offeredName(info);
    const known = domains.get(name) ?? new Set();
    domains.set(name, known.add(info.domain));
  }
  // Layered providers are found only when asked for by name.
  const tcp = providerName('tcp', library);
  if (!domains.has(tcp)) domains.set(tcp, new Set());
  return [...domains].map(([name, found]) => {
    const infos = usableInfos(name);
    const usable = infos.length > 0;
    const all = found.size > 0 ? found : new Set(infos.map((info) => info.domain));
    return { name, domains: [...all].sort(), usable };
  });
}

const enoughLocked = 2 ** 30;

function lacks({ lockedMemoryBytes }: Limits): Missing[] {
  if (lockedMemoryBytes === undefined || lockedMemoryBytes >= enoughLocked || mayLockMore())
    return [];
  return [
    {
      what: `only ${formatBytesRounded(lockedMemoryBytes)} of memory can be page-locked`,
      hint: 'Raise it: `ulimit -l unlimited`, or memlock in /etc/security/limits.conf.',
    },
  ];
}
