import { showComparison } from './compare-view.js';
import { element, show } from './dom.js';
import { followList, showList } from './list-view.js';
import { showRun } from './run-view.js';
import { runAddress } from './words.js';

const { pathname, searchParams } = new URL(location.href);
const [, view, key] = pathname.split('/');
const [a, b] = [searchParams.get('a'), searchParams.get('b')];

if (view === 'run' && key) showRun(decodeURIComponent(key));
else if (view === 'compare' && a !== null && b !== null) showComparison([a, b]);
else if (view === 'new') showNext();
else showList();

/** Waits for the run that a command is about to start, and goes there. */
function showNext(): void {
  document.title = 'Waiting · Weft';
  const since = performance.timeOrigin;
  show(
    element('h1', {}, 'Waiting for the run'),
    element('p', { role: 'status' }, 'It is being set up.'),
  );
  const stop = followList(({ runs }) => {
    const running = runs.find(({ state }) => state === 'running');
    const fresh = runs.find(({ header }) => header && Date.parse(header.startedAt) > since);
    const next = running ?? fresh;
    if (next === undefined) return;
    stop();
    location.replace(runAddress(next.key));
  });
}
