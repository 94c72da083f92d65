const svg_name = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const out = document.createElementNS(svg_name, tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, String(value));
  out.textContent = text;
  return out;
}
