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
const openTag = new RegExp(
  `<(${nameSyntax})((?:\\s+${nameSyntax}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>`,
  'y',
);
const closeTag = new RegExp(`</(${nameSyntax})\\s*>`, 'y');
const attribute = new RegExp(`(${nameSyntax})\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'g');

/** What stands between elements and means nothing to us: [begins with, ends with]. */
const skipped = [
  ['<?', '?>'],
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
] as const;
// Without an internal subset: a file that defines entities of its own is not hwloc's.
const doctype = /<!DOCTYPE\s[^[<>]*>/y;

/**
 * Reads well-formed XML as machines write it, and refuses the rest with the line. Without recursion, so that no depth
 * of nesting can exhaust the stack; `deepest` says where to stop.
 */
export function readXml(text: string, from: string, deepest: number): Element {
  const open: OpenElement[] = [];
  let root: Element | undefined;
  const bad = (what: string, at: number): WeftError =>
    new WeftError('BAD_USAGE', `${from}:${lineOf(text, at)}: not well-formed XML: ${what}`, {
      hint: 'Pass a file written by `lstopo --of xml FILE`.',
    });
  const close = (element: OpenElement, at: number) => {
    const parent = open.at(-1);
    if (parent) parent.children.push(element);
    else if (root) throw bad(`<${element.name}> after the end`, at);
    else root = element;
  };
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; ) {
    const next = text.indexOf('<', at);
    const between = next < 0 ? text.slice(at) : text.slice(at, next);
    if (open.length === 0 && between.trim() !== '') throw bad('text outside any element', at);
    if (next < 0) break;
    const end = skip(text, next);
    if (end !== undefined) {
      if (end < 0) throw bad('it ends inside a comment', next);
      at = end;
      continue;
    }
    const started = matchAt(openTag, text, next);
    const ended = started ? null : matchAt(closeTag, text, next);
    if (started) {
      const element = elementOf(started, (what) => bad(what, next));
      if (started[3] === '/') close(element, next);
      else open.push(element);
      if (open.length > deepest) throw bad(`nested more than ${deepest} deep`, next);
    } else if (ended) {
      const element = open.pop();
      if (element === undefined || element.name !== ended[1]) {
        const instead = element ? `<${element.name}> is open` : 'nothing is open';
        throw bad(`</${ended[1]}> where ${instead}`, next);
      }
      close(element, next);
    } else {
      throw bad(`“${text.slice(next, next + 20).split('\n')[0]}”`, next);
    }
    at = next + (started ?? ended)![0].length;
  }
  if (open.length > 0) throw bad(`it ends inside <${open.at(-1)!.name}>`, text.length);
  if (!root) throw bad('there is no element', 0);
  return root;
}

/** Where what begins here and means nothing ends: undefined for a tag, negative where it does not end. */
function skip(text: string, at: number): number | undefined {
  const declared = matchAt(doctype, text, at);
  if (declared) return at + declared[0].length;
  const pair = skipped.find(([begin]) => text.startsWith(begin, at));
  if (!pair) return undefined;
  const end = text.indexOf(pair[1], at + pair[0].length);
  return end < 0 ? -1 : end + pair[1].length;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function elementOf(match: RegExpExecArray, bad: (what: string) => WeftError): OpenElement {
  const attributes = new Map<string, string>();
  for (const [, name, quoted, single] of match[2]!.matchAll(attribute)) {
    if (attributes.has(name!)) throw bad(`${name} is given twice`);
    attributes.set(name!, unescaped(quoted ?? single!, bad));
  }
  return { name: match[1]!, attributes, children: [] };
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

const unescaped = (text: string, bad: (what: string) => WeftError): string =>
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
