import { WeftError } from '../errors.js';

/** Bits of `fi_domain_attr.mr_mode` that we offer or refuse, as libfabric numbers them. */
export const mrBits = {
  BASIC: 1 << 0,
  LOCAL: 1 << 2,
  RAW: 1 << 3,
  VIRT_ADDR: 1 << 4,
  ALLOCATED: 1 << 5,
  PROV_KEY: 1 << 6,
  RMA_EVENT: 1 << 8,
  ENDPOINT: 1 << 9,
  HMEM: 1 << 10,
} as const;

/** What we can live with, and therefore offer. */
export const offeredMrMode =
  mrBits.LOCAL |
  mrBits.VIRT_ADDR |
  mrBits.ALLOCATED |
  mrBits.PROV_KEY |
  mrBits.ENDPOINT |
  mrBits.HMEM;

/** How peers name a region, in words. */
interface MemoryMode {
  /** Keys come from the provider; else the application chooses them. */
  readonly providerKeys: boolean;
  /** A remote place is named by its virtual address; else by its offset in the region. */
  readonly virtualAddresses: boolean;
}

/**
 * Every buffer we hand out is allocated, touched and registered on all channels before its first use, and each
 * operation carries its descriptor: FI_MR_ALLOCATED and FI_MR_LOCAL are met by that and cost nothing where they are
 * not asked for.
 */
export function memoryMode(mrMode: number): MemoryMode {
  const has = (bit: number) => (mrMode & bit) !== 0;
  for (const bit of ['RAW', 'RMA_EVENT'] as const) {
    if (has(mrBits[bit])) {
      throw new WeftError(
        'UNSUPPORTED',
        `the provider needs FI_MR_${bit}, which Weft does not support`,
        {
          hint: 'Choose another `provider`.',
        },
      );
    }
  }
  // FI_MR_BASIC is the old name for the three bits together.
  const basic = has(mrBits.BASIC);
  return {
    providerKeys: basic || has(mrBits.PROV_KEY),
    virtualAddresses: basic || has(mrBits.VIRT_ADDR),
  };
}

/** The address a peer must name to reach byte 0 of a region. */
export const remoteBase = (mode: MemoryMode, virtualAddress: bigint): bigint =>
  mode.virtualAddresses ? virtualAddress : 0n;

/**
 * The key to ask for when keys are ours to choose: unique within the domain, and within `keyBytes` where the
 * provider limits it.
 */
export function requestedKey(mode: MemoryMode, serial: number, keyBytes: number): bigint {
  if (mode.providerKeys) return 0n;
  const bits = keyBytes > 0 && keyBytes < 8 ? keyBytes * 8 : 64;
  if (BigInt(serial) >= 1n << BigInt(bits)) {
    throw new WeftError('UNSUPPORTED', `all ${bits}-bit memory keys of the provider are used up`, {
      hint: 'Reopen the fabric.',
    });
  }
  return BigInt(serial);
}
