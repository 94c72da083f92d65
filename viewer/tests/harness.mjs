// What the tests of the page share: short runs, the server, pages that may complain of nothing, pictures of the view.
// Each takes --program TRESSE --browser CHROMIUM --scene FILE --meshes FILE [--pictures FOLDER] [--only STEP].
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

export const { values: options } = parseArgs({
  options: Object.fromEntries(["program", "browser", "scene", "meshes", "scenes", "pictures", "only"].map((name) => [name, { type: "string" }])),
});
export const folder = mkdtempSync(join(tmpdir(), "tresse_view_"));
export const children = [];
export const complaints = [];
const patience = 120e3; // milliseconds: the machine may have other work
export const allowed = { missing: false }; // requests that fail because their file is gone are the browser's to report

export function expect(condition, what) {
  if (!condition) throw new Error(what);
}

export function run_scene(name, scene, ...more) {
  const out = join(folder, name);
  const words = ["run", scene, "-o", out, "--quiet", ...more];
  const done = spawnSync(options.program, words, { encoding: "utf8" });
  expect(done.status === 0, `run: ${done.stderr}`);
  return out;
}

export async function serve(...runs) {
  const server = spawn(options.program, ["view", ...runs, "--no-open"]);
  children.push(server);
  let told = "";
  server.stderr.on("data", (text) => (told += text));
  const url = await new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(String(text).trim()));
    server.once("exit", () => reject(new Error(`tresse view ended: ${told}`)));
  });
  return { server, url };
}

export async function open_page(browser, url, scheme = "light", viewport = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport, colorScheme: scheme, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  page.on("console", (message) => {
    if (message.type() === "error" && !(allowed.missing && message.text().includes("404"))) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(url.replace(/#.*/, "")) && !/^(blob|data):/.test(request.url())) complaints.push(`asked for ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector("body[data-frame]");
  return page;
}

export const fact = (page, name) => page.evaluate((key) => document.body.dataset[key] ?? "", name);
export const frame_of = async (page) => Number(await fact(page, "frame"));
/** Playwright's own waitForFunction needs eval, which the page's security policy forbids. */
export async function until(page, code, argument) {
  for (const end = Date.now() + patience; !(await page.evaluate(code, argument)); ) {
    expect(Date.now() < end, `never came true: ${code}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const text_of = (page, id) => page.textContent(`#${id}`);

export async function settled(page) {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** A picture of the view, kept in the page: too large to be sent about. */
export async function view_pixels(page) {
  await settled(page);
  return pixels_of(page, await page.locator("#canvas").screenshot());
}

/** The pixels of a PNG file. */
export function pixels_of(page, png) {
  return page.evaluateHandle(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  }, png.toString("base64"));
}

/** How many pixels differ, and where the one in the middle of them is. */
export const differences = (page, a, b) =>
  page.evaluate(
    ([p, q]) => {
      const places = [];
      for (let i = 0; i < p.data.length; i += 4) {
        let distance = 0;
        for (let c = 0; c < 3; ++c) distance += Math.abs(p.data[i + c] - q.data[i + c]);
        if (distance > 30) places.push([(i / 4) % p.width, Math.floor(i / 4 / p.width)]);
      }
      return { count: places.length, middle: places[places.length >> 1] };
    },
    [a, b],
  );

export async function picture(page, name) {
  if (!options.pictures) return;
  mkdirSync(options.pictures, { recursive: true });
  await settled(page);
  await page.screenshot({ path: join(options.pictures, `${name}.png`) });
}

/** Calls `main` with a browser and a function that does a step, unless another is asked for. Ends the process. */
export async function run_steps(main) {
  let status = 0;
  try {
    const browser = await chromium.launch({
      executablePath: options.browser,
      args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
    });
    children.push({ kill: () => void browser.close() });
    await main(browser, async (step, ...rest) => {
      if (options.only && options.only !== step.name) return;
      await step(...rest);
      console.log(`${step.name}: ok`);
    });
    expect(complaints.length === 0, `the browser complained: ${complaints.join("; ")}`);
  } catch (error) {
    console.log(`FAILED: ${error.stack ?? error}`);
    status = 1;
  }
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }); // a run that was killed may still write
  process.exit(status);
}
