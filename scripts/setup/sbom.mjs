// What is in the package besides Weft itself, as a bill of materials in the format of CycloneDX 1.5.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (root, path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** `files`: paths of what was bundled, relative to the root. Others come to the user as dependencies. */
export function billOfMaterials(root, files) {
  const { name, version, license, dependencies } = read(root, 'package.json');
  const { packages } = read(root, 'package-lock.json');
  const inPackage = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
  const bundled = new Set(files.flatMap((path) => inPackage.exec(path)?.[0] ?? []));
  const installed = Object.keys(dependencies).map((one) => `node_modules/${one}`);
  const places = [...new Set([...bundled, ...installed])].sort();
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: component({ name, version, license }) },
    components: [
      ...places.map((place) => ofLock(root, place, packages[place], bundled.has(place))),
      ...nativeParts,
    ],
  };
}

/** Linked into the addon and the emulated EFA device, from the compiler that built them. */
const nativeParts = ['libstdc++', 'libgcc'].map((name) => ({
  type: 'library',
  name,
  licenses: [{ expression: 'GPL-3.0-or-later WITH GCC-exception-3.1' }],
  properties: [{ name: 'weft:how', value: 'linked statically into prebuilds/' }],
}));

function ofLock(root, place, locked, isBundled) {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [algorithm, digest] = (locked.integrity ?? '').split('-');
  return {
    ...component({ name, version: locked.version, license: licenseOf(root, place, locked) }),
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    properties: [{ name: 'weft:how', value: isBundled ? 'bundled in dist/' : 'dependency' }],
  };
}

const licenseOf = (root, place, locked) =>
  locked.license ?? read(root, join(place, 'package.json')).license;

function component({ name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = license === undefined ? [] : [{ expression: license }];
  return { type: 'library', 'bom-ref': purl, name, version, purl, licenses };
}
