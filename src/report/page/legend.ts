import { element } from './tooltip.js';

interface Series {
  readonly type: string;
  readonly name: string;
  readonly symbol?: string;
  readonly itemStyle?: { readonly color?: string; readonly borderColor?: string };
  readonly lineStyle?: { readonly type?: string | readonly number[] };
}

const svgName = 'http://www.w3.org/2000/svg';

/** A button per name that shows or hides its series; `aria-pressed` says which. */
export function legendOf(
  option: Readonly<Record<string, unknown>>,
  names: readonly string[],
  hidden: ReadonlySet<string>,
  toggle: (name: string) => void,
): HTMLElement[] {
  const all = option.series as readonly Series[];
  return names.map((name) => {
    const button = element('button', 'legend-item') as HTMLButtonElement;
    button.type = 'button';
    button.append(swatch(all.find((series) => series.name === name)!), name);
    button.setAttribute('aria-pressed', String(!hidden.has(name)));
    button.title = 'Show or hide';
    button.addEventListener('click', () => {
      toggle(name);
      button.setAttribute('aria-pressed', String(!hidden.has(name)));
    });
    return button;
  });
}

const shapes: Record<string, string> = {
  circle: 'M14 2a4 4 0 1 0 .001 0z',
  rect: 'M10.5 2.5h7v7h-7z',
  triangle: 'M14 1.5l4.5 8h-9z',
  diamond: 'M14 .5l4.5 5.5l-4.5 5.5l-4.5-5.5z',
};
const dashes: Record<string, string> = { solid: '', dashed: '5 3', dotted: '2 2' };

/** The line and symbol of a series, or a block for bars and boxes. */
function swatch({ type, symbol = 'circle', itemStyle = {}, lineStyle }: Series): SVGSVGElement {
  const color = (type === 'boxplot' ? itemStyle.borderColor : itemStyle.color) ?? 'currentColor';
  const svg = part('svg', {
    width: '28',
    height: '12',
    viewBox: '0 0 28 12',
    'aria-hidden': 'true',
  });
  if (type !== 'line') {
    svg.append(part('rect', { x: '6', width: '16', height: '12', rx: '2', fill: color }));
    return svg as SVGSVGElement;
  }
  const dash = lineStyle?.type ?? 'solid';
  const array = typeof dash === 'string' ? dashes[dash]! : dash.join(' ');
  svg.append(
    part('path', { d: 'M0 6h28', stroke: color, 'stroke-width': '2', 'stroke-dasharray': array }),
    ...(symbol === 'none' ? [] : [part('path', symbolOf(symbol, color))]),
  );
  return svg as SVGSVGElement;
}

function symbolOf(symbol: string, color: string): Record<string, string> {
  const empty = symbol.startsWith('empty');
  const shape = shapes[(empty ? symbol.slice(5) : symbol).toLowerCase()] ?? shapes.circle!;
  if (!empty) return { d: shape, fill: color };
  return { d: shape, class: 'hollow', stroke: color, 'stroke-width': '1.5' };
}

function part(tag: string, attributes: Record<string, string>): SVGElement {
  const made = document.createElementNS(svgName, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
