// Holds a process at a named phase until the test says go on. It wraps what the addon and Node export, in every process
// that is started with it:
//   NODE_OPTIONS='--import ./test/faults/hold.mjs' WEFT_TEST_HOLD=PHASE:RANK[:MODE[:VICTIM]] WEFT_TEST_HOLD_FOLDER=FOLDER WEFT_TEST_HOLD_STEP=BYTES
//
// The process writes FOLDER/pid-RANK when it starts, FOLDER/reached when it is in the phase, and goes on when FOLDER/go
// is there. Then it writes FOLDER/clock: by how many milliseconds the wall clock has moved while it stood still. A
// process that is no rank is called `main`.
//
// PHASE  join       before it connects to rank 0
//        set-up     before it opens its endpoints
//        verify     after the verified iteration of the held row, before the bytes are compared
//        calibrate  after the first run of the calibration of that row
//        timed      in the timed loop of that row; where it never ends and rank 0 is held, once all are in it
//        first-row  before the row before it is written
//        write-out  before the held row is written
//        footer     before the last line is written
//        report     before the page is written
//        renaming   when the page is written, before it gets its name
// MODE   hold       (default) the process stands still in the phase
//        forever    the timed loop of the held row never ends, in the phases timed and first-row
//        linger     as hold, and the next timed loop never ends
//        pass       nobody stands still
//        eat        when FOLDER/eat names a control group, rank VICTIM joins it and takes memory until it is killed;
//                   timed loops never end
import fs, { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const { WEFT_TEST_HOLD = '', WEFT_TEST_HOLD_FOLDER: folder, WEFT_RANK, RANK } = process.env;
const [phase, held, mode = 'hold', victim] = WEFT_TEST_HOLD.split(':');
const rank = WEFT_RANK ?? RANK ?? 'main';
/** The row in which phases are held; there is one before it. */
const bytesOfRow = phase === 'first-row' ? 4096 : 8192;
/** What a step of that row moves: half of it where two NICs share it. */
const bytesOfStep = Number(process.env.WEFT_TEST_HOLD_STEP);
/** What the tests pass as -n: tells the timed loop from the others. */
const timedIterations = 997;
const veryOften = 2 ** 31;
const everyone = [0, 1, 2];

writeFileSync(`${folder}/pid-${rank}`, String(process.pid));

let over = false;
let reachedAt;
function reached() {
  over = true;
  reachedAt = Date.now();
  writeFileSync(`${folder}/reached`, '');
}

const goesOn = () => writeFileSync(`${folder}/clock`, String(Date.now() - reachedAt));

const mayGo = () => existsSync(`${folder}/go`);
const eaten = [];
function mayEat() {
  if (mode !== 'eat' || rank !== victim || !existsSync(`${folder}/eat`)) return;
  // Alone in its group: on a busy machine, memory comes back so late that the kernel would kill a second process of it.
  writeFileSync(`${readFileSync(`${folder}/eat`, 'utf8')}/cgroup.procs`, String(process.pid));
  for (;;) eaten.push(Buffer.alloc(16 << 20, 1));
}
if (mode === 'eat') setInterval(mayEat, 10).unref();

/** Stands still, signals and all. */
function hold() {
  if (over) return;
  reached();
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (; mode !== 'pass' && !mayGo(); mayEat()) Atomics.wait(never, 0, 0, 5);
  goesOn();
}

/** Stands still, but hears signals and other ranks. */
async function holdAwake() {
  if (over) return;
  reached();
  while (mode !== 'pass' && !mayGo()) await sleep(5);
  goesOn();
}

/** Before that, a rank may still wait for what rank 0 has to tell it, and would be missed by the third. */
async function everyoneIsIn() {
  const isIn = (other) => existsSync(`${folder}/in-${other}`);
  while (!everyone.every(isIn)) await sleep(5);
}

const isHeldRow = ({ plan: { steps } }) => {
  for (let at = 5; at < steps.length; at += 13) if (steps[at] === bytesOfStep) return true;
  return false;
};

const isTimed = ({ expected, iterations }) => !expected && iterations === timedIterations;

function phaseOf(job) {
  if (!isHeldRow(job)) return undefined;
  if (job.expected) return 'verify';
  if (isTimed(job)) return 'timed';
  return job.iterations === 1 && job.batch === 1 ? 'calibrate' : undefined;
}

function wrapPort() {
  const addon = createRequire(import.meta.url)('../../build/Release/weft.node');
  addon.Port = class extends addon.Port {
    constructor(...args) {
      if (phase === 'set-up' && rank === held) hold();
      super(...args);
    }

    async run(job) {
      const now = phaseOf(job);
      const here = now === phase;
      const endless = mode === 'forever' || mode === 'eat';
      const inTime = now === 'timed' && endless && (here || phase === 'first-row');
      const lasting = inTime || (mode === 'linger' && isTimed(job) && mayGo());
      const often = lasting ? { iterations: veryOften, batch: veryOften } : {};
      const running = super.run({ ...job, ...often });
      if (lasting) writeFileSync(`${folder}/in-${rank}`, '');
      if (!here || rank !== held) return running;
      if (lasting && rank === '0') void everyoneIsIn().then(holdAwake);
      else if (lasting || mode === 'pass') void holdAwake();
      const result = await running;
      if (!lasting) await holdAwake();
      return result;
    }
  };
}

function wrapJoin() {
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...args) {
    hold();
    return connect.apply(this, args);
  };
}

/** Stands still before the first call of a function of `fs` that fits. */
function wrapFs(name, fits) {
  const call = fs[name];
  fs[name] = (...args) => {
    if (fits(...args)) hold();
    return call(...args);
  };
  syncBuiltinESMExports();
}

const starts = (bytes, line) => bytes instanceof Uint8Array && String(bytes).startsWith(line);

const own = rank === held;
if (['set-up', 'verify', 'calibrate', 'timed', 'first-row'].includes(phase)) wrapPort();
if (phase === 'join' && own) wrapJoin();
else if ((phase === 'write-out' || phase === 'first-row') && own) {
  const row = `"bytes":${bytesOfRow},`;
  wrapFs('writeSync', (_, line) => starts(line, '{"line":"row"') && String(line).includes(row));
} else if (phase === 'footer' && own) {
  wrapFs('writeSync', (_, line) => starts(line, '{"line":"footer"'));
} else if (phase === 'report' && own) wrapFs('writeFileSync', (path) => /\.tmp$/.test(path));
else if (phase === 'renaming' && own) wrapFs('renameSync', (path) => /\.tmp$/.test(path));
