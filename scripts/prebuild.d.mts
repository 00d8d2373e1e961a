export function neededVersions(file: string): string[];
export function unmet(versions: readonly string[]): string[];
