import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  assemble,
  compile,
  kernelNames,
  nvccVersion,
  provenFor,
  ptxFile,
  ptxVersion,
  readHeader,
  sourcesHash,
} from '../../scripts/build-kernels.mjs';
import { which } from '../ranks/processes.js';

const nvcc = nvccVersion();
const header = '/usr/local/cuda/include/cuda.h';

describe.each(kernelNames().map((name) => ({ name })))('$name.cu', ({ name }) => {
  const text = readFileSync(ptxFile(name), 'utf8');

  test('is what the committed PTX was made from', () => {
    expect(readHeader(text)).toMatchObject({ sources: sourcesHash(name), version: ptxVersion });
  });

  test('asks for no newer PTX than old drivers know, and for sm_80', () => {
    expect(text).toMatch(/^\.version 7\.0\n\.target sm_80\n/m);
  });

  test.skipIf(nvcc === undefined || nvcc !== readHeader(text).nvcc)(
    'gives that very PTX again (skipped without the same nvcc: CUDA toolkit)',
    () => {
      expect(compile(name)).toBe(text);
    },
  );

  test.skipIf(!which('ptxas')).each(provenFor)(
    'assembles for %s without spilling (skipped without ptxas: CUDA toolkit)',
    (architecture) => {
      const said = assemble(text, architecture);
      expect(said).toContain(`for '${architecture}'`);
      expect(said).not.toMatch(/[1-9]\d* bytes spill/);
    },
  );
});

test.skipIf(!which('ptxas'))(
  'PTX that is wrong does not assemble (skipped without ptxas: CUDA toolkit)',
  () => {
    const text = readFileSync(ptxFile('pattern'), 'utf8').replace('ret;', 'return;');
    expect(() => assemble(text, 'sm_80')).toThrow();
  },
);

test.skipIf(!existsSync(header))(
  'our declarations of the driver agree with its header (skipped without it: CUDA toolkit)',
  () => {
    const source = fileURLToPath(new URL('programs/declarations.cc', import.meta.url));
    const flags = ['-std=c++20', '-fsyntax-only', '-I/usr/local/cuda/include'];
    execFileSync('g++', [...flags, source], { stdio: 'inherit' });
  },
);
