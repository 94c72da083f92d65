// Pictures a second, time of a frame and memory on a run: node speed.mjs --program TRESSE --browser CHROMIUM RUN_FOLDER.
// Without a graphics card the browser draws in software, so that the figures are a floor.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const { values: options, positionals } = parseArgs({
  options: { program: { type: "string" }, browser: { type: "string" }, gpu: { type: "boolean", default: false } },
  allowPositionals: true,
});
const resident = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1000;

/** Resident memory of a process and all below it [MB]; what they share counts for each. */
function with_children(pid) {
  let sum = resident(pid);
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      if (Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]) === pid) sum += with_children(Number(entry));
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum;
}

const server = spawn(options.program, ["view", positionals[0], "--no-open"]);
const url = await new Promise((resolve) => server.stdout.once("data", (text) => resolve(String(text).trim())));
const software = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
const browser = await chromium.launchServer({
  executablePath: options.browser,
  args: ["--no-sandbox", "--ignore-gpu-blocklist", ...(options.gpu ? [] : software)],
});
const page = await (await chromium.connect(browser.wsEndpoint())).newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(url);
while (!(await page.evaluate(() => document.body.dataset.frame))) await page.waitForTimeout(50);

/** Turns the view for some seconds and counts the pictures. */
const pictures = () =>
  page.evaluate(async () => {
    const drawn = () => Number(document.body.dataset.drawn);
    const canvas = document.getElementById("canvas");
    const box = canvas.getBoundingClientRect();
    const send = (type, x) =>
      canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, buttons: 1, clientX: box.left + x, clientY: box.top + 200, bubbles: true, pointerType: "mouse" }));
    canvas.setPointerCapture = canvas.releasePointerCapture = () => undefined;
    send("pointerdown", 200);
    const [first, begin] = [drawn(), performance.now()];
    let x = 200;
    while (performance.now() - begin < 6000) {
      send("pointermove", (x += 3));
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    const out = (1000 * (drawn() - first)) / (performance.now() - begin);
    send("pointerup", x);
    return out;
  });

const facts = () => page.evaluate(() => ({ ...document.body.dataset, heap: performance.memory.usedJSHeapSize / 1e6 }));
const turning = await pictures();
const detail = (await facts()).stride;
await page.keyboard.press("Home");
const begin = Date.now();
const frames = Number(await page.getAttribute("#scrub", "max"));
for (let i = 0; i < Math.min(frames, 100); ++i) {
  await page.keyboard.press("ArrowRight");
  for (const end = Date.now() + 20000; Number((await facts()).frame) !== i + 1 && Date.now() < end; );
}
const stepping = (Date.now() - begin) / Math.max(1, Math.min(frames, 100));
const { cacheBytes, heap } = await facts();
console.log(`${positionals[0]}: ${await page.textContent("#facts")}`);
console.log(`turning: ${turning.toFixed(1)} pictures a second, drawn through ${detail > 1 ? `every ${detail}th` : "every"} point`);
console.log(`stepping: ${stepping.toFixed(0)} ms a frame, from the key to the picture`);
console.log(`memory: page ${heap.toFixed(0)} MB of JavaScript, of it ${(Number(cacheBytes) / 1e6).toFixed(0)} MB frames; browser ${with_children(browser.process().pid).toFixed(0)} MB; server ${resident(server.pid).toFixed(0)} MB`);
await browser.close();
server.kill();
process.exit(0);
