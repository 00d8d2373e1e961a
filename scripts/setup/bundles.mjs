// Bundles with esbuild: the scripts and styles of pages, which import nothing in browsers, and ECharts for the drawing of
// SVG files, so that nothing needs the package at run time.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { SetupFailure } from './failure.mjs';

/** Each has ECharts in it, whole reports too: they are one file. Paths below src/, and below dist/ as .js. */
const scripts = ['report/echarts', 'report/page/report', 'live/page/main'];
/** Each with what it imports. Paths below src/, and below dist/. */
const styles = ['report/page/report', 'report/page/print', 'live/page/page'];

/** What the licences of the bundled packages ask to keep; esbuild keeps the comments that are marked as such. */
const notices = ['echarts/NOTICE', 'echarts/licenses/LICENSE-d3', 'zrender/LICENSE'];
const apache =
  'Apache ECharts is licensed under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0';

function banner(root) {
  const texts = notices.map((path) => readFileSync(join(root, 'node_modules', path), 'utf8'));
  return `/*!\n${[apache, ...texts.map((text) => text.trim())].join('\n\n')}\n*/`;
}

/** Writes the bundles into `outDir`, over what the compiler wrote there. */
export async function bundle(root, outDir) {
  const { build } = createRequire(join(root, 'package.json'))('esbuild');
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [
        ...scripts.map((path) => ({ in: `src/${path}.ts`, out: path })),
        ...styles.map((path) => ({ in: `src/${path}.css`, out: path })),
      ],
      outdir: outDir,
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      banner: { js: banner(root) },
      logLevel: 'silent',
    });
  } catch (error) {
    throw new SetupFailure('TypeScript build: esbuild found errors', { output: error.message });
  }
}
