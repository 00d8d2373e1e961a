type Child = Node | string | undefined;
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** An element with attributes and children. Text is always text: nothing here becomes markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) target.removeAttribute(name);
    else target.setAttribute(name, value === true ? '' : value);
  }
}

/** Only what differs is touched, so that focus, selection and screen readers are left in peace. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** A table in a box that scrolls by itself, also by keyboard. */
export function tableBox(label: string, about: string, head: Node, body: Node): HTMLElement {
  const caption = element('caption', { class: 'hidden' }, about);
  const table = element('table', {}, caption, element('thead', {}, head), body);
  const box = { class: 'rows', tabindex: '0', role: 'region', 'aria-label': label };
  return element('div', box, table);
}

export function show(...content: readonly Node[]): void {
  document.querySelector('main')!.replaceChildren(...content);
}
