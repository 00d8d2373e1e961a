import { fabrics } from '../../reference/fabrics.js';
import { machineByName } from '../../reference/machines.js';
import { labMachine } from '../../results/host-facts.js';
import type { RunHeader } from '../../results/schema.js';
import type { FabricModel } from '../../simulate/fabric-model.js';

/** Where a run was measured, as far as its header says. Labs and emulated devices are no machines. */
export type Place =
  | { readonly kind: 'machine'; readonly name: string }
  | { readonly kind: 'lab' | 'emulated' }
  | { readonly kind: 'unknown'; readonly product?: string };

type Header = Pick<RunHeader, 'world' | 'fabric'>;

export function placeOf({ world, fabric }: Header): Place {
  const { machine, firmware, gpus } = world.facts ?? {};
  if (machine === labMachine) return { kind: 'lab' };
  if (fabric.emulated || String(machine).startsWith('emulated')) return { kind: 'emulated' };
  if (typeof machine === 'string') {
    const known = machineByName(machine);
    if (known) return { kind: 'machine', name: known.name };
  }
  // Firmware of ConnectX-7 has versions 28.x. No cloud's product name tells of it.
  if (typeof firmware === 'string' && firmware.startsWith('28.') && gpus === '8') {
    return { kind: 'machine', name: 'ConnectX-7' };
  }
  return { kind: 'unknown', ...(typeof machine === 'string' && { product: machine }) };
}

/** The model of what a run was measured on: the same kind of machine, with NICs of the same rate. */
export function fabricOf(header: Header): FabricModel | undefined {
  const place = placeOf(header);
  const { provider, channels } = header.fabric;
  return fabrics.find(({ name, lineRateGbps }) => {
    const rated = channels.every((channel) => channel.lineRateGbps === lineRateGbps);
    if (channels.length === 0 || !rated) return false;
    if (place.kind === 'lab') return name === 'lab';
    const isOwn = place.kind === 'machine' && machineByName(name)?.name === place.name;
    return isOwn && /^efa\b/.test(provider ?? '');
  });
}

/** Why a model says nothing about a run; undefined where it may. A lab and a real machine are never compared. */
export function strangerTo(header: Header, { name }: FabricModel): string | undefined {
  const { kind } = placeOf(header);
  const machine = machineByName(name)?.name;
  if (machine !== undefined && kind === 'emulated') return `emulated devices are no ${machine}`;
  if (machine !== undefined && kind === 'lab') return `a lab is no ${machine}`;
  if (name === 'lab' && kind === 'machine') return 'it is a model of a lab';
  return undefined;
}
