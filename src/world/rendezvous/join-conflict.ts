import { hostname } from 'node:os';
import { version } from '../process-facts.js';
import type { Failure, Request } from './messages.js';
import type { Roster } from './roster.js';

/** Why a rank that knows the token cannot take part; that ends the job. */
export function conflictOf(
  { member, size, version: theirs }: Extract<Request, { t: 'join' }>,
  roster: Roster,
): Failure | undefined {
  const here = `rank ${member.rank} on host ${member.host} (pid ${member.pid})`;
  // Two versions may not make the same calls in the same order: they would wait for each other.
  if (theirs !== version) {
    return {
      code: 'PREFLIGHT',
      message: `${here} runs Weft ${theirs}, but rank 0 on host ${hostname()} runs ${version}`,
      hint: 'Install the same version of Weft on every host.',
    };
  }
  if (size !== roster.size || member.rank >= size) {
    return {
      code: 'LAUNCHER_CONFLICT',
      message: `${here} expects ${size} ranks, but rank 0 expects ${roster.size}`,
    };
  }
  if (roster.at(member.rank) === undefined) return undefined;
  return {
    code: 'LAUNCHER_CONFLICT',
    message: `two processes are rank ${member.rank}: ${roster.name(member.rank)}, and ${here}`,
    hint: 'Each rank needs its own number. Was the program started twice, or did the launcher set the same rank?',
  };
}
