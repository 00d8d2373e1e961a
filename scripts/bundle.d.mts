export const maxBytes: number;
export function bundlePaths(options: {
  tests: boolean;
}): { readonly from: string; readonly to: string }[];
export function lackingIn(folder: string): string[];
export const runner: string;
