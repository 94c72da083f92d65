/** Lines and words over the picture: on the page as SVG, in saved pictures on a canvas. Pixels from the upper left. */

import { theme_colour } from "./page";
import { svg } from "./svg";

export interface LineMark {
  readonly kind: "line";
  readonly points: readonly (readonly [number, number])[];
  readonly colour: string;
  readonly width: number;
  readonly filled?: boolean;
}
export interface TextMark {
  readonly kind: "text";
  readonly at: readonly [number, number]; // the middle of the text
  readonly text: string;
  readonly colour: string;
  readonly bold?: boolean;
}
export type Mark = LineMark | TextMark;

const font = (mark: TextMark): string => `${mark.bold ? "600 " : ""}12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;

function svg_of(mark: Mark): SVGElement {
  if (mark.kind === "text") {
    const [x, y] = mark.at;
    return svg("text", { x, y, fill: mark.colour, "font-weight": mark.bold ? 600 : 400 }, mark.text);
  }
  const fill = mark.filled ? mark.colour : "none";
  return svg("polyline", { points: mark.points.map((p) => p.join(",")).join(" "), stroke: mark.colour, "stroke-width": mark.width, "stroke-linejoin": "round", "stroke-linecap": "round", fill });
}

export function draw_marks(target: SVGElement, marks: readonly Mark[]): void {
  target.replaceChildren(...marks.map(svg_of));
}

/** Words get a halo in the colour of the ground, as on the page. */
export function paint_marks(context: CanvasRenderingContext2D, marks: readonly Mark[]): void {
  context.save();
  context.lineJoin = context.lineCap = "round";
  for (const mark of marks) {
    if (mark.kind === "text") {
      context.font = font(mark);
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.strokeStyle = theme_colour("ground");
      context.lineWidth = 3;
      context.strokeText(mark.text, ...mark.at);
      context.fillStyle = mark.colour;
      context.fillText(mark.text, ...mark.at);
      continue;
    }
    context.beginPath();
    mark.points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.strokeStyle = context.fillStyle = mark.colour;
    context.lineWidth = mark.width;
    if (mark.filled) context.fill();
    context.stroke();
  }
  context.restore();
}

/** A line with a head at its end, in pixels. A short one is a head alone. */
export function arrow_marks(from: readonly [number, number], to: readonly [number, number], colour: string, width: number): LineMark[] {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  if (!(length > 0.5)) return [];
  const [ux, uy] = [dx / length, dy / length];
  const head = Math.min(4.5 * width, length);
  const neck = [to[0] - head * ux, to[1] - head * uy] as const;
  const side = 0.38 * head;
  const corners = [to, [neck[0] - side * uy, neck[1] + side * ux], [neck[0] + side * uy, neck[1] - side * ux], to] as const;
  return [
    { kind: "line", points: [from, neck], colour, width },
    { kind: "line", points: corners, colour, width: 1, filled: true },
  ];
}
