import { Marked } from './marked.js';
import { type AttachedHost, type Network, networkOf, unnamedSpine } from './network.js';

/**
 * What `aws ec2 describe-instance-topology` prints: for each instance its network nodes from top to bottom. Hosts run
 * under their instance id, or under the private DNS name that `describe-instances` has, in the same document.
 */
export function readEc2Topology(text: string, file: string): Network {
  const root = Marked.parse(text, file);
  const instances = root.get('Instances', 'an EC2 placement document');
  if (instances === undefined) throw root.bad('an EC2 placement document needs "Instances"');
  const dnsNames = dnsNamesIn(root);
  const hosts = instances.items('"Instances"').map((instance): AttachedHost => {
    const id = textOf(instance, 'InstanceId');
    const nodes = instance.get('NetworkNodes', 'an instance')?.items('"NetworkNodes"') ?? [];
    const [leaf, spine] = nodes.map((node) => node.text('a network node')).reverse();
    if (leaf === undefined) throw instance.bad(`instance ${id} has no "NetworkNodes"`);
    const dns = dnsNames.get(id);
    return {
      names: dns === undefined ? [id] : [dns, id],
      leaf,
      spine: spine ?? unnamedSpine,
      line: instance.line,
    };
  });
  return networkOf(file, hosts);
}

/** Of `describe-instances`, by instance. */
function dnsNamesIn(root: Marked): Map<string, string> {
  const reservations = root
    .get('Reservations', 'an EC2 placement document')
    ?.items('"Reservations"');
  const instances = (reservations ?? []).flatMap(
    (one) => one.get('Instances', 'a reservation')?.items('"Instances"') ?? [],
  );
  // An instance that was terminated has an empty name.
  return new Map(
    instances.flatMap((one) => {
      const name = one.get('PrivateDnsName', 'an instance')?.maybeText();
      return name === undefined ? [] : [[textOf(one, 'InstanceId'), name] as const];
    }),
  );
}

function textOf(instance: Marked, key: string): string {
  const value = instance.get(key, 'an instance');
  if (value === undefined) throw instance.bad(`an instance needs "${key}"`);
  return value.text(`"${key}"`);
}
