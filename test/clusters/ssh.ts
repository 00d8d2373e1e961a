import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing, which } from '../ranks/processes.js';
import type { LabHosts } from './lab-hosts.js';

/** Why no sshd can be started here; undefined when one can. */
export const whyNoSsh = (): string | undefined =>
  missing({ sshd: 'openssh-server', ssh: 'openssh-client', 'ssh-keygen': 'openssh-client' });

/**
 * Starts an sshd on every host, with keys that only this test knows. Returns a program that is ssh to these hosts, as
 * launchers take one. The daemons end with the hosts.
 */
export async function startSsh(hosts: LabHosts): Promise<string> {
  const { folder, names } = hosts;
  const at = (file: string) => join(folder, file);
  for (const key of ['host-key', 'user-key']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  }
  // sshd refuses to start without it, wherever the system keeps it.
  mkdirSync('/run/sshd', { recursive: true });
  const server = [
    `HostKey ${at('host-key')}`,
    `AuthorizedKeysFile ${at('user-key.pub')}`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'PidFile none',
  ];
  writeFileSync(at('sshd_config'), `${server.join('\n')}\n`);
  const client = [
    `IdentityFile ${at('user-key')}`,
    'IdentitiesOnly yes',
    'StrictHostKeyChecking no',
    'UserKnownHostsFile /dev/null',
    'BatchMode yes',
    'LogLevel ERROR',
  ];
  writeFileSync(at('ssh_config'), `${client.join('\n')}\n`);
  writeFileSync(at('ssh'), `#!/bin/sh\nexec ssh -F ${at('ssh_config')} "$@"\n`, { mode: 0o755 });
  const daemon = ['-D', '-e', '-f', at('sshd_config')];
  for (const [host] of names.entries()) {
    // By its full path: sshd starts itself again for every connection.
    hosts.start(host, which('sshd')!, daemon, { timeoutMs: 3_600_000 });
  }
  for (const name of names) await hosts.answers(name, 22);
  return at('ssh');
}
