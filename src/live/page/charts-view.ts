import type { Chart } from '../../report/chart.js';
import { chartsOf } from '../../report/charts.js';
import type { ThemeName } from '../../report/hydrate.js';
import { ChartView } from '../../report/page/draw.js';
import { mergeRepeats } from '../../results/repeats.js';
import type { Run } from '../../results/schema.js';
import { element, setText } from './dom.js';

interface Drawn {
  readonly title: HTMLElement;
  readonly caption: HTMLElement;
  readonly place: HTMLElement;
  readonly view: ChartView;
  /** What is drawn, to see whether there is anything new. */
  json: string;
}

/** Fast enough to look alive, slow enough to leave the machine to the measurement. */
const pauseMs = 400;

/**
 * The charts of one or more runs, repeats as one row each, drawn again as they grow. A chart keeps its place once it
 * has one, and new ones come after the others: nothing above them moves.
 */
export class ChartsView {
  readonly root = element('section', { class: 'charts', 'aria-label': 'Charts' });
  readonly #drawn = new Map<string, Drawn>();
  readonly #dark = matchMedia('(prefers-color-scheme: dark)');
  #runs: readonly Run[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#dark.addEventListener('change', () => {
      for (const { view } of this.#drawn.values()) view.setTheme(this.#theme());
    });
  }

  set(runs: readonly Run[]): void {
    this.#runs = runs;
    const update = () => {
      this.#timer = undefined;
      for (const chart of chartsOf(this.#runs.map(mergeRepeats))) this.#show(chart);
    };
    this.#timer ??= setTimeout(update, this.#drawn.size === 0 ? 0 : pauseMs);
  }

  /** These charts and no others, in this order. */
  put(charts: readonly Chart[]): void {
    this.clear();
    for (const chart of charts) this.#show(chart);
  }

  clear(): void {
    for (const { view } of this.#drawn.values()) view.dispose();
    this.#drawn.clear();
    this.root.replaceChildren();
  }

  #theme(): ThemeName {
    return this.#dark.matches ? 'dark' : 'light';
  }

  #show(chart: Chart): void {
    const json = JSON.stringify(chart.option);
    const drawn = this.#drawn.get(chart.id) ?? this.#add(chart);
    if (drawn.json === json) return;
    drawn.json = json;
    setText(drawn.title, chart.title);
    setText(drawn.caption, chart.caption);
    drawn.place.setAttribute('aria-label', chart.summary);
    drawn.view.update(chart);
  }

  #add(chart: Chart): Drawn {
    const title = element('h3');
    const caption = element('p');
    const place = element('div', { class: 'place', role: 'group' });
    place.style.minHeight = `calc(${chart.heightPx}px + var(--legend-space))`;
    const text = element('figcaption', {}, title, caption);
    this.root.append(element('figure', { 'data-chart': chart.id }, text, place));
    const view = new ChartView(place, chart, this.#theme());
    const drawn = { title, caption, place, view, json: '' };
    this.#drawn.set(chart.id, drawn);
    return drawn;
  }
}
