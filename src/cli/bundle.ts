import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { packageRoot } from '../package-root.js';
import { option, text } from '../settings/option.js';
import { addOptions, readOptions } from './options.js';
import { exitCode } from './output/failure.js';

const bundleOptions = {
  out: option({
    flags: '--out <folder>',
    help: 'folder for the bundle and its checksum',
    kind: text,
    default: '.',
  }),
};

const script = join(packageRoot, 'scripts/bundle.mjs');

/** `weft bundle`: one file that runs where neither Node nor Weft is installed. */
export function addBundleCommand(program: Command): void {
  const command = program
    .command('bundle')
    .description('Pack Weft, Node.js and libfabric into one file.');
  addOptions(command, bundleOptions).action((raw: unknown) => {
    const { out } = readOptions(raw, bundleOptions);
    const args = [script, '--out', resolve(out)];
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
    process.exitCode = status ?? exitCode.failed;
  });
}
