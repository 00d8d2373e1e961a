import type { FoundDevice } from './found.js';

type Role = 'gpu' | 'nic' | 'other';

const vendor = {
  nvidia: 0x10de,
  amd: 0x1002,
  amazon: 0x1d0f,
  mellanox: 0x15b3,
  hpe: 0x17db,
} as const;
const baseClassOf = (classCode: number): number => classCode >> 8;

const display = 0x03;
const network = 0x02;
const vga = 0x0300;
const threeD = 0x0302;
const otherDisplay = 0x0380;
const accelerator = 0x1200;
const usb = 0x0c03;
const infiniBand = 0x0207;
const fabricController = 0x0208;
const infiniBandBus = 0x0c06;

/**
 * Boards have display controllers of ASPEED or Matrox that compute nothing, and old ones of AMD; NVSwitches are
 * bridges of NVIDIA. Where the class leaves it open, whoever found the device may know.
 */
export function roleOf(found: FoundDevice): Role {
  if (isGpu(found)) return 'gpu';
  // An adapter plugged into USB is named below the USB controller, which is no NIC.
  const named = found.ports.length > 0 && found.classCode !== usb;
  const known = baseClassOf(found.classCode) === network || isEfa(found) || isInfiniBand(found);
  return known || named ? 'nic' : 'other';
}

function isGpu({ classCode, vendor: by, device, computes, virtualOf }: FoundDevice): boolean {
  if (virtualOf !== undefined && virtualOf !== 'unknown') return false; // a slice of a GPU that is here itself
  const drives = [threeD, otherDisplay, accelerator].includes(classCode);
  if (by === vendor.nvidia) return baseClassOf(classCode) === display;
  const knownByNumber = instincts.includes(device);
  if (by === vendor.amd) return drives || (classCode === vga && (computes || knownByNumber));
  return drives && computes;
}

/** Accelerators of AMD that say they drive a screen: MI25, MI50, MI60, MI100. */
const instincts: readonly number[] = [0x6860, 0x66a0, 0x66a1, 0x738c];

/** HPE's Cassini: RDMA of its own kind, though the system knows it only as an interface. */
export const isSlingshot = ({ vendor: by, device }: Pick<FoundDevice, 'vendor' | 'device'>) =>
  by === vendor.hpe && device === 0x0501;

/** Amazon numbers the generations of EFA 0xefa0, 0xefa1, … */
export const isEfa = ({ vendor: by, device }: Pick<FoundDevice, 'vendor' | 'device'>): boolean =>
  by === vendor.amazon && device >> 4 === 0xefa;

export const isInfiniBand = ({ classCode }: Pick<FoundDevice, 'classCode'>): boolean =>
  [infiniBand, fabricController, infiniBandBus].includes(classCode);

/** A card that always can, of which the source names nothing: then the missing name says nothing either. */
export const isNamelessMellanox = ({ vendor: by, ports }: FoundDevice): boolean =>
  by === vendor.mellanox && ports.length === 0;

const others: readonly (readonly [number, string])[] = [
  [0x0108, 'NVMe'],
  [0x0300, 'display'],
  [0x0680, 'NVSwitch'],
];

/** In words for a drawing; undefined for what nobody asks about. */
export function describeOther({ classCode, vendor: by }: FoundDevice): string | undefined {
  if (classCode === 0x0680 && by !== vendor.nvidia) return undefined;
  const known = others.find(([code]) => code === classCode)?.[1];
  if (known !== undefined) return known;
  return baseClassOf(classCode) === 0x01 ? 'storage' : undefined;
}
