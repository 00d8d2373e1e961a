// Page-locks as many bytes as told and prints the error, or the kernel's count of locked memory.
import { readFileSync } from 'node:fs';
import { HostBuffer } from '../../../dist/index.js';

try {
  const buffer = new HostBuffer(Number(process.argv[2]), { memory: 'pinned' });
  const locked = () => Number(/VmLck:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  const during = locked();
  buffer.close();
  console.log(JSON.stringify({ duringKiB: during, afterKiB: locked() }));
} catch ({ code, message, hint }) {
  console.log(JSON.stringify({ code, message, hint }));
}
