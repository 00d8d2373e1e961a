import fc from 'fast-check';
import type { Found, FoundDevice } from '../../src/topology/found.js';
import { makeTopology } from '../../src/topology/make-topology.js';
import type { Topology } from '../../src/topology/model.js';

/** Any tree of bridges with GPUs and RDMA devices in it. */
type Sketch = 'gpu' | 'nic' | 'other' | readonly Sketch[];

const { tree } = fc.letrec<{ tree: Sketch; leaf: Sketch; bridge: Sketch }>((tie) => ({
  leaf: fc.constantFrom('gpu', 'nic', 'other'),
  bridge: fc.array(tie('tree'), { maxLength: 6 }),
  tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('bridge')),
}));

const types = {
  gpu: { classCode: 0x0302, vendor: 0x10de, device: 0x2330 },
  nic: { classCode: 0x0207, vendor: 0x15b3, device: 0x1021 },
  other: { classCode: 0x0108, vendor: 0x144d, device: 0xa824 },
} as const;

const nodes = [0, 1];

export const arbitraryTopology: fc.Arbitrary<Topology> = fc
  .array(fc.tuple(tree, fc.constantFrom(...nodes, undefined)), { maxLength: 6 })
  .map((sketches) => {
    let serial = 0;
    const address = () => {
      serial += 1;
      return `0000:${(serial >> 5).toString(16).padStart(2, '0')}:${(serial & 31).toString(16).padStart(2, '0')}.0`;
    };
    const found = (sketch: Sketch, numaNode: number | undefined): Found => {
      const common = { numaNode, linkGbps: undefined };
      if (typeof sketch === 'string') {
        const device: FoundDevice = {
          ...common,
          ...types[sketch],
          pci: address(),
          ports: [],
          computes: false,
        };
        return device;
      }
      const own = address();
      const children = sketch.map((child) => found(child, numaNode));
      return { ...common, address: own, host: false, children };
    };
    return makeTopology({
      numaNodes: nodes.map((node) => ({ node, cores: [2 * node, 2 * node + 1] })),
      roots: sketches.map(([sketch, numaNode]) => found(sketch, numaNode)),
    });
  });
