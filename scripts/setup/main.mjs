import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { efaBuild } from './efa-build.mjs';
import { SetupFailure } from './failure.mjs';
import { takeLock } from './lock.mjs';
import { nativeBuild } from './native-build.mjs';
import { npmPackages } from './npm-packages.mjs';
import { peersBuild } from './peers-build.mjs';
import { doing, done, failed, say } from './progress.mjs';
import { stampFolder } from './stamp.mjs';
import { systemPackages } from './system-packages.mjs';
import { typescriptBuild } from './typescript-build.mjs';

const usage = `usage: node scripts/setup.mjs [run|test|bench|build|native] [--verbose]
  run     what running needs (the default)
  test    run, and what the tests need
  bench   test, and the programs Weft is compared with
  build   the native and the TypeScript build only
  native  the native build only`;

/** A step has `pending(context)`: undefined when done, else what it is about to do; and `perform(context)`, which resolves with what it did. */
const steps = {
  run: [systemPackages, npmPackages, nativeBuild, typescriptBuild],
  build: [nativeBuild, efaBuild, typescriptBuild],
  native: [nativeBuild],
};
steps.test = [...steps.run, peersBuild, efaBuild];
steps.bench = steps.test;

/** Resolves with the exit code: 0 ready, 1 could not, 2 bad usage. */
export async function main(args, root = fileURLToPath(new URL('../..', import.meta.url))) {
  const options = parse(args);
  if (options === undefined) {
    say(usage);
    return args.includes('--help') || args.includes('-h') ? 0 : 2;
  }
  const context = { root, ...options };
  try {
    const didSomething = isReady(context) ? false : await performAll(context);
    if (!didSomething) say('ready');
    return 0;
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    if (error.output) say(error.output);
    failed(error.message);
    if (error.hint) say(error.hint);
    return 1;
  }
}

export function parse(args) {
  const profiles = args.filter((arg) => !arg.startsWith('-'));
  const flags = args.filter((arg) => arg.startsWith('-'));
  const [profile = 'run'] = profiles;
  if (profiles.length > 1 || steps[profile] === undefined) return undefined;
  if (flags.some((flag) => flag !== '--verbose')) return undefined;
  return { profile, verbose: flags.includes('--verbose') };
}

function isReady(context) {
  return steps[context.profile].every((step) => step.pending(context) === undefined);
}

async function performAll(context) {
  const release = await lockCheckout(context.root);
  try {
    let didSomething = false;
    for (const step of steps[context.profile]) {
      const startedAt = performance.now();
      const pending = step.pending(context);
      if (pending === undefined) continue;
      doing(pending);
      done(await step.perform(context), startedAt);
      didSomething = true;
    }
    return didSomething;
  } finally {
    release();
  }
}

async function lockCheckout(root) {
  const onWait = (pid) => say(`waiting for another setup of this checkout (process ${pid})`);
  try {
    return await takeLock(join(stampFolder(root), 'lock'), { onWait });
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
    throw new SetupFailure(`setup is not complete, and you cannot write to ${root}`, {
      hint: 'Run setup once as the owner of this folder, or clone it again as yourself.',
    });
  }
}
