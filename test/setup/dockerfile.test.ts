import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';

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
    const command = JSON.parse(last('ENTRYPOINT')) as string[];
    expect(command).toEqual(['/opt/weft/node', '/opt/weft/bin/weft']);
    expect(existsSync(join(root, 'bin/weft'))).toBe(true);
    expect(last('USER')).not.toMatch(/^(root|0)\b|^$/);
  });

  test('pins its base, and leaves no package lists behind', () => {
    const bases = instructions.filter((one) => one.getKeyword() === 'FROM');
    expect(bases[0]!.getArgumentsContent()).toMatch(/^debian:12/);
    expect(text).toContain('ARG BASE=debian:12');
    expect(last('RUN')).toContain('rm -rf /var/lib/apt/lists/*');
  });
});
