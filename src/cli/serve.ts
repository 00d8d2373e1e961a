import { setPriority } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import type { LivePage } from '../live/server.js';
import { userSignals } from '../native/process.js';
import { packageRoot } from '../package-root.js';
import { resultsFolder } from '../results/run-file.js';
import { wholeNumber } from '../settings/option.js';
import { argument } from './options.js';
import { printError, printOut } from './output/print.js';

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly follower: boolean;
}

/** Where pages that a browser has open are given the end of a run. */
const graceMs = 2_000;
const lowestPriority = 19;

/** `weft serve [DIR]`: the runs of a folder as a page. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .argument('[folder]', 'folder of run files', resultsFolder)
    .description('Show a folder of runs on a live web page.')
    .option(
      '--port <port>',
      'port to listen on; 0 picks a free one',
      argument(wholeNumber(0, 65_535)),
      0,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(new Option('--follower', 'exit when stdin closes').default(false).hideHelp())
    .action(async (folder: string, { host, port, follower }: ServeOptions) => {
      if (follower) setPriority(lowestPriority);
      // A web server is nothing that other commands should wait for.
      const { checkToken, describeCost, startPage } = await import('../live/index.js');
      const { WEFT_PAGE_TOKEN } = process.env;
      const page = await startPage({
        folder,
        host,
        port,
        // Beside a measurement, nothing is done that nobody asked for.
        prepare: !follower,
        builtFolder: join(packageRoot, 'dist'),
        ...(WEFT_PAGE_TOKEN && { token: checkToken(WEFT_PAGE_TOKEN) }),
      });
      // Who has the address may ask at once.
      const done = asked(follower);
      announce(page, folder, follower);
      await done;
      const cost = await page.close(follower ? graceMs : 0);
      if (cost !== undefined) printError(`weft: live page: ${describeCost(cost)}\n`);
    });
}

function announce(page: LivePage, folder: string, follower: boolean): void {
  if (follower) {
    printOut(`${page.address('/new', { since: new Date().toISOString() })}\n`);
    return;
  }
  printOut(`${page.address()}\n`);
  printError(`weft: serving the runs in ${folder}; press Ctrl-C to stop\n`);
  if (isLoopback(page.host)) return;
  printError(
    `weft: listening on ${page.host} port ${page.port}: other machines can connect, and traffic is not encrypted\n`,
  );
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');

/** Resolves when the user, or for a follower the command it belongs to, is done. */
function asked(follower: boolean): Promise<void> {
  return new Promise((resolve) => {
    const end = () => resolve();
    if (!follower) {
      for (const signal of userSignals()) process.once(signal, end);
      return;
    }
    // Ctrl-C and a terminal that closes are meant for the command: it ends us when it is done.
    for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
    process.stdin.on('end', end).on('error', end).resume();
    process.once('SIGTERM', end);
  });
}
