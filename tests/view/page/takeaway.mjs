// takeaway.mjs: what the page gives away (CSV, pictures, commands), frames with their amounts, modules that are lit
// alone, and what there is to do when an answer does not come.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import zlib from "node:zlib";
import { amount, percent } from "../../../viewer/format.js";
import { ARTEFACTS, Client, FIREFOX, serve, test } from "./browser.mjs";
import { at, headline, IRMIN, OCAMLOPT, one, shownTotal, two, withPage } from "./common.mjs";

const share = (c) => c.page.getByRole("button", { name: /^Share and export/ });

async function download(c, what) {
  await share(c).click();
  const [file] = await Promise.all([c.page.waitForEvent("download"), c.page.locator(`[data-share=${what}]`).click()]);
  return { name: file.suggestedFilename(), bytes: fs.readFileSync(await file.path()) };
}

const saving = withPage(at(one, "view=functions"), async (c) => {
  const { name, bytes } = await download(c, "csv"), lines = bytes.toString().trim().split("\r\n");
  assert.equal(name, "irmin-replay.ctf-functions.csv");
  assert.match(lines[0], /^function,file,line,share,value,low,high,samples,blocks,self/);
  const count = await c.page.evaluate(() => window.allotrace.view.table.count);
  assert.ok(count > 200 && lines.length === count + 1, `${lines.length} lines of ${count} rows`);
  for (const [patch, head] of [[{ view: "callers", focus: "Stdlib__Map.Make.bal" }, /^function,file,line,share,value,.*level/], [{ view: "source", line: "12" }, /^line,value,low,high,samples,self,source/]]) {
    await c.go(patch);
    const rows = await c.page.evaluate(() => (window.allotrace.view.table ?? window.allotrace.view).rows.length);
    const csv = (await download(c, "csv")).bytes.toString().trim().split("\r\n");
    assert.match(csv[0], head);
    assert.ok(rows > 0 && csv.length === rows + 1, `${csv.length} lines of ${rows} rows`);
  }
  await c.go({ view: "flame" });
  const png = await download(c, "png");
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  assert.ok(png.bytes.length > 10000);
  const svg = await download(c, "svg");
  assert.match(svg.bytes.toString(), /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg".*Irmin/s);
  await share(c).click();
  assert.equal(await c.page.locator("[data-share=csv]").count(), 0, "a flame is no table");
  assert.match(await c.text("[data-share=link]"), /this browser/);
  assert.match(await c.text("[data-share=html]"), /Save.*colleagues/);
});

// What the server writes is what the command writes.
const savingFiles = withPage(at(one, "filter=size:>=4"), async (c, context) => {
  const speedscope = await download(c, "speedscope");
  assert.equal(speedscope.name, "irmin-replay.speedscope.json");
  assert.match(JSON.parse(speedscope.bytes).$schema, /speedscope/);
  const pprof = await download(c, "pprof");
  assert.equal(pprof.name, "irmin-replay.pb.gz");
  assert.match(zlib.gunzipSync(pprof.bytes).toString("latin1"), /alloc_space.*Irmin/s);
  const html = await download(c, "html");
  assert.equal(html.name, "irmin-replay.html");
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "saved-")), html.name);
  fs.writeFileSync(file, html.bytes);
  const page = await context.browser.newPage();
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => window.allotrace?.view && !document.querySelector("[aria-busy=true]"));
  assert.equal(await page.evaluate(() => window.allotrace.source.offline), true);
  assert.equal(await page.evaluate(() => window.allotrace.source.filter), "size:>=4");
  await page.close();
});
test("the trace is saved as a page, for speedscope and for pprof, and the page opens by itself", (context) => (FIREFOX ? "Playwright hears nothing of Firefox's downloads" : savingFiles(context)));

test("where a page cannot hold all traces, its command is copied instead", withPage(two, async (c) => {
  await share(c).click();
  assert.match(await c.text("[data-share=html]"), /^Copy the command/);
  assert.match(await c.text("[data-share=pprof]"), /^Save/);
}));

test("a trace that is dropped on the page, or chosen, is opened beside the others; what is none is refused, and says why", withPage(one, async (c, context) => {
  const server = await serve([IRMIN]);
  try {
    await c.page.goto(server.url);
    await c.quiet();
    const drop = (name, bytes) => c.page.evaluate(async ([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(text), (x) => x.charCodeAt(0))], name));
      const event = (kind) => new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data });
      document.body.dispatchEvent(event("dragover"));
      const invited = !document.querySelector(".drop").hidden;
      document.body.dispatchEvent(event("drop"));
      return invited;
    }, [name, bytes.toString("base64")]);
    assert.equal(await drop("dropped here.ctf", fs.readFileSync(OCAMLOPT)), true);
    await c.page.waitForFunction(() => window.allotrace.store.state.trace === 1);
    await c.quiet();
    assert.equal(await shownTotal(c), headline(OCAMLOPT));
    assert.deepEqual(await c.page.locator('select[aria-label="Trace"] option').allInnerTexts(), ["irmin-replay.ctf", "dropped here.ctf"]);
    await c.page.locator("input[type=file]").setInputFiles(IRMIN);
    await c.page.waitForFunction(() => window.allotrace.store.state.trace === 2);
    await c.quiet();
    assert.equal(await shownTotal(c), headline(IRMIN));
    await drop("no trace.txt", Buffer.from("hello"));
    await c.page.locator(".banner.opening", { hasText: "no trace.txt could not be opened:" }).waitFor();
    await c.shot("dropped");
    c.trouble = c.trouble.filter((t) => !/status of 400/.test(t)); // the refusal itself
    await c.page.locator(".banner.opening button").click();
    await c.go({ view: "diff", before: 0, after: 1 });
    assert.match(await c.text(".delta"), /Before.*After/s);
  } finally {
    await server.stop();
  }
}));

test("each view is a picture: an SVG that says what is seen, and a PNG of it", withPage(two, async (c) => {
  for (const [patch, word] of [[{}, "Irmin"], [{ mode: "time" }, "Irmin"], [{ mode: "sandwich", focus: "Stdlib__Map.Make.bal" }, "bal"], [{ view: "hotspots" }, "Samples"], [{ view: "graph" }, "itself"], [{ view: "leaks" }, "Slope"],
    [{ view: "lifetimes" }, "never freed"], [{ view: "diff", by: "function" }, "Before"], [{ view: "diff", diffas: "flame" }, "change"], [{ view: "advice" }, "Do:"]]) {
    await c.go({ mode: "icicle", diffas: "table", by: "", view: "flame", ...patch });
    await c.page.evaluate(() => {
      window.saved = [];
      const make = (window.make ??= URL.createObjectURL.bind(URL));
      URL.createObjectURL = (blob) => (window.saved.push(blob), make(blob));
    });
    for (const kind of ["svg", "png"]) {
      await share(c).click();
      await c.page.locator(`[data-share=${kind}]`).click();
      await c.page.waitForFunction((n) => window.saved.length === n, kind === "svg" ? 1 : 2);
    }
    const { text, wrong, size } = await c.page.evaluate(async () => {
      const [svg, png] = window.saved, text = await svg.text(), picture = await createImageBitmap(png);
      const parsed = new DOMParser().parseFromString(text.replaceAll(/ style="[^"]*"/g, ""), "image/svg+xml");
      return { text: parsed.documentElement.textContent, wrong: parsed.querySelector("parsererror")?.textContent ?? "", size: [picture.width, picture.height, png.size] };
    });
    assert.equal(wrong, "", JSON.stringify(patch));
    assert.ok(text.includes(word), `${JSON.stringify(patch)}: ${text.slice(0, 200)}`);
    assert.ok(size[0] > 1000 && size[1] > 200 && size[2] > 10000, `${JSON.stringify(patch)} ${size}`);
    if (ARTEFACTS) fs.writeFileSync(path.join(ARTEFACTS, `picture-${patch.view ?? patch.mode ?? "flame"}${patch.diffas ?? ""}.png`), Buffer.from(await c.page.evaluate(async () => btoa([...new Uint8Array(await window.saved[1].arrayBuffer())].map((b) => String.fromCharCode(b)).join(""))), "base64"));
  }
}));

test("a table is saved as CSV, all of it, and a view as a picture", (context) => (FIREFOX ? "Playwright hears nothing of Firefox's downloads" : saving(context)));

test("frames show amount and share where there is room, the middle of a sandwich as well", withPage(at(one, "mode=sandwich&focus=Irmin_traces__Trace_replay.Make.exec_commit"), async (c) => {
  const drawn = () => c.page.evaluate(() => {
    const { flame } = window.allotrace.view, seen = [], { context } = flame, draw = context.fillText;
    context.fillText = function (text, ...rest) {
      seen.push(text);
      return draw.call(this, text, ...rest);
    };
    flame.layers.length && flame.restyle(window.allotrace.theme);
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done((context.fillText = draw, seen)))));
  });
  const [row] = (await c.page.evaluate(() => window.allotrace.view.layers.map((l) => [l.tree.value[0], window.allotrace.view.head.total.value])));
  assert.ok((await drawn()).includes(`${amount(row[0], "B")} · ${percent((100 * row[0]) / row[1])}`));
  await c.go({ mode: "icicle", focus: "" });
  const main = (await c.frames())[1];
  assert.ok((await drawn()).some((t) => t.startsWith(`${amount(main.value, "B")} · `)));
}));

test("the legend of modules lights, keeps, excludes and hides one; the address keeps it", withPage(one, async (c) => {
  const colours = () => c.page.evaluate(() => {
    const { view } = window.allotrace, { tree } = view.layers[0];
    return new Set(Array.from(tree.parent, (_, i) => view.flame.colorOf(tree, i))).size;
  });
  const before = await colours();
  assert.ok(before > 3);
  const first = c.page.locator(".modules .module").first();
  const choose = async (what) => {
    await first.click();
    await c.page.locator(`.popover [data-module=${what}]`).click();
    await c.quiet();
  };
  await choose("light");
  assert.equal((await c.state()).lit, await first.getAttribute("data-module"));
  assert.equal(await first.getAttribute("aria-pressed"), "true");
  assert.equal(await colours(), 2, "its own, and that of all others");
  await choose("light");
  assert.equal(await colours(), before);
  const module = await first.getAttribute("data-module");
  for (const [what, filter] of [["only", `module:/^${module}$/`], ["exclude", `-module:/^${module}$/`], ["hide", `hide-module:/^${module}$/`]]) {
    await choose(what);
    assert.equal((await c.state()).filter, filter);
    assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN));
    const there = await c.page.evaluate((m) => window.allotrace.view.layers[0].tree.places.filter((p) => p?.module === m).length, module);
    assert.equal(there > 0, what !== "hide", `${what}: excluding what a module allocates leaves stacks that touch it`);
    await c.go({ filter: "" });
  }
}));

test("modules that stand together in a legend have different colours, which other views and filters keep", withPage(two, async (c) => {
  const legend = () => c.page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".main .modules [data-module]")].map((b) => [b.dataset.module, b.querySelector(".swatch").style.background])));
  const cells = () => c.page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".gridrow [data-column=module]")].map((e) => [e.innerText, e.querySelector(".swatch")?.style.background])));
  for (const trace of [0, 1]) {
    await c.go({ trace, view: "flame", filter: "" });
    const colours = await legend(), modules = Object.keys(colours);
    assert.ok(modules.length > 4);
    assert.equal(new Set(Object.values(colours)).size, modules.length, JSON.stringify(colours));
    const agrees = (seen, what) => Object.entries(seen).forEach(([m, colour]) => modules.includes(m) && assert.equal(colour, colours[m], `${what}: ${m}`));
    for (const patch of [{ view: "functions" }, { view: "graph" }, { view: "flame", filter: `module:${modules[1]}` }]) {
      await c.go(patch);
      agrees(patch.view === "functions" ? await cells() : await legend(), JSON.stringify(patch));
    }
  }
}));

test("a share beyond the slider is the most there is, not an empty picture", withPage(at(one, "share=1e9"), async (c) => {
  assert.equal((await c.state()).share, 20);
  assert.ok((await c.frames()).length > 3);
}));

test("a filter that is wrong, and a server that is gone, leave a way on", async ({ browser }) => {
  const server = await serve([OCAMLOPT]), c = await Client.open(browser, `${server.url}#view=callers&focus=/(/`);
  try {
    await c.page.locator("[data-out=start]").click();
    await c.page.locator(".gridrow").first().waitFor();
    assert.equal((await c.state()).focus, "");
    await server.stop();
    await c.page.evaluate(() => window.allotrace.store.set({ view: "hotspots" }));
    await c.page.getByText("the server cannot be reached", { exact: false }).first().waitFor();
    assert.equal(await c.page.locator("[data-out=again]").isVisible(), true);
  } finally {
    await c.close();
  }
});

test("a wrong filter in the address is said in each view, with a way back", async ({ browser }) => {
  const server = await serve([OCAMLOPT, IRMIN]);
  try {
    for (const view of ["flame", "hotspots", "leaks", "lifetimes", "advice", "graph", "diff"]) {
      const c = await Client.open(browser, `${server.url}#view=${view}&filter=size:wrong`);
      await c.page.locator(".problem", { hasText: "Invalid filter" }).waitFor();
      const said = c.page.locator(".empty:visible");
      const text = await said.first().innerText();
      assert.ok(text.includes("does not begin with a number"), `${view}: ${text}`);
      await c.until({ filter: "" }, () => c.page.locator("[data-out=start]:visible").first().click());
      assert.equal(await said.count(), 0, view);
      assert.equal(await c.page.locator(".problem:visible").count(), 0, view);
      await c.close();
    }
  } finally {
    await server.stop();
  }
});

test("line numbers stay behind names of any direction", async ({ browser }) => {
  const server = await serve([IRMIN]), c = await Client.open(browser, `${server.url}#view=hotspots`);
  try {
    const marked = await c.page.evaluate(() => [...document.querySelectorAll(".gridrow .file")].map((e) => e.textContent).filter((t) => /:\d+$/.test(t)));
    assert.ok(marked.length > 5 && marked.every((t) => /\u200e:\d+$/.test(t)), marked.slice(0, 3).join());
  } finally {
    await c.close();
    await server.stop();
  }
});

test("tables name the module of a place, in the colour that it has in flames", withPage(at(one, "view=functions"), async (c) => {
  const shown = (await c.rows()).map((r) => r.module), wanted = await c.page.evaluate(() => window.allotrace.view.table.rows.map((r) => r.place.module));
  assert.deepEqual(shown, wanted.slice(0, shown.length));
  assert.ok(shown.filter(Boolean).length > 10);
}));
