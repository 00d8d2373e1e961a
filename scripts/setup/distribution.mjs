import { readFileSync } from 'node:fs';

/** The key=value lines of os-release(5), unquoted. */
export function parseOsRelease(text) {
  const fields = {};
  for (const line of text.split('\n')) {
    const match = /^\s*([A-Z_][A-Z0-9_]*)=(.*?)\s*$/.exec(line);
    if (match === null) continue;
    const [, key, raw] = match;
    const quoted = /^(["'])(.*)\1$/.exec(raw);
    fields[key] = (quoted === null ? raw : quoted[2]).replace(/\\(["'$`\\])/g, '$1');
  }
  return fields;
}

const oldest = { debian: 12, ubuntu: 24.04 };

/** Whether the names in the package table are this distribution's. Debian testing and sid carry no version. */
export function isKnownDistribution({ ID, VERSION_ID }) {
  if (oldest[ID] === undefined) return false;
  if (VERSION_ID === undefined) return ID === 'debian';
  return Number.parseFloat(VERSION_ID) >= oldest[ID];
}

export function distributionName({ PRETTY_NAME, NAME, VERSION_ID }) {
  return PRETTY_NAME ?? [NAME ?? 'an unknown distribution', VERSION_ID].filter(Boolean).join(' ');
}

export function readOsRelease(files = ['/etc/os-release', '/usr/lib/os-release']) {
  for (const file of files) {
    try {
      return parseOsRelease(readFileSync(file, 'utf8'));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }
  return {};
}
