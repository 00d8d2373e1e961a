import { fstatSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Gpu, gpuAvailability, listGpus, openGpu } from '../../src/gpu/gpu.js';
import { HostBuffer } from '../../src/memory/buffer.js';
import { describeMismatches, describePattern } from './pattern-suite.js';

const right = { wrong: 0 };
const closed = expect.objectContaining({ code: 'CLOSED' });

/** What a GPU must do, and a stand-in for one too. `open` is called inside the tests. */
export function describeGpu(open: () => Gpu): void {
  describeList();
  describeMemory(open);
  describePattern(open);
  describeMismatches(open);
}

function describeList(): void {
  test('every GPU is listed with what a reader needs to know', () => {
    const availability = gpuAvailability();
    expect(availability).not.toHaveProperty('reason');
    expect(availability.gpus.length).toBeGreaterThan(0);
    for (const [index, gpu] of listGpus().entries()) {
      expect(gpu.index).toBe(index);
      expect(gpu.name).not.toBe('');
      expect(gpu.pci).toMatch(/^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/);
      expect(gpu.computeCapability).toMatch(/^\d+\.\d$/);
      expect(gpu.driverVersion).toMatch(/^\d+\.\d$/);
      expect(gpu.memoryBytes).toBeGreaterThan(0);
      expect(gpu.multiprocessors).toBeGreaterThan(0);
      expect(gpu.peers).not.toContain(index);
    }
  });

  test('a GPU is opened by its PCI address; one that is not there is refused with those that are', () => {
    const [first] = listGpus();
    expect(openGpu(first!.pci).index).toBe(0);
    expect(openGpu(first!.pci.toUpperCase()).index).toBe(0);
    const missing = expect.objectContaining({
      code: 'NO_GPU',
      hint: expect.stringContaining(first!.pci),
    });
    expect(() => openGpu(99)).toThrow(missing);
    expect(() => openGpu('0000:ff:1f.7')).toThrow(missing);
    expect(() => openGpu('first')).toThrow(expect.objectContaining({ code: 'BAD_USAGE' }));
  });
}

function describeMemory(open: () => Gpu): void {
  test('memory is zeroed, taken when it is allocated, and given back when it is closed', async () => {
    const gpu = open();
    const bytes = 64 * 2 ** 20;
    const before = gpu.freeBytes();
    const buffer = gpu.allocate(bytes);
    expect(before - gpu.freeBytes()).toBeGreaterThanOrEqual(bytes);
    expect(buffer.address).not.toBe(0n);
    using host = new HostBuffer(bytes);
    host.view().fill(1);
    await buffer.copyTo(host);
    expect(Buffer.from(host.view()).equals(Buffer.alloc(bytes))).toBe(true);
    buffer.close();
    expect(gpu.freeBytes()).toBeGreaterThan(before - bytes / 2);
  });

  test('more than there is is refused with what to do, and the GPU still works', async () => {
    const gpu = open();
    expect(() => gpu.allocate(2 ** 45)).toThrow(
      expect.objectContaining({ code: 'MEMORY_LIMIT', hint: expect.stringMatching(/smaller/) }),
    );
    expect(() => gpu.allocate(Number.MAX_SAFE_INTEGER)).toThrow(/memory/);
    expect(() => gpu.allocate(-1)).toThrow(TypeError);
    using buffer = gpu.allocate(1000);
    await buffer.fill(1);
    expect(await buffer.verify(1)).toMatchObject(right);
  });

  test('closed twice is closed, and every use says so', async () => {
    const buffer = open().allocate(100);
    buffer.close();
    buffer.close();
    expect(buffer.closed).toBe(true);
    expect(() => buffer.address).toThrow(closed);
    expect(() => buffer.exportDmabuf()).toThrow(closed);
    await expect(buffer.fill(1)).rejects.toEqual(closed);
    await expect(buffer.verify(1)).rejects.toEqual(closed);
    using host = new HostBuffer(100);
    await expect(buffer.copyTo(host)).rejects.toEqual(closed);
  });

  test('closed while it is being filled is freed when that is done', async () => {
    const buffer = open().allocate(8 * 2 ** 20);
    const filled = buffer.fill(1);
    buffer.close();
    await expect(filled).resolves.toBeUndefined();
  });

  test('many buffers are worked on at once: every thread of the pool has the context', async () => {
    const gpu = open();
    const buffers = Array.from({ length: 12 }, () => gpu.allocate(200_000));
    await Promise.all(buffers.map((buffer, seed) => buffer.fill(seed)));
    const found = await Promise.all(buffers.map((buffer, seed) => buffer.verify(seed)));
    expect(found.map(({ wrong }) => wrong)).toEqual(buffers.map(() => 0));
    const mixed = await Promise.all(
      buffers.flatMap((buffer, seed) => [buffer.verify(seed), buffer.verify(seed + 1)]),
    );
    expect(mixed.map(({ wrong }) => wrong > 0)).toEqual(buffers.flatMap(() => [false, true]));
    for (const buffer of buffers) buffer.close();
  });

  test('ranges outside the buffer are refused', async () => {
    using buffer = open().allocate(100);
    using host = new HostBuffer(50);
    await expect(buffer.fill(1, { offset: 90, bytes: 11 })).rejects.toThrow(TypeError);
    await expect(buffer.verify(1, { offset: -1 })).rejects.toThrow(TypeError);
    await expect(buffer.copyTo(host, { bytes: 51 })).rejects.toThrow(TypeError);
    await expect(buffer.copyFrom(host, { offset: 60, bytes: 50 })).rejects.toThrow(TypeError);
    await expect(buffer.set(256)).rejects.toThrow(TypeError);
  });

  test('copies move just the bytes they name', async () => {
    using buffer = open().allocate(4096);
    using host = new HostBuffer(4096);
    await buffer.set(7);
    host.view().fill(9);
    await buffer.copyFrom(host, { offset: 101, hostOffset: 3, bytes: 77 });
    await buffer.copyTo(host);
    const expected = new Uint8Array(4096).fill(7).fill(9, 101, 178);
    expect(Buffer.from(host.view()).equals(expected)).toBe(true);
    await buffer.set(1, { offset: 5, bytes: 3 });
    await buffer.copyTo(host, { hostOffset: 1000, bytes: 10 });
    expect([...host.view(1000, 10)]).toEqual([7, 7, 7, 7, 7, 1, 1, 1, 7, 7]);
  });

  test('pinned memory made while a GPU is in use is registered with CUDA; other memory is not', async () => {
    const gpu = open();
    using pinned = new HostBuffer(3 * 2 ** 20, { memory: 'pinned' });
    using plain = new HostBuffer(3 * 2 ** 20);
    expect(pinned.gpuRegistered).toBe(true);
    expect(plain.gpuRegistered).toBe(false);
    plain.native.registerWithGpu(gpu.index);
    plain.native.registerWithGpu(gpu.index);
    expect(plain.gpuRegistered).toBe(true);
    using buffer = gpu.allocate(3 * 2 ** 20);
    await pinned.fill(4);
    await buffer.copyFrom(pinned);
    expect(await buffer.verify(4)).toMatchObject(right);
  });

  test('a DMABUF is a file descriptor of the whole allocation, closed once', (context) => {
    const gpu = open();
    if (!gpu.description.dmabuf) return context.skip('on a GPU without DMABUF');
    using buffer = gpu.allocate(3_000_000);
    const dmabuf = buffer.exportDmabuf();
    expect(dmabuf.bytes).toBeGreaterThanOrEqual(3_000_000);
    expect(fstatSync(dmabuf.fd)).toBeDefined();
    dmabuf.close();
    dmabuf.close();
    expect(() => fstatSync(dmabuf.fd)).toThrow(/EBADF/);
  });

  test('another process can be given a handle of 64 bytes', () => {
    using buffer = open().allocate(100);
    expect(buffer.native.ipcHandle()).toHaveLength(64);
  });
}

export function describeWithReason(title: string, reason: string | undefined, body: () => void) {
  describe.skipIf(reason !== undefined)(reason ? `${title} (skipped: ${reason})` : title, body);
}
