// shots.mjs: pictures of all views at three widths, compared with those in shots/, which somebody has looked at. UPDATE=1
// makes these anew. They are kept small (half the size, WebP), and what is compared has gone the same way; pictures of
// another Chromium, or with other fonts, cannot be compared.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { ARTEFACTS, Client, launch, runAll, serve, test, TRACES } from "./browser.mjs";

const { UPDATE } = process.env;
const KEPT = new URL("shots/", import.meta.url).pathname, MADE = path.join(ARTEFACTS, "shots");
const QUALITY = 0.5, SCALE = { 1440: 0.5, 1024: 0.6, 390: 1 }; // of WebP; by width
const SIZES = [[1440, 900], [1024, 768], [390, 844]];
const FAR = 56, SHARE = 0.004; // how different a channel of a pixel may be, and how many pixels may be more
const MOST = 3 * 2 ** 20; // bytes of all

const BAL = "Stdlib__Map.Make.bal";
const VIEWS = {
  flame: {}, inverted: { mode: "inverted", search: "Map" }, sandwich: { mode: "sandwich", focus: BAL }, time: { mode: "time" }, filtered: { filter: "size:>=8 -fn:Stdlib__Map" }, hotspots: { view: "hotspots" },
  functions: { view: "functions" }, callers: { view: "callers", focus: BAL }, types: { view: "types" }, paths: { view: "paths" }, graph: { view: "graph", nodes: 40 }, leaks: { view: "leaks" }, lifetimes: { view: "lifetimes" },
  diff: { view: "diff", by: "function" }, diffflame: { view: "diff", diffas: "flame" }, moments: { view: "diff", moments: true, a: "8s", b: "15s" }, advice: { view: "advice" }, refused: { filter: "size:wrong" },
};
const DARK = ["flame", "hotspots", "graph", "lifetimes", "diffflame"]; // where colours of data matter

const hashOf = (patch) => Object.entries(patch).map(([k, v]) => `${k}=${v === true ? 1 : encodeURIComponent(v)}`).join("&");

// By a page of its own, whose browser reads and writes WebP.
const shrink = (blank, png, scale) => blank.evaluate(async ([text, scale, quality]) => {
  const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob()), sheet = new OffscreenCanvas(Math.round(picture.width * scale), Math.round(picture.height * scale));
  const c = sheet.getContext("2d");
  c.imageSmoothingQuality = "high";
  c.drawImage(picture, 0, 0, sheet.width, sheet.height);
  const bytes = new Uint8Array(await (await sheet.convertToBlob({ type: "image/webp", quality })).arrayBuffer());
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(""));
}, [png.toString("base64"), scale, QUALITY]).then((text) => Buffer.from(text, "base64"));

// The share of pixels that differ much; 1: the sizes do.
const difference = (blank, a, b) => blank.evaluate(async ([texts, far]) => {
  const [x, y] = await Promise.all(texts.map(async (text) => {
    const p = await createImageBitmap(await (await fetch(`data:image/webp;base64,${text}`)).blob()), c = new OffscreenCanvas(p.width, p.height).getContext("2d");
    c.drawImage(p, 0, 0);
    return c.getImageData(0, 0, p.width, p.height);
  }));
  if (x.width !== y.width || x.height !== y.height) return 1;
  let n = 0;
  for (let i = 0; i < x.data.length; i += 4) n += Math.max(Math.abs(x.data[i] - y.data[i]), Math.abs(x.data[i + 1] - y.data[i + 1]), Math.abs(x.data[i + 2] - y.data[i + 2])) > far;
  return n / (x.width * x.height);
}, [[a, b].map((bytes) => bytes.toString("base64")), FAR]);

// What decides how texts look.
const makerOf = async (browser, blank) => ({
  chromium: browser.version().split(".")[0],
  fonts: await blank.evaluate(() => ["ui-sans-serif, system-ui, sans-serif", "ui-monospace, monospace"].map((family) => {
    const c = new OffscreenCanvas(1, 1).getContext("2d");
    c.font = `100px ${family}`;
    return Math.round(c.measureText("Stdlib__Map.Make.bal 3,440.9 MB ± 317.6").width);
  })),
});

const makerFile = path.join(KEPT, "maker.json");
fs.mkdirSync(KEPT, { recursive: true });
fs.mkdirSync(MADE, { recursive: true });

for (const [name, patch] of Object.entries(VIEWS))
  for (const size of SIZES)
    for (const theme of DARK.includes(name) && size[0] === 1440 ? ["light", "dark"] : ["light"])
      test(`${name}, ${size[0]} pixels wide, ${theme}`, async ({ browser, blank, url, maker, known }) => {
        if (!UPDATE && JSON.stringify(known) !== JSON.stringify(maker)) return `made with ${JSON.stringify(known)}, and this is ${JSON.stringify(maker)}: UPDATE=1 makes them anew`;
        const file = `${name}-${size[0]}${theme === "dark" ? "-dark" : ""}.webp`, c = await Client.open(browser, `${url}#${hashOf(patch)}`, { size, theme });
        try {
          await c.page.emulateMedia({ reducedMotion: "reduce" });
          await c.quiet();
          const made = await shrink(blank, await c.page.screenshot({ animations: "disabled", caret: "hide" }), SCALE[size[0]]);
          fs.writeFileSync(path.join(MADE, file), made);
          if (UPDATE) return void fs.writeFileSync(path.join(KEPT, file), made);
          const share = await difference(blank, made, fs.readFileSync(path.join(KEPT, file)));
          assert.ok(share <= SHARE, `${(100 * share).toFixed(2)}% of ${file} differs from what it was: see ${path.join(MADE, file)}; UPDATE=1 takes it over`);
        } finally {
          await c.close();
        }
      });

test("a picture that differs is noticed, and the pictures are small", async ({ blank, browser, url }) => {
  const c = await Client.open(browser, url), shot = async () => shrink(blank, await c.page.screenshot({ animations: "disabled" }), 0.5);
  const before = await shot();
  assert.ok((await difference(blank, before, await shot())) <= SHARE);
  await c.page.evaluate(() => document.querySelector(".tabs").remove());
  assert.ok((await difference(blank, before, await shot())) > SHARE);
  await c.close();
  const sizes = fs.readdirSync(KEPT).filter((f) => f.endsWith(".webp")).map((f) => fs.statSync(path.join(KEPT, f)).size);
  assert.ok(sizes.reduce((sum, n) => sum + n, 0) <= MOST, `${sizes.reduce((sum, n) => sum + n, 0)} bytes`);
});

const { browser, close } = await launch(), server = await serve(["irmin-replay.ctf", "ocamlopt.ctf"], TRACES);
const blank = await (await browser.newContext()).newPage();
let failed;
try {
  const maker = await makerOf(browser, blank), known = fs.existsSync(makerFile) ? JSON.parse(fs.readFileSync(makerFile, "utf8")) : null;
  failed = await runAll({ browser, blank, url: server.url, maker, known });
  if (UPDATE) fs.writeFileSync(makerFile, `${JSON.stringify(maker)}\n`);
} finally {
  await server.stop();
  await close();
}
process.exit(failed ? 1 : 0);
