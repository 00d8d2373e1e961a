/** `0-3,8,10-11`, as the kernel lists cores and nodes. */
export function parseList(text: string): number[] {
  return text
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number);
      if (first === undefined || last === undefined || !(last >= first)) return [];
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
}

export function formatList(values: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const value of [...values].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && value <= run[1] + 1) run[1] = value;
    else runs.push([value, value]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

const wordBits = 32;

/**
 * A bitmap of hwloc: words of 32 bits, the highest first, `0x0000ffff,0xffffffff`; an empty word is zero. Undefined
 * for one without end (`0xf...f`), which says nothing, and for what is no bitmap.
 */
export function parseBitmap(text: string | undefined): number[] | undefined {
  if (text === undefined || text.includes('...')) return undefined;
  const bits: number[] = [];
  for (const [i, word] of text.trim().split(',').reverse().entries()) {
    if (!/^(?:0x)?[0-9a-f]{0,8}$/i.test(word)) return undefined;
    const value = Number.parseInt(word.replace(/^0x/i, '') || '0', 16);
    for (let bit = 0; bit < wordBits; bit++) {
      if ((value >>> bit) & 1) bits.push(i * wordBits + bit);
    }
  }
  return bits;
}
