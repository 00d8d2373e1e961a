/**
 * Writes under way, by peer. A fabric promises no order between them: what `fence` separates is ordered by starting the
 * later write only when the earlier ones have been delivered.
 */
export class Deliveries {
  readonly #underWay = new Map<number, Set<Promise<void>>>();
  readonly #fences = new Map<number, Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Starts `write` once the peer's fence has passed. Rejects with what the write rejects with. */
  start(peer: number, write: () => Promise<void>): Promise<void> {
    const fence = this.#fences.get(peer);
    const done = fence ? fence.then(write) : write();
    const ofPeer = this.#underWay.get(peer) ?? new Set();
    this.#underWay.set(peer, ofPeer);
    ofPeer.add(done);
    const forget = () => void ofPeer.delete(done);
    done.then(forget, (error) => {
      forget();
      // Nobody may be waiting for this one by itself: the next quiet tells.
      this.#failure ??= { error };
    });
    return done;
  }

  /** From here on, writes to a peer start when its earlier ones have been delivered. Never waits. */
  fence(): void {
    for (const [peer, ofPeer] of this.#underWay) {
      if (ofPeer.size === 0) continue;
      const earlier = Promise.allSettled(ofPeer).then(() => {
        if (this.#fences.get(peer) === earlier) this.#fences.delete(peer);
      });
      this.#fences.set(peer, earlier);
    }
  }

  /** Resolves when everything started before was delivered; rejects with the first failure since the last call. */
  async quiet(): Promise<void> {
    const all = [...this.#underWay.values()].flatMap((ofPeer) => [...ofPeer]);
    await Promise.allSettled(all);
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.error;
  }
}
