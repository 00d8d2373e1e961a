import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { resultsFolder } from '../results/run-file.js';

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
  const lines = createInterface({ input: child.stdout });
  const address = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    once(child, 'close').then(() => undefined),
    once(child, 'error').then(() => undefined),
  ]);
  const served = address !== undefined;
  say(served ? `live at ${address}` : 'no live page: its server did not start');
  try {
    return await run();
  } finally {
    child.stdin.end();
    await ended(child);
    if (served) say(`the page has ended; \`weft serve ${folder}\` shows the run again`);
  }
}

const say = (text: string) => process.stderr.write(`weft: ${text}\n`);

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), closeMs);
  await once(child, 'close');
  clearTimeout(timer);
}
