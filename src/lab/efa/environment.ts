import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WeftError } from '../../errors.js';
import { packageRoot } from '../../package-root.js';

const folders = ['build/efa', `prebuilds/${process.platform}-${process.arch}/efa`];

/** The folder with the libraries that the EFA provider loads: built here, else brought by the package. */
export function efaLibraries(): string {
  const found = folders
    .map((folder) => join(packageRoot, folder))
    .find((folder) => existsSync(join(folder, 'libibverbs.so.1')));
  if (found !== undefined) return found;
  throw new WeftError('UNSUPPORTED', 'the libraries of the emulated EFA device are not built', {
    hint: `Install libibverbs-dev and run \`npm run build\` in ${packageRoot}. The package has them for x86-64 only.`,
  });
}

/** What a process needs to see the devices of a tree, and nothing else of RDMA. */
export function efaEnvironment(
  tree: string,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): { SYSFS_PATH: string; LD_LIBRARY_PATH: string } {
  const before = env.LD_LIBRARY_PATH;
  const libraries = efaLibraries();
  return {
    SYSFS_PATH: tree,
    LD_LIBRARY_PATH: before ? `${libraries}:${before}` : libraries,
  };
}
