import { WeftError } from '../errors.js';
import type { Benchmark } from '../runner/benchmark.js';
import { allToAllSingle } from './all-to-all-single/all-to-all-single.js';
import { all2all } from './all2all.js';
import { allgather } from './allgather.js';
import { allreduce } from './allreduce.js';
import { bidir } from './bidir.js';
import { bisect } from './bisect.js';
import { broadcast } from './broadcast.js';
import { incast } from './incast.js';
import { ipc } from './ipc/ipc.js';
import { kv } from './kv.js';
import { moe } from './moe/moe.js';
import { pairs } from './pairs/pairs.js';
import { permute } from './permute.js';
import { proxy } from './proxy/proxy.js';
import { queue } from './queue/queue.js';
import { rate } from './rate.js';
import { reduceScatter } from './reduce-scatter.js';
import { ring } from './ring.js';
import { sendrecv } from './sendrecv.js';
import { traffic } from './traffic.js';
import { victim } from './victim.js';
import { write } from './write.js';

/** Every benchmark there is: help, `list`, the commands and the suite are made from this table. */
export const benchmarks: readonly Benchmark[] = [
  sendrecv,
  write,
  all2all,
  kv,
  pairs,
  proxy,
  queue,
  ipc,
  allToAllSingle,
  bidir,
  incast,
  permute,
  bisect,
  ring,
  allgather,
  reduceScatter,
  allreduce,
  broadcast,
  moe,
  rate,
  victim,
  traffic,
];

export function benchmarkById(id: string): Benchmark {
  const found = benchmarks.find((benchmark) => benchmark.id === id);
  if (found) return found;
  throw new WeftError('BAD_USAGE', `unknown benchmark ${id}`, {
    hint: `Benchmarks: ${benchmarks.map((one) => one.id).join(', ')}.`,
  });
}
