// What the page shows, in a real browser: a step a feature. Arguments: harness.mjs.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { differences, expect, folder, open_page, options, picture, run_scene, run_steps, serve, settled, until, view_pixels } from "./harness.mjs";
import { check, extent_of, press_for, with_parts } from "./steps.mjs";

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
    await page.click(`#directions button:text-is("${from.replace("-", "−")}")`);
    const seen = [await with_parts(page, { ground: true }), await with_parts(page, { ground: false }), await with_parts(page, { fibres: false })];
    const [length] = await extent_of(page, seen[1], seen[2]);
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

/** Of a scene of some centimetres: half a millimetre. */
async function small_moves_are_drawn(browser, url) {
  const page = await open_page(browser, url);
  const before = await view_pixels(page);
  const box = await page.locator("#canvas").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.down({ button: "right" });
  await page.mouse.move(box.x + 304, box.y + 200);
  await page.mouse.up({ button: "right" });
  expect((await differences(page, before, await view_pixels(page))).count > 100, "a move of four pixels is not drawn");
  await page.close();
}

async function arrows_are_bounded(browser, url) {
  const page = await open_page(browser, url);
  expect(!(await page.isChecked("#show-forces")), "arrows are shown without being asked for");
  await page.keyboard.press("End");
  await until(page, () => Number(document.body.dataset.contacts) > 0);
  const legend_shown = (shown) => page.evaluate((x) => (document.getElementById("legend").style.visibility = x ? "" : "hidden"), shown);
  await legend_shown(false);
  const parts = { ground: false, contacts: false, obstacles: false };
  const without = await with_parts(page, parts);
  const whole = await extent_of(page, without, await with_parts(page, { fibres: false }));
  await check(page, "show-fibres", true);
  const arrows = [];
  for (const scale of ["0", "1.5"]) {
    await page.locator("#arrow-scale").fill(scale);
    arrows.push(await extent_of(page, without, await with_parts(page, { forces: true })));
    await legend_shown(true);
    await picture(page, `arrows_${scale}`);
    await legend_shown(false);
    await check(page, "show-forces", false);
  }
  const size = Math.hypot(...whole);
  const longest = arrows.map((extent) => Math.hypot(...extent));
  // Two contacts at one place: an arrow each way at most.
  expect(longest[0] > 0.03 * size && longest[1] > longest[0] && longest[1] < 0.6 * size, `arrows of ${longest} in a picture of ${size} pixels`);
  await check(page, "show-forces", true);
  const legend = await page.textContent("#legend");
  expect(/Arrows.*long, at most/.test(legend), legend);
  await page.close();
}

/** A fibre that is led 60 mm away by its root: all of its way is in the first view. */
const leaving_scene = `
[simulation]
time_step = 1e-3
duration = 0.1
gravity = 0
[output]
every = 10
[[fibres]]
name = "hair"
material = "nylon"
length = 0.02
elements = 2
radius = 1e-3
root = { position = [0, 0, 0], motion = { velocity = [0.6, 0, 0] } }
`;

async function first_view_holds_the_run(browser) {
  writeFileSync(join(folder, "leaving.toml"), leaving_scene);
  const { url } = await serve(run_scene("leaving", join(folder, "leaving.toml")));
  const page = await open_page(browser, url);
  const seen = [];
  for (const key of ["Home", "End"]) {
    await press_for(page, key, key === "Home" ? 0 : 10);
    const parts = { ground: false, axes: false };
    const bare = await with_parts(page, { ...parts, fibres: false });
    seen.push((await differences(page, bare, await with_parts(page, { ...parts, fibres: true }))).count);
    await picture(page, `first_view_${key}`);
  }
  expect(seen[0] > 500 && Math.abs(seen[1] / seen[0] - 1) < 0.6, `the fibre is ${seen} pixels, first and last`);
  await page.keyboard.press("Home");
  await page.keyboard.press("f");
  const bare = await with_parts(page, { fibres: false });
  const { count } = await differences(page, bare, await with_parts(page, { fibres: true }));
  expect(count > 2 * seen[0], `fit to the first frame: ${count} pixels after ${seen[0]}`);
  await page.close();
}

const two_obstacles = `
[simulation]
time_step = 1e-3
duration = 0.01
gravity = 0
[output]
every = 10
[[fibres]]
name = "hair"
material = "nylon"
length = 0.02
elements = 2
radius = 1e-4
root = { position = [-0.01, 0, 0] }
[[obstacles]]
name = "head"
shape = "sphere"
center = [-0.03, 0, 0]
radius = 0.015
[[obstacles]]
name = "stick"
shape = "capsule"
from = [0.03, 0, -0.015]
to = [0.03, 0, 0.015]
radius = 0.01
`;

async function obstacles_have_colours(browser) {
  writeFileSync(join(folder, "two.toml"), two_obstacles);
  const { url } = await serve(run_scene("two", join(folder, "two.toml")));
  const page = await open_page(browser, url);
  await page.click('#directions button:text-is("−y")');
  const pictures = [await with_parts(page, { ground: false, axes: false, obstacles: false }), await with_parts(page, { obstacles: true })];
  await picture(page, "obstacles");
  /** Red, green and blue of what obstacles add left and right of the middle. */
  const [left, right] = await page.evaluate(
    ([p, q]) =>
      [0, 1].map((half) => {
        const sums = [0, 0, 0, 0];
        for (let i = 0; i < p.data.length; i += 4) {
          const x = (i / 4) % p.width;
          if (x < 330 || (x > p.width / 2 ? 1 : 0) !== half || p.data[i] === q.data[i]) continue; // the legend stands on the left
          for (let c = 0; c < 3; ++c) sums[c] += q.data[i + c];
          ++sums[3];
        }
        return sums.map((sum) => sum / sums[3]);
      }),
    pictures,
  );
  const apart = Math.hypot(...[0, 1, 2].map((c) => left[c] - right[c]));
  expect(apart > 50, `obstacles of colours ${left} and ${right}`);
  const legend = await page.textContent("#legend");
  expect(legend.includes("head") && legend.includes("stick"), legend);
  await page.close();
}

/** A weight of thread that hangs from its tip, held too. */
const held_scene = `
[simulation]
time_step = 1e-3
duration = 0.2
[output]
every = 10
[[fibres]]
name = "thread"
material = "nylon"
length = 0.1
elements = 8
radius = 5e-4
root = { position = [0, 0, 0], tangent = [1, 0, 0] }
[[fibres.holds]]
name = "tip"
`;

async function held_points_and_loads(browser) {
  writeFileSync(join(folder, "held.toml"), held_scene);
  const out = run_scene("held", join(folder, "held.toml"));
  const { url } = await serve(out);
  const page = await open_page(browser, url);
  expect((await page.getAttribute('#plot-tabs button:text-is("Holds")', "aria-selected")) === "true", "holds are not the first plot");
  expect(await page.locator('#plot-tabs button:text-is("Force")').isHidden(), "forces on no obstacle have a plot");
  await press_for(page, "End", 20);
  const rows = readFileSync(join(out, "holds.csv"), "utf8").trim().split("\n");
  const load = Math.hypot(...rows.at(-1).split(",").slice(3, 6).map(Number));
  await until(page, () => [...document.querySelectorAll("#marks text")].some((one) => one.textContent.endsWith("N")));
  const label = (await page.locator("#marks text").allTextContents()).find((text) => /N$/.test(text)) ?? "";
  const [, number, unit] = /^([\d.]+) (mN|N|µN)$/.exec(label) ?? [];
  expect(Math.abs((Number(number) * { N: 1, mN: 1e-3, "µN": 1e-6 }[unit]) / load - 1) < 0.01, `a load of ${load} N is told as '${label}'`);
  await until(page, () => /\|F\|:?\s*[\d.]+ .?N/.test(document.getElementById("plot").textContent));
  await picture(page, "held");
  const before = await view_pixels(page);
  await page.keyboard.press("h");
  expect(!(await page.isChecked("#show-holds")) && (await differences(page, before, await view_pixels(page))).count > 50, "h changes nothing");
  await page.close();
}

async function solver_plot(browser, url) {
  const page = await open_page(browser, url);
  await page.click('#plot-tabs button:text-is("Solver")');
  await page.waitForSelector("#plot .u-over");
  for (const viewport of [{ width: 1280, height: 800 }, { width: 700, height: 600 }]) {
    await page.setViewportSize(viewport);
    await settled(page);
    const [legend, curves, box] = await Promise.all(["#plot .u-legend", "#plot .u-wrap", "#plot"].map((one) => page.locator(one).boundingBox()));
    expect(legend.y + legend.height <= curves.y + 0.5, `the legend ends at ${legend.y + legend.height}, the curves begin at ${curves.y}`);
    expect(curves.height > 90, `the curves are ${curves.height} pixels high`);
    expect(curves.y + curves.height <= box.y + box.height + 0.5, "the curves leave their place");
    await picture(page, `solver_${viewport.width}`);
  }
  await page.close();
}

/** At the width of a telephone every control can be reached, and none lies over another. */
async function narrow_window(browser, url) {
  const page = await open_page(browser, `${url}#frame=50&colour=curvature&show_forces=true`, "light", { width: 360, height: 740 });
  for (const part of ["", "plots", "panel"]) {
    if (part) await page.click(`#toggle-${part}`);
    await settled(page);
    await picture(page, `narrow_${part || "view"}`);
    const covered = await page.evaluate(() => document.getElementById("legend").offsetHeight / document.getElementById("view").offsetHeight);
    expect(covered < 0.2, `the colour bars cover ${Math.round(100 * covered)} % of the view`);
    const problems = await page.evaluate(() => {
      const out = [];
      const named = (one) => one.id || one.textContent.trim();
      if (document.documentElement.scrollWidth > innerWidth) out.push("the page is too wide");
      const boxes = [...document.querySelectorAll("button, input, select")].filter((one) => one.offsetParent);
      for (const one of boxes) {
        const { left, right } = one.getBoundingClientRect();
        if (left < 0 || right > innerWidth + 0.5) out.push(`${named(one)} leaves the window`);
        one.scrollIntoView({ block: "nearest" });
        const { x, y, width, height } = one.getBoundingClientRect();
        const top = document.elementFromPoint(x + width / 2, y + height / 2);
        if (!top || !(one === top || one.contains(top) || top.contains(one))) out.push(`${named(one)} is under ${top ? named(top) : "nothing"}`);
      }
      const overlays = [...document.querySelectorAll(".overlay, #marks > *")].map((one) => [one, one.getBoundingClientRect()]);
      for (const [one, a] of overlays) {
        for (const [other, b] of overlays) {
          const apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
          if (one.id === "legend" && other !== one && b.width * b.height > 0 && !apart) out.push(`${named(other)} lies over the legend`);
        }
      }
      return out;
    });
    expect(problems.length === 0, `with ${part || "nothing"} beside the view: ${problems.join(", ")}`);
    if (part === "plots") {
      const [curves, box] = await Promise.all(["#plot .u-wrap", "#plot"].map((one) => page.locator(one).boundingBox()));
      expect(curves.y + curves.height <= box.y + box.height + 0.5, "the curves leave their place");
    }
    if (part) await page.click(`#toggle-${part}`);
  }
  await page.close();
}

await run_steps(async (browser, step) => {
  const run = run_scene("bending", options.scene, "--until", "0.1", "--set", "output.every=20");
  const { url } = await serve(run);
  for (const one of [ground_axes_and_scale, small_moves_are_drawn, arrows_are_bounded, solver_plot, narrow_window]) await step(one, browser, url);
  for (const one of [first_view_holds_the_run, obstacles_have_colours, held_points_and_loads]) await step(one, browser);
});
