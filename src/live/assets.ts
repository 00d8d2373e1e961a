import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** A file of the page, in memory: there are few, and none is found by a path from outside. */
export interface Asset {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

const css = 'text/css; charset=utf-8';
/** Browsers get these, and nothing else of the program. */
const files = [
  { path: 'live/page/main.js', type: 'text/javascript; charset=utf-8' },
  { path: 'live/page/page.css', type: css },
  { path: 'report/page/report.css', type: css },
  { path: 'live/page/icon.svg', type: 'image/svg+xml' },
];

/** The page's script with all it imports, its style and its icon, by name. */
export async function loadAssets(builtFolder: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = files.map(async ({ path, type }): Promise<[string, Asset]> => {
    const body = new Uint8Array(await readFile(join(builtFolder, path)));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
    return [basename(path), { type, body, etag }];
  });
  return new Map(await Promise.all(assets));
}
