export interface Held {
  readonly residentKiB: number;
  /** JavaScript's heap and the buffers that belong to it. */
  readonly heapKiB: number;
  /** What malloc has handed out, buffers of JavaScript included. */
  readonly mallocKiB: number;
}

/** Into a folder, for `openMemory`. */
export function buildMemory(folder: string): void;

/** Switches V8's compilers off; a function that collects garbage, returns malloc's free pages and tells what is left. */
export function openMemory(folder: string): () => Held;
