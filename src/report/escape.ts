const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as HTML and XML take it for text. */
export const escapeMarkup = (text: string): string =>
  allowed(text).replace(/[&<>"']/g, (character) => entities[character]!);

/** Control characters and halves of pairs, which XML forbids, become replacement characters. */
export const allowed = (text: string): string =>
  text.replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd');

/** JSON that can stand inside a `script` element: nothing in it ends the element or opens a comment. */
export function jsonInScript(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
