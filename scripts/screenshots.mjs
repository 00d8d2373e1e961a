// npm run screenshots: the pictures of the README, made from real runs on this machine. A lab of namespaces
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
  for (const picture of [...runs(), ...pictures()]) picture();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Each run that a picture is made of, as a command line. */
function runs() {
  const sizes = ['-b', '64K', '-e', '4M'];
  return [
    ['the lab, write', [...lab, 'write', ...sizes, '--out', 'write.jsonl']],
    ['the lab, pairs', [...lab, 'pairs', '--out', 'pairs.jsonl']],
    [
      'shared memory, all2all',
      ['all2all', '--ranks', '4', '--provider', 'shm', ...sizes, '--out', 'all2all.jsonl'],
    ],
  ].map(([what, args]) => () => {
    process.stderr.write(`${what} …\n`);
    weft(args);
  });
}

function pictures() {
  return [
    () => page('report.png', 'write.jsonl', { width: 1100, height: 860, theme: 'light' }),
    () => page('report-dark.png', 'pairs.jsonl', { width: 1100, height: 860, theme: 'dark' }),
    () => chart('all2all.png', 'all2all.jsonl', 'bandwidth'),
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

function chart(name, run, id) {
  const svg = `${name}.svg`;
  weft(['plot', run, '--chart', id, '-o', svg, '--width', '800']);
  screenshot(pathToFileURL(join(folder, svg)).href, name, 800, 460);
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
