import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';
import { choice, option } from '../settings/option.js';
import { exitCode } from './output/failure.js';
import { printOut } from './output/print.js';
import { ownCommand } from './own-command.js';
import { shellQuoted } from './shell-words.js';

const files = {
  'slurm-prolog': 'slurm/prolog.sh',
  'slurm-epilog': 'slurm/epilog.sh',
  'slurm-health': 'slurm/health-check.sh',
  k8s: 'kubernetes/gate.yaml',
} as const;
type Piece = keyof typeof files;

export const printOption = option({
  flags: '--print <what>',
  help: `print ${Object.keys(files).join(', ')}`,
  kind: choice(Object.keys(files) as Piece[]),
});

const read = (path: string): string =>
  readFileSync(join(packageRoot, 'integrations', path), 'utf8');

/** Prints a file of integrations/ with what scripts share, and with the words that start this Weft. */
export function printPiece(piece: Piece): number {
  const weft = ownCommand().map(shellQuoted).join(' ');
  const text = read(files[piece])
    .replace('#@common.sh@\n', () => read('slurm/common.sh'))
    .replaceAll('@WEFT@', () => weft);
  printOut(text);
  return exitCode.ok;
}
