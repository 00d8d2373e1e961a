import { describe, expect, test } from 'vitest';
import { load } from './load.js';

const { packagesFor } = await load('package-table');
const { missingPackages, noRight, unknownDistribution } = await load('system-packages');
const { withoutCandidate } = await load('apt');

const names = (rows: { name: string }[]) => rows.map(({ name }) => name);

describe('packages by profile', () => {
  test('running needs a compiler and libfabric, and neither MPI nor PyTorch', () => {
    expect(names(packagesFor('run'))).toEqual(['libfabric-dev', 'g++']);
  });

  test('each profile contains the one before it', () => {
    expect(names(packagesFor('test'))).toEqual(expect.arrayContaining(names(packagesFor('run'))));
    expect(names(packagesFor('bench'))).toEqual(expect.arrayContaining(names(packagesFor('test'))));
  });

  test('PyTorch is for comparisons only', () => {
    expect(names(packagesFor('test'))).not.toContain('python3-torch');
    expect(names(packagesFor('bench'))).toContain('python3-torch');
  });

  test('every package says what it is for', () => {
    for (const row of packagesFor('bench')) expect(row.why, row.name).not.toBe('');
  });
});

describe('what is missing', () => {
  test('is what dpkg does not list', () => {
    expect(names(missingPackages(packagesFor('run'), 'installed\tg++\n'))).toEqual([
      'libfabric-dev',
    ]);
  });

  test('includes a removed package whose configuration stayed', () => {
    const status = packagesFor('run')
      .map(
        ({ name }: { name: string }) => `${name === 'g++' ? 'config-files' : 'installed'}\t${name}`,
      )
      .join('\n');
    expect(names(missingPackages(packagesFor('run'), status))).toEqual(['g++']);
  });

  test('is told with the command to run', () => {
    const [message, { output, hint }] = noRight(packagesFor('run').slice(0, 2));
    expect(message).toContain('2 system packages are missing');
    expect(output).toMatch(/libfabric-dev {2}libfabric 1.17/);
    expect(hint).toContain('apt-get install --no-install-recommends libfabric-dev g++');
  });

  test('is told by purpose on another distribution', () => {
    const [message, { output }] = unknownDistribution(packagesFor('run').slice(1, 2), {
      PRETTY_NAME: 'Fedora Linux 41',
    });
    expect(message).toContain(
      '1 system package is missing, and Weft cannot install packages on Fedora Linux 41',
    );
    expect(output).toContain('g++  compiles the native part');
  });
});

test('a package that apt knows but cannot install is not offered', () => {
  const policy = [
    'g++:\n  Installed: (none)\n  Candidate: 4:12.2.0-3\n  Version table:\n     4:12.2.0-3 500\n',
    'python3-torch:\n  Installed: (none)\n  Candidate: (none)\n  Version table:\n',
  ].join('');
  const rows = [{ name: 'g++' }, { name: 'python3-torch' }, { name: 'never-heard-of' }];
  expect(names(withoutCandidate(rows, policy))).toEqual(['python3-torch', 'never-heard-of']);
});
