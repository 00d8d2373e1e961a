import type { Target } from '../target.js';
import { addonCalls } from './addon.js';
import { commandLines } from './command-lines.js';
import * as descriptions from './descriptions.js';
import { frames } from './frames.js';
import { http } from './http.js';
import { plans } from './plans.js';
import { rendezvous } from './rendezvous.js';
import { runFiles } from './run-files.js';

export const targets: readonly Target[] = [
  ...[frames, rendezvous, http, plans, addonCalls, commandLines, runFiles],
  ...Object.values(descriptions),
];
