/**
 * The words that start this Weft, here and on nodes that see the same files. A bundle is started by its file, named in
 * WEFT_COMMAND: a node may not have it unpacked, and the file finds the bundle's Node and libfabric.
 */
export function ownCommand(): string[] {
  const { WEFT_COMMAND } = process.env;
  return WEFT_COMMAND ? [WEFT_COMMAND] : [process.execPath, process.argv[1]!];
}
