import { printable } from '../../results/formats/text.js';
import { terminalOf } from './terminal.js';

/**
 * Everything this program prints goes through here. Host names, labels and reasons come from files and from other
 * ranks: their control characters could move the cursor, set the title of the window or hide what was printed.
 */
export const printOut = (text: string): void =>
  void process.stdout.write(safeFor(process.stdout, text));
export const printError = (text: string): void =>
  void process.stderr.write(safeFor(process.stderr, text));

/** For text that is written in pieces. Colours pass only where the stream shows them. */
export const safeFor = (stream: NodeJS.WriteStream, text: string): string =>
  printable(text, { painted: terminalOf(stream).color });

/** For a line that is drawn again and again. */
export const oneLine = (text: string): string => printable(text.replaceAll(/\s+/g, ' '));
