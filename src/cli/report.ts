import type { Command } from 'commander';
import { pictureFile, readRuns } from './pictures.js';
import { writeWhole } from './write-whole.js';

/** `weft report RUN… -o FILE.html`: one page that needs no network. */
export function addReportCommand(program: Command): void {
  program
    .command('report')
    .argument('<runs...>', 'run files, such as those in weft-results/; several are compared')
    .option('-o, --out <file>', 'the page to write (default: beside a single run, ending in .html)')
    .description('Runs as one self-contained HTML page: charts, tables, how it was measured.')
    .action(async (paths: string[], { out }: { out?: string }) => {
      const file = pictureFile(out, paths, '.html');
      const runs = readRuns(paths);
      // Charts are a large library that no other command should wait for.
      const { renderReport } = await import('../report/html.js');
      writeWhole(file, renderReport(runs), '-o');
      process.stdout.write(`${file}\n`);
    });
}
