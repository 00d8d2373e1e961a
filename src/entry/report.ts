/**
 * Runs as pages and pictures: one self-contained HTML page, or charts as SVG. Nothing here needs a browser or a network.
 *
 * @module
 */
export type { Chart, ChartKind, ChartOption } from '../report/chart.js';
export { chartsOf } from '../report/charts.js';
export { renderReport } from '../report/html.js';
export type { ThemeName } from '../report/hydrate.js';
export { renderSvg, type SvgOptions } from '../report/svg.js';
