export const ptxVersion: string;
export const provenFor: readonly string[];
export function kernelNames(): string[];
export function ptxFile(name: string): string;
export function sourcesHash(name: string): string;
export function nvccVersion(): string | undefined;
export function readHeader(text: string): { sources?: string; nvcc?: string; version?: string };
export function compile(name: string): string;
export function assemble(text: string, architecture: string): string;
