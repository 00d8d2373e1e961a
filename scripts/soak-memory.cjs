// What a process holds once its garbage is collected. Loaded into every process of a soak, it writes that to
// SOAK_MEMORY/PID.json again and again.
const { execFileSync } = require('node:child_process');
const { renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { isMainThread } = require('node:worker_threads');

const library = 'soak-memory.node';

/** Into a folder, for `openMemory`. */
function buildMemory(folder) {
  const headers = join(__dirname, '../node_modules/node-api-headers/include');
  const files = [join(__dirname, 'soak-memory.c'), '-o', join(folder, library)];
  execFileSync('gcc', ['-shared', '-fPIC', '-Wall', `-I${headers}`, ...files]);
}

/** Switches V8's compilers off; a function that collects garbage, returns malloc's free pages and tells what is left. */
function openMemory(folder) {
  const { mallocBytes, trim } = require(join(folder, library));
  // Compiled code, and what the compilers learn, grow until every function that is called now and then is hot.
  for (const flag of ['opt', 'sparkplug', 'lazy-feedback-allocation', 'flush-bytecode'])
    setFlagsFromString(`--no-${flag}`);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  return () => {
    collect();
    trim();
    const { rss, heapUsed } = process.memoryUsage();
    // Buffers are malloc's. They hold the samples of a loop, of which a machine that is less busy takes more.
    const bytes = { residentKiB: rss, heapKiB: heapUsed, mallocKiB: mallocBytes() };
    return Object.fromEntries(Object.entries(bytes).map(([figure, each]) => [figure, each / 1024]));
  };
}

function writeOnAndOn(folder, everyMs) {
  const held = openMemory(folder);
  const path = join(folder, `${process.pid}.json`);
  const write = () => {
    writeFileSync(`${path}.new`, JSON.stringify(held()));
    renameSync(`${path}.new`, path);
  };
  setInterval(write, everyMs).unref();
}

const { SOAK_MEMORY, SOAK_MEMORY_MS } = process.env;
if (isMainThread && SOAK_MEMORY) writeOnAndOn(SOAK_MEMORY, Number(SOAK_MEMORY_MS));

module.exports = { buildMemory, openMemory };
