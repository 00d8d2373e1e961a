// What an ELF file of this machine's kind (64-bit, little-endian) needs of others: libraries, and versions of symbols.
import { readFileSync } from 'node:fs';

const magic = 0x464c457f;
const sectionTypes = { dynamic: 6, versionNeeds: 0x6ffffffe };
const neededTag = 1n;

/** Undefined for a file that is no such ELF file. */
export function readNeeds(path) {
  const file = readFileSync(path);
  const ours =
    file.length >= 64 && file.readUInt32LE(0) === magic && file[4] === 2 && file[5] === 1;
  if (!ours) return undefined;
  const sections = sectionsOf(file);
  const textAt = (section, offset) => {
    const start = sections[section.link].offset + offset;
    return file.toString('latin1', start, file.indexOf(0, start));
  };
  const of = (type) => sections.filter((section) => section.type === type);
  return {
    libraries: of(sectionTypes.dynamic).flatMap((section) =>
      neededIn(file, section).map((offset) => textAt(section, offset)),
    ),
    versions: of(sectionTypes.versionNeeds).flatMap((section) =>
      versionsIn(file, section).map((offset) => textAt(section, offset)),
    ),
  };
}

function sectionsOf(file) {
  const start = Number(file.readBigUInt64LE(40));
  const [size, count] = [file.readUInt16LE(58), file.readUInt16LE(60)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    return {
      type: file.readUInt32LE(at + 4),
      offset: Number(file.readBigUInt64LE(at + 24)),
      size: Number(file.readBigUInt64LE(at + 32)),
      link: file.readUInt32LE(at + 40),
      entries: file.readUInt32LE(at + 44),
    };
  });
}

/** Offsets of the names of needed libraries. */
function neededIn(file, { offset, size }) {
  const found = [];
  for (let at = offset; at < offset + size; at += 16) {
    if (file.readBigInt64LE(at) === neededTag) found.push(Number(file.readBigUInt64LE(at + 8)));
  }
  return found;
}

/** Offsets of the names of needed versions: a list of libraries, each with a list of versions. */
function versionsIn(file, { offset, entries }) {
  const found = [];
  for (let library = offset, left = entries; left > 0; left--) {
    const count = file.readUInt16LE(library + 2);
    let version = library + file.readUInt32LE(library + 8);
    for (let i = 0; i < count; i++) {
      found.push(file.readUInt32LE(version + 8));
      version += file.readUInt32LE(version + 12);
    }
    library += file.readUInt32LE(library + 12);
  }
  return found;
}

/** What every system has that is promised to work: AL2023, Ubuntu 22.04, RHEL 9 and newer. */
const newest = { GLIBC: [2, 34], GLIBCXX: [3, 4, 29], CXXABI: [1, 3, 13], GCC: [11] };

/** Those of the versions of glibc and of GCC's libraries that an older system may lack; without `cxx`, all of libstdc++'s. */
export function unmet(versions, { cxx = false } = {}) {
  return versions.filter((name) => {
    const [, library, text] = /^(GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)$/.exec(name) ?? [];
    if (library === undefined) return false;
    if (!cxx && /CXX/.test(library)) return true;
    const parts = text.split('.').map(Number);
    const limit = newest[library];
    const differs = parts.findIndex((part, index) => part !== (limit[index] ?? 0));
    return differs >= 0 && parts[differs] > (limit[differs] ?? 0);
  });
}

/** Libraries that every such system has. */
export const ofSystem = /^(libc|libm|libdl|librt|libpthread|libgcc_s|ld-linux-x86-64)\.so/;
