import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What the kernel says of a process: the peak of its memory, and its CPU time. The last look before the end is near enough. */
export function usageOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    const peak = Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0);
    // User and system time, in hundredths of a second.
    return { megabytes: (peak * 1024) / 1e6, cpu: (Number(fields[11]) + Number(fields[12])) / 100 };
  } catch {
    return { megabytes: 0, cpu: 0 };
  }
}

/** Runs a program of Node's to its end, with nothing but its errors shown; `until` may end it before. */
export function measure(words, until) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const stdio = ['ignore', until ? 'pipe' : 'ignore', 'inherit'];
    const child = spawn(process.execPath, words, { stdio });
    let [megabytes, cpu] = [0, 0];
    const look = () => {
      const now = usageOf(child.pid);
      megabytes = Math.max(megabytes, now.megabytes);
      cpu = Math.max(cpu, now.cpu);
    };
    const timer = setInterval(look, 20);
    const seconds = () => (performance.now() - start) / 1000;
    child.on('exit', (code) => {
      clearInterval(timer);
      resolve({ code, megabytes, cpu, seconds: seconds() });
    });
    until?.(child).then(() => {
      look();
      child.kill('SIGTERM');
    }, reject);
  });
}
