import { existsSync } from 'node:fs';
import { list, read, sysfsRoot } from '../../topology/sysfs-files.js';

/** A link that was down: when, on the clock of `performance.now()`, and for how long; null while it is. */
export interface SeenDown {
  readonly nic: string;
  readonly atMs: number;
  readonly milliseconds: number | null;
}

interface LinkState {
  readonly up: boolean;
  /** How often it went down since the system started, where the driver counts that. */
  readonly downs: number;
}

interface Link extends LinkState {
  readonly nic: string;
  readonly sinceMs: number;
}

/** However long nobody asks, no more than this is kept. */
const mostKept = 256;

/** Looks at the links of some NICs of this host whenever it is told to. Those that sysfs does not know are left out. */
export class LinkWatch {
  readonly #sysfs: string;
  readonly #links = new Map<string, Link>();
  #ended: SeenDown[] = [];

  constructor(nics: Iterable<string>, nowMs: number, sysfs = sysfsRoot()) {
    this.#sysfs = sysfs;
    for (const nic of new Set(nics)) {
      const state = this.#stateOf(nic);
      if (state) this.#links.set(nic, { nic, ...state, sinceMs: nowMs });
    }
  }

  look(nowMs: number): void {
    for (const [nic, before] of this.#links) {
      const state = this.#stateOf(nic) ?? { ...before, up: false };
      const sinceMs = state.up === before.up ? before.sinceMs : nowMs;
      const wasDown = !before.up && state.up;
      // Down and up again between two looks.
      const blinked = before.up && state.up && state.downs > before.downs;
      if (wasDown) this.#keep({ nic, atMs: before.sinceMs, milliseconds: nowMs - before.sinceMs });
      if (blinked) this.#keep({ nic, atMs: nowMs, milliseconds: 0 });
      this.#links.set(nic, { nic, ...state, sinceMs });
    }
  }

  /** Those that came up again since the last call. */
  take(): SeenDown[] {
    const seen = this.#ended;
    this.#ended = [];
    return seen;
  }

  /** Those that are down now. */
  down(): SeenDown[] {
    return [...this.#links.values()]
      .filter(({ up }) => !up)
      .map(({ nic, sinceMs }) => ({ nic, atMs: sinceMs, milliseconds: null }));
  }

  #keep(seen: SeenDown): void {
    if (this.#ended.length < mostKept) this.#ended.push(seen);
  }

  #stateOf(nic: string): LinkState | undefined {
    const ports = `${this.#sysfs}/class/infiniband/${nic}/ports`;
    if (existsSync(ports)) return portsState(ports);
    const folder = `${this.#sysfs}/class/net/${nic}`;
    if (!existsSync(folder)) return undefined;
    // An interface that was set down has no carrier to read.
    const up = read(`${folder}/carrier`) === '1';
    return { up, downs: Number(read(`${folder}/carrier_down_count`) ?? 0) };
  }
}

function portsState(folder: string): LinkState | undefined {
  const ports = list(folder).map((port) => `${folder}/${port}`);
  const states = ports.map((port) => read(`${port}/state`));
  if (states.length === 0 || states.includes(undefined)) return undefined;
  return {
    // `4: ACTIVE`
    up: states.every((state) => state!.startsWith('4')),
    downs: ports.reduce((sum, port) => sum + Number(read(`${port}/counters/link_downed`) ?? 0), 0),
  };
}
