import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A sysfs with one RDMA device, `rdmap0`, and these counters: `hw_counters/tx_bytes`, `counters/port_xmit_data`. */
export function deviceWith(counters: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'weft-sysfs-'));
  const port = join(root, 'class/infiniband/rdmap0/ports/1');
  mkdirSync(join(port, 'hw_counters'), { recursive: true });
  mkdirSync(join(port, 'counters'));
  mkdirSync(join(root, 'class/infiniband/rdmap0/device/net/nic0'), { recursive: true });
  const set = (values: Record<string, string>) => {
    for (const [name, text] of Object.entries(values)) writeFileSync(join(port, name), `${text}\n`);
  };
  set(counters);
  return { root, set };
}
