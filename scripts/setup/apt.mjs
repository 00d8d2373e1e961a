// Installing with apt. Some packages (slurm, munge) bring services; none of them is started: while we install,
// a policy-rc.d says no, unless the administrator has one already, which then decides.
import { spawnSync } from 'node:child_process';
import { lastLines, runCommand } from './command.mjs';
import { SetupFailure } from './failure.mjs';

/** Runs one apt-get command. Two set-ups take turns, and the policy goes away however the shell ends. */
const aptAsRoot = `set -eu
policy=/usr/sbin/policy-rc.d
mark='# temporary, by the set-up of weft'
exec 9>/run/weft-setup.lock
flock 9
if [ ! -e $policy ] || grep -qF "$mark" $policy; then
  trap 'rm -f $policy' EXIT
  trap 'exit 130' HUP INT TERM
  printf '#!/bin/sh\\n%s\\nexit 101\\n' "$mark" >$policy
  chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
apt-get -q -o DPkg::Lock::Timeout=300 "$@" 9>&-
`;

/**
 * Installs rows of the package table; resolves with what was installed and which optional ones this
 * distribution does not offer. `rootPrefix` is the command that makes a program run as root.
 */
export async function aptInstall(rows, rootPrefix, { verbose }) {
  const apt = (...args) => {
    const [file, ...rest] = [...rootPrefix, 'sh', '-c', aptAsRoot, 'sh', ...args];
    return runCommand(file, rest, { show: verbose });
  };
  let updated = false;
  const update = async () => {
    if (!updated) mustSucceed(await apt('update'), 'apt-get update', verbose);
    updated = true;
  };
  if (withoutCandidate(rows, queryCandidates(rows)).length > 0) await update();
  const lacking = withoutCandidate(rows, queryCandidates(rows));
  const needed = lacking.filter(({ optional }) => !optional);
  if (needed.length > 0) {
    const names = needed.map(({ name }) => name).join(', ');
    throw new SetupFailure(`system packages: apt does not have ${names}`, {
      hint: 'Enable the repository that has them (Debian: main, Ubuntu: universe).',
    });
  }
  const installed = rows.filter((row) => !lacking.includes(row));
  if (installed.length > 0) {
    const args = ['install', '-y', '--no-install-recommends', ...installed.map(({ name }) => name)];
    let result = await apt(...args);
    // Lists that are too old name files that are no longer there.
    if (result.code !== 0 && !updated) {
      await update();
      result = await apt(...args);
    }
    mustSucceed(result, `apt-get ${args.join(' ')}`, verbose);
  }
  return { installed, unavailable: lacking };
}

function mustSucceed({ code, output }, command, verbose) {
  if (code === 0) return;
  throw new SetupFailure(`system packages: ${command} failed`, {
    output: verbose ? undefined : lastLines(output),
    hint: /Could not resolve|Failed to fetch|Temporary failure/.test(output)
      ? 'The package servers could not be reached. Setup needs a network connection once.'
      : undefined,
  });
}

/** Rows for which `apt-cache policy` names no version to install. */
export function withoutCandidate(rows, policy) {
  const offered = new Set();
  for (const [, name, version] of policy.matchAll(/^(\S+):\n(?: .*\n)*? {2}Candidate: (.*)$/gm)) {
    if (version !== '(none)') offered.add(name);
  }
  return rows.filter(({ name }) => !offered.has(name));
}

function queryCandidates(rows) {
  const env = { ...process.env, LC_ALL: 'C' };
  const names = rows.map(({ name }) => name);
  return spawnSync('apt-cache', ['policy', ...names], { encoding: 'utf8', env }).stdout ?? '';
}
