// npm packages as package-lock.json pins them. What is installed is read from the lockfile that npm keeps
// inside node_modules, so an install made by hand counts and a fuller one is never cut down.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lastLines, runCommand } from './command.mjs';
import { SetupFailure } from './failure.mjs';
import { readStamp, removeStamp, writeStamp } from './stamp.mjs';

const nodeMajor = process.versions.node.split('.')[0];

export const npmPackages = {
  pending({ root }) {
    const missing = missingModules({
      wanted: readJson(join(root, 'package-lock.json'))?.packages ?? {},
      installed: readJson(join(root, 'node_modules/.package-lock.json'))?.packages ?? {},
      exists: (path) => existsSync(join(root, path, 'package.json')),
    });
    const otherNode = (readStamp(root, 'npm')?.nodeMajor ?? nodeMajor) !== nodeMajor;
    return missing.length > 0 || otherNode ? 'npm packages: installing' : undefined;
  },
  async perform({ root, verbose }) {
    removeStamp(root, 'npm');
    // The compiler and the bundler are among those for development.
    const args = ['ci', '--include=dev', '--no-progress', '--loglevel=error'];
    const [file, ...before] = npmCommand();
    const { code, output } = await runCommand(file, [...before, ...args], {
      cwd: root,
      show: verbose,
    });
    if (code !== 0) {
      throw new SetupFailure(`npm packages: npm ${args.join(' ')} failed`, {
        output: lastLines(output),
        hint: hintFor(output, code),
      });
    }
    writeStamp(root, 'npm', { nodeMajor });
    return 'npm packages';
  },
};

/** Paths that the lock pins and node_modules lacks or holds in another version. Optional ones depend on the platform and do not count. */
export function missingModules({ wanted, installed, exists }) {
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== '' && !entry.optional && !entry.devOptional && !entry.link)
    .filter(([path, entry]) => installed[path]?.version !== entry.version || !exists(path))
    .map(([path]) => path);
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw new SetupFailure(`${file} could not be read: ${error.message}`);
  }
}

/** The npm that started us, if one did: it belongs to this Node even when PATH names another. */
function npmCommand() {
  const started = process.env.npm_execpath;
  return started && basename(started) === 'npm-cli.js' ? [process.execPath, started] : ['npm'];
}

function hintFor(output, code) {
  if (code === 127) return 'npm was not found. It comes with Node, or as the package npm.';
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH/.test(output)
  ) {
    return 'The package registry could not be reached. Setup needs a network connection once; check npm config get registry and proxy.';
  }
  if (/EACCES|EPERM/.test(output))
    return 'You cannot write to this folder. Check who owns node_modules.';
  return undefined;
}
