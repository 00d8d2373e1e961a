import { readFileSync } from 'node:fs';
import { WeftError } from '../errors.js';
import { ipIn, tcIn, tool } from './commands.js';
import { plantHosts, requireEfa } from './efa/hosts.js';
import { bridge, buildLeaves, switchOf } from './leaves.js';
import {
  hostSpace,
  management,
  nicName,
  portName,
  railAddress,
  railName,
  railNetwork,
  spacesOf,
  switchSpace,
} from './names.js';
import { applyLoss, requireNetem, shapeLines } from './shape.js';
import { burstBytes } from './spec.js';
import type { LabSpec, LabState } from './state.js';

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Makes the namespaces, cables, shapers and addresses of a lab. On failure pieces are left: the caller removes. */
export function build(state: LabState): void {
  const { name, spec } = state;
  requireCongestion(spec.congestion);
  requireEfa(state);
  const spaces = spacesOf(name, spec.hosts).map((space) => `netns add ${space}`);
  tool('ip', ['-batch', '-'], `${spaces.join('\n')}\n`);
  const center = switchSpace(name);
  if (spec.delayMs !== undefined) requireNetem(center);
  ipIn(center, [
    'link set lo up',
    ...range(spec.nics).flatMap((nic) => bridge(railName(nic), spec)),
  ]);
  ipIn(center, bridge(management.bridge, spec));
  if (spec.leaves !== undefined) buildLeaves(state, spec.leaves);
  const nics = range(spec.nics);
  for (const host of range(spec.hosts)) {
    const space = hostSpace(name, host);
    ipIn(space, hostLines(host, spec, center));
    tcIn(
      space,
      nics.flatMap((nic) => shapeLines(nicName(nic), spec, spec.bitsPerSecond)),
    );
    ipIn(center, portLines(host, spec));
    tcIn(
      center,
      nics.flatMap((nic) => shapeLines(portName(host, nic), spec, spec.bitsPerSecond)),
    );
    // The switch's side came up after the routes were made: they are set again, with their congestion control.
    ipIn(
      space,
      nics.map((nic) => routeLine(host, nic, spec)),
    );
  }
  if (spec.lossPercent !== undefined) applyLoss(state);
  plantHosts(state);
}

function requireCongestion(name: string): void {
  const path = '/proc/sys/net/ipv4/tcp_available_congestion_control';
  const known = readFileSync(path, 'utf8').trim().split(' ');
  if (known.includes(name)) return;
  throw new WeftError('UNSUPPORTED', `this kernel does not offer congestion control "${name}"`, {
    hint: `Choose one of ${known.join(', ')} with \`congestion\`.`,
  });
}

/** The host's end of its cables, told what they are: see `parseAlias` in fabric/nics.ts. */
function hostLines(host: number, spec: LabSpec, center: string): string[] {
  const line = `weft:rate=${spec.bitsPerSecond},burst=${burstBytes(spec.mtu)}`;
  const cable = (nic: string, port: string, address: string, alias: string) => [
    `link add ${nic} mtu ${spec.mtu} type veth peer name ${port} mtu ${spec.mtu} netns ${center}`,
    `link set ${nic} alias ${alias} addrgenmode none up`,
    `address add ${address}/24 dev ${nic}`,
  ];
  return [
    'link set lo up',
    ...range(spec.nics).flatMap((nic) =>
      cable(nicName(nic), portName(host, nic), railAddress(host, nic), line),
    ),
    ...cable(management.nic, management.port(host), management.address(host), 'weft:management'),
  ];
}

const portLines = (host: number, spec: LabSpec): string[] => [
  ...range(spec.nics).map(
    (nic) =>
      `link set ${portName(host, nic)} master ${switchOf(host, nic, spec)} addrgenmode none up`,
  ),
  `link set ${management.port(host)} master ${management.bridge} addrgenmode none up`,
];

const routeLine = (host: number, nic: number, { congestion }: LabSpec): string =>
  `route replace ${railNetwork(nic)} dev ${nicName(nic)} proto kernel scope link ` +
  `src ${railAddress(host, nic)} congctl ${congestion}`;
