import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('programs/open-under-signals.mjs', import.meta.url));

/** Sends signals until the child has opened its endpoint. */
async function openUnderFire(): Promise<{ heard: number; segments: number }> {
  const child = fork(program);
  await once(child, 'message');
  const opened = once(child, 'message');
  let firing = true;
  const fire = () => {
    child.kill('SIGTERM');
    if (firing) setImmediate(fire);
  };
  fire();
  const [found] = await opened;
  firing = false;
  await once(child, 'exit');
  return found;
}

test('a signal while an endpoint opens reaches Node, and does not remove the shared memory', async () => {
  const heard: number[] = [];
  for (let i = 0; i < 5; i++) {
    const found = await openUnderFire();
    expect(found.segments).toBe(1);
    heard.push(found.heard);
  }
  // On a busy machine all signals of a try may become one.
  expect(Math.max(...heard)).toBeGreaterThan(1);
});
