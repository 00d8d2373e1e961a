import { groupBy } from '../measure/group.js';
import { formatList } from './cpu-set.js';
import type { Bridge, Gpu, OtherDevice, Topology, TreeNic, TreeNode } from './model.js';
import { gbps, railNics } from './nearest.js';
import { comparePci } from './pci-address.js';

export interface DrawOptions {
  readonly width?: number;
  readonly unicode?: boolean;
}

const unicodeInk = { branch: '├─ ', last: '└─ ', through: '│  ', blank: '   ', into: '›' };
type Ink = typeof unicodeInk;
const asciiInk: Ink = { branch: '|- ', last: "'- ", through: '|  ', blank: '   ', into: '>' };

/** A line of the drawing with what hangs below it. Words are broken into lines only between each other. */
interface Branch {
  /** Stands before the first line of the words; those that follow are indented by it. */
  readonly label: string;
  readonly words: readonly string[];
  readonly below: readonly Branch[];
}

/**
 * The tree as text: NUMA nodes, the bridges where paths part, GPUs and the NICs that could be rails. A bridge that
 * leads to one of them only is not drawn, a chain of bridges is one line, and what leads to none is only counted.
 */
export function drawTopology(topology: Topology, options: DrawOptions = {}): string[] {
  const { width = 80, unicode = true } = options;
  const view = viewOf(topology, unicode ? unicodeInk : asciiInk);
  const empty: number[] = [];
  const places = [...topology.numaNodes.map(({ node }) => node), undefined];
  const lines = places.flatMap((node) => {
    const roots = topology.roots.filter((root) => nodeOf(root, topology) === node);
    if (!roots.some(view.matters)) {
      if (node !== undefined) empty.push(node);
      return [];
    }
    const below = branchesOf(roots, view);
    return render({ label: '', words: headline(node, topology), below }, view.ink, width);
  });
  if (empty.length > 0) lines.push(...emptyNodes(empty, width));
  return lines;
}

function emptyNodes(nodes: readonly number[], width: number): string[] {
  const which = nodes.length === 1 ? `NUMA node ${nodes[0]}:` : `NUMA nodes ${formatList(nodes)}:`;
  return filled(`${which} no GPU and no rail`.split(' '), width);
}

interface View {
  readonly ink: Ink;
  isRail(nic: TreeNic): boolean;
  /** Is, or leads to, something a reader looks for. */
  matters(node: TreeNode): boolean;
}

function viewOf(topology: Topology, ink: Ink): View {
  const rails = new Set(railNics(topology));
  const matters = (node: TreeNode): boolean => {
    if (node.kind === 'bridge') return node.children.some(matters);
    return node.kind === 'gpu' || (node.kind === 'nic' && rails.has(node));
  };
  return { ink, matters, isRail: (nic) => rails.has(nic) };
}

function nodeOf(root: TreeNode, { numaNodes }: Topology): number | undefined {
  const node = root.kind === 'other' ? undefined : root.numaNode;
  return numaNodes.some((one) => one.node === node) ? node : undefined;
}

function headline(node: number | undefined, { numaNodes }: Topology): string[] {
  if (node === undefined) {
    return [numaNodes.length === 0 ? 'machine' : 'NUMA node unknown'];
  }
  const { cores } = numaNodes.find((one) => one.node === node)!;
  const list = formatList(cores);
  return [`NUMA node ${node},`, cores.length === 0 ? 'no cores' : `cores ${list}`];
}

const isBridge = (node: TreeNode): node is Bridge => node.kind === 'bridge';

function branchesOf(nodes: readonly TreeNode[], view: View): Branch[] {
  const shown = nodes.filter(view.matters).map((node) => direct(node, view));
  const devices = shown.filter((node) => node.kind === 'gpu' || node.kind === 'nic');
  devices.sort((a, b) => comparePci(a.pci, b.pci));
  const leaves = [
    ...devices.filter((node) => node.kind === 'gpu').map(gpuBranch),
    ...alike(devices.filter((node) => node.kind === 'nic')).map(nicBranch),
    ...othersOf(nodes.flatMap((node) => leftOut(node, view))),
  ];
  const labels = Math.max(...leaves.map(({ label }) => label.length));
  return [
    ...shown.filter(isBridge).map((bridge) => bridgeBranch(bridge, view)),
    ...leaves.map((leaf) => ({ ...leaf, label: `${leaf.label.padEnd(labels)}  ` })),
  ];
}

/** Where paths part: ports of a switch and bridges to one device are passed over. Host bridges stay. */
function direct(node: TreeNode, view: View): TreeNode {
  if (!isBridge(node) || node.host) return node;
  const [only, ...more] = node.children.filter(view.matters);
  if (only === undefined || more.length > 0) return node;
  const end = direct(only, view);
  return isBridge(end) ? node : end;
}

/** Devices below that are not drawn, and not below a bridge that is: it tells of its own. */
function leftOut(node: TreeNode, view: View): (TreeNic | OtherDevice)[] {
  if (node.kind === 'gpu' || (node.kind === 'nic' && view.isRail(node))) return [];
  if (node.kind !== 'bridge') return [node];
  const drawn = view.matters(node) && isBridge(direct(node, view));
  return drawn ? [] : node.children.flatMap((child) => leftOut(child, view));
}

function bridgeBranch(bridge: Bridge, view: View): Branch {
  const chain = [bridge];
  const beside: TreeNode[] = [];
  for (;;) {
    const { children } = chain.at(-1)!;
    const shown = children.filter(view.matters);
    const only = shown.length === 1 ? direct(shown[0]!, view) : undefined;
    if (only === undefined || !isBridge(only)) break;
    beside.push(...children.filter((child) => child !== only));
    chain.push(only);
  }
  return {
    label: bridge.host ? 'host bridge ' : 'bridge ',
    words: chain.map(({ address }, i) => (i === 0 ? address : `${view.ink.into} ${address}`)),
    below: branchesOf([...chain.at(-1)!.children, ...beside], view),
  };
}

function gpuBranch({ index, pci, model, linkGbps }: Gpu): Branch {
  const facts = [model, linkGbps === undefined ? undefined : `link ${gbps(linkGbps)}`];
  const known = facts.filter((fact) => fact !== undefined).join(', ');
  return { label: `GPU ${index}`, words: [pci, ...known.split(' ')], below: [] };
}

/** NICs that differ only in name and address stand on one line. */
const alike = (nics: readonly TreeNic[]): TreeNic[][] => {
  const groups = groupBy(nics, (nic) =>
    [nic.technology, nic.rateGbps, nic.linkGbps, nic.up].join(),
  );
  return [...groups.values()];
};

function nicBranch(nics: readonly TreeNic[]): Branch {
  const [{ technology, rateGbps, linkGbps, up }] = nics as [TreeNic];
  const rate = rateGbps ?? linkGbps;
  const each = nics.length > 1 ? ' each' : '';
  const facts = [
    ...(rate === undefined ? [] : [`${rateGbps === undefined ? 'link ' : ''}${gbps(rate)}${each}`]),
    ...(up === false ? ['down'] : []),
  ].join(', ');
  const names = nics.map(({ name }) => name);
  const ending = facts === '' ? '' : ',';
  return {
    label: nics.length > 1 ? `${nics.length} ${technology}` : technology,
    words: [...names.slice(0, -1), `${names.at(-1)}${ending}`, ...facts.split(' ')],
    below: [],
  };
}

/** What is there but is not what one looks for, in one line. */
function othersOf(devices: readonly (TreeNic | OtherDevice)[]): Branch[] {
  const nics = devices.filter((device) => device.kind === 'nic');
  const names = nics.filter((nic) => !nic.shadow).map(({ name }) => name);
  const counts = new Map<string, number>();
  for (const device of devices) {
    const what = device.kind === 'other' ? device.what : device.shadow && 'virtual functions';
    if (what && what !== 'other') counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const parts = [
    ...(names.length > 0 ? [`${names.length} Ethernet (${names.join(' ')})`] : []),
    ...[...counts].map(([what, count]) => `${count} ${what}`),
  ];
  if (parts.length === 0) return [];
  return [{ label: 'other', words: parts.join(', ').split(' '), below: [] }];
}

function render({ label, words, below }: Branch, ink: Ink, width: number): string[] {
  const lines = filled(words, Math.max(20, width - label.length)).map((line, i) =>
    `${i === 0 ? label : ' '.repeat(label.length)}${line}`.trimEnd(),
  );
  // What stands below runs along the lines of a long headline.
  const trunk = below.length > 0 ? ink.through : '';
  const head = lines.map((line, i) => (i === 0 ? line : `${trunk}${line.slice(trunk.length)}`));
  return [
    ...head,
    ...below.flatMap((branch, i) => {
      const last = i === below.length - 1;
      return render(branch, ink, width - ink.branch.length).map((line, row) => {
        const first = last ? ink.last : ink.branch;
        return `${row === 0 ? first : last ? ink.blank : ink.through}${line}`;
      });
    }),
  ];
}

export function filled(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
