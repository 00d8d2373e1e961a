import type { ECharts } from 'echarts';
import type { Chart } from '../../report/chart.js';
import { chartsOf } from '../../report/charts.js';
import { hydrate, type ThemeName } from '../../report/hydrate.js';
import type { Run } from '../../results/schema.js';
import { element, setText } from './dom.js';
import { tooltip } from './tooltip.js';

declare const echarts: typeof import('echarts');

interface Drawn {
  readonly figure: HTMLElement;
  readonly place: HTMLElement;
  readonly caption: HTMLElement;
  readonly drawing: ECharts;
  chart: Chart;
}

/** Fast enough to look alive, slow enough to leave the machine to the measurement. */
const pauseMs = 400;

/**
 * The charts of one or more runs, drawn again as they grow. A chart keeps its place once it has one, and new ones come
 * after the others: nothing above them moves.
 */
export class ChartsView {
  readonly root = element('section', { class: 'charts', 'aria-label': 'Charts' });
  readonly #drawn = new Map<string, Drawn>();
  readonly #dark = matchMedia('(prefers-color-scheme: dark)');
  #runs: readonly Run[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#dark.addEventListener('change', () => this.#drawAll());
    new ResizeObserver(() => {
      for (const { drawing } of this.#drawn.values()) drawing.resize();
    }).observe(this.root);
  }

  set(runs: readonly Run[]): void {
    this.#runs = runs;
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#update();
      },
      this.#drawn.size === 0 ? 0 : pauseMs,
    );
  }

  clear(): void {
    for (const { drawing } of this.#drawn.values()) drawing.dispose();
    this.#drawn.clear();
    this.root.replaceChildren();
  }

  #update(): void {
    const charts = chartsOf(this.#runs);
    for (const chart of charts) {
      const drawn = this.#drawn.get(chart.id);
      if (drawn === undefined) this.#add(chart);
      else if (JSON.stringify(drawn.chart) !== JSON.stringify(chart)) {
        drawn.chart = chart;
        this.#draw(drawn);
      }
    }
  }

  #add(chart: Chart): void {
    const place = element('div', { class: 'drawing', role: 'img' });
    place.style.height = `${chart.heightPx}px`;
    const caption = element('p', { class: 'caption' });
    const title = element('h3', {}, chart.title);
    const figure = element('figure', { 'data-chart': chart.id }, title, caption, place);
    this.root.append(figure);
    const drawn: Drawn = { figure, place, caption, drawing: echarts.init(place), chart };
    this.#drawn.set(chart.id, drawn);
    this.#draw(drawn);
  }

  #drawAll(): void {
    for (const drawn of this.#drawn.values()) this.#draw(drawn);
  }

  #draw({ figure, place, caption, drawing, chart }: Drawn): void {
    const theme: ThemeName = this.#dark.matches ? 'dark' : 'light';
    setText(figure.querySelector('h3')!, chart.title);
    setText(caption, chart.caption);
    place.setAttribute('aria-label', `${chart.title}: ${chart.summary}`);
    drawing.setOption(hydrate(chart.option, { theme, tooltip }), { notMerge: true });
  }
}
