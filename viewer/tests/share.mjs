// What leaves the page, in a real browser: links, pictures, a run in one file. Arguments: harness.mjs.
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { differences, expect, folder, open_page, options, picture, pixels_of, run_scene, run_steps, serve, until, view_pixels } from "./harness.mjs";
import { check, drag, go_to, press_for, shows } from "./steps.mjs";

async function link_shows_the_same(browser, url) {
  const page = await open_page(browser, url);
  await page.selectOption("#colour", "tension");
  await go_to(page, 30);
  await check(page, "show-contacts", false);
  await page.click('#plot-tabs button:text-is("Energy")');
  await page.locator("#opacity").fill("0.5");
  await drag(page);
  await page.fill("#range-low", "-0.01");
  await page.fill("#range-high", "0.01");
  await page.locator("#range-high").blur();
  await until(page, () => /range=/.test(location.hash) && document.body.dataset.frame === "30");
  await page.waitForTimeout(1200); // the address is written twice a second
  const seen = await view_pixels(page);
  const again = await open_page(browser, page.url());
  await shows(again, 30);
  await until(again, () => document.getElementById("legend").textContent.includes("Tension"));
  await again.waitForTimeout(500);
  await picture(again, "link");
  const shot = await again.locator("#canvas").screenshot();
  const { count } = await differences(page, seen, await pixels_of(page, shot));
  expect(count < 20, `the link ${page.url()} shows ${count} other pixels`);
  expect((await again.getAttribute('#plot-tabs button:text-is("Energy")', "aria-selected")) === "true", "another plot");
  // Nonsense is left out, and the page works.
  const odd = await open_page(browser, `${url}#frame=-3e9&eye=1,2&colour=nothing&opacity=x&up=q&range=2&plot=Nothing,7&fibre=1e9&more=1`);
  expect((await odd.inputValue("#colour")) === "hair" && (await odd.evaluate(() => document.body.dataset.frame)) === "0", "nonsense was followed");
  for (const one of [odd, again, page]) await one.close();
}

async function pictures_of_any_size(browser, url) {
  const page = await open_page(browser, url);
  await press_for(page, "End", 50);
  const before = await view_pixels(page);
  const save = async (width, height, words) => {
    await page.click("#screenshot");
    await page.fill("#picture-width", String(width));
    await page.fill("#picture-height", String(height));
    if ((await page.isChecked("#picture-words")) !== words) await page.click("#picture-words");
    if (width === 500) await picture(page, "picture_form");
    const [file] = await Promise.all([page.waitForEvent("download"), page.click("#picture-save")]);
    if (options.pictures) cpSync(await file.path(), join(options.pictures, `saved_${width}_${words}.png`));
    return readFileSync(await file.path());
  };
  const size = (png) => `${png.readUInt32BE(16)} ${png.readUInt32BE(20)}`;
  const large = await save(2400, 1350, true);
  const tall = await save(500, 900, true);
  expect(size(large) === "2400 1350" && size(tall) === "500 900", `${size(large)}, ${size(tall)}`);
  const bare = await pixels_of(page, await save(2400, 1350, false));
  expect((await differences(page, bare, await pixels_of(page, large))).count > 2000, "no words on the picture");
  // The scene is drawn anew in more pixels, not stretched: colours go from one to the other within a pixel, not several.
  const sharp = await page.evaluate((p) => {
    const steepest = (over) => {
      let out = 0;
      for (let i = 4 * over; i < p.data.length; i += 4) out = Math.max(out, Math.abs(p.data[i] - p.data[i - 4 * over]) + Math.abs(p.data[i + 2] - p.data[i + 2 - 4 * over]));
      return out;
    };
    return steepest(1) > 0.7 * steepest(4);
  }, bare);
  expect(sharp, "the picture is a stretched one");
  expect((await differences(page, before, await view_pixels(page))).count === 0, "the view has changed");
  await page.close();
}

/** As a notebook shows it. */
async function within_another_page(browser, file) {
  const around = join(folder, "around.html");
  const content = readFileSync(file, "utf8").replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  writeFileSync(around, `<!doctype html><title>notebook</title><iframe srcdoc="${content}" width="900" height="620"></iframe>`);
  const context = await browser.newContext({ viewport: { width: 1000, height: 700 } });
  const page = await context.newPage();
  page.setDefaultTimeout(120e3);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(pathToFileURL(around).href);
  const inside = page.frameLocator("iframe");
  await inside.locator("body[data-frame='0']").waitFor();
  await inside.locator("#forward").dispatchEvent("click");
  await inside.locator("body[data-frame='1']").waitFor();
  await page.waitForTimeout(1200); // the address would be written
  await picture(page, "within_another_page");
  expect(errors.length === 0, `${errors}`);
  await context.close();
}

async function stands_alone(browser, url, run) {
  const file = join(folder, "alone.html");
  const done = spawnSync(options.program, ["export", run, "-o", file, "--frames", "::5", "--quiet"], { encoding: "utf8" });
  expect(done.status === 0, done.stderr);
  const shots = [];
  for (const [address, frame] of [[url, 40], [pathToFileURL(file).href, 8]]) {
    const page = await open_page(browser, `${address}#frame=${frame}&colour=tension&show_forces=true&range=-0.001,0.001`);
    await until(page, (n) => Number(document.body.dataset.frame) === n && document.getElementById("legend").textContent.includes("Tension"), frame);
    await page.waitForSelector("#plot .u-over");
    await picture(page, `alone_${frame}`);
    expect((await page.textContent("#clock")) === "t = 0.080 s" || frame === 8, await page.textContent("#clock"));
    shots.push([page, await page.locator("#canvas").screenshot()]);
  }
  const [served, alone] = shots;
  expect((await alone[0].getAttribute("#scrub", "max")) === "10", "not eleven frames");
  const { count } = await differences(served[0], await pixels_of(served[0], served[1]), await pixels_of(served[0], alone[1]));
  expect(count < 800, `the page alone shows ${count} other pixels than the served one`);
  await press_for(alone[0], "Home", 0);
  await alone[0].keyboard.press("Space");
  await until(alone[0], () => Number(document.body.dataset.frame) > 3);
  for (const [page] of shots) await page.close();
  await within_another_page(browser, file);
}

await run_steps(async (browser, step) => {
  const run = run_scene("bending", options.scene, "--until", "0.1", "--set", "output.every=20");
  const { url } = await serve(run);
  for (const one of [link_shows_the_same, pictures_of_any_size, stands_alone]) await step(one, browser, url, run);
});
