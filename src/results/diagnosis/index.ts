export { matrixOf } from './cells.js';
export { diagnosisOf, headline } from './diagnosis.js';
export { type Diagnosis, type Finding, nameOf } from './finding.js';
