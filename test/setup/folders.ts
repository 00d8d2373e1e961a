import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes temporary folders, which go when the tests of the file have ended. */
export function temporaryFolders(prefix: string): () => string {
  const folders: string[] = [];
  afterAll(() => {
    for (const one of folders) rmSync(one, { recursive: true });
  });
  return () => {
    folders.push(mkdtempSync(join(tmpdir(), prefix)));
    return folders.at(-1)!;
  };
}
