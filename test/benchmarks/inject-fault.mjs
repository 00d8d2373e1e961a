// Makes the addon do something wrong on purpose, to show that results do not survive it. It replaces what the addon
// exports, in every process that is started with it:
//   NODE_OPTIONS='--import ./test/benchmarks/inject-fault.mjs' WEFT_TEST_FAULT=drop:1 ./bin/weft write
//
// flip:RANK[:OFFSET]   changes a byte of that rank's target buffer after each run of a plan
// drop:RANK            that rank's writes carry their immediates but no data
// landing:OFFSET       changes memory that another process wrote (`weft ipc`), just before it is verified
// bind:FROM:TO         endpoints that should be bound to rail FROM of a lab are bound to rail TO
// peer:OFFSET          changes a byte of a library's output (`--against`) after each of its runs
// drop-element:N, duplicate-element:N, flip-element:N   what producer 0 of a queue does with its element N
import { createRequire } from 'node:module';

const asked = process.env.WEFT_TEST_FAULT ?? '';
const [kind, ...numbers] = asked.split(':');
const [first, second = 0] = numbers.map(Number);
const addon = createRequire(import.meta.url)('../../build/Release/weft.node');

/** Where an encoded plan has its rank; see src/plan/encode.ts. */
const headerRank = 1;

function breakPlans(rank, sabotage) {
  addon.Port = class extends addon.Port {
    run(job) {
      return super.run(job.plan.header[headerRank] === rank ? { ...job, sabotage } : job);
    }
  };
}

function breakLandings(wanted) {
  const offsetIn = (bytes) => Math.min(wanted, bytes - 8);
  addon.SharedMemory = class extends addon.SharedMemory {
    verify(bytes, seed) {
      this.flip(offsetIn(bytes));
      return super.verify(bytes, seed);
    }
  };
  addon.DeviceMemory = class extends addon.DeviceMemory {
    async verify(offset, bytes, seed, position) {
      // Eight zeros: the pattern has them by chance once in 2^64.
      await this.set(offset + offsetIn(bytes), 8, 0);
      return super.verify(offset, bytes, seed, position);
    }
  };
}

function breakPeers(offset) {
  addon.Peer = class extends addon.Peer {
    async run(source, target, ...more) {
      const times = await super.run(source, target, ...more);
      new Uint8Array(target.view(offset, 1))[0] ^= 1;
      return times;
    }
  };
}

function breakQueues(fault) {
  const { queueRun } = addon;
  addon.queueRun = (job) => queueRun({ ...job, fault });
}

/** Rails of a lab are 10.77.RAIL.0/24. */
function bindElsewhere(from, to) {
  const { getInfo } = addon;
  const moved = (node) => node?.replace(`10.77.${from}.`, `10.77.${to}.`);
  addon.getInfo = (query) => getInfo({ ...query, ...(query.node && { node: moved(query.node) }) });
}

if (kind === 'bind') bindElsewhere(first, second);
else if (kind === 'flip' || kind === 'drop') breakPlans(first, { kind, offset: second });
else if (kind === 'peer') breakPeers(first);
else if (kind === 'landing') breakLandings(first);
else if (/^(drop|duplicate|flip)-element$/.test(kind))
  breakQueues({ kind: kind.split('-')[0], at: first });
else throw new Error(`WEFT_TEST_FAULT=${asked} is no fault`);
