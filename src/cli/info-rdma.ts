import type { Inspection } from '../fabric/inspect.js';
import type { EfaFacts, RdmaFacts } from '../fabric/rdma-facts.js';
import { groupBy } from '../measure/group.js';
import { formatBytesRounded } from '../measure/units.js';

type InspectedNic = Inspection['nics'][number];

/** What the end of a NIC's line says of an RDMA port: the GIDs of RoCE, and why it is down. */
export function portWords({ up, device }: InspectedNic): string[] {
  if (device === undefined) return [];
  const gids = device.gids.flatMap(({ index, type }) => (type ? [`${index} ${type}`] : []));
  return [
    ...(up || device.portState === undefined ? [] : [`port ${device.portState}`]),
    ...(gids.length === 0 ? [] : [`GID ${gids.join(', ')}`]),
  ];
}

/** The EFA devices of this machine, and the software below them. */
export function efaLines({ nics, efa }: Pick<Inspection, 'nics' | 'efa'>): string[] {
  if (efa === undefined) return [];
  const devices = nics.filter(({ device }) => device?.driver === 'efa');
  const kinds = groupBy(devices, ({ device, emulated }) =>
    [kindOf(device!, emulated), abilities(device!)].join('\n'),
  );
  return [
    ...[...kinds].flatMap(([words, alike]) => `${alike.length} × ${words}`.split('\n')),
    `installer ${efa.installer ?? 'not found'}, driver ${efa.driver ?? 'not loaded'}`,
  ];
}

function kindOf(
  { deviceId = 'of unknown type', maxMessageBytes }: RdmaFacts,
  emulated = false,
): string {
  const longest =
    maxMessageBytes === undefined ? '' : `, messages up to ${formatBytesRounded(maxMessageBytes)}`;
  return `${emulated ? 'emulated ' : ''}device ${deviceId}${longest}`;
}

function abilities({ rdma, unsolicitedWrites }: RdmaFacts): string {
  if (rdma === undefined) return 'RDMA read and write: unknown (libfabric 2.1 or newer reports it)';
  if (!rdma) return 'no RDMA write in hardware';
  return `RDMA read and write, ${unsolicitedWrites ? '' : 'no '}unsolicited writes`;
}

/** Whether kernels on a GPU could post to EFA devices themselves. */
export function gpuPostingLines({ gpuPosting }: EfaFacts): string[] {
  const unmet = gpuPosting.filter(({ met }) => !met);
  if (unmet.length === 0) return ['possible on efa-direct'];
  return unmet.map(
    ({ what, needed, found }) =>
      `needs ${what} ${needed} (${found === undefined ? 'not found' : `found ${found}`})`,
  );
}

/** In the words of `weft.info/1`; what nobody says is null. */
export function rdmaJson(device: RdmaFacts) {
  const { driver, deviceId, portState, linkLayer, maxMessageBytes, rdma, gids } = device;
  return {
    driver: driver ?? null,
    deviceId: deviceId ?? null,
    portState: portState ?? null,
    linkLayer: linkLayer ?? null,
    maxMessageBytes: maxMessageBytes ?? null,
    rdma: rdma ?? null,
    unsolicitedWrites: device.unsolicitedWrites ?? null,
    gids: gids.map(({ index, gid, type }) => ({ index, gid, type: type ?? null })),
  };
}

export const efaJson = (efa: EfaFacts | undefined) =>
  efa === undefined
    ? null
    : {
        installer: efa.installer ?? null,
        driver: efa.driver ?? null,
        gpuPosting: efa.gpuPosting.map((need) => ({ ...need, found: need.found ?? null })),
      };
