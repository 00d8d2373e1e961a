export { type Environment, type Identity, identify, type Launcher } from './identity.js';
export { describeExit, type Outcome, type RankExit } from './launch/outcome.js';
export { enterRank } from './launch/rank-process.js';
export { type LocalJob, type SpawnHosts, type SpawnOptions, spawnRanks } from './launch/spawn.js';
export { ancestors } from './process-facts.js';
export { AbsentRanks, type Member } from './rendezvous/messages.js';
export { randomToken } from './rendezvous/token.js';
export { type OpenWorldOptions, openWorld, type World, type WorldOptions } from './world.js';
