/** Locking, touching, filling and checking memory is faster on any host that is not swapping: 256 MiB/s. */
const slowestBytesPerMs = 2 ** 28 / 1000;

/** How long ranks wait for one that goes through this many bytes before it answers. */
export const patientMs = (timeoutMs: number, bytes: number): number =>
  timeoutMs + bytes / slowestBytesPerMs;
