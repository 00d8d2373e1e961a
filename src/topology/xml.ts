import { WeftError } from '../errors.js';

/** An element of an XML file. Text between elements is not kept: hwloc writes none that matters here. */
export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
}

interface OpenElement extends Element {
  readonly children: Element[];
}

const nameSyntax = '[A-Za-z_:][\\w:.-]*';
const valueSyntax = `"[^"<]*"|'[^'<]*'`;
const attribute = new RegExp(`(${nameSyntax})\\s*=\\s*(${valueSyntax})`, 'g');
/** What a file is made of, one of these at a time; `junk` means nothing to us, `broken` is cut off. */
const token = new RegExp(
  [
    '(?<text>[^<]+)',
    // Without an internal subset: a file that defines entities of its own is not hwloc's.
    '(?<junk><\\?.*?\\?>|<!--.*?-->|<!\\[CDATA\\[.*?\\]\\]>|<!DOCTYPE\\s[^[<>]*>)',
    '(?<broken><\\?|<!--|<!\\[CDATA\\[)',
    `</(?<closed>${nameSyntax})\\s*>`,
    `<(?<opened>${nameSyntax})(?<given>(?:\\s+${nameSyntax}\\s*=\\s*(?:${valueSyntax}))*)\\s*(?<empty>/?)>`,
  ].join('|'),
  'sy',
);

/**
 * Reads well-formed XML as machines write it, and refuses the rest with the line. Without recursion, so that no depth
 * of nesting can exhaust the stack; `deepest` says where to stop.
 */
export function readXml(text: string, from: string, deepest: number): Element {
  const open: OpenElement[] = [{ name: '', attributes: new Map(), children: [] }];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  const bad = (what: string): WeftError =>
    new WeftError('BAD_USAGE', `${from}:${lineOf(text, at)}: not well-formed XML: ${what}`, {
      hint: 'Pass a file written by `lstopo --of xml FILE`.',
    });
  for (; at < text.length; at = token.lastIndex) {
    token.lastIndex = at;
    const groups = token.exec(text)?.groups;
    if (groups === undefined) throw bad(`“${text.slice(at, at + 20).split('\n')[0]}”`);
    readToken(groups, open, bad);
    if (open.length > deepest + 1) throw bad(`nested more than ${deepest} deep`);
  }
  if (open.length > 1) throw bad(`it ends inside <${open.at(-1)!.name}>`);
  const [root] = open[0]!.children;
  if (root === undefined) throw bad('there is no element');
  return root;
}

type Bad = (what: string) => WeftError;

/** The first of `open` stands for the file itself. */
function readToken(token: Record<string, string | undefined>, open: OpenElement[], bad: Bad): void {
  const { text, broken, closed, opened, given = '', empty } = token;
  const inside = open.at(-1)!;
  if (open.length === 1 && text?.trim()) throw bad('text outside any element');
  if (broken !== undefined) throw bad('it ends inside a comment');
  if (opened !== undefined) {
    if (open.length === 1 && inside.children.length > 0) throw bad(`<${opened}> after the end`);
    const element = elementOf(opened, given, bad);
    inside.children.push(element);
    if (empty === '') open.push(element);
  } else if (closed !== undefined) {
    const instead = open.length > 1 ? `<${inside.name}> is open` : 'nothing is open';
    if (open.length === 1 || inside.name !== closed) throw bad(`</${closed}> where ${instead}`);
    open.pop();
  }
}

function elementOf(name: string, given: string, bad: Bad): OpenElement {
  const attributes = new Map<string, string>();
  for (const [, key, quoted] of given.matchAll(attribute)) {
    if (attributes.has(key!)) throw bad(`${key} is given twice`);
    attributes.set(key!, unescaped(quoted!.slice(1, -1), bad));
  }
  return { name, attributes, children: [] };
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

const unescaped = (text: string, bad: Bad): string =>
  text.replace(/&([^;]{0,16};?)/g, (_, body: string) => {
    const name = body.endsWith(';') ? body.slice(0, -1) : '';
    const code = /^#(?:x([0-9a-f]+)|(\d+))$/i.exec(name);
    const point = code ? Number.parseInt(code[1] ?? code[2]!, code[1] ? 16 : 10) : undefined;
    if (point !== undefined && point <= 0x10ffff) return String.fromCodePoint(point);
    const known = Object.hasOwn(entities, name) ? entities[name] : undefined;
    if (known === undefined) throw bad(`&${body} is not a known entity`);
    return known;
  });

const lineOf = (text: string, at: number): number => text.slice(0, at).split('\n').length;
