// Breaks a lab in known ways and counts how often `weft pairs` names what was broken: a confusion table. Exits with 1
// when a gross fault is missed once, a subtle one more than twice in ten, or a healthy lab is accused.
//   npm run bench:diagnosis -- [--runs 10] [--only nic10,slowed] [--hosts 4] [--nics 2] [--rate 100mbit] [--verbose]
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { hostSpace } from '../dist/lab/names.js';
import { parseRate } from '../dist/lab/spec.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    only: { type: 'string' },
    hosts: { type: 'string', default: '4' },
    nics: { type: 'string', default: '2' },
    rate: { type: 'string', default: '100mbit' },
    verbose: { type: 'boolean', default: false },
  },
});
const runs = Number(values.runs);
const [hosts, nics, rate] = [Number(values.hosts), Number(values.nics), parseRate(values.rate)];
const runFile = promisify(execFile);
const weftPath = fileURLToPath(new URL('../bin/weft', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-diagnosis-'));
const lab = `diagnosis-${process.pid}`;

async function weft(...args) {
  const options = { cwd: folder, maxBuffer: 2 ** 26 };
  const { stdout } = await runFile(process.execPath, [weftPath, ...args.map(String)], options);
  return stdout;
}

const fault = (host, nic, ...what) =>
  weft('lab', 'fault', '--name', lab, '--host', host, '--nic', nic, ...what);
const share = (part) => `${Math.round(rate * part)}bit`;
const allNics = Array.from({ length: nics }, (_, nic) => nic);

/**
 * Stops and continues a host's rank, half of the time, for as long as the run lasts.
 * @param {number} host
 * @param {AbortSignal} ended
 */
async function dutyCycle(host, ended) {
  const milliseconds = 15;
  while (!ended.aborted) {
    const pid = await rankOf(host);
    if (pid === undefined) {
      await sleep(50);
      continue;
    }
    try {
      process.kill(pid, 'SIGSTOP');
      await sleep(milliseconds);
      process.kill(pid, 'SIGCONT');
      await sleep(milliseconds);
    } catch {
      known.delete(host); // it has ended
    }
  }
}

const known = new Map();

/** The process of the rank on a host; undefined before it is there. */
async function rankOf(host) {
  if (known.has(host)) return known.get(host);
  const { stdout } = await runFile('ip', ['netns', 'pids', hostSpace(lab, host)]);
  for (const pid of stdout.split('\n').filter(Boolean).map(Number)) {
    try {
      // What enters the namespace becomes node in the end.
      if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('pairs')) continue;
      if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('node')) continue;
      known.set(host, pid);
      return pid;
    } catch {
      // gone
    }
  }
  return undefined;
}

const is = (cause, symptom, who) => (finding) =>
  finding.cause === cause &&
  finding.symptom === symptom &&
  Object.entries(who).every(([key, value]) => finding.who[key] === value);

/** Each breaks something and says what a right finding is. `least` of `runs` must be right. */
const scenarios = {
  healthy: { title: 'nothing', least: 1, inject: async () => undefined },
  nic10: {
    title: 'one NIC at 10 %',
    least: 1,
    async inject({ host, nic }) {
      await fault(host, nic, '--rate', share(0.1));
      return is('nic', 'slow', { host: `h${host}`, nic: `nic${nic}`, direction: 'both' });
    },
  },
  nic70: {
    title: 'one NIC at 70 %',
    least: 0.8,
    async inject({ host, nic }) {
      await fault(host, nic, '--rate', share(0.7));
      return is('nic', 'slow', { host: `h${host}`, nic: `nic${nic}`, direction: 'both' });
    },
  },
  loss: {
    title: 'one host loses 1 %',
    least: 1,
    async inject({ host }) {
      for (const nic of allNics) await fault(host, nic, '--loss', '1%');
      return is('host', 'loss', { host: `h${host}` });
    },
  },
  down: {
    title: 'one link down',
    least: 1,
    async inject({ host, nic }) {
      await fault(host, nic, '--down');
      return is('nic', 'down', { host: `h${host}`, nic: `nic${nic}` });
    },
  },
  slowed: {
    title: 'one rank stopped half of the time',
    least: 0.8,
    async inject({ host, ended }) {
      void dutyCycle(host, ended);
      return is('rank', 'stalls', { rank: host, host: `h${host}` });
    },
  },
  oneway: {
    title: 'one NIC sends at 30 %',
    least: 1,
    async inject({ host, nic }) {
      await fault(host, nic, '--rate', share(0.3), '--direction', 'out');
      return is('nic', 'slow', { host: `h${host}`, nic: `nic${nic}`, direction: 'out' });
    },
  },
};

/** What was said, in the words of the table's columns. */
function verdictOf(findings, right) {
  if (findings.length === 0) return 'nothing';
  if (right === undefined) return 'false';
  if (!findings.some(right)) return 'other';
  return findings.length === 1 ? 'right' : 'right and more';
}

async function once(scenario) {
  const end = new AbortController();
  known.clear();
  try {
    const victim = { host: randomInt(hosts), nic: randomInt(nics), ended: end.signal };
    const right = await scenario.inject(victim);
    const text = await weft('lab', 'run', '--name', lab, '--', 'pairs', '--format', 'json');
    const { diagnosis } = JSON.parse(text);
    const verdict = verdictOf(diagnosis.findings, right);
    if (values.verbose) console.error(verdict, victim.host, victim.nic, JSON.stringify(diagnosis));
    return verdict;
  } finally {
    end.abort();
    await weft('lab', 'heal', '--name', lab);
  }
}

const verdicts = ['right', 'right and more', 'other', 'nothing', 'false'];
process.on('SIGINT', () => {});
let missed = 0;
try {
  await weft('lab', 'up', '--name', lab, '--hosts', hosts, '--nics', nics, '--rate', values.rate);
  console.log(`${hosts} hosts × ${nics} NICs at ${values.rate}, ${runs} runs of each.\n`);
  console.log(`| broken | ${verdicts.join(' | ')} | wanted | seconds a run |`);
  console.log(`| --- |${' ---: |'.repeat(verdicts.length)} --- | ---: |`);
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (values.only && !values.only.split(',').includes(name)) continue;
    const counts = Object.fromEntries(verdicts.map((verdict) => [verdict, 0]));
    const started = performance.now();
    for (let run = 0; run < runs; run++) counts[await once(scenario)]++;
    const seconds = (performance.now() - started) / 1000 / runs;
    const healthy = name === 'healthy';
    const good = healthy ? counts.nothing : counts.right;
    const least = Math.ceil(scenario.least * runs);
    if (good < least) missed++;
    const wanted = `${good >= least ? 'met' : '**missed**'}: ${least} ${healthy ? 'nothing' : 'right'}`;
    const cells = verdicts.map((verdict) => counts[verdict] || '');
    console.log(`| ${scenario.title} | ${cells.join(' | ')} | ${wanted} | ${seconds.toFixed(1)} |`);
  }
} finally {
  await weft('lab', 'down', '--name', lab, '--force');
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = missed > 0 ? 1 : 0;
