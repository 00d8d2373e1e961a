import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

/** A file of the page, in memory: there are few, and none is found by a path from outside. */
export interface Asset {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

const javascript = 'text/javascript; charset=utf-8';
const entry = 'live/page/main.js';

/** The page's script with everything it imports, its style, its icon and the chart library. */
export async function loadAssets(builtFolder: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  const add = async (name: string, type: string, path: string) => {
    const body = new Uint8Array(await readFile(path));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
    assets.set(name, { type, body, etag });
  };
  for (const file of await importedBy(join(builtFolder, entry))) {
    await add(relative(builtFolder, file), javascript, file);
  }
  const page = join(builtFolder, dirname(entry));
  const css = 'text/css; charset=utf-8';
  await add('report.css', css, join(builtFolder, 'report/page/report.css'));
  await add('page.css', css, join(page, 'page.css'));
  await add('icon.svg', 'image/svg+xml', join(page, 'icon.svg'));
  const library = createRequire(import.meta.url).resolve('echarts/package.json');
  await add('echarts.js', javascript, join(dirname(library), 'dist/echarts.min.js'));
  return assets;
}

/** Browsers get what the page imports, directly or not, and nothing else of the program. */
async function importedBy(file: string): Promise<Set<string>> {
  const found = new Set<string>([file]);
  for (const each of found) {
    const text = await readFile(each, 'utf8');
    for (const [, path] of text.matchAll(/^(?:import|export)\b[^'"]*['"](\.[^'"]+)['"]/gm)) {
      found.add(resolve(dirname(each), path!));
    }
  }
  return found;
}
