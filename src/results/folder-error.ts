import { WeftError } from '../errors.js';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
  EACCES: 'is not readable',
};

/** Why the runs of a folder cannot be listed. */
export function folderError(folder: string, cause: unknown): WeftError {
  const { code, message } = cause as NodeJS.ErrnoException;
  return new WeftError('BAD_USAGE', `${folder} ${reasons[code ?? ''] ?? message}`, {
    hint: 'Name a folder of run files; benchmarks write theirs to weft-results/.',
    cause,
  });
}
