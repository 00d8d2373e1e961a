import type { Chart } from '../chart.js';
import { type EChartsType, init } from '../echarts.js';
import { hydrate, type LegendParts, legendHeightPx, type ThemeName } from '../hydrate.js';
import { legendOf } from './legend.js';
import { tooltipOf } from './tooltip.js';

type Drawable = Pick<Chart, 'option' | 'heightPx'>;

type Parts = LegendParts & { readonly xAxis: { readonly data?: readonly string[] } };

/** A chart in an element of the page, with a legend of buttons above it: they work by keyboard and break into lines. */
export class ChartView {
  readonly #chart: EChartsType;
  readonly #legend = document.createElement('div');
  readonly #hidden = new Set<string>();
  #drawable: Drawable;
  #theme: ThemeName;

  constructor(place: HTMLElement, drawable: Drawable, theme: ThemeName) {
    this.#drawable = drawable;
    this.#theme = theme;
    this.#legend.className = 'legend';
    const canvas = document.createElement('div');
    canvas.className = 'canvas';
    canvas.style.height = `${heightOf(drawable)}px`;
    place.replaceChildren(this.#legend, canvas);
    this.#chart = init(canvas, null, { renderer: 'svg' });
    new ResizeObserver(() => this.#chart.resize()).observe(canvas);
    this.#draw();
  }

  get svg(): SVGSVGElement | null {
    return this.#chart.getDom().querySelector('svg');
  }

  /** New data of the same chart; what a reader has hidden stays hidden. */
  update(drawable: Drawable): void {
    this.#drawable = drawable;
    this.#chart.getDom().style.height = `${heightOf(drawable)}px`;
    this.#draw();
  }

  setTheme(theme: ThemeName): void {
    if (theme === this.#theme) return;
    this.#theme = theme;
    this.#draw();
  }

  dispose(): void {
    this.#chart.dispose();
  }

  #draw(): void {
    const { legend, grid, title, xAxis } = this.#drawable.option as unknown as Parts;
    const names = legend?.data ?? [];
    const selected = Object.fromEntries([...this.#hidden].map((name) => [name, false]));
    const option = hydrate(this.#drawable.option, {
      theme: this.#theme,
      tooltip: (words) => tooltipOf(words, xAxis.data ?? []),
    });
    const raised = legend === undefined ? 0 : legendHeightPx;
    this.#chart.setOption(
      {
        ...option,
        grid: { ...(option.grid as object), top: grid.top - raised },
        title: { ...(option.title as object), top: title.top - raised },
        ...(legend && { legend: { show: false, data: names, selected } }),
      },
      { notMerge: true },
    );
    const focused = [...this.#legend.children].indexOf(document.activeElement as Element);
    this.#legend.replaceChildren(
      ...legendOf(option, names, this.#hidden, (name) => this.#toggle(name)),
    );
    (this.#legend.children[focused] as HTMLElement | undefined)?.focus();
  }

  #toggle(name: string): void {
    if (!this.#hidden.delete(name)) this.#hidden.add(name);
    this.#chart.dispatchAction({ type: 'legendToggleSelect', name });
  }
}

const heightOf = ({ option, heightPx }: Drawable): number =>
  heightPx - ('legend' in option ? legendHeightPx : 0);
