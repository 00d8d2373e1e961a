import { WeftError } from '../errors.js';
import { ipIn } from './commands.js';
import { setDeviceFaults } from './efa/hosts.js';
import { portName, switchSpace } from './names.js';
import { applyLoss, hasLoss, shape } from './shape.js';
import { changeState, type Fault, type LabState } from './state.js';

const sameNic = (a: Pick<Fault, 'host' | 'nic'>, b: Pick<Fault, 'host' | 'nic'>): boolean =>
  a.host === b.host && a.nic === b.nic;

/** Breaks one NIC on purpose, also under a running benchmark; faults of one NIC add up. */
export const addFault = ({ name }: LabState, fault: Fault): LabState =>
  changeState(name, (state) => withFault(state, fault));

function withFault(state: LabState, fault: Fault): LabState {
  const { bitsPerSecond, lossPercent, down, device } = fault;
  checkPlace(state, fault);
  if (bitsPerSecond === undefined && lossPercent === undefined && !down && !device) {
    throw new WeftError('BAD_USAGE', 'no fault given', {
      hint: 'Use `bitsPerSecond`, `lossPercent`, `down` or `device`.',
    });
  }
  if (device && state.spec.efa === undefined) {
    throw new WeftError('BAD_USAGE', `lab ${state.name} has no EFA devices`, {
      hint: 'Build it with `efa`.',
    });
  }
  const before = state.faults.find((one) => sameNic(one, fault));
  const others = state.faults.filter((one) => !sameNic(one, fault));
  const merged = {
    ...before,
    ...fault,
    ...(device && { device: { ...before?.device, ...device } }),
  };
  const next = { ...state, faults: [...others, merged] };
  if (bitsPerSecond !== undefined) shape(state, fault, bitsPerSecond);
  if (lossPercent !== undefined) applyLoss(next);
  if (down) setPort(state.name, fault, 'down');
  if (device) setDeviceFaults(state, fault, merged.device ?? {});
  return next;
}

/** Mends a NIC, a host's NICs, or all. */
export const heal = ({ name }: LabState, where: { host?: number; nic?: number } = {}): LabState =>
  changeState(name, (state) => healed(state, where));

function healed(state: LabState, where: { host?: number; nic?: number }): LabState {
  const { name, spec } = state;
  const mended = state.faults.filter(
    ({ host, nic }) => (where.host ?? host) === host && (where.nic ?? nic) === nic,
  );
  const next = { ...state, faults: state.faults.filter((fault) => !mended.includes(fault)) };
  for (const fault of mended) {
    const { host, nic } = fault;
    // Both ways: an earlier fault of the same NIC may have been the other way.
    if (fault.bitsPerSecond !== undefined) shape(state, { host, nic }, spec.bitsPerSecond);
    if (fault.down) setPort(name, fault, 'up');
    if (fault.device) setDeviceFaults(state, fault, {});
  }
  if (hasLoss(state)) applyLoss(next);
  return next;
}

/** At the switch: the host sees its cable pulled. */
const setPort = (lab: string, { host, nic }: Fault, to: 'up' | 'down') =>
  ipIn(switchSpace(lab), [`link set ${portName(host, nic)} ${to}`]);

function checkPlace({ name, spec }: LabState, { host, nic }: Fault): void {
  const inside = (value: number, count: number) => value >= 0 && value < count;
  if (inside(host, spec.hosts) && inside(nic, spec.nics)) return;
  throw new WeftError('BAD_USAGE', `lab ${name} has no NIC ${nic} on host ${host}`, {
    hint: `Hosts are 0 to ${spec.hosts - 1}, NICs 0 to ${spec.nics - 1}.`,
  });
}
