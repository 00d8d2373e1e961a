export { efaEnvironment, efaLibraries } from './efa/environment.js';
export { type Capability, efaName, type Machine, machines } from './efa/machines.js';
export {
  type NicFaults,
  parseCapabilities,
  parseFaults,
  parseMachine,
  parseNicFaults,
} from './efa/parse.js';
export { type Faults, plantTree, writeFaults } from './efa/tree.js';
export { addFault, heal } from './faults.js';
export { defaultName, findLab, listLabs, lowerLab, raiseLab } from './lab.js';
export { processesIn, removeLab } from './remove.js';
export { enter, type LabRun, startInLab } from './run.js';
export {
  defaultSpec,
  formatRate,
  parseMilliseconds,
  parsePercent,
  parseRate,
} from './spec.js';
export { type Fault, type LabSpec, type LabState, topologyFile } from './state.js';
