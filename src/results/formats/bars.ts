/** Small drawings in text: a bar beside a number, a sparkline beside a title. */

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;
const steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
/** Without Unicode height becomes ink. */
const inks = ['.', ':', '-', '=', '+', '*', '%', '#'] as const;

/** `share` (0 to 1) of `width` cells, padded to `width`. What is there at all shows at least a trace. */
export function barText(share: number, width: number, unicode: boolean): string {
  const part = Math.min(1, Math.max(0, share));
  if (!unicode) return '#'.repeat(Math.round(part * width)).padEnd(width);
  const units = part > 0 ? Math.max(1, Math.round(part * width * 8)) : 0;
  return ('█'.repeat(Math.floor(units / 8)) + eighths[units % 8]!).padEnd(width);
}

/** One character per value, from 0 to `most`, by default the largest; a gap where there is none. */
export function sparkline(
  values: readonly (number | null)[],
  unicode: boolean,
  most = Math.max(0, ...values.map((value) => value ?? 0)),
): string {
  const marks = unicode ? steps : inks;
  return values
    .map((value) => {
      if (value === null || most === 0) return ' ';
      return marks[Math.min(marks.length - 1, Math.floor((value / most) * marks.length))];
    })
    .join('');
}
