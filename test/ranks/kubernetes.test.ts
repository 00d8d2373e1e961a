import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defaultSpec, raiseLab, removeLab } from '../../src/lab/index.js';
import { hostSpace, management } from '../../src/lab/names.js';
import { labName, until, whyNoLab } from '../lab/laboratory.js';
import { type Pod, podsOf, podsOfGate, podsOfJobSet, podsOfMpiJob, searches } from './pods.js';
import { missing, program, type Running, start } from './processes.js';

const reason = whyNoLab() ?? missing({ mpirun: 'openmpi-bin' });
const lab = labName('pods');
const bin = resolve(import.meta.dirname, '../../bin/weft');
const small = 'write -b 64K -e 64K -n 2 --columns SinglePin --line-rate 1000 --format json'.split(
  ' ',
);

// Pods run on the first two hosts; the third is for the name server and mpirun.
const control = 2;
const hosts = [0, 1, control];

describe.runIf(reason === undefined)('what a manifest starts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weft-pods-'));
  const names = join(folder, 'names.json');
  const path = `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`;
  let resolver: Running;

  beforeAll(async () => {
    await raiseLab(lab, { ...defaultSpec, hosts: 3, nics: 1 }, { owned: true });
    for (const host of hosts) {
      const etc = `/etc/netns/${hostSpace(lab, host)}`;
      mkdirSync(etc, { recursive: true });
      const dns = `nameserver ${management.address(control)}\nsearch ${searches.join(' ')}\n`;
      writeFileSync(join(etc, 'resolv.conf'), `${dns}options ndots:5\n`);
    }
    mkdirSync(join(folder, 'bin'));
    symlinkSync(bin, join(folder, 'bin', 'weft'));
    publish({});
    const inside = ['netns', 'exec', hostSpace(lab, control)];
    const serve = [process.execPath, program('resolver'), management.address(control), names];
    resolver = start('ip', [...inside, ...serve], { timeoutMs: 120_000 });
    await resolver.says(/ready/);
  });
  afterAll(async () => {
    resolver?.child.kill();
    for (const host of hosts) rmSync(`/etc/netns/${hostSpace(lab, host)}`, { recursive: true });
    await removeLab(lab);
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => publish({}));

  const publish = (known: Record<string, string>) => {
    writeFileSync(`${names}.new`, JSON.stringify(known));
    renameSync(`${names}.new`, names);
  };
  const addresses = (pods: readonly Pick<Pod, 'name'>[]) =>
    Object.fromEntries(pods.map(({ name }, index) => [name, management.address(index)]));

  const print = (...args: string[]) =>
    JSON.parse(
      execFileSync(bin, ['k8s', '--image', 'weft', '--format', 'json', ...args], {
        encoding: 'utf8',
      }),
    ).items;

  /** Runs a container: process 1 of its pod, with its variables, in its results folder, with its own /dev/shm. */
  function run(
    { hostname, env, command }: Pick<Pod, 'hostname' | 'env' | 'command'>,
    host: number,
  ) {
    const results = join(folder, 'results', hostname);
    mkdirSync(results, { recursive: true });
    const become =
      'hostname "$1"; cd "$2"; mount -t tmpfs -o size=256m shm /dev/shm; shift 2; exec "$@"';
    const variables = Object.entries({ PATH: path, HOME: '/root', ...env });
    const words = ['env', '-i', ...variables.map(([key, value]) => `${key}=${value}`), ...command];
    return start('ip', [
      ...['netns', 'exec', hostSpace(lab, host), 'unshare', '--uts', '--pid', '--fork'],
      ...['--kill-child', '--mount-proc', 'sh', '-c', become, 'sh', hostname, results],
      ...words.map((word) => (word === '/results' ? results : word)),
    ]);
  }

  const runFiles = (hostname: string): string[] => {
    const results = join(folder, 'results', hostname, 'weft-results');
    return existsSync(results)
      ? readdirSync(results).filter((file) => file.endsWith('.jsonl'))
      : [];
  };

  const runAll = (pods: readonly Pod[]) => pods.map((pod, index) => run(pod, index));

  test('Job: ranks of all pods meet when the name of pod 0 appears', async () => {
    const pods = podsOf(print('--nodes', '2', '--ranks-per-node', '2', '--', ...small));
    const running = runAll(pods);
    // Pod 1 asks, is told that there is no such name, and asks again.
    await resolver.says(new RegExp(`(${pods[0]!.name} NXDOMAIN[\\s\\S]*?){6}`));
    publish(addresses(pods));
    const [first, second] = await Promise.all(running.map(({ finished }) => finished));
    expect(first, first?.stderr).toMatchObject({ code: 0, stderr: '' });
    expect(second).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(JSON.parse(first!.stdout)).toMatchObject({
      outcome: 'passed',
      world: { launcher: 'kubernetes', ranks: 4, hosts: ['weft-0', 'weft-1'] },
    });
    expect(runFiles('weft-0')).toHaveLength(1);
  });

  test('a name that never appears is named', async () => {
    const objects = print('--nodes', '2', '--join-timeout', '1500ms', '--', ...small);
    const { code, stderr } = await run(podsOf(objects)[1]!, 1).finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/the name weft-0\.weft did not resolve within 2\.0 s/);
  });

  test('a pod that is killed ends the others, and is named', async () => {
    const long = ['write', '-b', '64K', '-e', '64K', '-n', '1000000'];
    const size = ['--nodes', '2', '--ranks-per-node', '2'];
    const pods = podsOf(print('--name', 'lost', ...size, '--', ...long));
    publish(addresses(pods));
    const [first, second] = runAll(pods);
    await until('a run', () => runFiles('lost-0').length > 0);
    second!.child.kill('SIGKILL');
    const { code, stderr } = await first!.finished;
    expect(code).toBe(1);
    expect(stderr).toMatch(/rank [23] on host lost-1 \(pid \d+\) was lost/);
  });

  test('the gate in an init container measures between nodes, and patches its own', async () => {
    const kubectl = join(folder, 'bin', 'kubectl');
    writeFileSync(kubectl, '#!/bin/sh\necho "kubectl $*"\n');
    chmodSync(kubectl, 0o755);
    const printed = execFileSync(bin, ['gate', '--print', 'k8s'], { encoding: 'utf8' });
    const pods = podsOfGate(printed, 2).map((pod) => ({
      ...pod,
      command: pod.command.map((word) => word.replaceAll('/gate/', './')),
    }));
    publish(addresses(pods));
    const ended = await Promise.all(runAll(pods).map(({ finished }) => finished));
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^node${index}  pass  `));
      expect(stdout).toContain(`kubectl patch node node${index} --subresource=status`);
    }
  });

  test('TrainJob: Weft starts the ranks that torchrun would', async () => {
    const pods = [0, 1].map((index) => ({
      hostname: `train-node-0-${index}`,
      name: `train-node-0-${index}.train.${searches[0]}`,
      env: {
        PET_NNODES: '2',
        PET_NPROC_PER_NODE: '2',
        PET_NODE_RANK: `${index}`,
        PET_MASTER_ADDR: 'train-node-0-0.train',
        PET_MASTER_PORT: '29500',
        JOB_COMPLETION_INDEX: `${index}`,
      },
      command: ['weft', ...small],
    }));
    publish(addresses(pods));
    const [first, second] = await Promise.all(runAll(pods).map(({ finished }) => finished));
    expect(second, second?.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(first!.stdout), first!.stderr).toMatchObject({
      outcome: 'passed',
      world: { launcher: 'kubernetes', ranks: 4, hosts: ['train-node-0-0', 'train-node-0-1'] },
    });
  });

  test('JobSet: pods of several jobs are ranks of one world', async () => {
    const objects = print('--kind', 'jobset', '--name', 'set', '--nodes', '2', '--', ...small);
    const [replicated] = objects.at(-1).spec.replicatedJobs;
    replicated.replicas = 2;
    replicated.template.spec.completions = 1;
    const pods = podsOfJobSet(objects);
    publish(addresses(pods));
    const [first, second] = await Promise.all(runAll(pods).map(({ finished }) => finished));
    expect(second, second?.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(first!.stdout), first!.stderr).toMatchObject({
      outcome: 'passed',
      world: { ranks: 2, hosts: ['set-pods-0-0', 'set-pods-1-0'] },
    });
  });

  test('MPIJob: mpirun in the launcher starts the ranks in the workers', async () => {
    const size = ['--nodes', '2', '--ranks-per-node', '2'];
    const objects = print('--kind', 'mpijob', '--name', 'mpi', ...size, '--', ...small);
    const file = join(folder, 'hostfile');
    const { launcher, workers, hostFile } = podsOfMpiJob(objects, file);
    writeFileSync(file, hostFile);
    publish({ ...addresses(workers), [launcher.name]: management.address(control) });
    writeFileSync(join(folder, 'bin', 'ssh'), ssh(workers.map(({ hostname }) => hostname)));
    chmodSync(join(folder, 'bin', 'ssh'), 0o755);
    const { code, stdout, stderr } = await run(launcher, control).finished;
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout), stderr).toMatchObject({
      outcome: 'passed',
      world: { launcher: 'openmpi', ranks: 4, hosts: ['mpi-worker-0', 'mpi-worker-1'] },
    });
  });

  /** Stands for ssh and sshd: runs the command on the host of that name, without the variables of its container. */
  const ssh = (workers: readonly string[]): string => `#!/bin/sh
while [ "\${1#-}" != "$1" ]; do
  if [ "$1" = -o ]; then shift; fi
  shift
done
case "$1" in
${workers.map((name, host) => `${name}.*) space=${hostSpace(lab, host)} name=${name} ;;`).join('\n')}
*) echo "ssh: no host $1" >&2; exit 255 ;;
esac
shift
exec ip netns exec "$space" unshare --uts sh -c \\
  'hostname "$1"; shift; exec env -i HOME=/root PATH=/usr/bin:/bin sh -c "$*"' sh "$name" "$@"
`;
});
