import { Dice } from './dice.js';
import { targets } from './targets/index.js';

const [name, seed, ...ids] = process.argv.slice(2);
for (const i of ids)
  console.log(
    `--- ${i}\n${targets.find((t) => t.name === name)!.make(new Dice(Number(seed), Number(i))).shown}`,
  );
