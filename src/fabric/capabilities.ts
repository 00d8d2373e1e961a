// As rdma/fabric.h numbers them.
const rma = 1n << 2n;
const read = 1n << 8n;
const write = 1n << 9n;
const remoteRead = 1n << 12n;
const remoteWrite = 1n << 13n;

/** Whether ranks may read each other's memory. A provider that offers RMA and names no kind of it offers all. */
export function canReadRemote(caps: bigint): boolean {
  if ((caps & rma) === 0n) return false;
  const reads = read | remoteRead;
  return (caps & (reads | write | remoteWrite)) === 0n || (caps & reads) === reads;
}
