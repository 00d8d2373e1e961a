// libfabric and what it needs beside the C library, for machines that have none.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ofSystem, readNeeds, unmet } from './elf.mjs';

/** What a command prints, whatever it thinks of the rest; empty where there is no such command. */
const output = (command, args) => spawnSync(command, args, { encoding: 'utf8' }).stdout ?? '';

/** Copies them to `folder`; returns why not where this machine's are of no use elsewhere. */
export function packLibfabric(folder) {
  const known = output('/sbin/ldconfig', ['-p']);
  const [, library] = /libfabric\.so\.1 \(libc6,x86-64\) => (\S+)/.exec(known) ?? [];
  if (library === undefined) return 'this machine has no libfabric.so.1';
  const needed = [...output('ldd', [library]).matchAll(/^\s*(\S+) => (\/\S+)/gm)]
    .filter(([, name]) => !ofSystem.test(name))
    .map(([, , path]) => path);
  const paths = [library, ...needed];
  const lacking = [...new Set(paths.flatMap((path) => unmet(readNeeds(path)?.versions ?? [])))];
  if (lacking.length > 0) return `the libfabric of this machine needs ${lacking.join(', ')}`;
  mkdirSync(folder, { recursive: true });
  for (const path of paths) copyFileSync(path, join(folder, basename(path)));
  packLicences(paths, join(folder, 'licences'));
  return undefined;
}

/** Their licences ask for a copy of them. */
function packLicences(paths, folder) {
  const files = paths.map((path) => realpathSync(path));
  const owners = output('dpkg', [
    '-S',
    ...files.flatMap((path) => [path, path.replace(/^\/usr/, '')]),
  ]);
  for (const name of new Set([...owners.matchAll(/^([^:\n]+):/gm)].map(([, owner]) => owner))) {
    const text = `/usr/share/doc/${name}/copyright`;
    if (!existsSync(text)) continue;
    mkdirSync(folder, { recursive: true });
    cpSync(realpathSync(text), join(folder, name));
  }
}
