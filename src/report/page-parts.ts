import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Scripts of the page in the order they build on each other; together they are one module without imports. */
const scripts = [
  'hydrate.js',
  'page/tooltip.js',
  'page/legend.js',
  'page/draw.js',
  'page/report.js',
];

// Compiled, wherever this module itself runs from.
const built = new URL('../../dist/report/', import.meta.url);

const textOf = (path: string): string => readFileSync(new URL(path, built), 'utf8');

/** Each script without the words that join modules. Their names do not clash: a test loads the page. */
export const pageScript = (): string =>
  scripts
    .map((path) =>
      textOf(path)
        .replace(/^import [^;]*;\n/gm, '')
        .replace(/^export \{\};?\n?/gm, '')
        .replace(/^export /gm, '')
        .replace(/^\/\/# sourceMappingURL.*\n?/gm, ''),
    )
    .join('\n');

export const pageStyle = (): string => textOf('page/report.css') + textOf('page/print.css');

/** ECharts as its makers publish it, with their licence at its head. */
export function chartLibrary(): string {
  const path = createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js');
  return readFileSync(path, 'utf8');
}
