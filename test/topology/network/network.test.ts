import { describe, expect, test } from 'vitest';
import { attachmentsOf } from '../../../src/topology/network/network.js';
import { readNetwork } from '../../../src/topology/network/read.js';

/** `host leaf spine` of every host. */
const placesIn = (text: string, file = 'net') =>
  readNetwork(text, file).hosts.map(
    ({ names, leaf, spine }) => `${names.join('=')} ${leaf} ${spine}`,
  );

describe('topology.yaml', () => {
  test('leaves with their hosts, spines with their leaves', () => {
    const text =
      'leaves:\n  leaf0: h[0-1]\n  leaf1: [h2, 007]\nspines:\n  west: leaf0\n  east: leaf1\n';
    expect(placesIn(text)).toEqual([
      'h0 leaf0 west',
      'h1 leaf0 west',
      'h2 leaf1 east',
      '007 leaf1 east',
    ]);
  });

  test('without spines all leaves are below one', () => {
    expect(placesIn('leaves:\n  a: h0\n  b: h1\n')).toEqual(['h0 a spine', 'h1 b spine']);
  });

  test.for([
    ['leaves:\n  a: h[0-', 'net, line 2: cannot read the host list "h[0-": brackets do not match'],
    ['leaves:\n  a: h0\n  b: [h1, h0]', 'net, line 3: host h0 is already attached in line 2'],
    ['leaves:\n  a: h0\nspines:\n  s: b', 'net, line 4: leaf b has no hosts'],
    ['leaves:\n  a: h0\n  b: h1\nspines:\n  s: a', 'net, line 3: leaf b is below no spine'],
    ['leaves:\n  a: h0\nspines:\n  s: a\n  t: a', 'net, line 5: leaf a is below both s and t'],
    ['leaves: 3', 'net, line 1: "leaves" must be a map of names'],
    ['leaves:\n  a: {b: c}', 'net, line 2: the hosts of a must be text'],
    ['leafs:\n  a: h0', 'net, line 1: unknown key leafs'],
    ['spines:\n  a: h0', 'net, line 1: a network description needs "leaves"'],
    ['leaves:\n  a: h0\n a: b', 'net, line 3: '],
    ['', 'net, line 1: a network description must be a map of names'],
    ['leaves: {}', 'net names no host'],
  ] as const)('%j is refused', ([text, message]) => {
    expect(() => readNetwork(text, 'net')).toThrow(message);
  });
});

describe('Slurm’s topology.conf', () => {
  test('of a tree, leaves are switches with nodes and spines the switches above', () => {
    const text = `# tree
      SwitchName=s0 Nodes=dev[0-1] LinkSpeed=900
      switchname=s1 \\
        nodes=dev2,dev[10-11]
      SwitchName=s2 Switches=s[0-1]   # spine
      SwitchName=s3 Nodes=far
      SwitchName=top Switches=s2`;
    expect(placesIn(text)).toEqual([
      'dev0 s0 s2',
      'dev1 s0 s2',
      'dev2 s1 s2',
      'dev10 s1 s2',
      'dev11 s1 s2',
      'far s3 spine',
    ]);
  });

  test('blocks are leaves below one spine', () => {
    const text = 'BlockName=b1 Nodes=n[01-02]\nBlockName=b2 Nodes=n03\nBlockSizes=2,4\n';
    expect(placesIn(text)).toEqual(['n01 b1 spine', 'n02 b1 spine', 'n03 b2 spine']);
  });

  test.for([
    ['SwitchName=a', 'net, line 1: switch a needs either Switches= or Nodes='],
    ['SwitchName=a Nodes=n1\nSwitchName=b Switches=a,c', 'net, line 2: switch c is not defined'],
    ['SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2', 'net, line 2: switch a is already in line 1'],
    [
      'SwitchName=a Nodes=n1\n\nNodes=n2',
      'net, line 3: the line names neither a switch nor a block',
    ],
    ['SwitchName=a Nodes=n1\nInclude other', 'net, line 2: "Include" is not a setting'],
    ['SwitchName=a Nodes=n[2-1]', 'net, line 1: cannot read the host list "n[2-1]"'],
    ['SwitchName=a Nodes=n1 nodes=n2', 'net, line 1: nodes is given twice'],
    [
      'SwitchName=a Nodes=n1\nBlockName=b Nodes=n2',
      'net, line 2: a file has either switches or blocks',
    ],
    ['BlockName=b\n', 'net, line 1: b needs Nodes='],
    [
      'SwitchName=a Nodes=n1\nSwitchName=x Switches=a\nSwitchName=y Switches=a',
      'net, line 3: switch a is below both x and y',
    ],
  ] as const)('%j is refused', ([text, message]) => {
    expect(() => readNetwork(text, 'net')).toThrow(message);
  });
});

describe('an EC2 placement document', () => {
  const instance = (id: string, ...nodes: string[]) => ({
    InstanceId: id,
    InstanceType: 'p5.48xlarge',
    GroupName: 'training',
    NetworkNodes: nodes,
    AvailabilityZone: 'us-west-2a',
    ZoneId: 'usw2-az2',
  });
  const instances = [
    instance('i-1', 'nn-a', 'nn-b', 'nn-c'),
    instance('i-2', 'nn-a', 'nn-b', 'nn-d'),
  ];

  test('the lowest network node is the leaf, the one above it the spine', () => {
    const text = JSON.stringify({ Instances: instances }, null, 2);
    expect(placesIn(text)).toEqual(['i-1 nn-c nn-b', 'i-2 nn-d nn-b']);
  });

  test('hosts run under the private DNS names of describe-instances', () => {
    const one = (id: string, name: string) => ({ InstanceId: id, PrivateDnsName: name, State: {} });
    const reservations = [
      {
        Instances: [one('i-1', 'ip-10-0-0-1.ec2.internal'), one('i-2', 'ip-10-0-0-2.ec2.internal')],
      },
      { Instances: [one('i-3', '')] },
    ];
    const text = JSON.stringify({ Instances: instances, Reservations: reservations });
    const network = readNetwork(text, 'net');
    expect(attachmentsOf(network, ['ip-10-0-0-2', 'ip-10-0-0-1.ec2.internal', 'i-1'])).toEqual([
      { leaf: 'nn-d', spine: 'nn-b' },
      { leaf: 'nn-c', spine: 'nn-b' },
      { leaf: 'nn-c', spine: 'nn-b' },
    ]);
  });

  test.for([
    [
      '{\n"Instances": [\n{"InstanceId": "i-1"}]}',
      'net, line 3: instance i-1 has no "NetworkNodes"',
    ],
    ['{\n"Instances": [{}]}', 'net, line 2: an instance needs "InstanceId"'],
    ['{\n"Reservations": []}', 'net, line 1: an EC2 placement document needs "Instances"'],
    ['{\n"Instances": 3}', 'net, line 2: "Instances" must be a list'],
    ['{\n"Instances": [\n', 'net, line '],
  ] as const)('%j is refused', ([text, message]) => {
    expect(() => readNetwork(text, 'net')).toThrow(message);
  });
});

describe('the hosts of a run', () => {
  const network = readNetwork('leaves:\n  a: [n1.cluster, x.one]\n  b: [n2, x.two]\n', 'net');

  test('are found with and without their domain', () => {
    const leaves = attachmentsOf(network, ['n1', 'n2.cluster', 'n1.cluster']).map(
      ({ leaf }) => leaf,
    );
    expect(leaves).toEqual(['a', 'b', 'a']);
  });

  test('that the file does not name are an error, as is a short name of two hosts', () => {
    expect(() => attachmentsOf(network, ['n1', 'n3', 'x', 'n3'])).toThrow(
      'net does not say where these hosts are attached: n3, x',
    );
  });
});
