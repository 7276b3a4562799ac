// timeline.mjs: what live memory is made of over time, moments and stretches of it, and two traces in one picture.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { ARTEFACTS, cli, cliJson, Client, serve, test } from "./browser.mjs";
import { at, IRMIN, OCAMLOPT, one, two, withPage } from "./common.mjs";

const makeTrace = new URL("../../cli/make-trace", import.meta.url).pathname;
const ready = (c) => c.page.waitForFunction(() => !window.allotrace.busy && window.allotrace.timeline.answer);
const layers = (c) => c.page.evaluate(() => window.allotrace.timeline.layers.map(({ name, values }) => ({ name, values })));

// A trace as tests describe it, shown.
async function shown(browser, name, lines, hash, run) {
  const file = path.join(ARTEFACTS, name);
  fs.writeFileSync(file, execFileSync(makeTrace, { input: lines.join("\n") }));
  const server = await serve([file]), c = await Client.open(browser, `${server.url}${hash}`);
  try {
    await ready(c);
    await run(c, file);
    assert.deepEqual(c.trouble, [], "the console is silent");
  } finally {
    await c.close();
    await server.stop();
  }
}

test("live memory is stacked by site, thread and lifetime, as the command has it, and the rest of it", withPage(one, async (c) => {
  const choice = c.page.getByRole("combobox", { name: "Live memory, stacked by" });
  for (const [by, rows] of [["line", "sites"], ["thread", "threads"], ["life", "lives"]]) {
    await c.until({ stack: by }, () => choice.selectOption(by));
    await c.page.waitForFunction((n) => window.allotrace.timeline.answer.layers?.[n], by === "line" ? "place" : "filter");
    const seen = await layers(c), { buckets, live } = await c.page.evaluate(() => ({ buckets: window.allotrace.timeline.answer.buckets, live: window.allotrace.timeline.answer.all.live }));
    const wanted = cliJson("timeline", "--json", "--by", by, "--points", String(buckets), IRMIN)[rows];
    wanted.forEach((w, i) => assert.deepEqual(seen[i].values, w.live.map((p) => p.value), `${by} ${i}`));
    if (by === "line") assert.deepEqual([seen.length, seen.at(-1).name], [wanted.length + 1, "the rest"]);
    seen.forEach((l, i) => i < wanted.length && by !== "line" && assert.equal(l.name, wanted[i].name));
    live.forEach((v, i) => assert.equal(Math.round(seen.reduce((sum, l) => sum + l.values[i], 0)), v, `${by}: a step adds up`));
  }
  await c.page.locator("[data-layer='1']").hover();
  await c.shot("layers");
  const filter = await c.page.evaluate(() => window.allotrace.timeline.layers[1].filter);
  await c.until({ filter }, () => c.page.locator("[data-layer='1']").click());
  await c.until({ filter: "", stack: "line" }, () => c.page.evaluate(() => window.allotrace.store.set({ filter: "", stack: "line" })));
  const place = await c.page.evaluate(() => window.allotrace.timeline.layers[0].place.id);
  await c.until({ view: "hotspots", pick: [place] }, () => c.page.locator("[data-layer='0']").click());
}));

test("a stretch of the timeline is zoomed into, and out of again; the address keeps it", withPage(one, async (c) => {
  const box = await c.page.locator(".timeline canvas").boundingBox(), y = box.y + 40;
  await c.page.mouse.move(box.x + 200, y);
  await c.page.mouse.down();
  await c.page.mouse.move(box.x + 500, y, { steps: 4 });
  await c.page.mouse.up();
  await c.page.locator("[data-brush=zoom]").click();
  await c.page.waitForFunction(() => window.allotrace.timeline.answer.from > 0 && !window.allotrace.busy);
  const { stretch, filter } = await c.state(), { from, to } = await c.page.evaluate(() => window.allotrace.timeline.answer);
  assert.equal(filter, "", "nothing is filtered");
  assert.deepEqual(await c.page.evaluate((s) => s.split("..").map((t) => window.allotrace.timeline.timeOf(t)), stretch), [from, to]);
  assert.match(await c.hash(), /stretch=/);
  await c.until({ stretch: "" }, () => c.page.locator("[data-timeline=whole]").click());
  await c.page.waitForFunction(() => window.allotrace.timeline.answer.from === 0);
}));

test("peaks are buttons where they stand, and say what they are", withPage(one, async (c) => {
  await c.page.locator(".timeline .peak").first().waitFor();
  const { time } = cliJson("peak", "--json", IRMIN), first = c.page.locator("[data-peak='1']");
  assert.match(await first.getAttribute("aria-label"), /^Peak 1: .* MB at /);
  await first.click();
  await c.page.waitForFunction(() => window.allotrace.store.state.measure === "live");
  assert.equal(await c.page.evaluate(() => window.allotrace.timeline.timeOf(window.allotrace.store.state.at)), time);
}));

test("marks stand in the timeline; a native trace has nothing promoted to choose", ({ browser }) => shown(browser, "marks.ctf",
  ["alloc external 255 256 main@main.c:1 buffer@buffer.c:5", "alloc external 0 0 loaded@<mark>:0", "alloc external 127 128 main@main.c:2", "collect 0", "alloc external 9 10 main@main.c:2"], "", async (c) => {
    await c.page.locator("[data-timeline=marks]").click();
    const item = c.page.getByRole("menuitem", { name: /^loaded/ });
    assert.match(await item.innerText(), /2 ms/);
    await item.click();
    await c.page.waitForFunction(() => window.allotrace.store.state.at === "2ms");
    assert.equal(await c.page.locator("select option[value=promoted]").evaluate((o) => o.hidden), true);
    for (let i = 0; i < 7; i++) {
      await c.press("m");
      assert.notEqual((await c.state()).measure, "promoted");
    }
  }));

test("two traces that are compared stand in one timeline", withPage(at(two, "view=diff"), async (c) => {
  await c.page.waitForFunction(() => window.allotrace.timeline.compared && !window.allotrace.busy);
  const seen = await c.page.evaluate(() => {
    const { answer, compared, end } = window.allotrace.timeline;
    return { end, own: [answer.trace, answer.to, compared.names[0]], other: [compared.answer.trace, compared.answer.to, compared.names[1]], live: (compared.answer.filtered || compared.answer.all).live };
  });
  const [before, after] = [IRMIN, OCAMLOPT].map((f) => cliJson("info", "--json", f)[0].duration);
  assert.deepEqual([seen.own, seen.other], [[0, before, "before"], [1, after, "after"]]);
  assert.equal(seen.end, Math.max(before, after));
  const points = cliJson("timeline", "--json", "--points", String(seen.live.length), OCAMLOPT).points;
  assert.deepEqual(seen.live, points.map((p) => p.live.value));
  assert.match(await c.text("[data-compared=after]"), /^after: ocamlopt/);
  await c.shot("compared-timelines");
  await c.go({ view: "flame" });
  await c.page.waitForFunction(() => !window.allotrace.timeline.compared && !window.allotrace.busy);
}));

// What is written on the timeline, and where.
const written = (c) => c.page.evaluate(() => new Promise((done) => {
  const proto = CanvasRenderingContext2D.prototype, fillText = proto.fillText, said = [];
  proto.fillText = function (text, x, y) {
    said.push({ text, x, y, width: this.measureText(text).width });
    return fillText.call(this, text, x, y);
  };
  window.allotrace.timeline.draw();
  requestAnimationFrame(() => requestAnimationFrame(() => (proto.fillText = fillText, done(said))));
}));

// At most 6.0 KB, of which the next nice number is 10.
const NATIVE = [1, 2, 3].map((line) => `alloc external 255 256 main@main.c:${line} buffer@buffer.c:5`).concat("collect 0");

test("however low the timeline is, a number is on its scale", ({ browser }) => shown(browser, "low.ctf", NATIVE, "", async (c) => {
  for (const size of [[390, 844], [1440, 600], [1440, 900]]) {
    await c.page.setViewportSize({ width: size[0], height: size[1] });
    await c.quiet();
    const numbers = (await written(c)).filter((t) => /^[\d.]+ [KMG]?B$/.test(t.text));
    assert.ok(numbers.length >= 1, `${size}: ${JSON.stringify(numbers)}`);
  }
}));

test("what the system counted of one trace is not drawn where two are compared", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "compared.ctf");
  try {
    cli("run", "--rate", "0.01", "-o", file, "--", "/bin/sh", "-c", "x=1; while [ $x -lt 20000 ]; do x=$((x+1)); done");
  } catch {
    return "programs cannot be recorded here";
  }
  const server = await serve([file, file]), c = await Client.open(browser, server.url);
  try {
    await ready(c);
    assert.ok((await written(c)).some((t) => /^RSS/.test(t.text)));
    assert.ok((await c.page.locator("[data-gauge=rss]").count()) === 1);
    await c.go({ view: "diff" });
    await c.page.waitForFunction(() => window.allotrace.timeline.compared && !window.allotrace.busy);
    assert.ok(!(await written(c)).some((t) => /RSS/.test(t.text)));
    assert.equal(await c.page.locator("[data-gauge]").count(), 0);
  } finally {
    await c.close();
    await server.stop();
  }
});
