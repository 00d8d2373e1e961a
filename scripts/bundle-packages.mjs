// Which npm packages a bundle needs: those the built code imports and those asked for, and what they depend on.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { entries } from './setup/entries.mjs';

/** As TypeScript writes them: `from 'zod'` at the end of a line, `import 'zod'`, `import('zod')`. */
const bareImport = /(?:\bfrom |^import |\bimport\()['"](@?[a-z0-9][\w./:-]*)['"]\)?/gm;

/** Folders of packages, and their places in a bundle. An installed package has those it needs beside it. */
export function packagesFor(root, asked) {
  const found = new Set();
  const visit = (name, from) => {
    const folder = locate(name, from);
    if (folder === undefined || found.has(folder)) return folder;
    found.add(folder);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const needs = { ...manifest.dependencies, ...manifest.optionalDependencies };
    // Optional ones are for other platforms or other uses: those that are not installed are not needed.
    for (const need of Object.keys({ ...needs, ...manifest.peerDependencies })) visit(need, folder);
    return folder;
  };
  for (const name of [...importedPackages(join(root, 'dist')), ...asked]) {
    if (visit(name, root) === undefined) throw new Error(`${name} is not installed: npm run setup`);
  }
  return [...found].sort().map((from) => ({ from, to: placeOf(root, from) }));
}

/** Relative to the folder above whose node_modules it lies in: the same tree, whether of a checkout or beside a package. */
function placeOf(root, folder) {
  let base = root;
  while (!folder.startsWith(join(base, 'node_modules/'))) base = dirname(base);
  return relative(base, folder);
}

/** Names of the packages that the JavaScript under a folder imports. */
export function importedPackages(folder) {
  const names = new Set();
  for (const file of readdirSync(folder, { recursive: true })) {
    // These have their packages in them.
    if (file.startsWith('chunks/') || entries.includes(file.replace(/\.js$/, ''))) continue;
    if (!file.endsWith('.js')) continue;
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, specifier] of text.matchAll(bareImport)) {
      const parts = specifier.split('/');
      const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
      if (!name.startsWith('node:') && !builtinModules.includes(name)) names.add(name);
    }
  }
  return [...names].sort();
}

/** As Node looks for packages: in node_modules of the folder and of those above it. */
function locate(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}
