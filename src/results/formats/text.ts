export type Ink = 'bold' | 'dim' | 'red' | 'yellow' | 'cyan';
export type Paint = (ink: Ink, text: string) => string;

const codes: Record<Ink, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Whether to colour is the caller's to know: files and pipes get none. */
export function painter(color: boolean): Paint {
  if (!color) return (_, text) => text;
  return (ink, text) =>
    text === '' ? '' : `\u001b[${codes[ink][0]}m${text}\u001b[${codes[ink][1]}m`;
}

const paints = [...new Set(Object.values(codes).flat())].join('|');
const controls = /(?![\t\n]|\r\n)\p{Cc}/gu;
const unpainted = new RegExp(`(?!\\u001b\\[(?:${paints})m)${controls.source}`, 'gu');

/**
 * Text without control characters, which mean commands to a terminal: they become escapes of JSON, so that JSON stays
 * what it is. Line ends and tabs stay, and where text is `painted` what a painter adds.
 */
export const printable = (text: string, { painted = false } = {}): string =>
  text.replace(painted ? unpainted : controls, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return `\\u${code.padStart(4, '0')}`;
  });

/** Lines of at most `width` columns, further ones indented; a longer word is cut. */
export function wrap(text: string, asked: number): string[] {
  const indent = '  ';
  const width = Math.max(asked, indent.length + 1);
  const lines: string[] = [];
  let line = '';
  const push = () => {
    lines.push(line);
    line = indent;
  };
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const joint = line === '' || line === indent ? '' : ' ';
    if (joint !== '' && line.length + joint.length + word.length > width) push();
    line += (line === '' || line === indent ? '' : ' ') + word;
    while (line.length > width) {
      lines.push(line.slice(0, width));
      line = indent + line.slice(width);
    }
  }
  if (line.trim() !== '') lines.push(line);
  return lines;
}
