export { checkToken } from './access.js';
export { describeCost } from './follow-cost.js';
export { startPage } from './server.js';
