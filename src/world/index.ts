export { type Environment, type Identity, identify, type Launcher } from './identity.js';
export type { Member } from './messages.js';
export { describeExit, type Outcome, type RankExit } from './outcome.js';
export { ancestors } from './process-facts.js';
export { enterRank } from './rank-process.js';
export { type LocalJob, type SpawnHosts, type SpawnOptions, spawnRanks } from './spawn.js';
export { randomToken } from './token.js';
export { type OpenWorldOptions, openWorld, type World, type WorldOptions } from './world.js';
