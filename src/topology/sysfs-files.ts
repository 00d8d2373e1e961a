import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';

/** Where this process finds sysfs. rdma-core reads the same variable, so both see the same devices. */
export const sysfsRoot = (): string => process.env.SYSFS_PATH || '/sys';

/** What a file of sysfs holds; undefined where it is absent, or EINVAL for what a driver does not know. */
export function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** The names in a folder, in order; none where it does not exist. */
export const list = (path: string): string[] => (existsSync(path) ? readdirSync(path).sort() : []);

/** Where a link leads; undefined for a device that was unplugged since it was listed. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Of the device in this folder, where the system knows it. */
export function numaNodeOf(device: string): number | undefined {
  const node = Number(read(`${device}/numa_node`) ?? '-1');
  return node >= 0 ? node : undefined;
}
