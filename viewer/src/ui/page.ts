/** Elements of index.html by their id, and small helpers to make others. */

export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no element '${id}'`);
  return found as unknown as T;
}

export const input = (id: string): HTMLInputElement => element<HTMLInputElement>(id);
export const choice = (id: string): HTMLSelectElement => element<HTMLSelectElement>(id);

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const out = Object.assign(document.createElement(tag), properties);
  out.append(...children);
  return out;
}

export function set_options(select: HTMLSelectElement, options: readonly (readonly [string, string])[]): void {
  const before = select.value;
  select.replaceChildren(...options.map(([value, text]) => make("option", { value, textContent: text })));
  if (options.some(([value]) => value === before)) select.value = before;
}

/** The id of a part of a view: that of the first has no number. */
export const id_of = (name: string, view: number): string => (view === 0 ? name : `${name}-${view}`);

/** So many views side by side, each with a head of its own. One has its head in the bar. */
export function make_views(count: number): void {
  if (count === 1) return;
  document.body.classList.add("compares");
  element("words").prepend(element("head"));
  for (let view = 1; view < count; ++view) {
    const copy = element("view").cloneNode(true) as HTMLElement;
    for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.id = id_of(one.id, view);
    element("views").append(copy);
  }
}

/** A press of a button that stays down. */
export function set_pressed(button: HTMLElement, pressed: boolean): void {
  button.setAttribute("aria-pressed", String(pressed));
}

export function theme_colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function download(blob: Blob, name: string): void {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
