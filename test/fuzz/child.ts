// One target in a process of its own. The process that started it knows from a file which input it was at.
import { openSync, writeSync } from 'node:fs';
import { Dice } from './dice.js';
import { targets } from './targets/index.js';
import { selfTest } from './targets/self-test.js';

const [name, seedText, fromText, countText, progressFile] = process.argv.slice(2) as string[];
const [seed, from, count] = [seedText, fromText, countText].map(Number) as [number, number, number];
const target = [...targets, selfTest].find((one) => one.name === name)!;
const progress = openSync(progressFile!, 'w');
const place = new Float64Array(1);
const placeBytes = new Uint8Array(place.buffer);

const mostFindings = 20;
const found = new Map<string, { index: number; text: string }>();
const result = { accepted: 0, refused: 0 };

function find(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  // The same place again is the same finding.
  const key = text.split('\n').slice(0, 3).join().replaceAll(/\d+/g, '');
  if (found.size >= mostFindings || found.has(key)) return;
  found.set(key, { index: place[0]!, text });
  // Now: a crash would take it along.
  process.stderr.write(`${text}\n`);
}

// What nobody waited for counts for the input at which it came.
process.on('uncaughtException', find).on('unhandledRejection', find);
// A process that runs out of work before its end has not done it.
process.exitCode = 70;

const close = await target.open?.();
for (let index = from; index < from + count; index++) {
  place[0] = index;
  writeSync(progress, placeBytes, 0, 8, 0);
  const input = target.make(new Dice(seed, index));
  try {
    await input.run();
    result.accepted++;
  } catch (error) {
    if (input.isRefusal(error)) result.refused++;
    else find(error);
  }
}
await close?.();
const { maxRSS } = process.resourceUsage();
process.stdout.write(
  `\n${JSON.stringify({ ...result, found: [...found.values()], mebibytes: maxRSS / 1024 })}\n`,
  // Handles that a target left open must not keep it.
  () => process.exit(0),
);
