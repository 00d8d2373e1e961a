import { readFileSync } from 'node:fs';
import { messageOf, WeftError } from '../../errors.js';
import { type Attachment, attachmentsOf, type Network } from '../../topology/network/network.js';
import { readNetwork } from '../../topology/network/read.js';
import type { World } from '../../world/world.js';

export function readNetworkFile(file: string): Network {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new WeftError('BAD_FILE', `cannot read the network description: ${messageOf(cause)}`, {
      hint: 'Rank 0 reads it: use a path that exists on its host.',
      cause,
    });
  }
  return readNetwork(text, file);
}

/** Where every rank is attached. Rank 0 reads the file: other hosts need not have it. */
export async function attachmentsOfRanks(
  world: World,
  file: string | undefined,
): Promise<readonly Attachment[] | undefined> {
  if (file === undefined) return undefined;
  const read = () => attachmentsOf(readNetworkFile(file), world.hosts);
  return world.broadcast('network', world.rank === 0 ? read() : []);
}
