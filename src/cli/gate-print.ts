import { readFileSync } from 'node:fs';
import { choice, option } from '../settings/option.js';
import { exitCode } from './output/failure.js';
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
  help: `print a file to install: ${Object.keys(files).join(', ')}`,
  kind: choice(Object.keys(files) as Piece[]),
});

/** Prints a file of integrations/, in which the words that start this Weft stand for @WEFT@. */
export function printPiece(piece: Piece): number {
  const url = new URL(`../../integrations/${files[piece]}`, import.meta.url);
  const weft = [process.execPath, process.argv[1]!].map(shellQuoted).join(' ');
  process.stdout.write(readFileSync(url, 'utf8').replaceAll('@WEFT@', weft));
  return exitCode.ok;
}
