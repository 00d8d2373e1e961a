import { gpusPerMachine, machines } from '../reference/machines.js';
import {
  describeOther,
  isEfa,
  isInfiniBand,
  isNamelessMellanox,
  isSlingshot,
  roleOf,
} from './classify.js';
import { type Found, type FoundBridge, type FoundDevice, isBridge } from './found.js';
import type { Gpu, NumaNode, Topology, TreeNic, TreeNode } from './model.js';
import { busOf, comparePci } from './pci-address.js';

interface FoundMachine {
  readonly numaNodes: readonly NumaNode[];
  readonly roots: readonly Found[];
}

/** Says what each thing found is, in the order of the addresses: the same machine always gives the same tree. */
export function makeTopology({ numaNodes, roots: asFound }: FoundMachine): Topology {
  const roots = asFound.map((found) => onSoleNode(found, numaNodes));
  const byAddress = new Map(devicesOf(roots).map((device) => [device.pci, device]));
  const devices = [...byAddress.values()].sort((a, b) => comparePci(a.pci, b.pci));
  const published = publishedEfaRate(devices.filter((one) => !isEfa(one) || !tellsRate(one)));
  const cards = devices.filter((one) => roleOf(one) === 'nic' && one.virtualOf === undefined);
  const gpus = devices.filter((one) => roleOf(one) === 'gpu').map(gpuOf);
  const nics = devices
    .filter((one) => roleOf(one) === 'nic')
    .map((one) => nicOf(one, cards, published?.rateGbps));
  const named = new Map<string, Gpu | TreeNic>(
    [...gpus, ...nics].map((device) => [device.pci, device]),
  );
  return {
    numaNodes: [...numaNodes].sort((a, b) => a.node - b.node),
    roots: nodesOf(roots, named),
    gpus,
    nics,
    ...(published && { ratesOf: published.instance }),
  };
}

/** Firmware that tells no node of a device leaves no doubt where there is one only. */
function onSoleNode(found: Found, numaNodes: readonly NumaNode[]): Found {
  const [sole, ...more] = numaNodes.filter(({ cores }) => cores.length > 0);
  if (sole === undefined || more.length > 0) return found;
  const numaNode = found.numaNode ?? sole.node;
  return isBridge(found)
    ? { ...found, numaNode, children: found.children.map((child) => onSoleNode(child, numaNodes)) }
    : { ...found, numaNode };
}

const tellsRate = ({ ports }: FoundDevice): boolean =>
  ports.some(({ rateGbps }) => rateGbps !== undefined);

const devicesOf = (roots: readonly Found[]): FoundDevice[] =>
  roots.flatMap((found) => (isBridge(found) ? devicesOf(found.children) : [found]));

const addressOf = (found: Found): string => (isBridge(found) ? found.address : found.pci);

const nodesOf = (found: readonly Found[], named: Map<string, Gpu | TreeNic>): TreeNode[] =>
  [...found]
    .sort((a, b) => comparePci(addressOf(a), addressOf(b)))
    .map((one) => (isBridge(one) ? bridgeOf(one, named) : (named.get(one.pci) ?? otherOf(one))));

const bridgeOf = (found: FoundBridge, named: Map<string, Gpu | TreeNic>): TreeNode => ({
  kind: 'bridge',
  ...found,
  children: nodesOf(found.children, named),
});

const otherOf = (found: FoundDevice): TreeNode => ({
  kind: 'other',
  pci: found.pci,
  what: describeOther(found) ?? 'other',
});

const gpuOf = ({ pci, numaNode, linkGbps, gpuModel }: FoundDevice, index: number): Gpu => ({
  kind: 'gpu',
  index,
  pci,
  numaNode,
  linkGbps,
  model: gpuModel,
});

function nicOf(
  found: FoundDevice,
  cards: readonly FoundDevice[],
  efaRateGbps: number | undefined,
): TreeNic {
  const { pci, numaNode, linkGbps, ports } = found;
  const ofRdma = ports.filter((port) => port.kind === 'rdma');
  const rdma = ofRdma.length > 0 || speaksRdma(found);
  const inOrder = [...ofRdma, ...ports.filter((port) => port.kind !== 'rdma')];
  const [first, ...rest] = inOrder;
  const published = isEfa(found) ? efaRateGbps : undefined;
  return {
    kind: 'nic',
    name: first?.name ?? pci,
    otherNames: rest.map((port) => port.name),
    rdma,
    technology: technologyOf(found, rdma),
    pci,
    numaNode,
    rateGbps: inOrder.find((port) => port.rateGbps !== undefined)?.rateGbps ?? published,
    linkGbps,
    up: (rdma ? ofRdma : ports).find((port) => port.up !== undefined)?.up,
    shadow: isShadow(found, cards),
  };
}

const speaksRdma = (found: FoundDevice): boolean =>
  isEfa(found) || isInfiniBand(found) || isSlingshot(found) || isNamelessMellanox(found);

function technologyOf(found: FoundDevice, rdma: boolean): TreeNic['technology'] {
  if (isEfa(found)) return 'EFA';
  if (isInfiniBand(found)) return 'InfiniBand';
  if (isSlingshot(found)) return 'Slingshot';
  return rdma ? 'RDMA' : 'Ethernet';
}

/** In a guest a virtual function is all there is of a card, and then it is the NIC. */
function isShadow({ virtualOf, vendor, pci }: FoundDevice, cards: readonly FoundDevice[]): boolean {
  if (virtualOf === undefined) return false;
  if (virtualOf !== 'unknown') return cards.some((card) => card.pci === virtualOf);
  return cards.some((card) => card.vendor === vendor && busOf(card.pci) === busOf(pci));
}

/**
 * Of the EFA devices of this machine, if it is one of the known ones. A file cannot tell the rate of an EFA device, since
 * one generation runs at several; the numbers of GPUs and EFA devices can.
 */
function publishedEfaRate(
  devices: readonly FoundDevice[],
): { readonly instance: string; readonly rateGbps: number } | undefined {
  const efas = devices.filter(isEfa).length;
  const gpus = devices.filter(({ vendor }) => vendor === 0x10de);
  const found = machines.find(
    ({ gpu, nicsPerGpu }) =>
      nicsPerGpu * gpusPerMachine === efas &&
      gpus.filter(({ device }) => device === gpu).length === gpusPerMachine,
  );
  return found && { instance: found.name, rateGbps: found.nicGbps };
}
