/** The names that `buildProgram` knows. */
export const programNames: readonly string[];
/** Builds the named program if it is stale and returns its path; a script's path is that of its source. */
export function buildProgram(name: string): string;
