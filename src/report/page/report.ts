import type { Chart } from '../chart.js';
import type { ThemeName } from '../hydrate.js';
import { ChartView } from './draw.js';

const charts = JSON.parse(document.getElementById('charts')!.textContent!) as Chart[];
const byId = new Map(charts.map((chart) => [chart.id, chart]));
const views = new Map<HTMLElement, ChartView>();
const dark = matchMedia('(prefers-color-scheme: dark)');
const root = document.documentElement;
const asked = new URLSearchParams(location.search).get('theme') ?? remembered();
let chosen: ThemeName | undefined = asked === 'dark' || asked === 'light' ? asked : undefined;
let printing = false;

const currentTheme = (): ThemeName => {
  if (printing) return 'light';
  return chosen ?? (dark.matches ? 'dark' : 'light');
};

/** Pages opened from disk may have no storage. */
function remembered(): string | null {
  try {
    return localStorage.getItem('weft-theme');
  } catch {
    return null;
  }
}

function remember(theme: ThemeName): void {
  try {
    localStorage.setItem('weft-theme', theme);
  } catch {
    // It is a convenience: the choice lasts as long as the page.
  }
}

function draw(place: HTMLElement): void {
  const chart = byId.get(place.dataset.chart!);
  if (chart === undefined || views.has(place)) return;
  views.set(place, new ChartView(place, chart, currentTheme()));
}

function applyTheme(): void {
  const theme = currentTheme();
  if (chosen !== undefined) root.dataset.theme = chosen;
  const button = document.getElementById('theme')!;
  button.textContent = theme === 'dark' ? 'Light' : 'Dark';
  button.setAttribute('aria-label', `Switch to ${theme === 'dark' ? 'light' : 'dark'} colours`);
  for (const view of views.values()) view.setTheme(theme);
}

const places = [...document.querySelectorAll<HTMLElement>('[data-chart]')];
const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target as HTMLElement);
  },
  { rootMargin: '800px' },
);
for (const place of places) {
  // Room for what will be drawn: nothing may jump under a reader's eyes.
  place.style.minHeight = `${byId.get(place.dataset.chart!)!.heightPx}px`;
  near.observe(place);
}

/** What is far away is drawn when there is nothing else to do. */
function drawRest(): void {
  const next = places.find((place) => !views.has(place));
  if (next === undefined) return;
  draw(next);
  setTimeout(drawRest, 30);
}
setTimeout(drawRest, 300);

document.getElementById('theme')!.addEventListener('click', () => {
  chosen = currentTheme() === 'dark' ? 'light' : 'dark';
  remember(chosen);
  applyTheme();
});
dark.addEventListener('change', applyTheme);

// Paper is white and has its own width: everything is drawn, in light colours, and scales with its box.
addEventListener('beforeprint', () => {
  printing = true;
  for (const place of places) draw(place);
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  applyTheme();
  for (const { svg } of views.values()) {
    svg?.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
  }
});
addEventListener('afterprint', () => {
  printing = false;
  applyTheme();
});
applyTheme();
