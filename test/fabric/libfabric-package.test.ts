import { describe, expect, test } from 'vitest';
import { libfabricCommand } from '../../src/fabric/libfabric-package.js';

describe('how to get libfabric', () => {
  test.each([
    ['ID=debian\nVERSION_ID="12"', 'apt-get install libfabric1'],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"', 'apt-get install libfabric1'],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"', 'dnf install libfabric'],
    ['ID=fedora', 'dnf install libfabric'],
    ['ID="amzn"\nID_LIKE="fedora"', 'dnf install libfabric, or run the AWS EFA installer for EFA'],
    ['ID="opensuse-leap"\nID_LIKE="suse opensuse"', 'zypper install libfabric1'],
    ['ID=arch', 'pacman -S libfabric'],
  ])('%j: %s', (release, command) => {
    expect(libfabricCommand(release)).toBe(command);
  });

  test.each(['ID=plan9', ''])('%j is not known', (release) => {
    expect(libfabricCommand(release)).toBeUndefined();
  });
});
