/** Pictures and videos of the view, made in the browser and handed to it as downloads. */

import type { LegendEntry } from "./legend";
import { bar_ticks } from "./legend";
import { css, map_colour } from "../colours";
import type { Stage } from "../scene/stage";
import { compass_width } from "./compass";
import { paint_marks, type Mark } from "./marks";
import { download, theme_colour } from "./page";

/** What stands on a picture beside the scene. */
export interface Words {
  readonly head: string;
  readonly legend: readonly LegendEntry[];
  readonly marks: (bottom: number) => readonly Mark[]; // axes and scale above `bottom`
}

const legend_width = 250; // pixels of the page

/** The stage's picture, which must have been drawn in this very task, with its upper left corner at `corner`. */
export function paint_picture(context: CanvasRenderingContext2D, stage: Stage, words: Words | null, corner: readonly [number, number]): void {
  const { canvas, room, fineness } = stage;
  context.save();
  context.translate(...corner);
  context.drawImage(canvas, 0, 0);
  if (words) {
    context.scale(fineness, fineness);
    let y = room.height - 14;
    for (const entry of [...words.legend].reverse()) y = draw_entry(context, entry, y) - 16;
    const beside = words.legend.length === 0 || room.width > legend_width + compass_width;
    paint_marks(context, words.marks(beside ? room.height : y));
    context.fillStyle = theme_colour("ink");
    context.textAlign = "left";
    context.font = "600 16px system-ui, sans-serif";
    context.fillText(words.head, 14, 26);
  }
  context.restore();
}

export function save_picture(picture: HTMLCanvasElement, name: string): void {
  picture.toBlob((blob) => {
    if (blob) download(blob, name);
  }, "image/png");
}

/** Draws upwards from `y`; returns where it ends. */
function draw_entry(context: CanvasRenderingContext2D, entry: LegendEntry, y: number): number {
  const x = 16;
  const heading = (text: string, at: number): number => {
    context.fillStyle = theme_colour("ink");
    context.font = "600 12px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(text, x, at);
    return at - 12;
  };
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillStyle = theme_colour("ink");
  if (entry.kind === "scale") {
    context.fillText(entry.text, x, y);
    return heading(entry.title, y - 18);
  }
  if (entry.kind === "key") {
    entry.colours.forEach(({ colour, text }, i) => {
      const at = y - 17 * (entry.colours.length - 1 - i);
      context.fillStyle = css(colour);
      context.beginPath();
      context.arc(x + 5, at - 4, 5, 0, 7);
      context.fill();
      context.fillStyle = theme_colour("ink");
      context.fillText(text, x + 17, at);
    });
    return heading(entry.title, y - 17 * entry.colours.length - 3);
  }
  const { title, marks } = bar_ticks(entry);
  const width = 200;
  for (let i = 0; i < width; ++i) {
    context.fillStyle = css(map_colour(entry.map, i / (width - 1)));
    context.fillRect(x + i, y - 28, 1.5, 12);
  }
  context.fillStyle = theme_colour("ink");
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  for (const { at, text } of marks) context.fillText(text, x + at * width, y - 2);
  return heading(title, y - 34);
}

export class Recorder {
  private recorder: MediaRecorder | null = null;

  constructor(private readonly changed: (recording: boolean, bytes: number) => void) {}

  get recording(): boolean {
    return this.recorder !== null;
  }

  /** @throws Error when the browser cannot record. */
  start(canvas: HTMLCanvasElement, name: string): void {
    const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find(
      (candidate) => typeof MediaRecorder !== "undefined" && MediaRecorder.isTypeSupported(candidate),
    );
    if (!type) throw new Error("This browser cannot record WebM videos.");
    const parts: Blob[] = [];
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 16e6 });
    let size = 0;
    recorder.addEventListener("dataavailable", (event) => {
      parts.push(event.data);
      size += event.data.size;
      if (this.recorder === recorder) this.changed(true, size);
    });
    recorder.addEventListener("stop", () => download(new Blob(parts, { type: "video/webm" }), name));
    recorder.start(500);
    this.recorder = recorder;
    this.changed(true, 0);
  }

  stop(): void {
    this.recorder?.stop();
    this.recorder = null;
    this.changed(false, 0);
  }
}
