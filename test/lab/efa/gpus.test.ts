import { describe, expect, test } from 'vitest';
import { efaLibraries } from '../../../src/lab/efa/environment.js';
import { efaName } from '../../../src/lab/efa/machines.js';
import { parseMachine } from '../../../src/lab/efa/parse.js';
import { Desk } from '../../benchmarks/weft.js';
import { buildStandIn } from '../../gpu/stand-in.js';

function whyNot(): string | undefined {
  try {
    return void efaLibraries();
  } catch (error) {
    return (error as Error).message;
  }
}

const reason = whyNot();
const timeout = 60_000;

/** CUDA's driver, with GPUs where the machine has them. */
const cudaOf = (id: string, library: string) => {
  const { gpus } = parseMachine(id);
  const places = gpus.map(({ pci }) => pci.slice('0000:'.length)).join(',');
  return { WEFT_LIBCUDA: library, STAND_IN_GPUS: String(gpus.length), STAND_IN_PCI: places };
};

describe.skipIf(reason)(`GPUs of an emulated machine${reason ? ` (${reason})` : ''}`, () => {
  const library = reason ? '' : buildStandIn();

  test('info shows the NICs of each, and that they are emulated', { timeout }, async () => {
    using desk = new Desk();
    const line = 'emulate efa --machine p5en --nics 16 --gpus -- weft info --format json';
    const told = JSON.parse((await desk.weft(line, cudaOf('p5en', library))).stdout);
    const { efas } = parseMachine('p5en');
    expect(told.gpus).toHaveLength(8);
    for (const [k, gpu] of told.gpus.entries()) {
      expect(gpu).toMatchObject({ cuda: k, nearness: 'bridge' });
      expect(gpu.nics).toEqual(efas.slice(2 * k, 2 * k + 2).map(efaName));
    }
    const rdma = told.nics.filter((nic: { kind: string }) => nic.kind === 'rdma');
    expect(rdma).toHaveLength(16);
    for (const nic of rdma) {
      expect(nic).toMatchObject({ emulated: true, device: { driver: 'efa', deviceId: '0xefa2' } });
    }
    expect(told.efa).toMatchObject({ driver: expect.stringMatching(/emulated$/) });
  });

  test('each rank uses the NICs of its own GPU, and the run is labelled', { timeout }, async () => {
    using desk = new Desk();
    const write = 'write --ranks 2 --provider efa -b 64K -e 64K -n 2 --columns MultiPin --quiet';
    const line = `emulate efa --nics 8 --gpus -- weft ${write}`;
    const ended = await desk.weft(line, cudaOf('p5', library));
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toContain('emulated EFA');
    const [{ run } = { run: undefined }] = desk.runs();
    expect(run?.fabric).toMatchObject({ provider: 'efa', emulated: true });
    const nics = ['rdmap79s0', 'rdmap80s0', 'rdmap81s0', 'rdmap82s0'];
    expect(run?.fabric.channels).toEqual(nics.map((nic) => ({ nic, lineRateGbps: 100 })));
  });
});
