import { spawn } from 'node:child_process';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const children = new Set();
const forward = (signal) => {
  for (const child of children) child.kill(signal);
};

/**
 * Runs a program and resolves with its exit code and everything it said; never rejects for a bad exit.
 * A program that cannot be started resolves with code 127. With `show` the output also goes to stderr as it comes.
 * A signal that would end us ends the program first, so none goes on working after its lock is gone.
 */
export function runCommand(file, args, { cwd, env, show = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd, env, stdio: ['inherit', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk) => {
      output += chunk;
      if (show) process.stderr.write(chunk);
    };
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    if (children.size === 0) for (const signal of signals) process.on(signal, forward);
    children.add(child);
    const end = (result) => {
      children.delete(child);
      if (children.size === 0) for (const signal of signals) process.off(signal, forward);
      resolve(result);
    };
    child.on('error', (error) => end({ code: 127, output: `${file}: ${error.message}\n` }));
    child.on('close', (code) => end({ code: code ?? 1, output }));
  });
}

export function lastLines(text, count = 40) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
