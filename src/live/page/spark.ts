const name = 'http://www.w3.org/2000/svg';
const [width, height, margin] = [96, 24, 3];

/** Values between 0 and 1 as a small line with a dot at its end; nothing where there are fewer than two. */
export function spark(values: readonly number[], label: string): SVGSVGElement | undefined {
  if (values.length < 2) return undefined;
  const step = (width - 2 * margin) / (values.length - 1);
  const y = (value: number) => margin + (1 - value) * (height - 2 * margin);
  const points = values.map(
    (value, i) => `${(margin + i * step).toFixed(1)},${y(value).toFixed(1)}`,
  );
  const svg = drawn('svg', {
    class: 'spark',
    viewBox: `0 0 ${width} ${height}`,
    width: String(width),
    height: String(height),
    role: 'img',
    'aria-label': label,
  });
  svg.append(
    drawn('polyline', { points: points.join(' ') }),
    drawn('circle', { cx: String(width - margin), cy: y(values.at(-1)!).toFixed(1), r: '2.5' }),
  );
  return svg;
}

function drawn<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>>,
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS(name, tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
