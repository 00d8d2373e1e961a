// Files that people or other programs write: tables, traffic, descriptions of machines and networks, suites.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readExpectations } from '../../../src/analysis/verdict/expectations.js';
import { benchmarkById } from '../../../src/benchmarks/index.js';
import { parseRouting } from '../../../src/benchmarks/moe/routing-file.js';
import { fabricModel } from '../../../src/cli/fabric-model.js';
import { packageRoot } from '../../../src/package-root.js';
import { parseTrafficFile } from '../../../src/plan/traffic-file.js';
import { readFigures } from '../../../src/reference/csv.js';
import { p5Fabric } from '../../../src/reference/p5-fabric.js';
import { fitRows } from '../../../src/runner/predict/calibrate.js';
import { loadSuite } from '../../../src/runner/suite.js';
import { drawTopology } from '../../../src/topology/draw.js';
import { parseHwloc } from '../../../src/topology/hwloc.js';
import { readNetwork } from '../../../src/topology/network/read.js';
import { placeRanks } from '../../../src/topology/place.js';
import { dgx, laptop, p4d } from '../../topology/machines.js';
import { mutateText } from '../mutate.js';
import type { Target } from '../target.js';
import { fileInput, textInput } from './text-input.js';

interface Kind {
  readonly name: string;
  readonly share: number;
  readonly good: readonly string[];
  readonly words: readonly string[];
  readonly read: (text: string) => unknown;
  /** `read` takes the path of a file. */
  readonly fromFile?: true;
}

const target = ({ name, share, good, words, read, fromFile }: Kind): Target => ({
  name,
  share,
  make: (dice) =>
    (fromFile ? fileInput : textInput)(mutateText(dice, dice.pick(good), words), read),
});

const inRepository = (path: string) => readFileSync(join(packageRoot, path), 'utf8');

const figures = 'benchmark,nodes,ranks_per_node,config,size_bytes,lat_us\n';
export const csv = target({
  name: 'csv',
  share: 100,
  good: [
    `${figures}sendrecv,2,1,SinglePin,128K,30.5\nwrite,4,1,MultiDMA,1M,50\nall2all,4,8,SingleDMA,4M,900\n`,
    inRepository('test/simulate/nccl-alltoall-p5.csv'),
  ],
  words: ['lat_us', 'size_bytes', 'write', 'pairs', 'SinglePin', '1e9', '8K'],
  read: (text) => fitRows(readFigures(text, 'figures.csv'), [], benchmarkById),
});

export const traffic = target({
  name: 'traffic',
  share: 100,
  good: [
    '# to 0, 1, 2\n0,4M,1M\n64K,0,64K\n1M,1M,0\n',
    'from,to,bytes\n0,1,4M\n0,1,64\n2,0,1M\n',
    '{"at":0,"from":0,"to":1,"bytes":"1M","id":"a"}\n{"from":1,"to":2,"bytes":64,"after":["a"]}\n',
    inRepository('examples/traffic/kv-burst.jsonl'),
  ],
  words: ['at', 'after', 'id', 'bytes', '1G', '32767', '32768', '"a"'],
  read: (text) => parseTrafficFile(text, 'traffic.jsonl'),
});

export const routing = target({
  name: 'routing',
  share: 60,
  good: [
    'rank,token,experts\n0,0,3;1\n0,1,7\n1,0,0;2\n',
    'rank,expert,tokens\n0,0,3\n0,1,3\n1,2,4\n',
    '{"rank":0,"token":0,"experts":[3,1]}\n{"rank":1,"token":0,"experts":[0]}\n',
    '{"rank":0,"expert":0,"tokens":3}\n{"rank":1,"expert":7,"tokens":2}\n',
  ],
  words: ['rank', 'token', 'experts', '16777216', '32767'],
  read: (text) => parseRouting(text, { path: 'routing.csv', experts: 8, topK: 2, seed: 1 }),
});

const yamlWords = ['&a', '*a', '<<: *a', '!!binary', '? ', '- ', '|', '>', '%YAML 1.2', '---', '~'];
const suite = `defaults: { minBytes: 64K, maxBytes: 1M, stepFactor: 4 }
runs:
  - benchmark: sendrecv
    provider: shm
  - benchmark: write
    columns: [SinglePin, MultiPin]
    options: { buffers: 2 }
  - benchmark: moe
    routing: zipf:1.2
`;
export const suites = target({
  name: 'suites',
  share: 30,
  good: [suite],
  words: [...yamlWords, 'timeoutMs', 'check', 'iterations', 'pairs', 'all-to-all-single'],
  fromFile: true,
  read: (path) => loadSuite(path, async (name) => benchmarkById(name)),
});

export const expectations = target({
  name: 'expectations',
  share: 20,
  good: [
    'expect:\n  - benchmark: write\n    column: SinglePin\n    bytes: 1M\n    gbps: 90\n  - { benchmark: sendrecv, column: SinglePin, latencyUs: { pass: 10, fail: 20 } }\n',
  ],
  words: [...yamlWords, 'mops', 'fail', 'pass'],
  fromFile: true,
  read: readExpectations,
});

export const networks = target({
  name: 'networks',
  share: 40,
  good: [
    'leaves:\n  leaf0: h[0-1]\n  leaf1: [h2, 007]\nspines:\n  west: leaf0\n  east: leaf1\n',
    'SwitchName=s0 Nodes=dev[0-1] LinkSpeed=900\nswitchname=s1 \\\n nodes=dev2,dev[10-11]\nSwitchName=s2 Switches=s[0-1] # x\n',
    'BlockName=b1 Nodes=n[01-04]\nBlockSizes=4\n',
    '{"Instances":[{"InstanceId":"i-1","NetworkNodes":["a","b","c"]},{"InstanceId":"i-2","NetworkNodes":["a","b","d"]}],"Reservations":[{"Instances":[{"InstanceId":"i-1","PrivateDnsName":"h1"}]}]}',
  ],
  words: [...yamlWords, '[0-99999]', 'h[1-3]', 'SwitchName=', 'Nodes=', '[[', '0-9999999999999'],
  read: (text) => readNetwork(text, 'network'),
});

export const hwloc = target({
  name: 'hwloc',
  share: 50,
  good: [laptop, p4d, dgx],
  words: ['<object', '/>', '<!--', '-->', '<!DOCTYPE x>', '<![CDATA[', '&lol;', '&#0;', 'PCIDev'],
  read: (text) => {
    const topology = parseHwloc(text, 'machine.xml');
    drawTopology(topology);
    placeRanks({ topology, localRanks: 4 });
  },
});

export const models = target({
  name: 'models',
  share: 20,
  good: [JSON.stringify(p5Fabric)],
  words: ['nicGbps', 'limits', 'fit'],
  fromFile: true,
  read: fabricModel,
});
