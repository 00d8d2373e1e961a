import * as echarts from 'echarts';
import type { Chart } from './chart.js';
import { escapeMarkup } from './escape.js';
import { hydrate, type ThemeName, themes } from './hydrate.js';

export interface SvgOptions {
  readonly theme?: ThemeName;
  readonly widthPx?: number;
}

const titleHeightPx = 64;
const marginPx = 24;

/** Charts below each other as one SVG document, each with its title and caption. */
export function renderSvg(charts: readonly Chart[], options: SvgOptions = {}): string {
  const { theme = 'light', widthPx = 960 } = options;
  let top = marginPx;
  const parts = charts.map((chart) => {
    const part = placed(chart, { theme, widthPx, top });
    top += titleHeightPx + chart.heightPx + marginPx;
    return part;
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

function placed(chart: Chart, { theme, widthPx, top }: Place): string {
  const { text, muted } = themes[theme];
  const font = 'font-family="system-ui, sans-serif"';
  const drawing = drawn(chart, theme, widthPx - 2 * marginPx).replace(
    '<svg ',
    `<svg x="${marginPx}" y="${top + titleHeightPx}" `,
  );
  return [
    `<g><desc>${escapeMarkup(chart.summary)}</desc>`,
    `<text x="${marginPx}" y="${top + 18}" ${font} font-size="18" font-weight="600" fill="${text}">${escapeMarkup(chart.title)}</text>`,
    `<text x="${marginPx}" y="${top + 42}" ${font} font-size="13" fill="${muted}">${escapeMarkup(chart.caption)}</text>`,
    drawing,
    '</g>',
  ].join('\n');
}

/** The drawing alone. Names inside it derive from the chart, so that the same runs give the same bytes. */
function drawn(chart: Chart, theme: ThemeName, width: number): string {
  const options = { renderer: 'svg', ssr: true, width, height: chart.heightPx } as const;
  const drawing = echarts.init(null, null, options);
  try {
    drawing.setOption(hydrate(chart.option, { theme }));
    return drawing.renderToSVGString().replaceAll(/\bzr\d+-/g, `${chart.id}-`);
  } finally {
    drawing.dispose();
  }
}
