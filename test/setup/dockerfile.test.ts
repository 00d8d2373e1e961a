import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { manifest } from '../../src/cli/job-files/manifest.js';
import { k8sOptions } from '../../src/cli/job-files/options.js';
import type { PodJob } from '../../src/cli/job-files/pod.js';
import { readOptions } from '../../src/cli/options.js';

const root = resolve(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
const instructions = DockerfileParser.parse(text).getInstructions();
/** What the last instruction of a kind says. */
const last = (name: string) =>
  instructions.findLast((one) => one.getKeyword() === name)?.getArgumentsContent() ?? '';

describe('the Dockerfile', () => {
  test('has nothing that a linter minds', () => {
    expect(
      validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`),
    ).toEqual([]);
    expect(validate(text.replace('USER', 'USR'))).not.toEqual([]);
  });

  test('takes the bundle, and docker sends nothing else', () => {
    const [source = ''] = instructions
      .find((one) => one.getKeyword() === 'COPY')!
      .getArguments()
      .map((one) => one.getValue());
    expect(source).toBe('bundle/weft-*-linux-x64.run');
    const sent = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n');
    expect(sent).toEqual(['*', '!bundle/*.run']);
  });

  test('runs weft itself, not a shell, and not as root', () => {
    expect(JSON.parse(last('ENTRYPOINT'))).toEqual(['weft']);
    expect(last('USER')).not.toMatch(/^(root|0)\b|^$/);
  });

  test('has on its PATH what manifests and batch scripts run', () => {
    const [, print = '', path = ''] = /(printf '.*') > (\S+)/.exec(last('RUN')) ?? [];
    // Of Debian's images.
    expect('/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'.split(':')).toContain(
      dirname(path),
    );
    expect(last('RUN')).toContain(`chmod 755 ${path}`);
    const options = readOptions({ nodes: 1, image: 'weft' }, k8sOptions) as PodJob;
    const printed = JSON.stringify(manifest(options, ['info'], 'token'));
    expect(printed).toContain(`"command":["${basename(path)}","info"]`);
    const script = execFileSync('sh', ['-c', print], { encoding: 'utf8' });
    const here = script.replace('/opt/weft/node', process.execPath).replace('/opt/weft', root);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const said = execFileSync('sh', ['-c', here, 'weft', '--version'], { encoding: 'utf8' });
    expect(said).toContain(version);
  });

  test('pins its base, and leaves no package lists behind', () => {
    const bases = instructions.filter((one) => one.getKeyword() === 'FROM');
    expect(bases[0]!.getArgumentsContent()).toMatch(/^debian:12/);
    expect(text).toContain('ARG BASE=debian:12');
    expect(last('RUN')).toContain('rm -rf /var/lib/apt/lists/*');
  });
});
