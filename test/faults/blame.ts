/** A rank, on the host that the test runs on unless named, where the message names it. */
const named = (rank: number | string, host: string): string =>
  `\\brank ${rank}( on host ${host}( \\(pid N\\))?)?`;

/** What ranks say of one that does not answer. */
export const missed = (rank: number, host = 'HOST'): RegExp => {
  const who = named(rank, host);
  const silence = 'does not answer|was lost: it has been silent|cannot be reached';
  const transfers = 'did not (receive|reach|send|answer)|sent nothing';
  const chunks = `chunks from ${who} .*did not arrive`;
  return new RegExp(`missing: ${who}|${chunks}|${who} (${silence}|${transfers}|was stopped)`);
};

/** What blames a rank of three other than this one; a rank may say that it failed because of this one. */
export const blameOn = (victim: number): RegExp => {
  const who = named(`[${[0, 1, 2].filter((rank) => rank !== victim).join('')}]`, '\\S+');
  const ended = 'was (killed|lost|stopped)|exited with';
  const silence = 'does not answer|cannot be reached|did not|sent nothing';
  const failed = `failed: (?!.*\\brank ${victim}\\b)`;
  return new RegExp(`${who} (${ended}|${silence}|${failed})|missing: ([^\\n]*, )?${who}`);
};
