import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listNics } from '../../../src/fabric/nics.js';
import { efaName, machines } from '../../../src/lab/efa/machines.js';
import { parseCapabilities, parseFaults, parseMachine } from '../../../src/lab/efa/parse.js';
import { plantTree, type TreeOptions, writeFaults } from '../../../src/lab/efa/tree.js';
import { assignNics, usableNics } from '../../../src/topology/nearest.js';
import { readSysfs } from '../../../src/topology/sysfs.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weft-tree-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const addresses = (count: number) =>
  Array.from({ length: count }, (_, k) => ({ address: `127.18.0.${k + 1}` }));

function plant(id: string, options: Partial<TreeOptions> = {}): void {
  const machine = parseMachine(id);
  plantTree(root, { machine, nics: addresses(machine.efas.length), gpus: true, ...options });
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8').trim();
const topology = () => readSysfs({ nics: listNics(root), sysfs: root });
/** The NICs of every GPU, as a run on that machine would choose them. */
const byGpu = () =>
  assignNics(topology()).map(({ nics }) => nics.map(({ name }) => name).join(' '));

describe('the tree of a machine', () => {
  test('p5: four NICs of every GPU below one bridge, names as udev gives them', () => {
    plant('p5');
    expect(byGpu()).toEqual([
      'rdmap79s0 rdmap80s0 rdmap81s0 rdmap82s0',
      'rdmap96s0 rdmap97s0 rdmap98s0 rdmap99s0',
      'rdmap113s0 rdmap114s0 rdmap115s0 rdmap116s0',
      'rdmap130s0 rdmap131s0 rdmap132s0 rdmap133s0',
      'rdmap147s0 rdmap148s0 rdmap149s0 rdmap150s0',
      'rdmap164s0 rdmap165s0 rdmap166s0 rdmap167s0',
      'rdmap181s0 rdmap182s0 rdmap183s0 rdmap184s0',
      'rdmap198s0 rdmap199s0 rdmap200s0 rdmap201s0',
    ]);
    expect(realpathSync(join(root, 'class/infiniband/rdmap79s0/device'))).toBe(
      join(
        realpathSync(root),
        'devices/pci0000:44/0000:44:00.0/0000:45:00.0/0000:46:01.0/0000:4f:00.0',
      ),
    );
    expect(topology().gpus.map(({ pci }) => pci)).toEqual(
      ['53', '64', '75', '86', '97', 'a8', 'b9', 'ca'].map((bus) => `0000:${bus}:00.0`),
    );
  });

  test('p5en: four NICs of two GPUs', () => {
    plant('p5en');
    expect(byGpu().slice(0, 4)).toEqual([
      'rdmap85s0 rdmap86s0',
      'rdmap87s0 rdmap88s0',
      'rdmap110s0 rdmap111s0',
      'rdmap112s0 rdmap113s0',
    ]);
  });

  test('p6-b200: one NIC of each GPU, and none of the adapters on the third switch', () => {
    plant('p6-b200');
    expect(byGpu()).toEqual([79, 80, 96, 97, 113, 114, 132, 133].map((bus) => `rdmap${bus}s0`));
    expect(usableNics(topology()).skipped).toEqual(
      ['0000:73:00.0', '0000:74:00.0'].map((name) => ({
        name,
        reason: 'other-kind',
        text: 'InfiniBand of unknown rate (link 31.5 Gbps) is not mixed with the 8 EFA NICs at 400 Gbps',
      })),
    );
  });

  test('p4d: two GPUs share a NIC, in slots of a host bridge', () => {
    plant('p4d');
    const names = ['rdmap16s27', 'rdmap32s27', 'rdmap144s27', 'rdmap160s27'];
    expect(byGpu()).toEqual(names.flatMap((name) => [name, name]));
    expect(topology().gpus.map(({ pci }) => pci.slice(5))).toEqual(
      ['10', '20', '90', 'a0'].flatMap((bus) => [`${bus}:1c.0`, `${bus}:1d.0`]),
    );
  });

  test.each(machines)(
    '$id: every NIC with a rate is an EFA device with node and an up port',
    (machine) => {
      plant(machine.id);
      const nics = topology().nics.filter(({ rateGbps }) => rateGbps !== undefined);
      expect(nics.map(({ name }) => name)).toEqual(machine.efas.map(efaName));
      for (const [k, nic] of nics.entries()) {
        expect(nic).toMatchObject({ technology: 'EFA', up: true, rateGbps: machine.efa.rateGbps });
        expect(nic.numaNode).toBe(machine.efas[k]!.numaNode);
        // A link slower than its port would be a machine that cannot be.
        expect(nic.linkGbps).toBeGreaterThanOrEqual(machine.efa.rateGbps);
      }
      expect(read('class/dmi/id/product_name')).toBe(machine.instance);
    },
  );

  test('has what libibverbs looks for', () => {
    plant('p5', { nics: addresses(2), gpus: false });
    const verbs = 'class/infiniband_verbs';
    expect(read(`${verbs}/abi_version`)).toBe('6');
    expect(read(`${verbs}/uverbs1/ibdev`)).toBe('rdmap80s0');
    expect(basename(realpathSync(join(root, verbs, 'uverbs1/device')))).toBe('0000:50:00.0');
    const device = 'class/infiniband/rdmap80s0';
    expect(basename(realpathSync(join(root, device, 'device/driver')))).toBe('efa');
    expect(read(`${device}/fw_ver`)).toBe('weft-emulated-p5');
    expect(read(`${device}/ports/1/gids/0`)).toBe('0000:0000:0000:0000:0000:ffff:7f12:0002');
    expect(read(`${device}/ports/1/hw_counters/rdma_write_bytes`)).toBe('0');
    expect(topology().gpus).toEqual([]);
  });

  test('tells the device what to be', () => {
    const nics = [{ address: '10.77.0.1', netInterface: 'nic0', faults: { rnr: '5' } }];
    const capabilities = parseCapabilities('read,write');
    plant('p5en', { nics, capabilities, bitsPerSecond: 250e6, ordered: true, seed: 7 });
    const device = 'class/infiniband/rdmap85s0';
    const attributes = read(`${device}/device/emulation/attributes`).split('\n');
    expect(attributes).toEqual(
      expect.arrayContaining(['address=10.77.0.1', 'part_id=0xefa2', 'caps=read,write', 'seed=7']),
    );
    expect(attributes).toContain('shuffle=0');
    expect(read(`${device}/device/emulation/faults`)).toBe('rnr=5');
    expect(read(`${device}/ports/1/rate`)).toBe('0.25 Gb/sec');
    writeFaults(root, parseMachine('p5en'), 0, { silent: '1', delay_us: '9' });
    expect(read(`${device}/device/emulation/faults`)).toBe('silent=1\ndelay_us=9');
  });

  test('is refused where something is already, and with more NICs than the machine has', () => {
    expect(() => plant('p4d', { nics: addresses(5) })).toThrow(/cannot have 5 EFA devices/);
    mkdirSync(join(root, 'mine'));
    expect(() => plant('p4d')).toThrow(/is not empty/);
  });
});

describe('what is asked for', () => {
  test('machines go by short and full names', () => {
    expect(parseMachine('p5.48xlarge')).toBe(parseMachine('p5'));
    expect(() => parseMachine('p7')).toThrow('"p7" is not a known machine');
  });

  test('unknown faults, and values that make no sense, are refused', () => {
    expect(parseFaults('rnr=100,open=1')).toEqual({ rnr: '100', open: '1' });
    expect(parseFaults('drop=5%')).toEqual({ drop: '5' });
    expect(() => parseFaults('opened=1')).toThrow('"opened" is not a fault');
    expect(() => parseFaults('rnr=101')).toThrow('"rnr=101" is not a valid fault');
    expect(() => parseFaults('silent')).toThrow('"silent" is not a valid fault');
    expect(() => parseCapabilities('read,wirte')).toThrow('"wirte" is not a capability');
  });
});
