import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { resultsFolder } from '../results/run-file.js';
import { printError } from './output/print.js';

/** The page has the lowest priority: beside a busy machine it takes a while. */
const startMs = 20_000;
const closeMs = 5_000;

/**
 * Does `run` with a page over the folder of its results. The page is a process of its own, so that it takes nothing from
 * rank 0's time, and it ends with the command. If it cannot start, that is told and the run goes on without.
 */
export async function withLivePage(
  out: string | undefined,
  run: () => Promise<number>,
): Promise<number> {
  const folder = out === undefined ? resultsFolder : dirname(out);
  mkdirSync(folder, { recursive: true });
  const args = [process.argv[1]!, 'serve', folder, '--follower'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  const address = await addressOf(child);
  const served = address !== undefined;
  say(
    served
      ? `live at ${address}`
      : 'the live page server did not start; the run continues without it',
  );
  try {
    return await run();
  } finally {
    child.stdin.end();
    await ended(child);
    if (served) say(`the live page is closed; to see the run again: weft serve ${folder}`);
  }
}

const say = (text: string) => printError(`weft: ${text}\n`);

/** What it prints first; undefined, and an end to it, where it does not start or does not say in time. */
function addressOf(child: ChildProcessByStdio<Writable, Readable, null>) {
  return new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), startMs);
    const settle = (address?: string) => {
      clearTimeout(timer);
      resolve(address);
    };
    createInterface({ input: child.stdout }).once('line', settle);
    child.on('close', () => settle()).on('error', () => settle());
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), closeMs);
  await once(child, 'close');
  clearTimeout(timer);
}
