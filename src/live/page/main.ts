import { showComparison } from './compare-view.js';
import { element, show } from './dom.js';
import { showHistory } from './history-view.js';
import { followList, showList } from './list-view.js';
import { showRun } from './run-view.js';
import { runAddress } from './words.js';

const { pathname, searchParams } = new URL(location.href);
const [, view, key] = pathname.split('/');
for (const link of document.querySelectorAll<HTMLAnchorElement>('.views a')) {
  if (link.pathname === pathname) link.setAttribute('aria-current', 'page');
}
const [a, b] = [searchParams.get('a'), searchParams.get('b')];

if (view === 'run' && key) showRun(decodeURIComponent(key));
else if (view === 'compare' && a !== null && b !== null) showComparison([a, b]);
else if (view === 'history') void showHistory();
else if (view === 'new') showNext(searchParams.get('since') ?? '');
else showList();

/** Waits for the run that a command is about to start, and goes there. */
function showNext(since: string): void {
  document.title = 'Waiting · Weft';
  const text = element('p', { role: 'status' }, 'It is being set up.');
  show(element('h1', {}, 'Waiting for the run'), text);
  const stop = followList(0, ({ runs }) => {
    const next = runs.find(({ header }) => header !== undefined && header.startedAt >= since);
    if (next === undefined) return;
    stop();
    location.replace(runAddress(next.key));
  });
}
