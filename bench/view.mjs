// view.mjs: how long users of the viewer wait, in a real browser:
//
//     node view.mjs ALLOTRACE CHROMIUM PLAYWRIGHT_FOLDER BENCH_PROFILE
//
// Traces are made by bench/profile.c, in the folder for temporary files. The browser runs already, with an empty page; clocks
// start when `allotrace view` is started, or a key is pressed, and stop at the first animation frame after the picture.
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";

const [allotrace, chromium, folder, maker] = process.argv.slice(2);
const playwright = createRequire(path.join(folder, "index.js"))("playwright-core");
const RUNS = 5, PATIENCE = { timeout: 600000 };
const place = fs.mkdtempSync(path.join(os.tmpdir(), "allotrace-bench-view-"));
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const say = (what, value, unit, more = "") => console.log(`  ${what.padEnd(58)} ${String(value).padStart(8)} ${unit}${more ? `  ${more}` : ""}`);
const spread = (list) => `(${RUNS} runs: ${Math.round(Math.min(...list))} to ${Math.round(Math.max(...list))})`;

function serve(file) {
  const started = performance.now();
  const child = spawn(allotrace, ["view", "--no-open", file], { stdio: ["ignore", "pipe", "ignore"] });
  const url = new Promise((done, fail) => {
    let out = "";
    child.stdout.on("data", (d) => (out += d) && /http\S+/.test(out) && done(/http\S+/.exec(out)[0]));
    child.on("exit", () => fail(new Error("allotrace view ended")));
  });
  url.catch(() => {});
  const stop = () => new Promise((done) => (child.removeAllListeners("exit"), child.on("exit", done), child.kill("SIGINT")));
  return { started, url, stop };
}

async function newPage(browser) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto("about:blank");
  return page;
}

const pictured = (page) => page.waitForFunction(() => window.allotrace?.views?.get("flame")?.flame.stats.boxes > 3, null, { ...PATIENCE, polling: "raf" });
const complete = (page) => page.waitForFunction(() => window.allotrace?.info.traces.every((t) => t.state !== "reading") && !window.allotrace.busy, null, { ...PATIENCE, polling: "raf" });
const blocksThere = (page) => page.waitForFunction(() => window.allotrace.timeline.answer && !window.allotrace.busy, null, { ...PATIENCE, polling: "raf" });

// From the command to the first picture (of as much as was read), to that of all call paths, to the blocks.
async function opening(browser, file, runs) {
  const first = [], all = [], blocks = [];
  for (let i = 0; i < runs; i++) {
    const page = await newPage(browser), server = serve(file);
    await page.goto(await server.url);
    for (const [wait, list] of [[pictured, first], [complete, all], [blocksThere, blocks]]) {
      await wait(page);
      list.push(performance.now() - server.started);
    }
    await page.context().close();
    await server.stop();
  }
  const size = `${(fs.statSync(file).size / 1e6).toFixed(0)} MB trace`;
  say(`first picture of a ${size}, of what was read so far`, Math.round(median(first)), "ms", spread(first));
  say(`picture of the whole ${size}`, Math.round(median(all)), "ms", spread(all));
  say(`all of a ${size}: timeline, filters`, Math.round(median(blocks)), "ms", spread(blocks));
}

const FILTERS = ["size:>=64", "life:<1ms", "fn:f7,f77", "alloc:1s..3s", "heap:minor -promoted"];

const AROUND = { focus: "f1", zoom: [] };
const VIEWS = {
  "inverted": { mode: "inverted" }, "sandwich": { mode: "sandwich", ...AROUND }, "flame over time": { mode: "time" }, "hotspots": { view: "hotspots" }, "functions": { view: "functions" },
  "callers": { view: "callers", ...AROUND }, "callees": { view: "callees", ...AROUND }, "types": { view: "types" }, "hot paths": { view: "paths" }, "graph": { view: "graph" }, "leaks": { view: "leaks" }, "lifetimes": { view: "lifetimes" },
  "two moments, table": { view: "diff", a: "1s", b: "3s" }, "two moments, flame": { view: "diff", diffas: "flame", a: "1s", b: "3s" }, "advice": { view: "advice" }, "source": { view: "source", line: "1" }, "timeline by site": { stack: "line" },
};

// From a click on a view to the frame that shows it, for the first time and again.
async function eachView(page) {
  const plain = { view: "flame", mode: "icicle", filter: "", focus: "", zoom: [], a: "", b: "", diffas: "table", line: "", stack: "heap" };
  const show = (patch) => page.evaluate((p) => new Promise((done) => {
    const app = window.allotrace, start = performance.now(), look = () => requestAnimationFrame(() => (app.busy ? look() : done(performance.now() - start)));
    app.store.set(p);
    look();
  }), { ...plain, ...patch });
  for (const [name, patch] of Object.entries(VIEWS)) {
    await show({});
    const first = await show(patch);
    await show({});
    say(`${name} shown, 10 M blocks`, Math.round(first), "ms", `(again: ${Math.round(await show(patch))})`);
  }
}

// From a new filter to the frame that shows its tree; each filter is new to the server.
async function filtering(browser, file) {
  const page = await newPage(browser), server = serve(file);
  const answers = [];
  page.on("requestfinished", async (r) => {
    if (!r.url().includes("/api/") || r.url().includes("/api/live")) return;
    const { responseBodySize } = await r.sizes().catch(() => ({ responseBodySize: 0 }));
    answers.push([responseBodySize, r.url().replace(/.*\/api\//, "").replace(/\?.*/, "")]);
  });
  await page.goto(await server.url);
  await blocksThere(page);
  const times = [];
  for (const filter of FILTERS) {
    const ms = await page.evaluate((f) => new Promise((done) => {
      const { store, view } = window.allotrace, before = +view.stage.dataset.ready, start = performance.now();
      const look = () => (+view.stage.dataset.ready > before ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look));
      store.set({ filter: f });
      look();
    }), filter);
    await page.waitForFunction(() => !window.allotrace.busy, null, PATIENCE);
    times.push(ms);
    say(`filter ${filter} shown, 10 M blocks`, Math.round(ms), "ms");
  }
  say("filter changes, 10 M blocks, median", Math.round(median(times)), "ms");
  await eachView(page);
  const [size, what] = answers.sort((a, b) => b[0] - a[0])[0];
  say("largest of all answers to the page", (size / 1024).toFixed(0), "KB", `(${what}, of ${answers.length})`);
  await page.context().close();
  await server.stop();
}

// A tree of 100,000 nodes, zoomed in and out for two seconds; before it, the same loop over nothing: what is late there as well is
// the machine's. `work` is what the page does of a frame, before the browser paints it.
async function drawing(browser, file) {
  const page = await newPage(browser), server = serve(file);
  await page.goto(await server.url);
  await blocksThere(page);
  const { nodes, boxes, empty, zoomed } = await page.evaluate(async () => {
    const { flame } = window.allotrace.view, n = 100000, fan = 3;
    const column = (T) => new T(n);
    const t = { places: Array.from({ length: 500 }, (_, i) => ({ id: i, function: `Module${i % 20}.function_${i}`, file: `file${i % 20}.c`, line: i })), root: 0, unit: "B" };
    for (const name of ["total", "value", "low", "high", "samples", "blocks", "self", "omittedValue", "omittedCount"]) t[name] = column(Float64Array);
    for (const name of ["parent", "first", "next", "last"]) t[name] = column(Uint32Array);
    t.place = column(Int32Array);
    t.total[0] = 1e9;
    for (let i = 1; i < n; i++) {
      const p = (t.parent[i] = Math.floor((i - 1) / fan));
      t.place[i] = (i * 7) % 500;
      t.total[i] = t.value[i] = t.total[p] / fan;
      if (t.last[p]) t.next[t.last[p]] = i;
      else t.first[p] = i;
      t.last[p] = i;
    }
    flame.show([{ tree: t, direction: 1 }]);
    const canvas = flame.canvas, box = canvas.getBoundingClientRect(), request = window.requestAnimationFrame;
    let work = 0;
    window.requestAnimationFrame = (f) => request((now) => {
      const before = performance.now();
      f(now);
      work += performance.now() - before;
    });
    const run = async (step) => {
      const start = performance.now(), stamps = [], works = [];
      while (performance.now() - start < 2000) {
        work = 0;
        step(stamps.length);
        await new Promise((done) => request(done));
        stamps.push(performance.now());
        works.push(work);
      }
      const gaps = stamps.slice(1).map((at, i) => at - stamps[i]);
      works.sort((a, b) => a - b);
      return {
        frames: (1000 * gaps.length) / (stamps.at(-1) - stamps[0]), late: (100 * gaps.filter((g) => g > 25).length) / gaps.length,
        work: works[works.length >> 1], most: works[Math.floor(works.length * 0.95)],
      };
    };
    const zoom = (i) => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 120 < 60 ? -6 : 6, ctrlKey: true, clientX: box.left + box.width * 0.37, clientY: box.top + 50, cancelable: true }));
    const empty = await run(() => {}), zoomed = await run(zoom);
    window.requestAnimationFrame = request;
    return { nodes: n, boxes: flame.stats.boxes, empty, zoomed };
  });
  say("an empty loop of frames in the same page, for 2 s", empty.frames.toFixed(0), "frames/s", `(${empty.late.toFixed(0)} % of the frames came late)`);
  say(`${nodes.toLocaleString("en")} nodes, zoomed by the wheel for 2 s`, zoomed.frames.toFixed(0), "frames/s", `(${boxes} boxes drawn last, ${zoomed.late.toFixed(0)} % of the frames came late)`);
  say("what the page does of such a frame", zoomed.work.toFixed(1), "ms", `(19 of 20 frames: at most ${zoomed.most.toFixed(1)})`);
  await page.context().close();
  await server.stop();
}

async function pageSize(browser, file) {
  const page = await newPage(browser), server = serve(file);
  let size = 0;
  page.on("response", async (r) => {
    if (r.url().includes("/api/")) return;
    const body = await r.body().catch(() => Buffer.alloc(0));
    size += gzipSync(body, { level: 9 }).length;
  });
  await page.goto(await server.url);
  await pictured(page);
  say("the page, compressed", (size / 1024).toFixed(0), "KB");
  await page.context().close();
  await server.stop();
}

const profileDir = path.join(place, "browser");
const browser = await playwright.chromium.launch({
  executablePath: chromium,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage"],
  env: { ...process.env, HOME: profileDir, XDG_CONFIG_HOME: profileDir, XDG_CACHE_HOME: profileDir },
});
try {
  const make = (millions) => {
    const file = path.join(place, `${millions}.ctf`);
    execFileSync(maker, [String(millions), file]);
    return file;
  };
  const hundred = make(12.6);
  await pageSize(browser, hundred);
  await drawing(browser, hundred);
  await opening(browser, hundred, RUNS);
  fs.rmSync(hundred);
  const blocks = make(20.3);
  await filtering(browser, blocks);
  fs.rmSync(blocks);
  if (!process.env.SMALL) await opening(browser, make(127), RUNS);
} finally {
  await browser.close();
  fs.rmSync(place, { recursive: true, force: true });
}
