/** The names that `buildBaseline` knows. */
export const programNames: readonly string[];
/** Builds the named program if it is stale and returns its path; a script's path is that of its source. */
export function buildBaseline(name: string): string;
