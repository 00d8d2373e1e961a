export const maxBytes: number;
export function bundlePaths(options: { tests: boolean }): string[];
export const runner: string;
