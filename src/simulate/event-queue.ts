/** Numbers by time, the earliest first; of the same time, the one that came first. A binary heap. */
export class EventQueue {
  readonly #times: number[] = [];
  readonly #order: number[] = [];
  readonly #values: number[] = [];
  #count = 0;

  get nextTime(): number {
    return this.#times[0] ?? Number.POSITIVE_INFINITY;
  }

  push(time: number, value: number): void {
    let at = this.#times.length;
    const order = this.#count++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#times[parent]! <= time) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, time, order, value);
  }

  pop(): number {
    const value = this.#values[0]!;
    const [time, order, last] = [this.#times.pop()!, this.#order.pop()!, this.#values.pop()!];
    const size = this.#times.length;
    if (size === 0) return value;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isBefore(child + 1, child)) child++;
      const before =
        this.#times[child]! < time || (this.#times[child] === time && this.#order[child]! < order);
      if (!before) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, time, order, last);
    return value;
  }

  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#times[a]!, this.#times[b]!];
    return first < second || (first === second && this.#order[a]! < this.#order[b]!);
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#times[from]!, this.#order[from]!, this.#values[from]!);
  }

  #set(at: number, time: number, order: number, value: number): void {
    this.#times[at] = time;
    this.#order[at] = order;
    this.#values[at] = value;
  }
}
