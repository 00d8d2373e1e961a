import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package-root.js';
import type { Chart } from './chart.js';
import { escapeMarkup, jsonInScript } from './escape.js';

interface HtmlPage {
  readonly title: string;
  /** Beside the product's name. */
  readonly brand: string;
  /** Markup. */
  readonly body: readonly string[];
  readonly footer: string;
  /** Drawn into the figures that `body` has for them. */
  readonly charts: readonly Chart[];
}

/** A page that needs no network and runs no script but its own. */
export function htmlPage({ title, brand, body, footer, charts }: HtmlPage): string {
  const script = pageScript();
  const style = pageStyle();
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; img-src data:; base-uri 'none'; form-action 'none'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<link rel="icon" href="data:,">',
    `<title>${escapeMarkup(title)}</title>`,
    `<style>${style}</style>`,
    '</head>',
    '<body>',
    `<header class="bar"><span class="brand">Weft <span>${escapeMarkup(brand)}</span></span><button type="button" id="theme">Dark</button></header>`,
    '<main>',
    ...body,
    '</main>',
    `<footer>${escapeMarkup(footer)}</footer>`,
    `<script type="application/json" id="charts">${jsonInScript(charts)}</script>`,
    `<script type="module">${script}</script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

export function figureHtml(chart: Chart, named: boolean): string {
  const title = escapeMarkup(named ? `${chart.benchmark}: ${chart.title}` : chart.title);
  const place = `<div class="place" data-chart="${escapeMarkup(chart.id)}" role="group" aria-label="${title}. ${escapeMarkup(chart.summary)}"></div>`;
  return `<figure><figcaption><h3>${title}</h3><p>${escapeMarkup(chart.caption)}</p></figcaption>${place}</figure>`;
}

const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const textOf = (name: string): string =>
  readFileSync(join(packageRoot, 'dist/report/page', name), 'utf8');

/** The page's script with all it needs, ECharts included, as one text without imports. */
const pageScript = (): string => textOf('report.js');

const pageStyle = (): string => textOf('report.css') + textOf('print.css');
