/** Fields of the command array, as native/port-binding.cc reads them. */
const field = {
  kind: 0,
  endpoint: 1,
  peer: 2,
  region: 3,
  offset: 4,
  bytes: 5,
  remote: 6,
  remoteOffset: 7,
  data: 8,
  flags: 9,
} as const;

/** What an operation does. */
export const operationKind = { write: 0, send: 1, recv: 2, read: 3 } as const;
const flag = { hasData: 1, delivered: 2 } as const;
export const commandWords = 16;

/** One operation to post. */
export interface Command {
  readonly kind: number;
  readonly endpoint: number;
  readonly peer: number;
  readonly region: number;
  readonly offset: number;
  readonly bytes: number;
  readonly remote: number;
  readonly remoteOffset: number;
  /** An immediate; undefined for none. */
  readonly data: number | undefined;
}

/** Lays the command out for the addon; numbers only, because every argument of a call costs. */
export function encodeCommand(command: Command, fields: Float64Array): void {
  fields[field.kind] = command.kind;
  fields[field.endpoint] = command.endpoint;
  fields[field.peer] = command.peer;
  fields[field.region] = command.region;
  fields[field.offset] = command.offset;
  fields[field.bytes] = command.bytes;
  fields[field.remote] = command.remote;
  fields[field.remoteOffset] = command.remoteOffset;
  fields[field.data] = command.data ?? 0;
  const delivered = command.kind === operationKind.write ? flag.delivered : 0;
  fields[field.flags] = (command.data === undefined ? 0 : flag.hasData) | delivered;
}
