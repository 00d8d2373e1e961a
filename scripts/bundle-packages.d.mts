export function packagesFor(
  root: string,
  asked: readonly string[],
): { readonly from: string; readonly to: string }[];
export function importedPackages(folder: string): string[];
