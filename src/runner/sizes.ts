import { WeftError } from '../errors.js';
import { formatBytes } from '../measure/units.js';
import type { Settings } from '../settings/table.js';

const mostSizes = 10_000;

const tooManySizes = (): WeftError =>
  new WeftError('BAD_USAGE', `these settings give more than ${mostSizes} sizes`, {
    hint: 'Use a larger `stepBytes` or `stepFactor`, or a smaller range.',
  });

/** The sizes of the rows, smallest first. */
export function sizesOf(settings: Settings): number[] {
  const { minBytes, maxBytes, stepBytes, stepFactor } = settings;
  if (minBytes > maxBytes) {
    throw new WeftError(
      'BAD_USAGE',
      `\`minBytes\` ${formatBytes(minBytes)} is larger than \`maxBytes\` ${formatBytes(maxBytes)}`,
      { hint: 'Swap them, or leave one out.' },
    );
  }
  const sizes: number[] = [];
  for (let bytes = minBytes; bytes <= maxBytes; ) {
    sizes.push(bytes);
    if (sizes.length > mostSizes) throw tooManySizes();
    const next = stepBytes === undefined ? Math.ceil(bytes * stepFactor) : bytes + stepBytes;
    bytes = Math.max(next, bytes + 1);
  }
  return sizes;
}
