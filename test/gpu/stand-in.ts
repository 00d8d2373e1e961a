import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = (name: string) => fileURLToPath(new URL(`stand-in/${name}.cc`, import.meta.url));

/** Builds the stand-in for CUDA's driver (test/gpu/stand-in/driver.cc) and removes it when this process ends. */
export function buildStandIn(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weft-stand-in-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const library = join(folder, 'libcuda.so.1');
  const sources = ['driver', 'memory', 'streams', 'host-kernels', 'other-calls'].map(source);
  const flags = ['-std=c++20', '-O2', '-shared', '-fPIC', '-Wno-unknown-pragmas'];
  execFileSync('g++', [...flags, '-o', library, ...sources], { stdio: 'inherit' });
  return library;
}
