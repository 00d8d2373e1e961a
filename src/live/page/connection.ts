import { setAttributes, setText } from './dom.js';

const place = (): HTMLElement => document.getElementById('connection')!;

/** A browser tries again by itself, but not when it was refused: another token, or no such run. */
const texts = {
  live: 'connected',
  lost: 'connection lost, reconnecting',
  refused: 'access refused: open the address that weft printed last, or return to the list',
  done: '',
};

/** Shows in the page's head whether updates can arrive. */
export function showConnection(state: keyof typeof texts): void {
  setText(place(), texts[state]);
  setAttributes(place(), { 'data-state': state });
}

/** Says so for as long as this source of events is open. */
export function showConnectionOf(source: EventSource): void {
  source.addEventListener('open', () => showConnection('live'));
  source.addEventListener('error', () =>
    showConnection(source.readyState === EventSource.CLOSED ? 'refused' : 'lost'),
  );
}
