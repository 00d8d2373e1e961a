import type { Command } from 'commander';
import { WeftError } from '../../errors.js';

/** The words after `--`, without a leading `weft`. A command that does not exist is refused before a job waits for it. */
export function weftCommand(words: readonly string[], program: Command): string[] {
  const command = words[0] === 'weft' ? words.slice(1) : [...words];
  const [name = ''] = command;
  if (program.commands.some((one) => one.name() === name)) return command;
  throw new WeftError('BAD_USAGE', `weft has no command "${name}"`, {
    hint: 'Put a weft command after `--`, e.g. -- all2all -b 16M; `weft --help` lists them.',
  });
}
