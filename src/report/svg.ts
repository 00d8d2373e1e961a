import { fontFamily } from './axes.js';
import type { Chart } from './chart.js';
import { init } from './echarts.js';
import { allowed, escapeMarkup } from './escape.js';
import { hydrate, type ThemeName, themes, unfoldLegend } from './hydrate.js';

/** The colours and the width of a picture. */
export interface SvgOptions {
  readonly theme?: ThemeName;
  readonly widthPx?: number;
}

const lineHeightPx = 18;
const marginPx = 24;

/** Charts below each other as one SVG document, each with its title and caption. */
export function renderSvg(charts: readonly Chart[], options: SvgOptions = {}): string {
  const { theme = 'light', widthPx = 960 } = options;
  let top = marginPx;
  const parts = charts.map((chart) => {
    const part = placed(chart, { theme, widthPx, top });
    top += part.heightPx + marginPx;
    return part.markup;
  });
  const name = escapeMarkup(charts.map(({ title }) => title).join('; '));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${widthPx}" height="${top}" viewBox="0 0 ${widthPx} ${top}" role="img" aria-label="${name}">`,
    `<title>${name}</title>`,
    `<rect width="100%" height="100%" fill="${themes[theme].paper}"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

interface Place {
  readonly theme: ThemeName;
  readonly widthPx: number;
  readonly top: number;
}

function placed(chart: Chart, { theme, widthPx, top }: Place) {
  const caption = wrapped(chart.caption, (widthPx - 2 * marginPx) / captionCharacterPx);
  const headPx = 36 + caption.length * lineHeightPx;
  const { text, muted } = themes[theme];
  const font = `font-family="${fontFamily}"`;
  const { option, extraPx } = unfoldLegend(chart.option, widthPx - 2 * marginPx);
  const whole = { ...chart, option, heightPx: chart.heightPx + extraPx };
  const drawing = drawn(whole, theme, widthPx - 2 * marginPx).replace(
    '<svg ',
    `<svg x="${marginPx}" y="${top + headPx}" `,
  );
  const markup = [
    `<g><desc>${escapeMarkup(chart.summary)}</desc>`,
    `<text x="${marginPx}" y="${top + 18}" ${font} font-size="18" font-weight="600" fill="${text}">${escapeMarkup(chart.title)}</text>`,
    ...caption.map(
      (line, i) =>
        `<text x="${marginPx}" y="${top + 40 + i * lineHeightPx}" ${font} font-size="13" fill="${muted}">${escapeMarkup(line)}</text>`,
    ),
    drawing,
    '</g>',
  ].join('\n');
  return { markup, heightPx: headPx + whole.heightPx };
}

/** Of common sans-serif fonts at 13 px; generous, since SVG does not break lines by itself. */
const captionCharacterPx = 6.6;

function wrapped(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/** Nothing answers to a pointer in a file: styles for that would be half of it, and are all the styles there are. */
function still(option: Record<string, unknown>): Record<string, unknown> {
  const series = (option.series as object[]).map((each) => ({ ...each, silent: true }));
  const legend = option.legend && { ...(option.legend as object), selectedMode: false };
  return { ...option, series, ...(legend ? { legend } : {}), tooltip: { show: false } };
}

/** The drawing alone. Names inside it derive from the chart, so that the same runs give the same bytes. */
function drawn(chart: Chart, theme: ThemeName, width: number): string {
  const options = { renderer: 'svg', ssr: true, width, height: chart.heightPx } as const;
  const drawing = init(null, null, options);
  try {
    drawing.setOption(still(hydrate(chart.option, { theme })));
    return allowed(drawing.renderToSVGString())
      .replace(/<style ?>.*?<\/style>\s*/s, '')
      .replaceAll(/ class="zr\d+-cls-\d+"/g, '')
      .replaceAll(/\bzr\d+-/g, `${chart.id}-`);
  } finally {
    drawing.dispose();
  }
}
