import type { Command } from 'commander';
import { writeWhole } from './output/write-whole.js';
import { pictureFile, readRuns } from './pictures.js';

/** `weft report RUN… -o FILE.html`: one page that needs no network. */
export function addReportCommand(program: Command): void {
  program
    .command('report')
    .argument('<runs...>', 'run files to show; several are compared')
    .option('-o, --out <file>', 'HTML file to write (default: next to the run)')
    .description('Write runs as one self-contained HTML page.')
    .action(async (paths: string[], { out }: { out?: string }) => {
      const file = pictureFile(out, paths, '.html');
      const runs = readRuns(paths);
      // Charts are a large library that no other command should wait for.
      const { renderReport } = await import('../report/html.js');
      writeWhole(file, renderReport(runs), '-o');
      process.stdout.write(`${file}\n`);
    });
}
