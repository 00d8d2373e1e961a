/** Of two clocks: the true difference is within half a round trip of it. */
export interface ClockOffset {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const clockReadings = 3;

/** How far this host's clock is ahead of the one that `ask` reads, from the answer that took least time. */
export async function readOffset(ask: () => Promise<number>): Promise<ClockOffset> {
  const readings: ClockOffset[] = [];
  for (let reading = 0; reading < clockReadings; reading++) {
    const sentMs = Date.now();
    const theirsMs = await ask();
    const heardMs = Date.now();
    const offsetMs = (sentMs + heardMs) / 2 - theirsMs;
    readings.push({ offsetMs, roundTripMs: heardMs - sentMs });
  }
  return readings.reduce((best, one) => (one.roundTripMs < best.roundTripMs ? one : best));
}
