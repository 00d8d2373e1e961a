import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { unfinishedGate } from '../../src/analysis/gate/gate.js';
import { formatNodePatch, nodePatch } from '../../src/results/formats/node-patch.js';
import { Desk } from '../benchmarks/weft.js';

const desk = new Desk();
afterAll(() => desk[Symbol.dispose]());

describe('what schedulers get', () => {
  test.each(['prolog', 'epilog', 'health'])(
    'the %s script is complete and valid sh',
    async (name) => {
      const { stdout } = await desk.weft(`gate --print slurm-${name}`);
      expect(stdout).toMatch(/^#!\/bin\/sh\n/);
      expect(stdout).not.toMatch(/@\S+@/);
      execFileSync('sh', ['-n'], { input: stdout });
    },
  );

  test('scripts printed from a bundle start its file', async () => {
    const bundle = { WEFT_COMMAND: '/fsx/my tools/weft.run' };
    const { stdout } = await desk.weft('gate --print slurm-prolog', bundle);
    expect(stdout).toContain(`weft() { '/fsx/my tools/weft.run' "$@"; }\n`);
    const script = await desk.weft('sbatch --nodes 2 -- write', bundle);
    expect(script.stdout).toMatch(/^srun .* '\/fsx\/my tools\/weft.run' write$/m);
  });

  test('the Kubernetes document gives its pods the right to patch nodes and their status', async () => {
    const { stdout } = await desk.weft('gate --print k8s');
    const documents = parseAllDocuments(stdout).map((one) => one.toJS());
    const kinds = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Service', 'Job'];
    expect(documents.map(({ kind }) => kind)).toEqual(kinds);
    const [account, role, binding, service, job] = documents;
    expect(role.rules).toEqual([
      { apiGroups: [''], resources: ['nodes', 'nodes/status'], verbs: ['get', 'patch'] },
    ]);
    expect(binding.roleRef.name).toBe(role.metadata.name);
    expect(binding.subjects[0].name).toBe(account.metadata.name);
    const { spec } = job.spec.template;
    expect(spec).toMatchObject({
      serviceAccountName: account.metadata.name,
      subdomain: service.metadata.name,
    });
    const volumes = spec.volumes.map(({ name }: { name: string }) => name);
    for (const { name } of spec.initContainers[0].volumeMounts) expect(volumes).toContain(name);
    const [script] = spec.initContainers[0].args;
    execFileSync('sh', ['-n'], { input: script });
    expect(script).toContain('--node-patch');
  });

  test.each([
    ['degraded', 0],
    ['fail', 4],
  ] as const)('a pod on a node that is %s exits with %i', async (grade, code) => {
    const [job] = parseAllDocuments((await desk.weft('gate --print k8s')).stdout).slice(-1);
    const { backoffLimit, template } = job!.toJS().spec;
    // A pod that starts alone finds nobody.
    expect({ backoffLimit, restartPolicy: template.spec.restartPolicy }).toEqual({
      backoffLimit: 0,
      restartPolicy: 'Never',
    });
    const node = { node: 'n1', grade, reason: 'nic0 is slow', gbps: 12, nics: [] };
    const gate = unfinishedGate([], new Map(), '', { at: '2026-01-01', seconds: 1 });
    const patch = join(desk.folder, 'node.json');
    writeFileSync(patch, formatNodePatch({ ...gate, nodes: [node] }, 1000));
    const script = template.spec.initContainers[0].args[0].replaceAll('/gate/', `${desk.folder}/`);
    const stubs = 'weft() { return 4; }; kubectl() { :; }\n';
    expect(spawnSync('sh', ['-c', stubs + script]).status).toBe(code);
  });

  test('a Slurm script measures nothing without a token', async () => {
    const prolog = join(desk.folder, 'prolog.sh');
    const conf = join(desk.folder, 'gate.conf');
    writeFileSync(prolog, (await desk.weft('gate --print slurm-prolog')).stdout);
    writeFileSync(conf, `GATE_LOG=${desk.folder}/log\nGATE_TOKEN=${desk.folder}/absent\n`);
    const env = { WEFT_GATE_CONF: conf, SLURM_JOB_ID: '7', SLURM_JOB_NODELIST: 'n[1-2]' };
    execFileSync('sh', [prolog], { env: { ...env, SLURMD_NODENAME: 'n1' } });
    const log = readFileSync(join(desk.folder, 'log', 'gate-n1.log'), 'utf8');
    expect(log).toMatch(
      /: no gate: GATE_TOKEN in \S+gate\.conf must name a file that can be read\n$/,
    );
  });

  test('a node patch has verdict, bandwidth and how long it holds', () => {
    const node = { node: 'n1', reason: 'nic0 is slow', gbps: 12.345, nics: [] };
    const at = '2026-01-01T10:00:00.123Z';
    const patch = parse(JSON.stringify(nodePatch({ ...node, grade: 'fail' }, at, 3_600_000)));
    expect(patch.metadata).toEqual({
      name: 'n1',
      labels: {
        'weft/gate': 'fail',
        'weft/gate-gbps': '12.35',
        'weft/gate-valid-until': '1767265200',
      },
      annotations: {
        'weft/gate-reason': 'nic0 is slow',
        'weft/gate-valid-until': '2026-01-01T11:00:00.123Z',
      },
    });
    expect(patch.status.conditions).toEqual([
      {
        type: 'WeftFabricHealthy',
        status: 'False',
        reason: 'GateFailed',
        message: 'nic0 is slow (valid until 2026-01-01T11:00:00.123Z)',
        lastHeartbeatTime: '2026-01-01T10:00:00Z',
      },
    ]);
    const unknown = nodePatch({ ...node, gbps: null, grade: 'unmeasured' }, at, 1000);
    expect(unknown.metadata.labels['weft/gate-gbps']).toBeNull();
    expect(unknown.status.conditions[0]!.status).toBe('Unknown');
  });
});
