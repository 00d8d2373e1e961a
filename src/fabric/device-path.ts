/** Bits of libfabric's capabilities and its version, as far as they decide about GPU memory. */
export const hmemCapability = 1n << 47n;

/**
 * How a provider is told of a GPU's memory: by its address (FI_HMEM_CUDA), or by a DMABUF file descriptor
 * (FI_MR_DMABUF).
 */
export type DevicePath = 'hmem' | 'dmabuf';

/** What decides: recorded from library, provider and GPU. */
interface DeviceAttributes {
  readonly provider: string;
  readonly library: { readonly major: number; readonly minor: number };
  /** Of what the provider offers when it is asked for GPU memory; undefined when it then offers nothing. */
  readonly caps: bigint | undefined;
  /** The GPU and its driver can export a DMABUF. */
  readonly dmabuf: boolean;
}

/** The ways worth trying, best first; with none, why GPU memory must be staged. */
type DevicePaths =
  | { readonly paths: readonly [DevicePath, ...DevicePath[]] }
  | { readonly paths: readonly []; readonly reason: string };

/** 1.20 brought FI_MR_DMABUF. */
const dmabufSince = { major: 1, minor: 20 };

/**
 * A NIC's driver takes a DMABUF on any kernel, an address only where NVIDIA's peer-memory module is loaded; shm moves
 * GPU memory by CUDA's own means between processes and needs the address. Offers are promises: distributions' shm
 * offers FI_HMEM without knowing CUDA, so only a registration that succeeds decides.
 */
export function devicePaths(attributes: DeviceAttributes): DevicePaths {
  const { provider, library, caps, dmabuf } = attributes;
  if (caps === undefined || (caps & hmemCapability) === 0n) {
    const version = `${library.major}.${library.minor}`;
    return {
      paths: [],
      reason: `${provider} in libfabric ${version} does not support GPU memory (no FI_HMEM)`,
    };
  }
  const { major, minor } = dmabufSince;
  const knowsDmabuf = library.major > major || (library.major === major && library.minor >= minor);
  const isNic = provider !== 'shm';
  return dmabuf && knowsDmabuf && isNic ? { paths: ['dmabuf', 'hmem'] } : { paths: ['hmem'] };
}
