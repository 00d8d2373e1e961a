import type { FoundDevice, FoundPort } from './found.js';
import { pciAddress } from './pci-address.js';
import type { Element } from './xml.js';

interface Where {
  readonly version: number;
  readonly numaNode: number | undefined;
}

/** A PCIDev of hwloc with what hangs below it. Nothing when it does not say where or what it is. */
export function readDevice(element: Element, { version, numaNode }: Where): FoundDevice[] {
  const { attributes } = element;
  const pci = pciAddress(attributes.get('pci_busid') ?? '');
  const type = /^([0-9a-f]{4}) \[([0-9a-f]{4}):([0-9a-f]{4})\]/i.exec(
    attributes.get('pci_type') ?? '',
  );
  if (pci === undefined || type === null) return [];
  const [classCode, vendor, device] = type.slice(1).map((digits) => Number.parseInt(digits, 16));
  const systems = systemDevices(element, version);
  const gpuModel = systems.find(({ infos }) => infos.get('GPUModel'))?.infos.get('GPUModel');
  const name = infosOf(element).get('PCIDevice') ?? attributes.get('name') ?? '';
  return [
    {
      pci,
      classCode: classCode!,
      vendor: vendor!,
      device: device!,
      numaNode,
      linkGbps: linkGbpsOf(attributes.get('pci_link_speed')),
      ports: systems.flatMap(portOf),
      computes: systems.some(computes),
      ...(gpuModel !== undefined && { gpuModel }),
      ...(/virtual function|\bVF\b/i.test(name) && { virtualOf: 'unknown' }),
    },
  ];
}

const bitsPerByte = 8;

/** hwloc gives GB/s in one direction, and 0 for what it does not know. */
export function linkGbpsOf(gigabytesPerSecond: string | undefined): number | undefined {
  const value = Number(gigabytesPerSecond ?? 0);
  return Number.isFinite(value) && value > 0 ? Number((value * bitsPerByte).toFixed(3)) : undefined;
}

interface SystemDevice {
  readonly name: string;
  readonly kind: 'gpu' | 'network' | 'rdma' | 'other';
  readonly infos: ReadonlyMap<string, string>;
}

/** The operating system's names for a device; one may hang below another. */
const systemDevices = (element: Element, version: number): SystemDevice[] =>
  element.children
    .filter((child) => child.attributes.get('type') === 'OSDev')
    .flatMap((child) => [
      {
        name: child.attributes.get('name') ?? '',
        kind: kindOf(child, version),
        infos: infosOf(child),
      },
      ...systemDevices(child, version),
    ]);

const infosOf = (element: Element): Map<string, string> =>
  new Map(
    element.children
      .filter((child) => child.name === 'info')
      .map(({ attributes }) => [attributes.get('name') ?? '', attributes.get('value') ?? '']),
  );

/** Up to hwloc 2 a number, from 3 on a set of bits: one device may be several things. */
const kindsByNumber = new Map([
  [1, 'gpu'],
  [2, 'network'],
  [3, 'rdma'],
  [5, 'gpu'],
] as const);
const kindsByBit = [
  [1 << 5, 'rdma'],
  [1 << 4, 'network'],
  [1 << 3, 'gpu'],
  [1 << 2, 'gpu'],
] as const;
const bitsSinceVersion = 3;

function kindOf({ attributes }: Element, version: number): SystemDevice['kind'] {
  const text = attributes.get('osdev_type') ?? attributes.get('osdev_types');
  const type = Number(text ?? Number.NaN);
  if (version < bitsSinceVersion) {
    return kindsByNumber.get(type as 1) ?? 'other';
  }
  return kindsByBit.find(([bit]) => type & bit)?.[1] ?? 'other';
}

const portActive = '4';

function portOf({ name, kind, infos }: SystemDevice): FoundPort[] {
  if (name === '' || (kind !== 'rdma' && kind !== 'network')) return [];
  const states = [...infos].filter(([key]) => /^Port\d+State$/.test(key)).map(([, state]) => state);
  const up = states.length === 0 ? undefined : states.includes(portActive);
  return [{ name, kind, ...(up !== undefined && { up }) }];
}

/** Every graphics card has nodes for drawing (`card0`, `renderD128`); these names are given to those that compute. */
function computes({ name, kind, infos }: SystemDevice): boolean {
  if (kind !== 'gpu') return false;
  if (/^opencl\d/.test(name)) return infos.get('OpenCLDeviceType') !== 'CPU';
  return /^(?:cuda|nvml|rsmi|ze)\d/.test(name);
}
