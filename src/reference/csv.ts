import { WeftError } from '../errors.js';
import { parseBytes } from '../measure/units.js';
import { maxWorld } from '../plan/plan.js';

/** A time that somebody measured: a row of a result table. */
export interface Figure {
  readonly benchmark: string;
  readonly nodes: number;
  readonly ranksPerNode: number;
  readonly column: string;
  readonly bytes: number;
  readonly nanoseconds: number;
}

const needed = ['benchmark', 'nodes', 'config', 'size_bytes', 'lat_us'] as const;
const hint = `The first line names the columns: ${needed.join(', ')}; ranks_per_node is optional.`;

/** Reads a table of measured times. Columns that are not needed are ignored. `name` is for the error. */
export function readFigures(text: string, name: string): Figure[] {
  const [head = '', ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const heads = head.split(',').map((one) => one.trim());
  const missing = needed.filter((one) => !heads.includes(one));
  if (missing.length > 0) {
    throw new WeftError('BAD_FILE', `${name} has no column ${missing.join(', ')}`, { hint });
  }
  return lines.map((line, index) => {
    const cells = line.split(',');
    const cell = (key: string) => (cells[heads.indexOf(key)] ?? '').trim();
    const bad = (what: string) =>
      new WeftError('BAD_FILE', `${name}, line ${index + 2}: ${what}`, { hint });
    const number = (key: string) => {
      const value = Number(cell(key));
      if (cell(key) !== '' && value > 0 && Number.isFinite(value)) return value;
      throw bad(`${key} "${cell(key)}" is not a number above 0`);
    };
    const nodes = number('nodes');
    const ranksPerNode = heads.includes('ranks_per_node') ? number('ranks_per_node') : 1;
    const whole = Number.isInteger(nodes) && Number.isInteger(ranksPerNode);
    if (!whole || nodes * ranksPerNode > maxWorld) {
      throw bad(`${nodes} nodes with ${ranksPerNode} ranks each are not 1 to ${maxWorld} ranks`);
    }
    return {
      benchmark: cell('benchmark'),
      nodes,
      ranksPerNode,
      column: cell('config'),
      bytes: parseBytes(cell('size_bytes')),
      nanoseconds: number('lat_us') * 1000,
    };
  });
}
