import { setAttributes, setText } from './dom.js';

const place = (): HTMLElement => document.getElementById('connection')!;

/** Says in the page's head whether news can come. */
export function showConnection(state: 'live' | 'lost' | 'done'): void {
  const texts = { live: 'connected', lost: 'connection lost, trying again', done: '' };
  setText(place(), texts[state]);
  setAttributes(place(), { 'data-state': state });
}
