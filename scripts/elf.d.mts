export interface Needs {
  readonly libraries: readonly string[];
  readonly versions: readonly string[];
}
export function readNeeds(path: string): Needs | undefined;
export function unmet(versions: readonly string[], options?: { cxx?: boolean }): string[];
export const ofSystem: RegExp;
