import { WeftError } from '../errors.js';
import { nftIn, tcIn, tool } from './commands.js';
import { hostSpace, nicName, portName, switchSpace } from './names.js';
import { burstBytes } from './spec.js';
import type { Fault, LabSpec, LabState } from './state.js';

/** The tc lines that shape one side of a cable. */
export function shapeLines(device: string, spec: LabSpec, bitsPerSecond: number): string[] {
  const bucket = `tbf rate ${bitsPerSecond}bit burst ${burstBytes(spec.mtu)} latency ${spec.queueMs}ms`;
  if (spec.delayMs === undefined) return [`qdisc replace dev ${device} root ${bucket}`];
  const inFlight = Math.ceil((bitsPerSecond * (spec.delayMs + spec.queueMs)) / 8e3 / 64) + 1000;
  return [
    `qdisc replace dev ${device} root handle 1: netem delay ${spec.delayMs}ms limit ${inFlight}`,
    `qdisc replace dev ${device} parent 1:1 handle 10: ${bucket}`,
  ];
}

/** Gives one NIC (what the host sends), its switch port (what it receives) or both a rate. */
export function shape(
  { name, spec }: Pick<LabState, 'name' | 'spec'>,
  { host, nic, direction }: Pick<Fault, 'host' | 'nic' | 'direction'>,
  bits: number,
): void {
  if (direction !== 'in') tcIn(hostSpace(name, host), shapeLines(nicName(nic), spec, bits));
  if (direction !== 'out') tcIn(switchSpace(name), shapeLines(portName(host, nic), spec, bits));
}

/** Delay needs netem, which not every kernel has. Tried in the switch, before anything is shaped. */
export function requireNetem(space: string): void {
  try {
    tool('tc', ['-n', space, 'qdisc', 'replace', 'dev', 'lo', 'root', 'netem', 'delay', '1ms']);
    tool('tc', ['-n', space, 'qdisc', 'delete', 'dev', 'lo', 'root']);
  } catch (cause) {
    throw new WeftError('UNSUPPORTED', '`delayMs` needs netem, which this kernel lacks', {
      hint: 'Omit `delayMs`, or use a kernel with CONFIG_NET_SCH_NETEM (module sch_netem).',
      cause,
    });
  }
}

const grain = 1e6;

/**
 * Drops frames at random where they cross the switch, in both directions. All rules are made anew from the state, so
 * that healing is the same as never having been ill.
 */
export function applyLoss({ name, spec, faults }: LabState): void {
  const rules: string[] = [];
  for (let host = 0; host < spec.hosts; host++) {
    for (let nic = 0; nic < spec.nics; nic++) {
      const fault = faults.find((one) => one.host === host && one.nic === nic);
      const percent = fault?.lossPercent ?? spec.lossPercent ?? 0;
      if (percent > 0) rules.push(...lossRules(portName(host, nic), percent, fault?.direction));
    }
  }
  const table = 'table bridge weft_lab';
  const chain = ['type filter hook forward priority 0; policy accept', ...rules].join('\n');
  const fresh = rules.length === 0 ? '' : `${table} {\nchain loss {\n${chain}\n}\n}\n`;
  nftIn(switchSpace(name), `${table}\ndelete ${table}\n${fresh}`);
}

function lossRules(port: string, percent: number, direction: Fault['direction']): string[] {
  const share = Math.round((percent / 100) * grain);
  const unlucky = share >= grain ? 'drop' : `numgen random mod ${grain} < ${share} drop`;
  const sent = `iifname "${port}" ${unlucky}`;
  const received = `oifname "${port}" ${unlucky}`;
  return [...(direction === 'in' ? [] : [sent]), ...(direction === 'out' ? [] : [received])];
}

export const hasLoss = ({ spec, faults }: LabState): boolean =>
  spec.lossPercent !== undefined || faults.some((fault: Fault) => fault.lossPercent !== undefined);
