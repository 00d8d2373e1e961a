import { readFileSync, statSync } from 'node:fs';
import { messageOf, WeftError } from '../errors.js';
import { parseBitmap } from './cpu-set.js';
import type { Found, FoundBridge } from './found.js';
import { linkGbpsOf, readDevice } from './hwloc-device.js';
import { makeTopology } from './make-topology.js';
import { deepestTree, type NumaNode, type Topology } from './model.js';
import { comparePci, pciAddress } from './pci-address.js';
import { type Element, readXml } from './xml.js';

const largestFileBytes = 256 * 2 ** 20;

/** The tree of the machine whose description `lstopo --of xml` has written to a file; hwloc 1, 2 and 3. */
export function readHwlocFile(path: string): Topology {
  let text: string;
  try {
    if (statSync(path).size > largestFileBytes) throw new Error('it is larger than 256 MiB');
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = messageOf(cause);
    throw new WeftError('BAD_USAGE', `${path} cannot be read: ${why}`, {
      hint: 'Pass a file written by `lstopo --of xml FILE`.',
      cause,
    });
  }
  return parseHwloc(text, path);
}

export function parseHwloc(text: string, from: string): Topology {
  const root = readXml(text, from, deepestTree);
  const machine = root.children.find((child) => child.name === 'object');
  if (root.name !== 'topology' || machine?.attributes.get('type') === undefined) {
    throw new WeftError(
      'BAD_USAGE',
      `${from} contains no hwloc topology: its root element is <${root.name}>`,
      { hint: 'Pass a file written by `lstopo --of xml FILE`. NCCL topology files do not work.' },
    );
  }
  const version = Number.parseFloat(root.attributes.get('version') ?? '1');
  const numaNodes = elements(machine).filter(isType('NUMANode')).map(numaNodeOf);
  const context = { version, numaNodes };
  return makeTopology({
    numaNodes,
    roots: readChildren(machine, { ...context, numaNode: nodeNear(machine, undefined, numaNodes) }),
  });
}

interface Context {
  readonly version: number;
  readonly numaNodes: readonly NumaNode[];
  /** Of what is read here. */
  readonly numaNode: number | undefined;
}

const isType = (type: string) => (element: Element) => element.attributes.get('type') === type;

const elements = (root: Element): Element[] => [root, ...root.children.flatMap(elements)];

const numaNodeOf = ({ attributes }: Element): NumaNode => ({
  node: Number(attributes.get('os_index') ?? 0),
  cores: parseBitmap(attributes.get('cpuset')) ?? [],
});

/** What hangs below an object that is no I/O object: bridges and devices, wherever hwloc put them. */
function readChildren(parent: Element, context: Context): Found[] {
  return parent.children
    .filter((child) => child.name === 'object')
    .flatMap((child): Found[] => {
      if (isType('Bridge')(child)) return [readBridge(child, context)];
      if (isType('PCIDev')(child)) return readDevice(child, context);
      const numaNode = nodeNear(child, context.numaNode, context.numaNodes);
      return readChildren(child, { ...context, numaNode });
    });
}

function readBridge(element: Element, context: Context): FoundBridge {
  const { attributes } = element;
  const children = readChildren(element, context);
  const pci = pciAddress(attributes.get('pci_busid') ?? '');
  return {
    address: pci ?? hostAddress(attributes.get('bridge_pci'), children),
    host: pci === undefined,
    numaNode: context.numaNode,
    linkGbps: linkGbpsOf(attributes.get('pci_link_speed')),
    children,
  };
}

/** `0000:44` of `0000:[44-54]`; where that is missing, the bus of what it leads to. */
function hostAddress(range: string | undefined, children: readonly Found[]): string {
  const match = /^([0-9a-f]+):\[([0-9a-f]+)-/i.exec(range ?? '');
  if (match) return `${match[1]!.toLowerCase()}:${match[2]!.toLowerCase()}`;
  const below = children.map((one) => ('pci' in one ? one.pci : one.address)).sort(comparePci);
  return below[0]?.split(':').slice(0, 2).join(':') ?? '0000:00';
}

/**
 * The NUMA node whose cores are nearest to an object. hwloc 1 puts objects into their node, hwloc 2 hangs nodes beside
 * them; both say in `nodeset` which are local. Of several nodes with the same cores (fast memory beside the usual) the
 * first is meant; nodes without cores (a GPU's memory) are not. Several nodes with different cores: nobody can say.
 */
function nodeNear(
  object: Element,
  outer: number | undefined,
  numaNodes: readonly NumaNode[],
): number | undefined {
  const own = object.children.filter(isType('NUMANode')).map((child) => numaNodeOf(child).node);
  const itself = isType('NUMANode')(object) ? [numaNodeOf(object).node] : undefined;
  const local = parseBitmap(object.attributes.get('nodeset')) ?? itself ?? own;
  if (local.length === 0) return outer;
  const near = numaNodes
    .filter(({ node, cores }) => local.includes(node) && cores.length > 0)
    .sort((a, b) => a.node - b.node);
  const places = new Set(near.map(({ cores }) => cores.join()));
  return places.size === 1 ? near[0]!.node : undefined;
}
