// One case of the symmetric heap with real ranks; the case is the first argument. Rank 0 prints what came out.
import * as weft from '@weft-fabric/weft';

const world = await weft.openWorld();
const fabric = await weft.openFabric({ provider: process.env.SHMEM_PROVIDER });
await weft.connectFabric(world, fabric);
const { rank, size } = world;

const cases = {
  async everyone() {
    const shmem = await weft.openShmem({ world, fabric, bytes: 2 ** 16 });
    const mine = await shmem.allocate(Int32Array, 8);
    const all = await shmem.allocate(Int32Array, 8 * size);
    mine.local.fill(rank + 1);
    for (let peer = 0; peer < size; peer++) shmem.putNbi(all, mine, peer, { to: 8 * rank });
    await shmem.barrier();
    const expected = [...Array(8 * size).keys()].map((i) => Math.floor(i / 8) + 1);
    if (String([...all.local]) !== String(expected)) throw new Error(`rank ${rank}: ${all.local}`);
    await shmem.barrier();
    await shmem.close();
    return 'all there';
  },
  async fenced() {
    const shmem = await weft.openShmem({ world, fabric, bytes: 2 ** 22 });
    const data = await shmem.allocate(Float64Array, 100_000);
    const inbox = await shmem.allocate(Float64Array, 100_000);
    const flag = await shmem.allocate(Int32Array, 1);
    const seen = await shmem.allocate(Int32Array, 1);
    let wrong = 0;
    for (let round = 1; round <= 20; round++) {
      if (rank === 0) {
        data.local.fill(round);
        flag.local[0] = round;
        shmem.putNbi(inbox, data, 1);
        shmem.fence();
        shmem.putNbi(seen, flag, 1);
        await shmem.quiet();
      } else if (rank === 1) {
        await shmem.waitUntil(seen, 0, (value) => value >= round);
        wrong += inbox.local.filter((value) => value !== round).length;
      }
      await shmem.barrier();
    }
    if (wrong > 0) throw new Error(`${wrong} values came after their flag`);
    await shmem.close();
    return 'in order';
  },
  async uneven() {
    const shmem = await weft.openShmem({ world, fabric, bytes: 4096 });
    const errors = [];
    await shmem.allocate(Int32Array, 4 + rank).catch((error) => errors.push(error.code));
    await shmem.allocate(Int32Array, 4096).catch((error) => errors.push(error.code));
    const small = await shmem.allocate(Int32Array, 1);
    try {
      shmem.putNbi(small, small, size);
    } catch (error) {
      errors.push(error.name);
    }
    await shmem
      .waitUntil(small, 0, (v) => v > 0, { timeoutMs: 20 })
      .catch((e) => errors.push(e.code));
    await world.barrier('done');
    await shmem.close();
    return errors.join(' ');
  },
};

const said = await cases[process.argv[2]]();
if (rank === 0) console.log(said);
await world.barrier('end');
await fabric.close();
await world.close();
