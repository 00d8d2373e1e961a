import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json. Modules run from src/ and from bundles, which lie elsewhere below it. */
export const packageRoot = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const above = dirname(folder);
  if (above === folder) throw new Error('the files of Weft lie outside its package');
  return rootAbove(above);
}
