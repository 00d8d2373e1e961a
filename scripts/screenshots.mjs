// npm run screenshots [-- NAME.png…]: the pictures of README and docs, made from real runs on this machine. A lab of namespaces
// gives hosts and rails, which needs root; the rest runs over shared memory. Run it on a quiet machine: what
// the pictures show was measured a moment before.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const images = join(root, 'docs/images');
const bin = join(root, 'bin/weft');
const largestBytes = 150_000;
const lab = [
  'lab',
  'run',
  '--name',
  'shots',
  '--hosts',
  '4',
  '--nics',
  '4',
  '--rate',
  '250mbit',
  '--',
];

const folder = mkdtempSync(join(tmpdir(), 'weft-shots-'));
try {
  mkdirSync(images, { recursive: true });
  const names = process.argv.slice(2);
  const wanted = pictures().filter(({ name }) => names.length === 0 || names.includes(name));
  for (const run of new Set(wanted.map((picture) => picture.run))) measure(run);
  for (const { take } of wanted) take();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Each run that a picture is made of, as a command line. */
function runs() {
  const sizes = ['-b', '64K', '-e', '4M'];
  const here = ['--ranks', '4', '--provider', 'shm'];
  const pages = ['-b', '64K', '-e', '64K', '--requests', '32'];
  return {
    'write.jsonl': [...lab, 'write', ...sizes],
    'pairs.jsonl': [...lab, 'pairs'],
    'all2all.jsonl': ['all2all', ...here, ...sizes],
    'moe.jsonl': ['moe', ...here, '--routing', 'zipf:1.2', '--tokens', '512', '--experts', '32'],
    'kv.jsonl': [...lab, 'kv', ...pages, '--columns', 'PushMultiPin,PullMultiPin'],
  };
}

function measure(run) {
  process.stderr.write(`${run} …\n`);
  weft([...runs()[run], '--out', run]);
}

function pictures() {
  const size = { width: 1100, height: 860 };
  const of = (take, name, run, ...rest) => ({ name, run, take: () => take(name, run, ...rest) });
  return [
    of(page, 'report.png', 'write.jsonl', { ...size, theme: 'light' }),
    of(page, 'report-dark.png', 'pairs.jsonl', { ...size, theme: 'dark' }),
    of(chart, 'all2all.png', 'all2all.jsonl', 'bandwidth', 460),
    of(chart, 'moe-routing.png', 'moe.jsonl', 'routing', 380),
    of(chart, 'kv-last-page.png', 'kv.jsonl', 'request-times', 490),
  ];
}

/** What a run prints is not wanted; what it complains about is. */
function weft(args) {
  execFileSync(process.execPath, [bin, ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function page(name, run, { width, height, theme }) {
  const html = run.replace(/jsonl$/, 'html');
  weft(['report', run, '-o', html]);
  const address = `${pathToFileURL(join(folder, html)).href}?theme=${theme}`;
  screenshot(address, name, width, height);
}

function chart(name, run, id, height) {
  const svg = `${name}.svg`;
  weft(['plot', run, '--chart', id, '-o', svg, '--width', '800']);
  screenshot(pathToFileURL(join(folder, svg)).href, name, 800, height);
}

function screenshot(address, name, width, height) {
  const file = join(images, name);
  const { status, stderr, error } = spawnSync(
    'chromium',
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--hide-scrollbars',
      '--virtual-time-budget=4000',
      `--user-data-dir=${mkdtempSync(join(folder, 'browser-'))}`,
      `--window-size=${width},${height}`,
      `--screenshot=${file}`,
      address,
    ],
    { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
  );
  if (status !== 0) {
    const hint = error?.code === 'ENOENT' ? 'chromium is missing: npm run setup -- test' : stderr;
    throw new Error(`${name} could not be taken: ${hint}`);
  }
  const { size } = statSync(file);
  if (size > largestBytes) throw new Error(`${name} has ${size} bytes, more than ${largestBytes}`);
  process.stderr.write(`${file} (${Math.round(size / 1000)} kB)\n`);
}
