// The page in a real browser, at work: opens short runs, plays, scrubs, picks, toggles every overlay, shows meshes, follows
// live runs, survives damaged and vanished files. Arguments: harness.mjs.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allowed, children, complaints, differences, expect, fact, folder, frame_of, open_page, options, picture, run_scene, run_steps, serve, settled, text_of, until, view_pixels } from "./harness.mjs";
import { drag, go_to, press_for, requests_of } from "./steps.mjs";

async function plays_and_scrubs(page) {
  const last = Number(await page.getAttribute("#scrub", "max"));
  expect(last === 150, `last frame ${last}`);
  await page.keyboard.press("Space");
  await until(page, () => Number(document.body.dataset.frame) > 5);
  await page.keyboard.press("Space");
  await settled(page);
  const stopped = await frame_of(page);
  await page.waitForTimeout(300);
  expect((await frame_of(page)) === stopped, "plays on after a pause");
  await press_for(page, "ArrowRight", stopped + 1);
  await press_for(page, "Shift+ArrowLeft", Math.max(0, stopped - 9));
  await press_for(page, "Home", 0);
  await press_for(page, "End", 150);
  await go_to(page, 100);
  expect((await text_of(page, "clock")).startsWith("t = 0.2"), await text_of(page, "clock"));
  const box = await page.locator("#plot .u-over").boundingBox();
  await page.mouse.click(box.x + 0.5 * box.width, box.y + 20);
  await until(page, () => Math.abs(Number(document.body.dataset.frame) - 75) < 3);
  await press_for(page, "End", 150);
  for (const key of ["+", "-", "-"]) await page.keyboard.press(key);
}

async function toggles(page) {
  await page.locator("#scrub").evaluate((x) => x.blur());
  await page.keyboard.press("a"); // arrows are off at first
  for (const [key, box] of [["k", "show-contacts"], ["a", "show-forces"], ["o", "show-obstacles"], ["", "show-fibres"]]) {
    const before = await view_pixels(page);
    const flip = () => (key ? page.keyboard.press(key) : page.click(`#${box}`));
    await flip();
    expect(!(await page.isChecked(`#${box}`)), `${box} is still checked`);
    const without = await view_pixels(page);
    expect((await differences(page, before, without)).count > 10, `${box} changes nothing`);
    await flip();
    expect((await differences(page, before, await view_pixels(page))).count === 0, `${box} does not come back`);
  }
  const legend = await text_of(page, "legend");
  expect(legend.includes("Normal force [") && legend.includes("Arrows"), legend);
  await page.keyboard.press("x");
  expect((await text_of(page, "legend")).includes("slide"), "key of contact states");
  await page.keyboard.press("x");
  const before = await view_pixels(page);
  for (const [id, value] of [["thickness", "0.7"], ["arrow-scale", "0.6"], ["opacity", "0.3"]]) {
    const old = await page.inputValue(`#${id}`);
    await page.locator(`#${id}`).fill(value);
    expect((await differences(page, before, await view_pixels(page))).count > 10, `${id} changes nothing`);
    await page.locator(`#${id}`).fill(old);
  }
}

async function colours(page) {
  const names = await page.locator("#colour option").evaluateAll((all) => all.map((one) => one.value));
  expect(names.length === 9, `${names}`);
  let before = await view_pixels(page);
  for (const name of names.slice(1)) {
    await page.selectOption("#colour", name);
    await page.waitForTimeout(150);
    const after = await view_pixels(page);
    expect(name === "speed" || (await differences(page, before, after)).count > 50, `colour by ${name} changes nothing`);
    before = after;
  }
  await page.selectOption("#colour", "curvature");
  await until(page, () => document.getElementById("legend").textContent.includes("Curvature [1/m]"));
  await page.fill("#range-low", "10");
  await page.fill("#range-high", "30");
  await page.locator("#range-high").blur();
  expect((await page.locator("#legend svg text").allTextContents()).includes("30"), "the colour bar keeps to typed limits");
  await page.click("#range-auto");
  await picture(page, "curvature");
}

async function picks(page) {
  await page.selectOption("#colour", "hair");
  const before = await view_pixels(page);
  await page.click("#show-fibres");
  const { middle } = await differences(page, before, await view_pixels(page));
  await page.click("#show-fibres");
  const [x, y] = middle;
  const box = await page.locator("#canvas").boundingBox();
  await page.mouse.click(box.x + x, box.y + y);
  await until(page, () => document.body.dataset.picked === "0");
  await page.waitForSelector("#inspector-plot .u-over");
  const facts = await text_of(page, "inspector-facts");
  expect(facts.includes("60 mm") && /Contacts1 (stick|slide)/.test(facts), facts);
  await picture(page, "picked");
  await page.mouse.click(box.x + 5, box.y + box.height - 5);
  expect((await fact(page, "picked")) === "-1", "still picked");
}

async function the_rest_of_the_page(page) {
  for (const tab of ["Energy", "Contacts", "Solver", "Force"]) {
    await page.click(`#plot-tabs button:text-is("${tab}")`);
    await page.waitForSelector("#plot .u-over");
  }
  const before = await view_pixels(page);
  for (let i = 1; i <= 6; ++i) {
    await page.keyboard.press(String(i));
    await settled(page);
  }
  await page.keyboard.press("f");
  await drag(page);
  await page.mouse.wheel(0, -500);
  expect((await differences(page, before, await view_pixels(page))).count > 100, "turning and zooming change nothing");
  await page.keyboard.press("f");
  await page.keyboard.press("t");
  expect((await page.getAttribute("html", "data-theme")) === "dark", "no dark theme");
  await picture(page, "dark");
  await page.keyboard.press("t");
  await page.keyboard.press("?");
  await page.waitForSelector("#help[open]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  await page.keyboard.press("b");
  expect(await page.locator("#plots, #panel").evaluateAll((all) => all.every((one) => one.hidden)), "plots and panel stay");
  await page.keyboard.press("p");
  await page.keyboard.press("b");
  await page.setViewportSize({ width: 720, height: 520 });
  await settled(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(overflow <= 0, `the page is ${overflow} pixels too wide for a small window`);
  await picture(page, "small");
  await page.setViewportSize({ width: 1280, height: 800 });
  const [shot] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("s")]);
  const bytes = readFileSync(await shot.path());
  expect(bytes.subarray(1, 4).toString() === "PNG" && bytes.length > 10000, `a picture of ${bytes.length} bytes`);
  if (options.pictures) cpSync(await shot.path(), join(options.pictures, "saved.png"));
  await page.keyboard.press("Home");
  await page.keyboard.press("v");
  await until(page, () => /\(0\.0*[1-9]|\([1-9]/.test(document.getElementById("record").textContent));
  const [video] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("v")]);
  expect(statSync(await video.path()).size > 1000, "an empty video");
}

async function unlabelled_controls(page) {
  const names = await page.locator("button, input, select").evaluateAll((all) =>
    all.filter((x) => !(x.labels?.length || x.getAttribute("aria-label") || x.textContent.trim())).map((x) => x.id),
  );
  expect(names.length === 0, `controls without a name: ${names}`);
}

async function survives(page, path) {
  allowed.missing = true;
  const copy = join(folder, "copy");
  cpSync(path, copy, { recursive: true });
  truncateSync(join(path, "trajectory.log"), 500);
  await until(page, () => !document.getElementById("message").hidden);
  expect((await text_of(page, "message")).includes("trajectory.log"), await text_of(page, "message"));
  await picture(page, "damaged");
  rmSync(path, { recursive: true });
  await until(page, () => document.getElementById("message").textContent.includes("no such"));
  await page.keyboard.press("ArrowLeft");
  cpSync(copy, path, { recursive: true });
  await until(page, () => document.getElementById("message").hidden);
  await press_for(page, "Home", 0);
  allowed.missing = false;
}

/** A run under way with some frames in its log. */
async function live_run(name, size, scene, ...more) {
  const out = join(folder, name);
  const run = spawn(options.program, ["run", scene, "-o", out, "--quiet", "--threads", "1", ...more]);
  children.push(run);
  const log = join(out, "trajectory.log");
  for (let i = 0; (statSync(log, { throwIfNoEntry: false })?.size ?? 0) < size; ++i) {
    expect(i < 600, "the run did not begin");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { out, run };
}

/** The mesh is there from the beginning, and stays while frames come. */
async function follows_meshes(browser) {
  const { out, run } = await live_run("live_mesh", 60000, options.meshes, "--set", "time_step=1e-5", "--set", "output.every=50");
  const { url } = await serve(out);
  const page = await open_page(browser, url);
  const requests = requests_of(page);
  await until(page, () => document.getElementById("status").textContent === "live");
  const first = await frame_of(page);
  await until(page, (n) => Number(document.body.dataset.frame) > n + 3, first);
  run.kill("SIGKILL");
  await until(page, () => document.body.dataset.live === "false");
  const before = await view_pixels(page);
  await picture(page, "live_mesh");
  await page.keyboard.press("o");
  expect((await differences(page, before, await view_pixels(page))).count > 20000, "no bust in a live run");
  expect(requests.count("/api/vertices") === 0, "the bust was fetched again");
  await page.close();
}

async function follows(browser) {
  const more = ["--set", "time_step=2e-6", "--set", "output.every=500", "--set", "max_indentation=0.02"];
  const { out, run } = await live_run("live", 20000, options.scene, ...more);
  const { url } = await serve(out);
  const page = await open_page(browser, url, "dark");
  await until(page, () => document.getElementById("status").textContent === "live");
  const first = await frame_of(page);
  await until(page, (n) => Number(document.body.dataset.frame) > n + 3, first);
  await picture(page, "live");
  await page.click("#follow");
  await page.waitForTimeout(500); // the frame at the head may be on its way
  const still = await frame_of(page);
  await page.waitForTimeout(2500);
  expect((await frame_of(page)) === still, "follows although told not to");
  await page.keyboard.press("l");
  await until(page, (n) => Number(document.body.dataset.frame) > n, still);
  run.kill("SIGKILL");
  await until(page, () => document.body.dataset.live === "false");
  expect((await text_of(page, "status")) === "stopped", await text_of(page, "status"));
  await page.close();
}

async function shows_meshes(browser) {
  const { url } = await serve(run_scene("mesh", options.meshes, "--until", "0.1", "--set", "output.every=20"));
  const page = await open_page(browser, url);
  const requests = requests_of(page);
  await page.reload();
  await page.waitForSelector("body[data-frame]");
  const first = await view_pixels(page);
  await picture(page, "mesh");
  await page.keyboard.press("o");
  const without = await view_pixels(page);
  expect((await differences(page, first, without)).count > 20000, "a bust is hardly to be seen");
  await page.keyboard.press("o");
  expect((await differences(page, first, await view_pixels(page))).count === 0, "the bust does not come back");
  await page.keyboard.press("t");
  await settled(page);
  await page.locator("#opacity").fill("0.4");
  expect((await differences(page, first, await view_pixels(page))).count > 20000, "opacity changes nothing");
  await picture(page, "mesh_dark");
  await page.locator("#opacity").fill("1");
  await page.locator("#opacity").evaluate((x) => x.blur());
  const last = Number(await page.getAttribute("#scrub", "max"));
  for (let frame = 0; frame <= last; ++frame) {
    await go_to(page, frame);
  }
  expect(last === 10 && requests.count("/api/frame") >= last, `${last} frames`);
  for (const path of ["/api/meshes", "/api/vertices"]) expect(requests.count(path) === 1, `${path} ${requests.count(path)} times`);
  await page.close();
}

/** A sheet of two faces with three frames of its own over 0.1 s, which rises as a body. */
const moving_scene = (from) => `
[simulation]
time_step = 1e-3
duration = 0.1
gravity = 0
[output]
every = 5
[[fibres]]
name = "hair"
material = "nylon"
length = 0.02
elements = 2
radius = 1e-4
root = { position = [0, 0, 0.05] }
[[obstacles]]
name = "sheet"
shape = "mesh"
file = "${from}/sheet.#.obj"
first = 1
last = 3
rate = 20
motion = { velocity = [0, 0, 0.05] }
`;

async function moves_vertices(browser) {
  const from = join(folder, "sheets");
  mkdirSync(from);
  for (const [number, height] of [[1, -0.02], [2, 0.03], [3, -0.02]]) {
    writeFileSync(join(from, `sheet.${number}.obj`), `v -0.05 -0.05 -0.02\nv 0.05 -0.05 -0.02\nv 0.05 0.05 -0.02\nv -0.05 0.05 ${height}\nf 1 2 3\nf 1 3 4\n`);
  }
  writeFileSync(join(folder, "sheet.toml"), moving_scene(from));
  const path = run_scene("moving", join(folder, "sheet.toml"));
  rmSync(from, { recursive: true }); // the run's folder has all
  const { url } = await serve(path);
  const page = await open_page(browser, url);
  const requests = requests_of(page);
  const seen = [];
  for (const frame of [0, 5, 10, 15, 20]) {
    await go_to(page, frame);
    seen.push(await view_pixels(page));
    await picture(page, `sheet_${frame}`);
  }
  for (let i = 1; i < seen.length; ++i) expect((await differences(page, seen[i - 1], seen[i])).count > 500, `the sheet rests at ${5 * i}`);
  // Its shape is that of the beginning, but it has moved as a body.
  expect((await differences(page, seen[0], seen[4])).count > 500, "the sheet has not moved up");
  for (const key of ["Home", "End", "Home"]) await page.keyboard.press(key);
  await settled(page);
  expect(requests.count("/api/vertices") === 2, `vertices ${requests.count("/api/vertices")} times`); // the first came with the page
  await page.close();
}

async function server_ends(page, server) {
  allowed.missing = true;
  server.kill();
  await until(page, () => document.getElementById("message").textContent.includes("has ended"));
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !/ERR_CONNECTION|ERR_EMPTY/.test(text)));
  allowed.missing = false;
}

await run_steps(async (browser, step) => {
  const path = run_scene("run", options.scene, "--set", "friction=0.3", "--until", "0.3", "--set", "output.every=20");
  const { server, url } = await serve(path);
  const page = await open_page(browser, url);
  for (const one of [plays_and_scrubs, toggles, colours, picks, the_rest_of_the_page, unlabelled_controls]) await step(one, page);
  await step(survives, page, path);
  for (const one of [follows, shows_meshes, moves_vertices, follows_meshes]) await step(one, browser);
  await step(server_ends, page, server);
});
