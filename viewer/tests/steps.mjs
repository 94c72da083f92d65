// Steps that several tests of the page take.
import { until, view_pixels } from "./harness.mjs";

/** Sets a box of the settings. */
export const check = async (page, id, on) => {
  if ((await page.isChecked(`#${id}`)) !== on) await page.click(`#${id}`);
};

/** The view with some of its parts only. */
export async function with_parts(page, parts) {
  for (const [id, on] of Object.entries(parts)) await check(page, `show-${id}`, on);
  return view_pixels(page);
}

/** Columns and rows from the first to the last in which two pictures differ. */
export const extent_of = (page, a, b) =>
  page.evaluate(
    ([p, q]) => {
      let [left, right, top, bottom] = [p.width, -1, p.height, -1];
      for (let i = 0; i < p.data.length; i += 4) {
        if (Math.abs(p.data[i] - q.data[i]) + Math.abs(p.data[i + 1] - q.data[i + 1]) < 60) continue;
        const [x, y] = [(i / 4) % p.width, Math.floor(i / 4 / p.width)];
        [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
      }
      return [right - left, bottom - top];
    },
    [a, b],
  );

/** Waits for a frame of the first run. */
export const shows = (page, frame) => until(page, (n) => Number(document.body.dataset.frame) === n, frame);

export async function go_to(page, frame) {
  await page.locator("#scrub").fill(String(frame));
  await shows(page, frame);
}

export async function press_for(page, key, frame) {
  await page.keyboard.press(key);
  await shows(page, frame);
}

/** Turns the view. */
export async function drag(page, canvas = "#canvas") {
  const box = await page.locator(canvas).boundingBox();
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 420, box.y + 260, { steps: 4 });
  await page.mouse.up();
}

/** Paths that a page asks for, as they come. */
export function requests_of(page) {
  const paths = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  return { count: (path) => paths.filter((one) => one === path).length };
}
