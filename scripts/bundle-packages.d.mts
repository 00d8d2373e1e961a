export function packagesFor(root: string, asked: readonly string[]): string[];
export function importedPackages(folder: string): string[];
