import { rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Fault, Phase } from './cell.js';
import type { Scene } from './scene.js';

const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const faketime = `/usr/lib/${architecture}-linux-gnu/faketime/libfaketime.so.1`;

/** The clock of one process tree, by libfaketime; the monotonic one stays as it is. */
export function setBack(phase: Phase): Pick<Fault, 'env' | 'before' | 'strike' | 'tidy'> {
  const file = `/tmp/weft-fault-clock-${process.pid}-${phase}`;
  return {
    env: {
      LD_PRELOAD: faketime,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    before: () => writeFileSync(file, '+0d'),
    strike: () => writeFileSync(file, '-1d'),
    tidy: () => rmSync(file, { force: true }),
  };
}

const dayMs = 86_400_000;

/** The held process saw it; without libfaketime, nothing would have happened. */
export const checkClockFell = ({ place }: Scene): void =>
  expect(place.clockMovedMs, 'the clock fell by a day').toBeLessThan(-0.9 * dayMs);
