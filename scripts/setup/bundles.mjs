// Bundles with esbuild: the scripts and styles of pages, which import nothing in browsers; and the program with the
// package's entry points, because hundreds of small files make every rank start slowly, most of all on a shared file system.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { entries } from './entries.mjs';
import { SetupFailure } from './failure.mjs';
import { billOfMaterials } from './sbom.mjs';

/** Each has ECharts in it, whole reports too: they are one file. Paths below src/, and below dist/ as .js. */
const scripts = ['report/echarts', 'report/page/report', 'live/page/main'];
/** Each with what it imports. Paths below src/, and below dist/. */
const styles = ['report/page/report', 'report/page/print', 'live/page/page'];

const requireInModules =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** What the licences of the bundled packages ask to keep; esbuild keeps the comments that are marked as such. */
const notices = ['echarts/NOTICE', 'echarts/licenses/LICENSE-d3', 'zrender/LICENSE'];
const apache =
  'Apache ECharts is licensed under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0';

function banner(root) {
  const texts = notices.map((path) => readFileSync(join(root, 'node_modules', path), 'utf8'));
  return `/*!\n${[apache, ...texts.map((text) => text.trim())].join('\n\n')}\n*/`;
}

/** The licences of the packages in the bundles that Node runs, as one file beside them. */
function writeNotices(root, outDir, { inputs }) {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;
  const names = new Set(Object.keys(inputs).flatMap((path) => inPackage.exec(path)?.[1] ?? []));
  const texts = [...names].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const files = readdirSync(folder).filter((file) => /^(LICENSE|NOTICE)(\.\w+)?$/i.test(file));
    return [`== ${name}`, ...files.map((file) => readFileSync(join(folder, file), 'utf8'))].join(
      '\n\n',
    );
  });
  writeFileSync(join(outDir, 'THIRD-PARTY-NOTICES.txt'), texts.join('\n\n'));
}

/** Writes the bundles into `outDir`, over what the compiler wrote there. */
export async function bundle(root, outDir) {
  const { build } = createRequire(join(root, 'package.json'))('esbuild');
  try {
    const pages = await build({
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
      metafile: true,
      logLevel: 'silent',
    });
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: entries.map((path) => ({ in: `src/${path}.ts`, out: path })),
      outdir: outDir,
      chunkNames: 'chunks/[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      // Some packages are CommonJS and require Node's own modules.
      banner: { js: requireInModules },
      legalComments: 'none',
      metafile: true,
      logLevel: 'silent',
    });
    writeNotices(root, outDir, metafile);
    const files = [pages.metafile, metafile].flatMap(({ inputs }) => Object.keys(inputs));
    const bill = `${JSON.stringify(billOfMaterials(root, files), null, 2)}\n`;
    writeFileSync(join(outDir, 'sbom.cdx.json'), bill);
  } catch (error) {
    throw new SetupFailure('TypeScript build: esbuild found errors', { output: error.message });
  }
}
