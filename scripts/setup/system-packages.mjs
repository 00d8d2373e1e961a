// Finds which system packages are missing, and installs them where it may. When nothing is missing no
// right is needed and nothing is written.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall } from './apt.mjs';
import { distributionName, isKnownDistribution, readOsRelease } from './distribution.mjs';
import { SetupFailure } from './failure.mjs';
import { packagesFor } from './package-table.mjs';
import { readStamp, writeStamp } from './stamp.mjs';

export const systemPackages = {
  pending(context) {
    const missing = missingHere(context);
    const names = missing.map(({ name }) => name).join(', ');
    return missing.length === 0 ? undefined : `system packages: installing ${names}`;
  },
  async perform(context) {
    const missing = missingHere(context);
    const { installed, unavailable } = await aptInstall(missing, rootPrefix(), context);
    const lacking = unavailable.map(({ name }) => name);
    // Remembered, or every later run would ask for them again.
    if (lacking.length > 0) writeStamp(context.root, 'not-offered', { names: lacking });
    const done = `system packages: ${installed.map(({ name }) => name).join(', ') || 'nothing new'}`;
    return lacking.length > 0 ? `${done}; not available here: ${lacking.join(', ')}` : done;
  },
};

/** What is missing and can be installed from here. Anything missing that cannot be is a SetupFailure. */
function missingHere({ profile, root }) {
  const wanted = packagesFor(profile);
  const release = readOsRelease();
  if (!isKnownDistribution(release)) {
    const missing = wanted.filter((row) => !row.optional && !isPresent(row.probe));
    if (missing.length > 0) throw new SetupFailure(...unknownDistribution(missing, release));
    return [];
  }
  const notOffered = readStamp(root, 'not-offered')?.names ?? [];
  const missing = missingPackages(wanted, queryDpkg(wanted)).filter(
    ({ name }) => !notOffered.includes(name),
  );
  if (missing.length > 0 && rootPrefix() === undefined) {
    throw new SetupFailure(...noRight(missing));
  }
  return missing;
}

/** Rows whose package is not fully installed; `status` is dpkg-query's, one "state<TAB>name" a line. */
export function missingPackages(wanted, status) {
  const installed = new Set();
  for (const line of status.split('\n')) {
    const [state, name] = line.split('\t');
    // Removed packages whose configuration stays are listed too, as "config-files".
    if (state === 'installed') installed.add(name);
  }
  return wanted.filter(({ name }) => !installed.has(name));
}

function queryDpkg(rows) {
  const names = rows.map(({ name }) => name);
  const format = `--showformat=\${db:Status-Status}\t\${Package}\n`;
  const { stdout, error } = spawnSync('dpkg-query', ['--show', format, ...names], {
    encoding: 'utf8',
  });
  // A bad exit only says that a name is unknown to dpkg, which is to say not installed.
  if (error) throw new SetupFailure(`dpkg-query could not be run: ${error.message}`);
  return stdout;
}

export function noRight(missing) {
  const command = `apt-get install --no-install-recommends ${missing.map(({ name }) => name).join(' ')}`;
  return [
    `${counted(missing)} missing, and installing needs root or sudo`,
    { output: listed(missing), hint: `Run as root, then start again:\n  ${command}` },
  ];
}

export function unknownDistribution(missing, release) {
  return [
    `${counted(missing)} missing, and Weft cannot install packages on ${distributionName(release)}`,
    {
      output: listed(missing),
      hint: 'The names above are for Debian 12 and Ubuntu 24.04. Install the equivalents, then start again.',
    },
  ];
}

const counted = ({ length }) => `${length} system package${length === 1 ? ' is' : 's are'}`;

function listed(missing) {
  const width = Math.max(...missing.map(({ name }) => name.length));
  return missing.map(({ name, why }) => `  ${name.padEnd(width)}  ${why}`).join('\n');
}

function isPresent({ program, files }) {
  if (files !== undefined) return files.some((file) => existsSync(file));
  return (process.env.PATH ?? '').split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** How to become root: nothing when we are, sudo when it asks nothing or someone is there to answer; undefined when we cannot. */
function rootPrefix() {
  if (process.getuid() === 0) return [];
  if (!isPresent({ program: 'sudo' })) return undefined;
  if (spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0) return ['sudo', '-n'];
  return process.stdin.isTTY && process.stderr.isTTY ? ['sudo'] : undefined;
}
