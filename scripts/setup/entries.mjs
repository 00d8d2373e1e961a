/**
 * What Node runs: paths below src/, and below dist/ as .js. They share their modules, so that a user's benchmark and the
 * program see one copy of each.
 */
export const entries = ['cli/main', 'index', 'entry/benchmark', 'entry/results', 'entry/report'];
