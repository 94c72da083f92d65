// Two runs side by side, in a real browser. Arguments: harness.mjs.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { children, differences, expect, folder, open_page, options, picture, pixels_of, run_scene, run_steps, serve, settled, until, view_pixels } from "./harness.mjs";
import { check, drag, requests_of } from "./steps.mjs";

const second = (page, name) => page.evaluate((key) => document.getElementById("view-1").dataset[key] ?? "", name);
const frames = async (page) => [await page.evaluate(() => Number(document.body.dataset.frame)), Number(await second(page, "frame"))];
const pixels_of_second = async (page) => {
  await settled(page);
  return pixels_of(page, await page.locator("#canvas-1").screenshot());
};

/** Waits for a frame of each run. */
const show_both = (page, ...wanted) =>
  until(page, ([a, b]) => Number(document.body.dataset.frame) === a && Number(document.getElementById("view-1").dataset.frame) === b, wanted);

async function one_time_and_one_eye(browser, url) {
  const page = await open_page(browser, url, "light", { width: 1400, height: 820 });
  await page.waitForSelector("#view-1[data-frame]");
  // Frames every 2 ms to 0.1 s, and every 3 ms to 0.06 s: the slider stops at each time of either.
  expect((await page.getAttribute("#scrub", "max")) === "60", `the slider goes to ${await page.getAttribute("#scrub", "max")}`);
  await page.locator("#scrub").fill("1");
  await show_both(page, 1, 1);
  await page.locator("#scrub").fill("2");
  await show_both(page, 1, 1);
  expect((await page.textContent("#clock-1")) === "t = 0.003 s", await page.textContent("#clock-1"));
  await page.keyboard.press("End");
  await show_both(page, 50, 20);
  expect((await page.textContent("#facts-1")).includes("the last frame of this run"), await page.textContent("#facts-1"));
  await picture(page, "compare_end");
  const heads = [await page.textContent("#head"), await page.textContent("#head-1")];
  expect(/^\s*A rough: .*sound/s.test(heads[0]) && /^\s*B free: /.test(heads[1]), `${heads}`);
  for (const [moved, other] of [["#canvas", pixels_of_second], ["#canvas-1", view_pixels]]) {
    const before = await other(page);
    await drag(page, moved);
    expect((await differences(page, before, await other(page))).count > 100, `turning ${moved} does not turn the other`);
  }
  await page.keyboard.press("1");
  await settled(page);
  const [a, b] = await Promise.all(["#marks", "#marks-1"].map((id) => page.innerHTML(id)));
  expect(a === b, "axes and scales differ");
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await until(page, () => Number(document.body.dataset.frame) > 3 && Number(document.getElementById("view-1").dataset.frame) > 1);
  await page.keyboard.press("Space");
  await page.close();
}

async function a_link_says_which_runs_it_shows(browser, url) {
  const page = await open_page(browser, url, "light", { width: 1400, height: 820 });
  await page.waitForSelector("#view-1[data-frame]");
  await page.selectOption("#colour", "tension");
  await until(page, () => /&runs=rough\+and\+free$/.test(location.hash));
  for (const [runs, said] of [["rough+and+free", ""], ["rough+and+other", "The link shows rough and other; this page shows rough and free."]]) {
    const again = await open_page(browser, `${url}#time=0.06&runs=${runs}`, "light", { width: 1400, height: 820 });
    await show_both(again, 30, 20);
    await again.waitForTimeout(300);
    expect((await again.textContent("#message")) === said, await again.textContent("#message"));
    await again.close();
  }
  await page.close();
}

async function both_are_measured_alike(browser, url) {
  const page = await open_page(browser, `${url}#time=0.06&colour=curvature&show_forces=true`, "light", { width: 1400, height: 820 });
  await show_both(page, 30, 20);
  await page.waitForSelector("#plot .u-over");
  expect((await page.textContent("#legend")).includes("Curvature") && !(await page.textContent("#legend-1")).includes("Curvature"), "a colour bar in each view");
  const labels = await page.locator("#plot .u-legend .u-series th").allTextContents();
  expect(labels.includes("|F| A") && labels.includes("|F| B"), `${labels}`);
  const values = await page.locator("#plot .u-legend .u-value").allTextContents();
  expect(values.filter((text) => /N$/.test(text)).length === 8, `values at the play head: ${values}`);
  await picture(page, "compare");
  await page.keyboard.press("c");
  await page.selectOption("#colour", "hair");
  await check(page, "show-forces", false);
  const box = await page.locator("#canvas-1").boundingBox();
  const before = await pixels_of_second(page);
  await page.click("#show-fibres");
  const { middle } = await differences(page, before, await pixels_of_second(page));
  await page.click("#show-fibres");
  await page.mouse.click(box.x + middle[0], box.y + middle[1]);
  await until(page, () => document.body.dataset.picked === "0");
  const facts = await page.locator("#inspector-facts dd").allTextContents();
  expect(facts[0] === "A" && facts[1] === "B" && facts[2] === facts[3], `${facts}`);
  await page.waitForSelector("#inspector-plot .u-over");
  await picture(page, "compare_picked");
  for (const theme of ["dark", "light"]) {
    await page.keyboard.press("t");
    expect((await page.getAttribute("html", "data-theme")) === theme, `not ${theme}`);
    if (theme === "dark") await picture(page, "compare_dark");
  }
  await page.waitForTimeout(1200); // the address is written twice a second
  expect(/time=0\.06&.*fibre=0/.test(page.url()), page.url());
  const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("s")]);
  const png = readFileSync(await file.path());
  const seen = await page.evaluate(() => document.getElementById("canvas").width + document.getElementById("canvas-1").width);
  expect(png.readUInt32BE(16) === seen, `a picture of ${png.readUInt32BE(16)} pixels of ${seen}`);
  await page.close();
}

async function one_below_the_other(browser, url) {
  const page = await open_page(browser, `${url}#time=0.06`, "light", { width: 360, height: 740 });
  await show_both(page, 30, 20);
  const [a, b] = await Promise.all(["#view", "#view-1"].map((id) => page.locator(id).boundingBox()));
  expect(a.y + a.height <= b.y && a.width > 350 && Math.abs(a.height - b.height) < 2, `views at ${JSON.stringify([a, b])}`);
  const wide = await page.evaluate(() => [...document.querySelectorAll(".head, .bar, .plots")].filter((one) => one.getBoundingClientRect().right > innerWidth).length);
  expect(wide === 0, "something leaves the window");
  await picture(page, "compare_narrow");
  const legend = await page.locator("#legend").boundingBox();
  expect(legend.height < 0.2 * a.height, `the colour bar covers ${legend.height} of ${a.height} pixels`);
  await page.click("#toggle-plots");
  await settled(page);
  await picture(page, "compare_narrow_plots");
  await page.close();
}

/** Both in one file, without a server: the same two views. */
async function both_in_one_file(browser, url, rough, free) {
  const file = join(folder, "both.html");
  const done = spawnSync(options.program, ["export", rough, free, "-o", file, "--quiet"], { encoding: "utf8" });
  expect(done.status === 0, done.stderr);
  const seen = [];
  for (const address of [url, pathToFileURL(file).href]) {
    const page = await open_page(browser, `${address}#time=0.06&colour=curvature&show_forces=true`, "light", { width: 1400, height: 820 });
    await show_both(page, 30, 20);
    await page.waitForSelector("#plot .u-over");
    await picture(page, `both_${seen.length}`);
    const labels = await page.locator("#plot .u-legend .u-series th").allTextContents();
    seen.push({ page, labels: `${labels}`, head: await page.textContent("#head-1"), first: await page.locator("#canvas").screenshot(), second: await page.locator("#canvas-1").screenshot() });
  }
  const [served, alone] = seen;
  expect(served.labels === alone.labels && served.head === alone.head, `${alone.head}: ${alone.labels}`);
  for (const one of ["first", "second"]) {
    const { count } = await differences(alone.page, await pixels_of(alone.page, alone[one]), await pixels_of(alone.page, served[one]));
    expect(count < 800, `the ${one} view of the page alone shows ${count} other pixels than the served one`);
  }
  for (const { page } of seen) await page.close();
}

/** A video shows both views beside each other, from its first frame on. */
async function records_both(browser, url) {
  const page = await open_page(browser, url, "light", { width: 1400, height: 820 });
  await page.waitForSelector("#view-1[data-frame]");
  await page.locator("#scrub").fill("1");
  await show_both(page, 1, 1);
  await page.click("#record"); // it plays
  await until(page, () => Number(document.body.dataset.frame) > 10);
  const [file] = await Promise.all([page.waitForEvent("download"), page.click("#record")]);
  expect(/\.webm$/.test(file.suggestedFilename()), file.suggestedFilename());
  const content = readFileSync(await file.path()).toString("base64");
  const halves = await page.evaluate(async (base64) => {
    const video = document.createElement("video");
    video.muted = true;
    video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], { type: "video/webm" }));
    const happens = (what) => new Promise((resolve, reject) => { video[what] = resolve; video.onerror = () => reject(new Error("no video")); });
    const shown = new Promise((resolve) => video.requestVideoFrameCallback(resolve));
    const ended = happens("onended");
    await video.play();
    await shown;
    const canvas = Object.assign(document.createElement("canvas"), { width: video.videoWidth, height: video.videoHeight });
    const pen = canvas.getContext("2d");
    const half = Math.floor(canvas.width / 2);
    const spread = (x) => {
      pen.drawImage(video, 0, 0);
      const { data } = pen.getImageData(x, 0, half, canvas.height);
      let least = 255, greatest = 0;
      for (let i = 0; i < data.length; i += 4) { least = Math.min(least, data[i]); greatest = Math.max(greatest, data[i]); }
      return greatest - least;
    };
    const first = [spread(0), spread(half)];
    await ended;
    return { width: canvas.width, height: canvas.height, spreads: [...first, spread(0), spread(half)], picture: canvas.toDataURL() };
  }, content);
  if (options.pictures) writeFileSync(join(options.pictures, "recorded_both.png"), Buffer.from(halves.picture.split(",")[1], "base64"));
  const seen = await page.evaluate(() => [document.getElementById("canvas").width + document.getElementById("canvas-1").width, document.getElementById("canvas").height]);
  expect(Math.abs(halves.width - seen[0]) < 4 && Math.abs(halves.height - seen[1]) < 4, `a video of ${halves.width} x ${halves.height}, views of ${seen}`);
  expect(Math.min(...halves.spreads) > 60, `a half of the first or the last frame is empty: ${halves.spreads}`);
  await page.close();
}

/** One has ended, the other goes on. */
async function one_may_be_live(browser, _url, ended) {
  const out = join(folder, "live");
  const run = spawn(options.program, ["run", options.scene, "-o", out, "--quiet", "--threads", "1", "--set", "time_step=2e-6", "--set", "output.every=500"]);
  children.push(run);
  let server;
  for (let i = 0; !server; ++i) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    server = await serve(ended, out).catch((error) => expect(i < 60, String(error)));
  }
  const page = await open_page(browser, server.url, "light", { width: 1400, height: 820 });
  await page.waitForSelector("#view-1[data-frame]");
  const requests = requests_of(page);
  const [, first] = await frames(page);
  await until(page, (n) => Number(document.getElementById("view-1").dataset.frame) > n + 2, first);
  expect((await page.textContent("#status-1")) === "live" && (await page.textContent("#status")) !== "live", "which one is live");
  expect(await page.isVisible("#follow"), "no button for the latest frame");
  run.kill("SIGKILL");
  await until(page, () => document.getElementById("view-1").dataset.live === "false");
  expect(requests.count("/api/frame") === 0, "the run that has ended is asked for again");
  await page.close();
}

await run_steps(async (browser, step) => {
  const rough = run_scene("rough", options.scene, "--until", "0.1", "--set", "output.every=20", "--set", "friction=0.5");
  const free = run_scene("free", options.scene, "--until", "0.06", "--set", "output.every=30", "--set", "friction=0");
  const { url } = await serve(rough, free);
  for (const one of [one_time_and_one_eye, a_link_says_which_runs_it_shows, both_are_measured_alike, one_below_the_other, both_in_one_file, records_both, one_may_be_live]) await step(one, browser, url, rough, free);
});
