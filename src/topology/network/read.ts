import { readEc2Topology } from './ec2.js';
import type { Network } from './network.js';
import { readSlurmTopology } from './slurm.js';
import { readTopologyYaml } from './yaml.js';

/** Reads a network description: an EC2 placement document, Slurm's topology.conf or our own YAML, by its content. */
export function readNetwork(text: string, file: string): Network {
  if (/^\s*\{/.test(text)) return readEc2Topology(text, file);
  if (/^\s*(Switch|Block)(Name|Sizes)\s*=/im.test(text)) return readSlurmTopology(text, file);
  return readTopologyYaml(text, file);
}
