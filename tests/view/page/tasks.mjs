// tasks.mjs: what people come to the page for, done as they would do it, each from a page that was just opened, with the clicks,
// keys and seconds that it takes. A task fails if what it is for is not reached; how long it takes fails nothing.
import assert from "node:assert/strict";
import { amount } from "../../../viewer/format.js";
import { cliJson, Client, launch, runAll, serve, test } from "./browser.mjs";
import { headline, IRMIN, OCAMLOPT, shownTotal } from "./common.mjs";

// A user whose actions are counted.
class User {
  constructor(c) {
    Object.assign(this, { c, page: c.page, clicks: 0, keys: 0, start: performance.now() });
  }
  async click(what, options) {
    this.clicks++;
    await (typeof what === "string" ? this.page.locator(what).first() : what).click(options);
    await this.c.quiet();
  }
  async press(...keys) {
    this.keys += keys.length;
    await this.c.press(...keys);
  }
  async type(text) {
    this.keys += text.length;
    await this.page.keyboard.type(text);
  }
  // To the element that is meant, by one key pressed again and again.
  async pressTo(key, selector, most = 20) {
    for (let i = 0; i < most; i++) {
      await this.press(key);
      if (await this.page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
    }
    assert.fail(`${key} does not lead to ${selector}`);
  }
  // A name is searched, and its first match is selected in the flame.
  async find(name) {
    await this.press("/");
    await this.type(name);
    await this.press("Enter", "ArrowDown");
  }
  async choose(label, value) {
    this.clicks += 2;
    await this.page.getByLabel(label).first().selectOption(value);
    await this.c.quiet();
  }
  // Across the timeline, from one share of its width to another.
  async drag(from, to) {
    this.clicks++;
    const box = await this.page.locator(".timeline canvas").boundingBox(), y = box.y + box.height / 3;
    await this.page.mouse.move(box.x + box.width * from, y);
    await this.page.mouse.down();
    for (const part of [0.3, 0.7, 1]) await this.page.mouse.move(box.x + box.width * (from + (to - from) * part), y);
    await this.page.mouse.up();
    await this.c.quiet();
  }
  async frame(name, options = {}) {
    this.clicks += options.times ?? 1;
    await this.c.clickFrame(name, options);
    await this.c.quiet();
  }
  until(wanted) {
    return this.c.until(wanted, () => {});
  }
}

const task = (name, what, run, { traces = 1 } = {}) =>
  test(name, async (context) => {
    const c = await Client.open(context.browser, (traces === 1 ? context.one : context.two).url, { permissions: ["clipboard-read", "clipboard-write"] });
    try {
      const u = new User(c);
      await run(u, c);
      const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
      console.log(`# ${name}: ${what}: ${plural(u.clicks, "click")}, ${plural(u.keys, "key")}, ${((performance.now() - u.start) / 1000).toFixed(1)} s`);
      assert.deepEqual(c.trouble, [], "the console is silent");
    } finally {
      await c.close();
    }
  });

const CONSOLE = "Irmin_traces__Trace_replay.Make.exec_commit";

task("top function", "which function allocates most, and how much", async (u, c) => {
  await u.click("#tab-hotspots");
  await u.click('.segments [data-by="function"]');
  const j = cliJson("hotspots", "--json", "--by", "function", "--top", "1", IRMIN).hotspots[0], [row] = await c.rows();
  assert.equal(row.value, amount(j.value, "B"));
  assert.ok(row.place.includes(j.function.split(".").at(-1)), row.place);
});

task("live at the peak", "what held memory when most was live", async (u, c) => {
  await u.click('[data-start="peak"]');
  assert.equal((await c.state()).measure, "live");
  await u.click("#tab-hotspots");
  assert.equal(await shownTotal(c), headline("--measure", "peak", IRMIN));
});

task("leaks", "whether anything leaks", async (u, c) => {
  await u.click("#tab-leaks");
  const j = cliJson("leaks", "--json", IRMIN);
  assert.equal((await c.rows())[0].class, j.sites[0].class);
});

task("brush", "what was allocated in a stretch of time", async (u, c) => {
  await u.drag(0.3, 0.5);
  await u.click("[data-brush=alloc]");
  const { filter } = await c.state();
  assert.match(filter, /^alloc:/);
  assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN));
});

task("exclude a module", "without what the standard library allocates", async (u, c) => {
  await u.click('.modules [data-module="Stdlib"]');
  await u.click('.popover [data-module="exclude"]');
  const { filter } = await c.state();
  assert.match(filter, /^-module:/);
  assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN));
});

task("who calls", "who calls a function, and how much each causes", async (u, c) => {
  await u.frame(CONSOLE, { button: "right" });
  await u.click('.popover.menu [data-action="Callers"]');
  const j = cliJson("callers", "--json", CONSOLE, IRMIN).tree;
  assert.equal((await c.rows())[0].value, amount(j.children[0].value, "B"));
});

task("search", "how much has a name in it", async (u, c) => {
  await u.press("/");
  await u.type("Map");
  await u.until({ search: "Map" });
  assert.match(await c.text(".matched"), new RegExp(`matched ${amount(cliJson("hotspots", "--json", "--top", "1", "--filter", "fn:/Map/", IRMIN).total.value, "B")}`));
});

task("compare", "what changed from one trace to another", async (u, c) => {
  await u.click("#tab-diff");
  assert.match((await c.text(".delta")).replace(/\s+/g, " "), /Before 79\.0 GB.*→.*After 639\.3 MB.*Δ.*significantly less/);
}, { traces: 2 });

task("compare moments", "what is live at one moment and not at another", async (u, c) => {
  await u.drag(0.25, 0.45);
  await u.click("[data-brush=ends]");
  assert.match((await c.text(".main")).replace(/\s+/g, " "), /→.*Δ/);
});

task("source", "the lines of a function, with what they cost", async (u, c) => {
  await u.frame(CONSOLE, { button: "right" });
  await u.click('.popover.menu [data-action="Source"]');
  assert.ok((await c.page.locator(".code .line.hot").count()) > 0);
});

task("share", "an address that shows the same", async (u, c) => {
  await u.click("#tab-functions");
  await u.click(c.page.getByRole("button", { name: /^Share and export/ }));
  await u.click("[data-share=link]");
  const copied = await c.page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /#view=functions/);
});

task("export", "one file that colleagues can open", async (u, c) => {
  await u.click(c.page.getByRole("button", { name: /^Share and export/ }));
  const saved = c.page.waitForEvent("download");
  await u.click("[data-share=html]");
  assert.match((await saved).suggestedFilename(), /\.html$/);
});

// ---- the same without a mouse --------------------------------------------------------------------

task("keys: top function", "which function allocates most, and how much", async (u, c) => {
  await u.press("2");
  await u.pressTo("Shift+Tab", '.segments [data-by="function"]');
  await u.press("Enter");
  const j = cliJson("hotspots", "--json", "--by", "function", "--top", "1", IRMIN).hotspots[0], [row] = await c.rows();
  assert.equal(row.value, amount(j.value, "B"));
});

task("keys: live at the peak", "what held memory when most was live", async (u, c) => {
  await u.press("p", "2");
  assert.equal(await shownTotal(c), headline("--measure", "peak", IRMIN));
});

task("keys: leaks", "whether anything leaks", async (u, c) => {
  await u.press("8"); // from left to right: this trace has no types
  assert.equal((await c.state()).view, "leaks");
  assert.equal((await c.rows())[0].class, cliJson("leaks", "--json", IRMIN).sites[0].class);
});

// A stretch of the timeline.
const stretch = async (u) => {
  await u.press("t", ...Array(3).fill("ArrowRight"), ...Array(8).fill("Shift+ArrowRight"), "Enter");
};

task("keys: brush", "what was allocated in a stretch of time", async (u, c) => {
  await stretch(u);
  await u.press("Enter");
  const { filter } = await c.state();
  assert.match(filter, /^alloc:/);
  assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN));
});

task("keys: exclude a module", "without what the standard library allocates", async (u, c) => {
  await u.find("Stdlib");
  await u.press("x", "D");
  const { filter } = await c.state();
  assert.match(filter, /^-module:/);
  assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN));
});

task("keys: who calls", "who calls a function, and how much each causes", async (u, c) => {
  await u.find("exec_commit");
  await u.press("x", "c");
  const j = cliJson("callers", "--json", CONSOLE, IRMIN).tree;
  assert.equal((await c.rows())[0].value, amount(j.children[0].value, "B"));
});

task("keys: search", "how much has a name in it, from match to match", async (u, c) => {
  await u.find("Map");
  const [first] = (await c.state()).pick.slice(-1);
  await u.press("n");
  assert.ok(first && (await c.state()).pick.length);
  assert.match(await c.text(".matched"), /^matched /);
});

task("keys: compare", "what changed from one trace to another", async (u, c) => {
  await u.press(",", ","); // the last view but one
  assert.equal((await c.state()).view, "diff");
  assert.match((await c.text(".delta")).replace(/\s+/g, " "), /Before 79\.0 GB.*→.*After 639\.3 MB.*Δ.*significantly less/);
}, { traces: 2 });

task("keys: compare moments", "what is live at one moment and not at another", async (u, c) => {
  await stretch(u);
  await u.pressTo("ArrowDown", "[data-brush=ends]");
  await u.press("Enter");
  assert.match((await c.text(".main")).replace(/\s+/g, " "), /→.*Δ/);
});

task("keys: source", "the lines of a function, with what they cost", async (u, c) => {
  await u.find("exec_commit");
  await u.press("x", "S");
  assert.ok((await c.page.locator(".code .line.hot").count()) > 0);
});

task("keys: share", "an address that shows the same", async (u, c) => {
  await u.press("3", "c");
  assert.match(await c.page.evaluate(() => navigator.clipboard.readText()), /#view=functions/);
});

task("keys: export", "one file that colleagues can open", async (u, c) => {
  await u.press("s");
  await u.pressTo("ArrowDown", "[data-share=html]");
  const saved = c.page.waitForEvent("download");
  await u.press("Enter");
  assert.match((await saved).suggestedFilename(), /\.html$/);
});

task("keys: what a function calls", "the largest of what a function calls, as a filter, and back", async (u, c) => {
  await u.press("ArrowDown", "ArrowDown", "ArrowDown", "Enter");
  assert.ok((await c.state()).zoom.length >= 2);
  await u.press("x", "o");
  await c.page.waitForFunction(() => window.allotrace.store.state.filter !== "");
  await c.quiet();
  assert.match((await c.state()).filter, /^fn:/);
  await u.press("2");
  assert.equal((await c.state()).view, "hotspots");
  await u.press("u");
  assert.equal((await c.state()).filter, "");
});

const { browser, close } = await launch(), one = await serve([IRMIN]), two = await serve([IRMIN, OCAMLOPT]);
let failed;
try {
  failed = await runAll({ browser, one, two });
} finally {
  await Promise.all([one, two].map((s) => s.stop()));
  await close();
}
process.exit(failed ? 1 : 0);
