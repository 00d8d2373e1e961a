// Writes docs/options.md from the tables that the program itself reads: `npm run docs:options`.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { benchmarks } from '../dist/benchmarks/index.js';
import { k8sOptions, sbatchOptions } from '../dist/cli/job-files/options.js';
import { recordOptions } from '../dist/cli/record-traffic.js';
import { showOptions } from '../dist/cli/show-options.js';
import { commonKeysOf } from '../dist/runner/benchmark.js';
import { flagOf, formatValue } from '../dist/settings/option.js';
import { fitOptions, predictOptions } from '../dist/settings/predict.js';
import { soakOptions } from '../dist/settings/soak.js';
import { fabricOptions, measureOptions } from '../dist/settings/table.js';

export const page = fileURLToPath(new URL('../docs/options.md', import.meta.url));

const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;

const defaultOf = (option) =>
  option.defaultText ??
  (option.default === undefined || option.default === false
    ? ''
    : code(formatValue(option, option.default)));

/** Whoever takes it, or does not: the shorter list. */
function takersOf(key) {
  const [yes, no] = [true, false].map((wanted) =>
    benchmarks
      .filter((benchmark) => commonKeysOf(benchmark).includes(key) === wanted)
      .map(({ id }) => code(id)),
  );
  if (no.length === 0) return 'all';
  return yes.length <= no.length ? yes.join(', ') : `all but ${no.join(', ')}`;
}

function tableOf(heads, lines) {
  const rule = heads.map(() => '---');
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const common = (table) =>
  tableOf(
    ['option', 'suite key', 'in a suite', 'default', 'benchmarks', 'meaning'],
    Object.entries(table).map(([key, option]) => [
      code(option.flags),
      code(key),
      option.kind.inFile,
      defaultOf(option),
      takersOf(key),
      option.help,
    ]),
  );

const own = (table) =>
  tableOf(
    ['option', 'suite key', 'in a suite', 'default', 'meaning'],
    Object.entries(table).map(([key, option]) => [
      code(option.flags),
      code(key),
      option.kind.inFile,
      defaultOf(option),
      option.help,
    ]),
  );

const onCommandLine = (table) =>
  tableOf(
    ['option', 'default', 'meaning'],
    Object.values(table).map((option) => [code(option.flags), defaultOf(option), option.help]),
  );

export const text = `# Options

\`npm run docs:options\` writes this page from the tables that the program reads. Sizes take K, M and G, powers of two. Durations in suite files are milliseconds.

## Measurement

${common(measureOptions)}

The defaults of ${['minBytes', 'maxBytes', 'stepFactor'].map((key) => code(flagOf(measureOptions[key]))).join(', ')} belong to each benchmark, and \`moe\` runs only its Multi columns by default; \`weft COMMAND --help\` shows them.

## Fabric

${common(fabricOptions)}

## Options of one benchmark

${benchmarks
  .filter(({ options }) => options !== undefined)
  .map(({ id, options }) => `### ${code(id)}\n\n${own(options)}`)
  .join('\n\n')}

## Ranks and output

These options stand on the command line only.

${onCommandLine({ ...showOptions, ...recordOptions })}

## Soaks

Options of \`weft soak\`, before the \`--\`; see [soak.md](soak.md).

${onCommandLine(soakOptions)}

## Job files

Options of \`weft sbatch\`, before the \`--\`; see [clusters.md](clusters.md#batch-scripts).

${onCommandLine(sbatchOptions)}

Options of \`weft k8s\`, before the \`--\`; see [kubernetes.md](kubernetes.md).

${onCommandLine(k8sOptions)}

## Predictions

Options of \`weft predict BENCH\`, with \`--fault TEXT\`; see [model.md](model.md).

${onCommandLine(predictOptions)}

Options of \`weft predict fit\`, with \`--also ROW\`:

${onCommandLine(fitOptions)}
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, text);
