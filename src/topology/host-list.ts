import { WeftError } from '../errors.js';

/** More hosts than any cluster has; a range such as `n[0-999999999]` must not fill the memory. */
export const mostHosts = 100_000;

const bad = (text: string, what: string) =>
  new WeftError('BAD_USAGE', `cannot read the host list "${text}": ${what}`, {
    hint: 'Expected Slurm syntax such as node[1-3,7] or a[1-2]b[01-04],c.',
  });

/** `1-3,7` to 1, 2, 3, 7; `08-10` to 08, 09, 10: the width of the first number is kept. */
function expandRanges(text: string, body: string): string[] {
  return body.split(',').flatMap((range) => {
    const match = /^(\d+)(?:-(\d+))?$/.exec(range.trim());
    if (match === null) throw bad(text, `"${range}" is not a number or a range`);
    const first = match[1] ?? '';
    const from = Number(first);
    const to = Number(match[2] ?? first);
    if (to < from || to - from >= mostHosts) throw bad(text, `"${range}" is not a valid range`);
    return Array.from({ length: to - from + 1 }, (_, i) =>
      String(from + i).padStart(first.length, '0'),
    );
  });
}

/** Expands Slurm's host list syntax, in its order: `a[1-2]b[3-4]` varies the last bracket fastest. */
export function expandHostList(text: string): string[] {
  const hosts: string[] = [];
  if (!/^([^[\]]|\[[^[\]]*\])*$/.test(text)) throw bad(text, 'brackets do not match');
  // At the commas that stand outside brackets.
  for (const part of text.split(/,(?![^[]*\])/).map((one) => one.trim())) {
    if (part === '') throw bad(text, 'a name is empty');
    let names = [''];
    for (const piece of part.matchAll(/\[([^\]]*)\]|([^[]+)/g)) {
      const endings = piece[1] === undefined ? [piece[2] ?? ''] : expandRanges(text, piece[1]);
      if (names.length * endings.length > mostHosts) throw bad(text, 'too many hosts');
      names = names.flatMap((name) => endings.map((ending) => name + ending));
    }
    hosts.push(...names);
    if (hosts.length > mostHosts) throw bad(text, 'too many hosts');
  }
  return hosts;
}

/** Slurm's tasks per node: `2(x3),1` to 2, 2, 2, 1. */
export function expandTasksPerNode(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const match = /^(\d+)(?:\(x(\d+)\))?$/.exec(part.trim());
    const times = Number(match?.[2] ?? 1);
    if (match === null || times > mostHosts) {
      throw new WeftError('BAD_USAGE', `cannot read the tasks per node "${text}"`, {
        hint: 'Expected Slurm syntax such as 2(x4),1.',
      });
    }
    return new Array<number>(times).fill(Number(match[1]));
  });
}
