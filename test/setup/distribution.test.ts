import { describe, expect, test } from 'vitest';
import { load } from './load.js';

const { parseOsRelease, isKnownDistribution, distributionName } = await load('distribution');

const debian = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n';
const ubuntu = '# comment\nNAME=\'Ubuntu\'\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n';

describe('os-release', () => {
  test('values are read with double, single and no quotes', () => {
    expect(parseOsRelease(debian)).toEqual({
      PRETTY_NAME: 'Debian GNU/Linux 12 (bookworm)',
      VERSION_ID: '12',
      ID: 'debian',
    });
    expect(parseOsRelease(ubuntu)).toMatchObject({ NAME: 'Ubuntu', VERSION_ID: '24.04' });
  });

  test('escaped characters in quotes are unescaped', () => {
    expect(parseOsRelease('NAME="a \\"b\\" \\$c"')).toEqual({ NAME: 'a "b" $c' });
  });

  test.each([
    ['Debian 12', { ID: 'debian', VERSION_ID: '12' }, true],
    ['Debian 13', { ID: 'debian', VERSION_ID: '13' }, true],
    ['Debian testing', { ID: 'debian' }, true],
    ['Debian 11', { ID: 'debian', VERSION_ID: '11' }, false],
    ['Ubuntu 24.04', { ID: 'ubuntu', VERSION_ID: '24.04' }, true],
    ['Ubuntu 24.10', { ID: 'ubuntu', VERSION_ID: '24.10' }, true],
    ['Ubuntu 22.04', { ID: 'ubuntu', VERSION_ID: '22.04' }, false],
    ['Fedora', { ID: 'fedora', VERSION_ID: '41' }, false],
    ['no os-release', {}, false],
  ])('%s is known or not', (_name, release, known) => {
    expect(isKnownDistribution(release)).toBe(known);
  });

  test('a distribution without a pretty name is still named', () => {
    expect(distributionName({ NAME: 'Alpine', VERSION_ID: '3.20' })).toBe('Alpine 3.20');
    expect(distributionName({})).toBe('an unknown distribution');
  });
});
