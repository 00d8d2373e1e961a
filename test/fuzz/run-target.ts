import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { Dice } from './dice.js';
import type { Target } from './target.js';

const root = resolve(import.meta.dirname, '../..');
const program = join(root, 'build/fuzz/child.js');
export const findingsFolder = join(root, 'build/fuzz/findings');

/** Longer than any input may take on a busy machine. */
const hangMs = 30_000;
const mostCrashes = 5;
/** The heap; the process may hold as much again outside of it. */
const heapMebibytes = 512;
export const mostMebibytes = 1536;

/** The targets and what they call, as one program that Node can start. */
export const buildChild = () =>
  build({
    entryPoints: [join(import.meta.dirname, 'child.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'error',
  });

export interface Finding {
  readonly index: number;
  readonly text: string;
}

export interface Outcome {
  readonly accepted: number;
  readonly refused: number;
  readonly findings: readonly Finding[];
  readonly mebibytes: number;
}

/** Gives a target `count` inputs. After a crash it goes on behind the input that caused it. */
export async function runTarget(
  target: Target,
  { seed, from, count }: { seed: number; from: number; count: number },
): Promise<Outcome> {
  const sum = { accepted: 0, refused: 0, findings: [] as Finding[], mebibytes: 0 };
  for (let at = from, crashes = 0; at < from + count && crashes < mostCrashes; ) {
    const end = await oneProcess(target.name, seed, at, from + count - at);
    if (end.result) {
      sum.accepted += end.result.accepted;
      sum.refused += end.result.refused;
      sum.findings.push(...end.result.found);
      sum.mebibytes = Math.max(sum.mebibytes, end.result.mebibytes);
      break;
    }
    sum.findings.push({ index: end.at, text: end.text });
    at = end.at + 1;
    crashes++;
  }
  for (const finding of sum.findings) keep(target, seed, finding);
  return sum;
}

interface Result {
  readonly accepted: number;
  readonly refused: number;
  readonly found: readonly Finding[];
  readonly mebibytes: number;
}

type End = { result: Result } | { result?: undefined; at: number; text: string };

function oneProcess(name: string, seed: number, from: number, count: number): Promise<End> {
  // In memory: a disk would be slower than all that is tested.
  const folder = mkdtempSync('/dev/shm/weft-fuzz-');
  const progress = join(folder, 'progress');
  writeFileSync(progress, '');
  const at = () => {
    const bytes = readFileSync(progress);
    return bytes.length === 8 ? bytes.readDoubleLE() : from;
  };
  const flags = [`--max-old-space-size=${heapMebibytes}`, '--enable-source-maps', '--expose-gc'];
  const args = [...flags, program, name, ...[seed, from, count].map(String), progress];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out = (out + text).slice(-1_000_000);
  });
  child.stderr.on('data', (text) => {
    err = (err + text).slice(-4000);
  });
  let [last, sinceMs, hung] = [-1, performance.now(), false];
  const watch = setInterval(() => {
    const now = at();
    if (now !== last) [last, sinceMs] = [now, performance.now()];
    hung = performance.now() - sinceMs > hangMs;
    if (hung) child.kill('SIGKILL');
  }, 500);
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearInterval(watch);
      const why = hung ? `no end after ${hangMs / 1000} s` : `exit ${code ?? signal}`;
      const end: End =
        code === 0
          ? { result: JSON.parse(out.trimEnd().split('\n').at(-1)!) }
          : { at: at(), text: `${why}\n${err}` };
      rmSync(folder, { recursive: true, force: true });
      resolve(end);
    });
  });
}

/** The input as a file, and how to run it again. */
function keep(target: Target, seed: number, { index, text }: Finding): void {
  mkdirSync(findingsFolder, { recursive: true });
  const name = join(findingsFolder, `${target.name}-${seed}-${index}`);
  writeFileSync(`${name}.input`, target.make(new Dice(seed, index)).shown);
  writeFileSync(`${name}.txt`, `${again(target.name, seed, index)}\n\n${text}\n`);
}

export const again = (name: string, seed: number, index: number): string =>
  `npm run test:fuzz -- --target ${name} --seed ${seed} --from ${index} --inputs 1`;
