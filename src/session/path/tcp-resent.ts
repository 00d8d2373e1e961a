import { readFileSync } from 'node:fs';

/** TCP segments this host (network namespace) has sent again since it began; undefined where that is not told. */
export function tcpResent(): number | undefined {
  try {
    return parseResent(readFileSync('/proc/net/snmp', 'utf8'));
  } catch {
    return undefined;
  }
}

/** The kernel writes a line of names and one of values for each protocol. */
export function parseResent(text: string): number | undefined {
  const [names, values] = text
    .split('\n')
    .filter((line) => line.startsWith('Tcp:'))
    .map((line) => line.split(' '));
  const column = names?.indexOf('RetransSegs') ?? -1;
  const value = column < 0 ? Number.NaN : Number(values?.[column]);
  return Number.isFinite(value) ? value : undefined;
}
