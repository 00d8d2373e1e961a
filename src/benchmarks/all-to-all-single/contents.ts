import type { HostBuffer } from '../../memory/buffer.js';
import { addon } from '../../native/addon.js';
import type { PeerBuffers } from '../../peers/peer.js';
import { addChecked, type Checked } from '../../runner/verify.js';
import { type Dtype, dtypeCode, elementBytesOf, pythonFloat, stored, valuesIn } from './dtype.js';
import type { Exchange, NumberBlock } from './exchange.js';

const task = { write: 0, invert: 1, compare: 2 } as const;

/** What was found, with the first wrong element in words. */
export interface Verified extends Checked {
  readonly wrongElement?: string;
}

/** What a rank's tensors hold before an exchange, and whether they hold the right thing after it. */
export class Contents {
  readonly #exchange: Exchange;
  readonly #rank: number;
  readonly #tensors: PeerBuffers;

  constructor(exchange: Exchange, rank: number, tensors: PeerBuffers) {
    this.#exchange = exchange;
    this.#rank = rank;
    this.#tensors = tensors;
  }

  /** The script's running numbers. */
  async writeNumbers(): Promise<void> {
    const blocks = this.#exchange.outgoing(this.#rank);
    await this.#sequence(this.#tensors.input, task.write, blocks);
  }

  /** Overwrites the output so that every byte of every element differs from what must come. */
  async spoilOutput(): Promise<void> {
    const blocks = this.#exchange.incoming(this.#rank);
    await this.#sequence(this.#tensors.output, task.invert, blocks);
  }

  /** Compares every element, bit by bit. */
  async verifyNumbers(): Promise<Verified> {
    const blocks = this.#exchange.incoming(this.#rank);
    const found = await this.#sequence(this.#tensors.output, task.compare, blocks);
    const parts = blocks.map(({ bytes }, index) => ({ bytes, wrong: found[index * 4]! }));
    const wrongAt = parts.findIndex(({ wrong }) => wrong > 0);
    const checked = addChecked(parts);
    if (wrongAt < 0) return checked;
    return { ...checked, wrongElement: this.#describe(blocks[wrongAt]!, found[wrongAt * 4 + 1]!) };
  }

  async writeSeeded(seed: number): Promise<void> {
    const { input, output } = this.#tensors;
    await input.fill(seed + this.#rank);
    await output.fill(seed + this.#exchange.world + this.#rank);
  }

  async verifySeeded(seed: number): Promise<Verified> {
    const parts: Verified[] = [];
    for (const { peer, offset, bytes, sourceOffset } of this.#exchange.incoming(this.#rank)) {
      const found = await this.#tensors.output.verify(seed + peer, {
        offset,
        bytes,
        position: sourceOffset,
      });
      const { wrong } = found;
      const first = wrong > 0 ? { rank: this.#rank, peer, ...found } : undefined;
      parts.push({ bytes, wrong, ...(first && { first }) });
    }
    return addChecked(parts);
  }

  ends(count: number): { first: string[]; last: string[] } {
    const { dtype } = this.#exchange;
    const bytes = this.#exchange.targetBytes(this.#rank);
    const some = Math.min(bytes, count * elementBytesOf(dtype));
    const { output } = this.#tensors;
    return {
      first: valuesIn(output.view(0, some), dtype),
      last: valuesIn(output.view(bytes - some, some), dtype),
    };
  }

  #sequence(buffer: HostBuffer, what: number, blocks: readonly NumberBlock[]) {
    const numbers = blocks.flatMap(({ offset, bytes, first }) => [offset, bytes, first]);
    const type = dtypeCode[this.#exchange.dtype];
    return addon().sequence(buffer.native, type, what, Float64Array.from(numbers));
  }

  #describe({ peer, offset, first }: NumberBlock, byte: number): string {
    const { dtype, elementBytes } = this.#exchange;
    const index = Math.floor(byte / elementBytes);
    const at = offset + index * elementBytes;
    const [found] = valuesIn(this.#tensors.output.view(at, elementBytes), dtype);
    const expected = written(stored(first + index, dtype), dtype);
    return `on rank ${this.#rank}, element ${index} from rank ${peer} is ${found} instead of ${expected}`;
  }
}

const written = (value: number, dtype: Dtype): string =>
  dtype === 'float32' ? pythonFloat(value) : String(value);
