import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

/** A folder in place of /sys, new for every test of the file that calls this. */
export function fakeSysfs() {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'weft-sysfs-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));
  return {
    get root() {
      return root;
    },
    put(files: Record<string, string>): void {
      for (const [path, content] of Object.entries(files)) {
        const file = join(root, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, `${content}\n`);
      }
    },
  };
}
