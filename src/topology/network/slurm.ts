import {
  type AttachedHost,
  badLine,
  listAt,
  type Network,
  networkOf,
  unnamedSpine,
} from './network.js';

interface Entry {
  readonly line: number;
  readonly values: ReadonlyMap<string, string>;
}

const known = ['switchname', 'switches', 'nodes', 'linkspeed', 'blockname', 'blocksizes'];

/** Slurm's topology.conf: the switches of topology/tree, or the blocks of topology/block. */
export function readSlurmTopology(text: string, file: string): Network {
  const entries = entriesOf(text, file);
  const blocks = entries.filter(({ values }) => values.has('blockname'));
  const switches = entries.filter(({ values }) => values.has('switchname'));
  const [block] = blocks;
  if (block && switches.length > 0) {
    throw badLine(file, block.line, 'a file has either switches or blocks, not both');
  }
  return networkOf(file, block ? hostsOfBlocks(blocks, file) : treeOf(switches, file));
}

function* hostsOfBlocks(blocks: readonly Entry[], file: string): Generator<AttachedHost> {
  for (const block of blocks) yield* hostsOf(block, file, 'blockname', unnamedSpine);
}

/** A leaf is a switch with nodes; its spine is the switch above it. */
function* treeOf(switches: readonly Entry[], file: string): Generator<AttachedHost> {
  const lines = new Map<string, number>();
  for (const { line, values } of switches) {
    const name = values.get('switchname')!;
    const before = lines.get(name);
    if (before !== undefined)
      throw badLine(file, line, `switch ${name} is already in line ${before}`);
    lines.set(name, line);
    if (values.has('switches') === values.has('nodes')) {
      throw badLine(file, line, `switch ${name} needs either Switches= or Nodes=`);
    }
  }
  const parents = new Map<string, string>();
  for (const { line, values } of switches) {
    const name = values.get('switchname')!;
    const below = values.get('switches');
    for (const child of below === undefined ? [] : listAt(file, line, below)) {
      if (!lines.has(child)) throw badLine(file, line, `switch ${child} is not defined`);
      const other = parents.get(child);
      if (other !== undefined) {
        throw badLine(file, line, `switch ${child} is below both ${other} and ${name}`);
      }
      parents.set(child, name);
    }
  }
  for (const leaf of switches.filter(({ values }) => values.has('nodes'))) {
    const spine = parents.get(leaf.values.get('switchname')!) ?? unnamedSpine;
    yield* hostsOf(leaf, file, 'switchname', spine);
  }
}

function hostsOf(
  { line, values }: Entry,
  file: string,
  key: string,
  spine: string,
): AttachedHost[] {
  const leaf = values.get(key)!;
  const nodes = values.get('nodes');
  if (nodes === undefined) throw badLine(file, line, `${leaf} needs Nodes=`);
  return listAt(file, line, nodes).map((host) => ({ names: [host], leaf, spine, line }));
}

/** Lines of `Key=value`, without comments; a backslash at its end continues a line. */
function entriesOf(text: string, file: string): Entry[] {
  const entries: Entry[] = [];
  let open: { line: number; text: string } | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const own = raw.replace(/#.*$/, '').trim();
    const line = open?.line ?? index + 1;
    const whole = `${open?.text ?? ''}${own}`;
    open = whole.endsWith('\\') ? { line, text: `${whole.slice(0, -1)} ` } : undefined;
    if (open || whole === '') continue;
    entries.push({ line, values: valuesOf(whole, file, line) });
  }
  return entries;
}

function valuesOf(text: string, file: string, line: number): Map<string, string> {
  const values = new Map<string, string>();
  for (const word of text.split(/\s+/)) {
    const match = /^(\w+)=(.+)$/.exec(word);
    const key = match?.[1]?.toLowerCase() ?? '';
    if (!match || !known.includes(key)) {
      throw badLine(
        file,
        line,
        `"${word}" is not a setting of a network description`,
        'Expected SwitchName=… Switches=… or Nodes=…, or BlockName=… Nodes=….',
      );
    }
    if (values.has(key)) throw badLine(file, line, `${match[1]} is given twice`);
    values.set(key, match[2]!);
  }
  if (['switchname', 'blockname', 'blocksizes'].some((key) => values.has(key))) return values;
  throw badLine(file, line, 'the line names neither a switch nor a block');
}
