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
  const members = (value: Marked, what: string) =>
    value
      .texts(what)
      .flatMap((one) => listAt(file, one.line, one.text(what)).map((name) => ({ name, at: one })));
  const named = leaves.entries('"leaves"');
  const spineOf = new Map<string, string>();
  for (const [spine, value] of part('spines')?.entries('"spines"') ?? []) {
    for (const { name, at } of members(value, `the leaves of ${spine}`)) {
      if (!named.some(([leaf]) => leaf === name)) throw at.bad(`leaf ${name} has no hosts`);
      const other = spineOf.get(name);
      if (other !== undefined) throw at.bad(`leaf ${name} is below both ${other} and ${spine}`);
      spineOf.set(name, spine);
    }
  }
  const hosts = named.flatMap(([leaf, value]): AttachedHost[] => {
    const spine = part('spines') === undefined ? unnamedSpine : spineOf.get(leaf);
    if (spine === undefined) throw value.bad(`leaf ${leaf} is below no spine`);
    return members(value, `the hosts of ${leaf}`).map(({ name, at }) => ({
      names: [name],
      leaf,
      spine,
      line: at.line,
    }));
  });
  return networkOf(file, hosts);
}
