// What the page shows, in a real browser: a step a feature. Arguments: harness.mjs.
import { differences, expect, open_page, options, picture, run_scene, run_steps, serve, view_pixels } from "./harness.mjs";

const check = async (page, id, on) => {
  if ((await page.isChecked(`#${id}`)) !== on) await page.click(`#${id}`);
};

/** The view with some of its parts only. */
async function with_parts(page, parts) {
  for (const [id, on] of Object.entries(parts)) await check(page, `show-${id}`, on);
  return view_pixels(page);
}

/** Columns from the first to the last in which two pictures differ. */
const width_of = (page, a, b) =>
  page.evaluate(
    ([p, q]) => {
      let [first, last] = [p.width, -1];
      for (let i = 0; i < p.data.length; i += 4) {
        if (Math.abs(p.data[i] - q.data[i]) + Math.abs(p.data[i + 1] - q.data[i + 1]) < 60) continue;
        const x = (i / 4) % p.width;
        [first, last] = [Math.min(first, x), Math.max(last, x)];
      }
      return last - first;
    },
    [a, b],
  );

/** Of the pixels in which the second and the third picture differ much, how many differ between the first two. */
const hidden = (page, ...pictures) =>
  page.evaluate(([a, b, c]) => {
    const distance = (p, q, i) => Math.abs(p.data[i] - q.data[i]) + Math.abs(p.data[i + 1] - q.data[i + 1]) + Math.abs(p.data[i + 2] - q.data[i + 2]);
    let count = 0;
    for (let i = 0; i < a.data.length; i += 4) count += distance(b, c, i) > 250 && distance(a, b, i) > 40 ? 1 : 0;
    return count;
  }, pictures);

async function ground_axes_and_scale(browser, url) {
  const page = await open_page(browser, url);
  await check(page, "show-obstacles", false);
  const plain = { ground: false, axes: false };
  const without = await with_parts(page, plain);
  const ground = await with_parts(page, { ...plain, ground: true });
  expect((await differences(page, without, ground)).count > 500, "no ground");
  // A floor of the scene would stand for the ground; without one it is there from below too, behind the fibre.
  for (const from of ["+z", "-z", "-y"]) {
    await page.click(`#views button:text-is("${from.replace("-", "−")}")`);
    const seen = [await with_parts(page, { ground: true }), await with_parts(page, { ground: false }), await with_parts(page, { fibres: false })];
    const length = await width_of(page, seen[1], seen[2]);
    expect(length > 200 && (await hidden(page, ...seen)) < 30, `from ${from} the ground hides the fibre: ${await hidden(page, ...seen)} pixels`);
    await with_parts(page, { fibres: true, axes: true });
    const marks = await page.locator("#marks text").allTextContents();
    expect(marks.filter((text) => /^[xyz]$/.test(text)).sort().join("") === "xyz", `axes ${marks}`);
    await picture(page, `ground_${from}`);
    if (from === "-y") continue; // along the axis that points up: the fibre lies aslant
    // The fibre, an arc of 60 mm that starts along x with a radius of 50 mm, says whether the bar is as long as it claims.
    const reach = 0.05 * Math.sin(0.06 / 0.05);
    const [, number, unit] = /^([\d.]+) (m|mm|µm)$/.exec(marks.find((text) => text.length > 1));
    const bar = await page.locator("#marks polyline").last().evaluate((line) => line.getBBox().width);
    const claimed = (Number(number) * { m: 1, mm: 1e-3, "µm": 1e-6 }[unit] * length) / bar;
    expect(Math.abs(claimed / reach - 1) < 0.02, `from ${from} ${reach} m are ${claimed} m by the bar`);
  }
  await check(page, "show-obstacles", true);
  await page.close();
}

await run_steps(async (browser, step) => {
  const { url } = await serve(run_scene("bending", options.scene, "--until", "0.1", "--set", "output.every=20"));
  await step(ground_axes_and_scale, browser, url);
});
