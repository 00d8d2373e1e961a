import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRun } from '../../src/results/read-run.js';
import { whyNoLab } from '../lab/laboratory.js';
import { missing, torchrunArgs, torchrunTimeoutMs } from '../ranks/processes.js';
import { LabHosts } from './lab-hosts.js';

const reason = whyNoLab() ?? missing({ torchrun: 'python3-torch' });
const weft = [process.execPath, resolve(import.meta.dirname, '../../bin/weft')];

describe('torchrun on two nodes', () => {
  let hosts: LabHosts;
  beforeAll(async () => {
    if (reason === undefined) hosts = await LabHosts.raise('torchrun', { hosts: 2, nics: 2 });
  });
  afterAll(async () => hosts?.[Symbol.asyncDispose]());

  const meetings = {
    static: (host: number) => ['--master_addr=h0', '--master_port=29500', `--node_rank=${host}`],
    c10d: () => ['--rdzv_backend=c10d', '--rdzv_endpoint=h0:29400', '--rdzv_id=weft'],
  };

  test.for(['static', 'c10d'] as const)(
    'torchrun with a %s rendezvous: data takes the rails',
    { timeout: torchrunTimeoutMs },
    async (how, { skip }) => {
      skip(reason !== undefined, reason);
      const out = join(hosts.folder, `${how}.jsonl`);
      const small = ['-b', '256K', '-e', '256K', '-n', '2', '--columns', 'MultiPin', '--out', out];
      const meter = hosts.meter();
      const agents = [0, 1].map((host) => {
        const nodes = ['--nnodes=2', '--nproc_per_node=2', ...meetings[how](host)];
        const args = [...nodes, ...torchrunArgs, ...weft, 'write', ...small];
        return hosts.run(host, 'torchrun', args, { timeoutMs: torchrunTimeoutMs });
      });
      const ended = await Promise.all(agents);
      expect(
        ended.map(({ code }) => code),
        ended[0]!.stderr + ended[1]!.stderr,
      ).toEqual([0, 0]);
      const { world, outcome } = readRun(out).run;
      expect(outcome).toBe('passed');
      expect(world).toMatchObject({ launcher: 'torchrun', ranks: 4 });
      expect([...world.hosts].sort()).toEqual(['h0', 'h1']);
      const { rails, management } = meter();
      // Rank 0 writes to two ranks of the other host: half of each buffer on every rail, timed and verified.
      const sender = hosts.names.indexOf(world.hosts[0]!);
      for (const { tx } of rails[sender]!) expect(tx).toBeGreaterThan(2 * 3 * 128 * 1024);
      const most = rails[sender]![0]!.tx / 2;
      for (const { tx } of management) expect(tx).toBeLessThan(most);
    },
  );
});
