export { matrixOf } from './cells.js';
export { diagnosisOf, headline } from './diagnosis.js';
export type { Diagnosis, Finding } from './finding.js';
export { nameOf } from './finding-name.js';
