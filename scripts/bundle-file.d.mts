export function writeBundleFile(
  path: string,
  contents: { readonly folder: string; readonly version: string },
): string;
