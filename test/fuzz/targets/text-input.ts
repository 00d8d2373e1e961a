import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isWeftError } from '../../../src/errors.js';
import type { Input } from '../target.js';

/** A text that the product reads. It refuses one with a WeftError and in no other way. */
export const textInput = (shown: string, run: (text: string) => unknown): Input => ({
  shown,
  run: () => run(shown),
  isRefusal: (error) => isWeftError(error),
});

let folder: string | undefined;

/** The same for what the product reads from a file. */
export const fileInput = (shown: string, run: (path: string) => unknown): Input =>
  textInput(shown, (text) => {
    // In the folder of this process, which its parent removes.
    folder ??= mkdtempSync(join(process.cwd(), 'input-'));
    const path = join(folder, 'file');
    writeFileSync(path, text);
    return run(path);
  });
