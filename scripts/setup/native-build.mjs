// Builds the addon with node-gyp. Sources that changed are compiled again alone; another Node, another
// architecture or another binding.gyp starts from nothing.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { lastLines, runCommand } from './command.mjs';
import { SetupFailure } from './failure.mjs';
import { hashOf, readStamp, removeStamp, sameInputs, writeStamp } from './stamp.mjs';

const addon = 'build/Release/weft.node';
const nodeGyp = 'node_modules/node-gyp/bin/node-gyp.js';

export const nativeBuild = {
  pending({ root }) {
    const done =
      existsSync(join(root, addon)) && sameInputs(readStamp(root, 'native'), inputs(root));
    return done ? undefined : 'native build';
  },
  async perform({ root, verbose }) {
    if (!existsSync(join(root, nodeGyp))) {
      throw new SetupFailure('native build: node-gyp is not installed', {
        hint: 'Run npm run setup first: it installs the npm packages.',
      });
    }
    const built = inputs(root);
    const tree = treeInputs(root);
    const keepObjects = sameInputs(readStamp(root, 'native-tree'), tree);
    removeStamp(root, 'native');
    removeStamp(root, 'native-tree');
    if (!keepObjects) await gyp(root, 'clean', verbose);
    await gyp(root, 'configure', verbose);
    try {
      await gyp(root, 'build', verbose);
    } finally {
      // A compile that failed in order leaves whole objects behind; one that was killed does not come here.
      writeStamp(root, 'native-tree', tree);
    }
    if (!existsSync(join(root, addon))) {
      throw new SetupFailure(`native build: node-gyp made no ${addon}`);
    }
    writeStamp(root, 'native', built);
    return 'native build';
  },
};

/** Objects in build/ may be kept while this stays the same. */
function treeInputs(root) {
  return {
    abi: process.versions.modules,
    arch: process.arch,
    headers: nodeHeadersFolder() ?? process.versions.node,
    gyp: hashOf(root, ['binding.gyp']),
  };
}

function inputs(root) {
  return { ...treeInputs(root), sources: hashOf(root, ['native']) };
}

async function gyp(root, command, verbose) {
  const headers = nodeHeadersFolder();
  const args = [command, `--jobs=${availableParallelism()}`];
  if (headers !== undefined) args.push(`--nodedir=${headers}`);
  const { code, output } = await runCommand(process.execPath, [join(root, nodeGyp), ...args], {
    cwd: root,
    show: verbose,
  });
  if (code === 0) return;
  throw new SetupFailure('native build: node-gyp failed', {
    output: verbose ? undefined : lastLines(output),
    hint: hintFor(output),
  });
}

/**
 * The folder to give node-gyp as --nodedir, so that it downloads nothing: the prefix this Node was installed
 * in, if the headers there are of this very version. Undefined leaves node-gyp to find or fetch them.
 */
export function nodeHeadersFolder() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  const [major, minor, patch] = process.versions.node.split('.');
  try {
    const text = readFileSync(join(prefix, 'include/node/node_version.h'), 'utf8');
    const value = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1];
    const same = value('MAJOR') === major && value('MINOR') === minor && value('PATCH') === patch;
    return same && existsSync(join(prefix, 'include/node/common.gypi')) ? prefix : undefined;
  } catch {
    return undefined;
  }
}

function hintFor(output) {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|network connectivity/.test(output)) {
    return 'The headers of this Node could not be fetched: install a Node that brings its headers, or give npm_config_nodedir.';
  }
  if (/rdma\/fabric\.h/.test(output))
    return 'The headers of libfabric are missing: install libfabric-dev.';
  if (/ERR! find Python/.test(output)) return 'node-gyp needs python3 on PATH.';
  if (/not found: make|make: not found|g\+\+: (not found|command not found)/i.test(output)) {
    return 'A compiler is missing: install g++ and make.';
  }
  return 'For everything the compiler said: node scripts/setup.mjs build --verbose';
}
