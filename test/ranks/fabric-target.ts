import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import {
  type Channel,
  type FabricBuffer,
  type FabricOptions,
  openFabric,
  type RemoteRegion,
} from '../../src/index.js';
import { pause, program } from './processes.js';

/** A writer in this process and its target in another, connected and warm. */
export interface RemoteTarget extends AsyncDisposable {
  readonly channel: Channel;
  readonly source: FabricBuffer;
  readonly remote: RemoteRegion;
  /** Stops the whole target. It does that itself, outside the provider: with shm, others would wait for its lock. */
  stop(): Promise<void>;
  resume(): void;
  kill(): Promise<void>;
  /** Whether the target's memory, read from outside, holds what the source's first bytes hold. */
  has(bytes: number): boolean;
}

export async function openTarget(options: FabricOptions, bytes: number): Promise<RemoteTarget> {
  const child = fork(program('fabric-target'), [JSON.stringify(options), `${bytes}`], {
    serialization: 'advanced',
  });
  const ended = once(child, 'exit');
  const [told] = await once(child, 'message');
  const fabric = await openFabric(options);
  const everyone = [fabric.addresses, told.addresses];
  child.send({ everyone });
  await once(child, 'message');
  fabric.connect(0, everyone);
  const channel = fabric.channel(1);
  const source = fabric.allocate(bytes);
  const remote = fabric.remote(told.region);
  // The first post also connects: that is not what is tested.
  await channel.write(source.slice(0, 8), remote.slice(0, 8), { timeoutMs: 10_000 });

  const state = () => /\) (\w)/.exec(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))?.[1];
  const stop = async () => {
    child.send('stop');
    while (state() !== 'T') await pause(1);
  };
  return {
    channel,
    source,
    remote,
    stop,
    resume: () => child.kill('SIGCONT'),
    kill: async () => {
      await stop();
      child.kill('SIGKILL');
      await ended;
    },
    has: (count) => {
      const found = Buffer.alloc(count);
      const memory = openSync(`/proc/${child.pid}/mem`, 'r');
      try {
        readSync(memory, found, 0, count, told.virtualAddress);
      } finally {
        closeSync(memory);
      }
      return found.equals(source.view(0, count));
    },
    [Symbol.asyncDispose]: async () => {
      await fabric.close();
      child.kill('SIGKILL');
      await ended;
    },
  };
}
