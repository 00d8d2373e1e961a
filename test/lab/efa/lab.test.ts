import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { efaLibraries } from '../../../src/lab/efa/environment.js';
import { addFault, heal, type LabState, lowerLab, raiseLab } from '../../../src/lab/index.js';
import { defaultSpec } from '../../../src/lab/spec.js';
import { Desk } from '../../benchmarks/weft.js';
import { labName, leftOf, whyNoLab } from '../laboratory.js';

function whyNot(): string | undefined {
  try {
    efaLibraries();
    return whyNoLab();
  } catch (error) {
    return (error as Error).message;
  }
}

const reason = whyNot();
const name = labName('efa');
const tree = `/run/weft-lab/${name}/h1/sys`;
const emulation = `${tree}/class/infiniband/rdmap80s0/device/emulation`;
const read = (path: string): string => readFileSync(path, 'utf8').trim();

describe.skipIf(reason)(`a lab with EFA devices${reason ? ` (${reason})` : ''}`, () => {
  let lab: LabState;
  beforeAll(async () => {
    const spec = { ...defaultSpec, hosts: 2, nics: 2, bitsPerSecond: 100e6, efa: 'p5' };
    lab = await raiseLab(name, spec);
  });
  afterAll(async () => void (await lowerLab(name)));

  test('gives every host one device per NIC, carried by that NIC', () => {
    expect(readdirSync(`${tree}/class/infiniband`)).toEqual(['rdmap79s0', 'rdmap80s0']);
    expect(read(`${emulation}/attributes`)).toContain('address=10.77.1.2\n');
    expect(readdirSync(`${tree}/class/infiniband/rdmap80s0/device/net`)).toEqual(['nic1']);
    // It is not the machine whose rates are published.
    expect(existsSync(`${tree}/class/dmi/id/product_name`)).toBe(false);
  });

  test('its hosts see them, with rate and burst of the link below', async () => {
    using desk = new Desk();
    const { stdout } = await desk.weft(`lab run --name ${name} -- info --format json`);
    const { nics } = JSON.parse(stdout) as { nics: { kind: string }[] };
    const link = { rateGbps: 0.1, burstBytes: 20_048, up: true };
    expect(nics.filter(({ kind }) => kind === 'rdma')).toMatchObject([
      { name: 'rdmap79s0', pci: '0000:4f:00.0', ...link },
      { name: 'rdmap80s0', pci: '0000:50:00.0', ...link },
    ]);
  });

  test('faults of a device add up, and healing clears them', () => {
    const where = { host: 1, nic: 1 };
    const broken = addFault(lab, { ...where, device: { rnr: '5' } });
    const worse = addFault(broken, { ...where, device: { silent: '1' } });
    expect(worse.faults).toEqual([{ ...where, device: { rnr: '5', silent: '1' } }]);
    expect(read(`${emulation}/faults`)).toBe('rnr=5\nsilent=1');
    expect(heal(worse).faults).toEqual([]);
    expect(read(`${emulation}/faults`)).toBe('');
  });

  test('status names them', async () => {
    using desk = new Desk();
    expect((await desk.weft('lab status')).stdout).toContain('emulated EFA (p5)');
  });

  test('removing it leaves nothing', async () => {
    await lowerLab(name);
    expect(leftOf(name)).toEqual([]);
    expect(existsSync(`/run/weft-lab/${name}`)).toBe(false);
  });
});

test('a lab cannot have more EFA devices than its machine', async () => {
  using desk = new Desk();
  const line = 'lab up --name none --nics 5 --efa p4d';
  const { exitCode, stderr } = await desk.weft(line);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: expect.toSatisfy((code) => code !== 0),
    stderr: expect.stringMatching(/p4d.24xlarge has only 4 EFA devices|needs root/),
  });
});

test.skipIf(whyNoLab())('a lab without EFA devices refuses their faults', async () => {
  const plain = labName('plain');
  const lab = await raiseLab(plain, { ...defaultSpec, hosts: 1, nics: 1 });
  try {
    expect(() => addFault(lab, { host: 0, nic: 0, device: { open: '1' } })).toThrow(
      /has no EFA devices/,
    );
  } finally {
    await lowerLab(plain);
  }
});
