// Compiles src/ into a folder of its own and then puts it in the place of dist/: a failed compile leaves the
// old dist/ alone, and files of sources that are gone do not stay behind.
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './bundles.mjs';
import { lastLines, runCommand } from './command.mjs';
import { SetupFailure } from './failure.mjs';
import { hashOf, readStamp, removeStamp, sameInputs, stampFolder, writeStamp } from './stamp.mjs';

const compiler = 'node_modules/typescript/bin/tsc';
/** What compiles, and what is bundled. */
const packages = [
  'typescript',
  'esbuild',
  'echarts',
  'zrender',
  'commander',
  'hono',
  'yaml',
  'zod',
];
/** Parts of pages that need no compiler. */
const copied = ['live/page/icon.svg'];

export const typescriptBuild = {
  pending({ root }) {
    const done =
      existsSync(join(root, 'dist')) && sameInputs(readStamp(root, 'dist'), inputs(root));
    return done ? undefined : 'TypeScript build';
  },
  async perform({ root, verbose }) {
    const lacking = packages.find((name) => !existsSync(join(root, 'node_modules', name)));
    if (lacking !== undefined) {
      throw new SetupFailure(`TypeScript build: ${lacking} is not installed`, {
        hint: 'Run npm run setup first: it installs the npm packages.',
      });
    }
    const built = inputs(root);
    removeStamp(root, 'dist');
    await replaceDist(root, verbose);
    writeStamp(root, 'dist', built);
    return 'TypeScript build';
  },
};

function inputs(root) {
  const versions = hashOf(
    root,
    packages.map((name) => `node_modules/${name}/package.json`),
  );
  const scripts = ['bundles', 'entries'].map((name) => `scripts/setup/${name}.mjs`);
  const own = ['src', 'tsconfig.json', 'package.json', ...scripts];
  return { versions, sources: hashOf(root, own) };
}

async function replaceDist(root, verbose) {
  const fresh = join(stampFolder(root), 'dist');
  const old = join(stampFolder(root), 'dist.old');
  const dist = join(root, 'dist');
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  await compile(root, fresh, verbose);
  await bundle(root, fresh);
  for (const file of copied) cpSync(join(root, 'src', file), join(fresh, file));
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(fresh, dist);
  rmSync(old, { recursive: true, force: true });
}

async function compile(root, outDir, verbose) {
  const args = [join(root, compiler), '-p', 'tsconfig.json', '--outDir', outDir];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root, show: verbose });
  if (code === 0) return;
  throw new SetupFailure('TypeScript build: tsc found errors', {
    output: verbose ? undefined : lastLines(output),
  });
}
