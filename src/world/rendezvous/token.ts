import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { WeftError } from '../../errors.js';
import type { Environment, Identity } from '../identity.js';

export interface Token {
  readonly token: string;
  /** False when the token was derived from ids that others on the machine can read. */
  readonly authenticated: boolean;
}

export const randomToken = (): string => randomBytes(32).toString('hex');

const leastCharacters = 8;

/** WEFT_TOKEN, else the token file, else derived from the launcher's ids: then not authenticated. */
export function chooseToken(env: Environment, identity: Identity, tokenFile?: string): Token {
  if (env.WEFT_TOKEN !== undefined) {
    return { token: checked(env.WEFT_TOKEN, 'WEFT_TOKEN'), authenticated: true };
  }
  if (tokenFile !== undefined) {
    return { token: checked(readTokenFile(tokenFile), tokenFile), authenticated: true };
  }
  if (identity.launcher === 'single') return { token: randomToken(), authenticated: true };
  const derived = createHash('sha256').update(`weft token ${identity.jobId}`).digest('hex');
  return { token: derived, authenticated: false };
}

function checked(token: string, where: string): string {
  if (token.length >= leastCharacters) return token;
  throw new WeftError(
    'BAD_USAGE',
    `the token in ${where} is shorter than ${leastCharacters} characters`,
    { hint: 'Make one with: openssl rand -hex 32' },
  );
}

/** The file must be ours and closed to everyone else: a token that others can read protects nothing. */
function readTokenFile(path: string): string {
  let fd: number;
  try {
    // Not blocking: a FIFO in this place must not hang the rank.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new WeftError('BAD_FILE', `the token file ${path} cannot be read`, { cause });
  }
  try {
    const { uid, mode, size } = fstatSync(fd);
    const isFile = (mode & constants.S_IFMT) === constants.S_IFREG;
    if (!isFile || size > 4096) {
      throw new WeftError('BAD_FILE', `${path} is not a token file`);
    }
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
      const seen = `owner ${uid}, mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
      throw new WeftError('BAD_FILE', `the token file ${path} is open to others (${seen})`, {
        hint: `It must belong to you and have mode 0600: chmod 600 ${path}`,
      });
    }
    return readFileSync(fd, 'utf8').trim();
  } finally {
    closeSync(fd);
  }
}
