import { Marked } from './marked.js';
import { type AttachedHost, listAt, type Network, networkOf, unnamedSpine } from './network.js';

/** Our own format: `leaves` with their hosts and, where there are several, `spines` with their leaves. */
export function readTopologyYaml(text: string, file: string): Network {
  const root = Marked.parse(text, file);
  const top = root.entries('a network description');
  for (const [key, value] of top) {
    if (key !== 'leaves' && key !== 'spines') throw value.bad(`unknown key ${key}`);
  }
  const part = (key: string) => top.find(([name]) => name === key)?.[1];
  const leaves = part('leaves');
  if (leaves === undefined) throw root.bad('a network description needs "leaves"');
  const listOf = (one: Marked, what: string) => listAt(file, one.line, one.text(what));
  const named = leaves.entries('"leaves"');
  const leafNames = new Set(named.map(([leaf]) => leaf));
  const spineOf = new Map<string, string>();
  for (const [spine, value] of part('spines')?.entries('"spines"') ?? []) {
    for (const at of value.texts(`the leaves of ${spine}`)) {
      for (const name of listOf(at, `the leaves of ${spine}`)) {
        if (!leafNames.has(name)) throw at.bad(`leaf ${name} has no hosts`);
        const other = spineOf.get(name);
        if (other !== undefined) throw at.bad(`leaf ${name} is below both ${other} and ${spine}`);
        spineOf.set(name, spine);
      }
    }
  }
  function* hosts(): Generator<AttachedHost> {
    for (const [leaf, value] of named) {
      const spine = part('spines') === undefined ? unnamedSpine : spineOf.get(leaf);
      if (spine === undefined) throw value.bad(`leaf ${leaf} is below no spine`);
      for (const one of value.texts(`the hosts of ${leaf}`)) {
        for (const name of listOf(one, `the hosts of ${leaf}`)) {
          yield { names: [name], leaf, spine, line: one.line };
        }
      }
    }
  }
  return networkOf(file, hosts());
}
