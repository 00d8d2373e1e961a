import { readFileSync } from 'node:fs';

/** How each family of distributions installs libfabric, by the names in os-release(5). */
const commands: readonly (readonly [names: readonly string[], command: string])[] = [
  [['debian', 'ubuntu'], 'apt-get install libfabric1'],
  [['amzn'], 'dnf install libfabric, or run the AWS EFA installer for EFA'],
  [['fedora', 'rhel', 'centos'], 'dnf install libfabric'],
  [['suse', 'opensuse', 'sles'], 'zypper install libfabric1'],
  [['arch'], 'pacman -S libfabric'],
];

/** The command that installs libfabric on the distribution that this os-release describes. */
export function libfabricCommand(osRelease: string): string | undefined {
  const fieldOf = (key: string) =>
    new RegExp(`^${key}=["']?([^"'\\n]*)`, 'm').exec(osRelease)?.[1] ?? '';
  const names = [fieldOf('ID'), ...fieldOf('ID_LIKE').split(' ')];
  for (const name of names) {
    const known = commands.find(([family]) => family.some((each) => each === name.split('-')[0]));
    if (known !== undefined) return known[1];
  }
  return undefined;
}

/** What to do on this machine, where no libfabric was found. */
export function libfabricHint(): string {
  const command = libfabricCommand(osRelease());
  const install = command === undefined ? 'Install libfabric 1.17 or newer' : `Run: ${command}`;
  return `${install}. For a libfabric elsewhere, set WEFT_LIBFABRIC to the path of its libfabric.so.1.`;
}

function osRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}
