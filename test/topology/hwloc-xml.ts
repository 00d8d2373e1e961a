/** Machines as hwloc would describe them, written from a short form. */
export interface Part {
  readonly xml: string;
}

let serial = 0;
const next = () => `gp_index="${++serial}"`;

const object = (attributes: string, inside: readonly Part[] = []): Part => ({
  xml: `<object ${attributes} ${next()}>\n${inside.map(({ xml }) => xml).join('')}</object>\n`,
});

export const info = (name: string, value: string): Part => ({
  xml: `<info name="${name}" value="${value}"/>\n`,
});

export const osdev = (name: string, type: number, infos: readonly Part[] = []): Part =>
  object(`type="OSDev" name="${name}" osdev_type="${type}"`, infos);

export interface DeviceOptions {
  /** GB/s */
  readonly link?: number;
  readonly inside?: readonly Part[];
}

/** `type` as `0302 10de:2330`. */
export function device(pci: string, type: string, { link = 0, inside = [] }: DeviceOptions = {}) {
  const [code, id] = type.split(' ');
  return object(
    `type="PCIDev" pci_busid="${pci}" pci_type="${code} [${id}] [0000:0000] 00" pci_link_speed="${link.toFixed(6)}"`,
    inside,
  );
}

export const bridge = (pci: string, inside: readonly Part[]): Part =>
  object(
    `type="Bridge" bridge_type="1-1" depth="1" bridge_pci="0000:[01-02]" pci_busid="${pci}" pci_type="0604 [1000:c010] [0000:0000] 00" pci_link_speed="0.000000"`,
    inside,
  );

/** `range` as `0000:[44-54]`. */
export const host = (range: string, inside: readonly Part[]): Part =>
  object(`type="Bridge" bridge_type="0-1" depth="0" bridge_pci="${range}"`, inside);

export const h100 = (pci: string): Part =>
  device(pci, '0302 10de:2330', {
    link: 63.015385,
    inside: [
      osdev('cuda0', 5, [info('Backend', 'CUDA'), info('GPUModel', 'NVIDIA H100 80GB HBM3')]),
    ],
  });
export const gpu = (pci: string, id = '10de:2901'): Part => device(pci, `0302 ${id}`);
export const efa = (pci: string, name: string, id = 'efa1'): Part =>
  device(pci, `0200 1d0f:${id}`, { inside: [osdev(name, 3)] });
export const mlx5 = (pci: string, name: string, state = '4'): Part =>
  device(pci, '0207 15b3:1021', { inside: [osdev(name, 3, [info('Port1State', state)])] });
export const ethernet = (pci: string, name: string, id = '1d0f:ec20'): Part =>
  device(pci, `0200 ${id}`, { inside: [osdev(name, 2)] });

const mask = (bits: readonly number[]): string =>
  `0x${bits.reduce((sum, bit) => sum + 2 ** bit, 0).toString(16)}`;

export interface Node {
  readonly node: number;
  readonly cores: readonly number[];
  readonly inside: readonly Part[];
}

const sets = (cores: readonly number[], nodes: readonly number[]) =>
  `cpuset="${mask(cores)}" nodeset="${mask(nodes)}"`;

/** hwloc 2: nodes hang beside what is near them. `loose` hangs below the machine. */
export function hwloc2(nodes: readonly Node[], loose: readonly Part[] = []): string {
  const packages = nodes.map(({ node, cores, inside }) =>
    object(`type="Package" os_index="${node}" ${sets(cores, [node])}`, [
      object(`type="NUMANode" os_index="${node}" ${sets(cores, [node])}`),
      ...inside,
    ]),
  );
  return document('version="2.0"', 'hwloc2.dtd', nodes, [...packages, ...loose]);
}

/** hwloc 1: things are in their node. */
export function hwloc1(nodes: readonly Node[], loose: readonly Part[] = []): string {
  const inNodes = nodes.map(({ node, cores, inside }) =>
    object(`type="NUMANode" os_index="${node}" ${sets(cores, [node])}`, [
      object(`type="Socket" os_index="${node}" ${sets(cores, [node])}`),
      ...inside,
    ]),
  );
  return document('', 'hwloc.dtd', nodes, [...inNodes, ...loose]);
}

function document(
  version: string,
  dtd: string,
  nodes: readonly Node[],
  inside: readonly Part[],
): string {
  const cores = nodes.flatMap((one) => one.cores);
  const all = sets(
    cores,
    nodes.map(({ node }) => node),
  );
  const machine = object(`type="Machine" os_index="0" ${all}`, inside);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "${dtd}">\n<topology ${version}>\n${machine.xml}</topology>\n`;
}
