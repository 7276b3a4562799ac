// phone.mjs: on a telephone the picture has most of the screen, and fingers can hit what is there to be hit.
import assert from "node:assert/strict";
import { Client, FIREFOX, test } from "./browser.mjs";

const FINGER = 32; // pixels

// Controls that are seen and lower than a finger wants; numbers in running text are words, not buttons.
const small = (page) => page.evaluate((finger) => [...document.querySelectorAll("#app button:not(.num, .gridrow button, .code button), #app input:not([type=range]), #app select")]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)
  .map((e) => [e, (e.closest(".field") ?? e).getBoundingClientRect()])
  .filter(([, r]) => r.height < finger - 0.5)
  .map(([e, r]) => `${e.tagName} ${e.className} ${e.ariaLabel || e.textContent.slice(0, 20)}: ${r.height}`), FINGER);

// Only Chromium lets a test put fingers on the screen.
const touch = (what) => (FIREFOX ? what.click() : what.tap());

// What stands above a view, of the height of the screen.
const above = (page) => page.evaluate(() => document.querySelector(".body").getBoundingClientRect().top / innerHeight);

test("on a telephone pictures have most of the screen, and controls the height of a finger", async ({ browser, two }) => {
  const c = await Client.open(browser, two.url, { size: [390, 844], touch: true });
  try {
    await c.page.waitForFunction(() => window.allotrace.start.facts);
    const share = await c.page.evaluate(() => document.querySelector(".canvas").getBoundingClientRect().height / innerHeight);
    assert.ok(share >= 0.64, `the flame has ${share}`);
    for (const patch of [{}, { mode: "sandwich", focus: "Stdlib__Map.Make.bal" }, { filter: "size:>=8" }, { filter: "size:>=8 -fn:Stdlib__Map" }, { filter: "size:>=8 size:<64 -fn:Stdlib__Map life:<1s -fn:Stdlib__List" }, { view: "hotspots" }, { view: "callers" }, { view: "graph" }, { mode: "time" }, { view: "source", line: "12" }, { view: "leaks" }, { view: "diff" }, { view: "diff", moments: true, a: "0.2s", b: "0.5s" }, { view: "lifetimes" }, { view: "advice" }]) {
      await c.go({ mode: "icicle", filter: "", ...patch });
      assert.deepEqual(await small(c.page), [], JSON.stringify(patch));
      assert.ok((await above(c.page)) <= (patch.filter ? 1 / 3 : 0.24), `${JSON.stringify(patch)}: ${await above(c.page)}`);
    }
  } finally {
    await c.close();
  }
});

test("a telephone begins with what to look at, each a way there; the timeline's legend and the filter are a touch away", async ({ browser, one }) => {
  const c = await Client.open(browser, one.url, { size: [390, 844], touch: true }), seen = (selector) => c.page.locator(selector).first().isVisible();
  try {
    await c.page.locator(".start [data-start=advice]").waitFor();
    assert.deepEqual(await c.page.locator(".start .fact").evaluateAll((all) => all.map((e) => e.dataset.start)), ["peak", "leaks", "hotspots", "advice"]);
    assert.ok((await above(c.page)) <= 0.24);
    assert.equal(await c.page.evaluate(() => new Set([...document.querySelectorAll(".start button")].map((e) => e.getBoundingClientRect().top)).size), 1, "in one row");
    for (const [fact, state] of [["peak", { measure: "live" }], ["leaks", { view: "leaks" }], ["hotspots", { view: "hotspots" }], ["advice", { view: "advice" }]]) {
      await c.until(state, () => touch(c.page.locator(`[data-start=${fact}]`)));
      assert.ok(!(await seen(".start")) && (await seen(".timeline .legend")));
      await c.until({ view: "flame", measure: "allocated" }, () => c.page.evaluate(() => history.back()));
      assert.ok((await seen(".start")) && !(await seen(".timeline .legend")));
    }
    await touch(c.page.getByRole("button", { name: "Legend" }));
    assert.ok(!(await seen(".start")) && (await seen(".timeline .legend")));
    assert.ok(!(await seen(".filterbar")));
    await touch(c.page.getByRole("button", { name: "Filter (/)" }));
    await c.page.keyboard.type("size:>=8");
    await c.until({ filter: "size:>=8" }, () => c.page.keyboard.press("Enter"));
    await touch(c.page.getByRole("button", { name: "Filter (/)" }));
    assert.ok(await seen(".filterbar .chip"), "a filter that there is stays in sight");
    await c.page.setViewportSize({ width: 1024, height: 768 });
    await c.until({ filter: "" }, () => c.page.getByLabel("Remove size:>=8").click());
    assert.ok((await seen(".filterbar")) && !(await seen(".narrow")));
  } finally {
    await c.close();
  }
});

const BAL = "Stdlib__Map.Make.bal";
const ALL = [
  ...["icicle", "flame", "inverted", "sandwich", "time"].map((mode) => ({ mode, focus: BAL })), ...["thread", "scope", "function"].map((group) => ({ view: "hotspots", group })),
  ...["hotspots", "functions", "callers", "callees", "types", "paths", "graph", "leaks", "lifetimes", "diff", "advice", "source"].map((view) => ({ view, focus: BAL })),
  { view: "diff", diffas: "flame" }, { view: "diff", moments: true, a: "8s", b: "15s" },
];
const AMOUNTS = ["value", "change"];

test("no view scrolls sideways, nor a table but on a telephone, where names and amounts stay in sight", async ({ browser, two }) => {
  for (const size of [[320, 640], [390, 844], [610, 800], [900, 800], [1024, 768], [1440, 900]]) {
    const c = await Client.open(browser, two.url, { size, touch: size[0] < 600 });
    try {
      for (const patch of ALL) {
        await c.go({ view: "flame", mode: "icicle", group: "", diffas: "table", moments: false, ...patch });
        const seen = await c.page.evaluate((amounts) => {
          const tables = [...document.querySelectorAll(".main .grid:has(> .gridhead), .main .gridbody, .code, .cards")].filter((e) => e.checkVisibility());
          const cells = [...document.querySelectorAll(amounts.map((k) => `.main .gridrow [data-column=${k}]`).join())].filter((e) => e.checkVisibility());
          return {
            page: Math.max(document.documentElement.scrollWidth, document.querySelector("#app").scrollWidth) - innerWidth,
            sideways: tables.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.className),
            off: cells.filter((e) => e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth).map((e) => e.textContent),
            table: tables.some((e) => e.matches(".gridbody")), amounts: cells.length,
          };
        }, AMOUNTS);
        const where = `${size}: ${JSON.stringify(patch)}: ${JSON.stringify(seen)}`;
        assert.equal(seen.page, 0, where);
        assert.deepEqual(seen.off, [], where);
        if (seen.table) assert.ok(seen.amounts > 0, where);
        if (size[0] > 600 && patch.view !== "source") assert.deepEqual(seen.sideways, [], where);
      }
    } finally {
      await c.close();
    }
  }
});

const columns = (c) => c.page.evaluate(() => [...document.querySelectorAll(".main .gridhead > *")].map((e) => e.textContent.trim()));

test("where not all columns fit beside the details, callers and modules are left out, and no number is cut off", async ({ browser, one }) => {
  const c = await Client.open(browser, one.url, { size: [1024, 768] });
  try {
    for (const view of ["hotspots", "callers", "functions"]) {
      await c.go({ view, focus: "Stdlib__Map.Make.bal", details: "shown" });
      const least = await columns(c);
      assert.ok(!least.includes("Module") && least.includes("Share") && (view === "functions" ? least.includes("Itself") : least.includes("Samples")), `${least}`);
      assert.ok(await c.page.evaluate(() => ((e) => e.scrollWidth <= e.clientWidth)(document.querySelector(".main .grid"))), `${view} fits`);
      await c.go({ details: "hidden" });
      assert.ok((await columns(c)).includes("Module"), `${view}: all with the details gone`);
    }
  } finally {
    await c.close();
  }
});
