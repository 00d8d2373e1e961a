import {
  bridge,
  device,
  efa,
  ethernet,
  gpu,
  h100,
  host,
  hwloc2,
  mlx5,
  type Node,
  osdev,
  type Part,
} from './hwloc-xml.js';

/** Machines in the shapes that clusters have; numbers of things are theirs, addresses are made up. */

const hex = (value: number): string => value.toString(16).padStart(2, '0');

/** One switch below a host bridge; each device is below a port of its own. */
function switched(bus: number, devices: readonly ((pci: string) => Part)[]): Part {
  const ports = devices.map((make, i) =>
    bridge(`0000:${hex(bus + 1)}:${hex(i)}.0`, [make(`0000:${hex(bus + 2 + i)}:00.0`)]),
  );
  return host(`0000:[${hex(bus)}-${hex(bus + 15)}]`, [bridge(`0000:${hex(bus)}:00.0`, ports)]);
}

const halves = (switches: readonly Part[]): Node[] => [
  { node: 0, cores: [0, 1, 2, 3, 4, 5, 6, 7], inside: switches.slice(0, switches.length / 2) },
  { node: 1, cores: [8, 9, 10, 11, 12, 13, 14, 15], inside: switches.slice(switches.length / 2) },
];

const eight = Array.from({ length: 8 }, (_, i) => i);
const four = Array.from({ length: 4 }, (_, i) => i);

export const p5Nodes = halves(
  eight.map((i) =>
    switched(16 * (i + 1), [
      (pci) => ethernet(pci, `eth${i}`),
      ...four.map((k) => (pci: string) => efa(pci, `rdmap${4 * i + k}`)),
      h100,
    ]),
  ),
);
/** 1 GPU and 4 EFA devices on each of 8 switches, and an ordinary interface. */
export const p5 = hwloc2(p5Nodes);

/** 2 GPUs and 4 EFA devices on each of 4 switches. */
export const p5en = hwloc2(
  halves(
    four.map((i) =>
      switched(16 * (i + 1), [
        (pci) => gpu(pci, '10de:2335'),
        (pci) => gpu(pci, '10de:2335'),
        ...four.map((k) => (pci: string) => efa(pci, `rdmap${4 * i + k}`, 'efa2')),
      ]),
    ),
  ),
);

/** 2 GPUs and 2 EFA devices on each of 4 switches. */
export const p6b200 = hwloc2(
  halves(
    four.map((i) =>
      switched(16 * (i + 1), [
        gpu,
        gpu,
        (pci) => efa(pci, `rdmap${2 * i}`, 'efa3'),
        (pci) => efa(pci, `rdmap${2 * i + 1}`, 'efa3'),
      ]),
    ),
  ),
);

/** 2 GPUs and 1 EFA device on each of 4 host bridges, without a switch. */
export const p4d = hwloc2(
  halves(
    four.map((i) =>
      host(`0000:[${hex(16 * (i + 1))}-ff]`, [
        efa(`0000:${hex(16 * (i + 1))}:1b.0`, `rdmap${i}`, 'efa0'),
        gpu(`0000:${hex(16 * (i + 1))}:1c.0`, '10de:20b0'),
        gpu(`0000:${hex(16 * (i + 1))}:1d.0`, '10de:20b0'),
      ]),
    ),
  ),
);

/** Switches of two GPUs and two NICs, further NICs for storage behind no GPU, NVSwitches, and a card for a screen. */
export const dgx = hwloc2([
  {
    node: 0,
    cores: [0, 1, 2, 3],
    inside: [
      switched(0x10, [
        (pci) => mlx5(pci, 'mlx5_0'),
        gpu,
        (pci) => device(pci, '0680 10de:22a3'),
        gpu,
        (pci) => mlx5(pci, 'mlx5_1'),
      ]),
      switched(0x40, [(pci) => mlx5(pci, 'mlx5_2'), (pci) => device(pci, '0108 144d:a824')]),
      host('0000:[00-0f]', [
        device('0000:02:00.0', '0300 1a03:2000', { inside: [osdev('card0', 1)] }),
      ]),
    ],
  },
  {
    node: 1,
    cores: [4, 5, 6, 7],
    inside: [
      switched(0x80, [(pci) => mlx5(pci, 'mlx5_3'), gpu, gpu, (pci) => mlx5(pci, 'mlx5_4')]),
    ],
  },
]);

/** A laptop: graphics that compute nothing, one interface. */
export const laptop = hwloc2([
  {
    node: 0,
    cores: [0, 1],
    inside: [
      host('0000:[00-02]', [
        device('0000:00:02.0', '0300 8086:46a6', { inside: [osdev('card0', 1)] }),
        device('0000:00:14.0', '0c03 8086:51ed', { inside: [osdev('enx00', 2)] }),
        bridge('0000:00:1c.0', [ethernet('0000:01:00.0', 'wlp1s0', '8086:2725')]),
      ]),
    ],
  },
]);

/** A guest in which every device has a domain of its own, and NICs are virtual functions. */
export const guest = hwloc2(
  [0, 1].map((node) => ({
    node,
    cores: [2 * node, 2 * node + 1],
    inside: [0, 1].flatMap((i) => [
      host(`000${1 + 2 * node + i}:[00-00]`, [gpu(`000${1 + 2 * node + i}:00:00.0`)]),
      host(`010${1 + 2 * node + i}:[00-00]`, [
        mlx5(`010${1 + 2 * node + i}:00:02.0`, `mlx5_${2 * node + i}`),
      ]),
    ]),
  })),
);
