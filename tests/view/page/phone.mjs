// phone.mjs: on a telephone the picture has most of the screen, and fingers can hit what is there to be hit.
import assert from "node:assert/strict";
import { Client, test } from "./browser.mjs";

const FINGER = 32; // pixels

// Controls that are seen and lower than a finger wants; numbers in running text are words, not buttons.
const small = (page) => page.evaluate((finger) => [...document.querySelectorAll("#app button:not(.num, .gridrow button, .code button), #app input:not([type=range]), #app select")]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)
  .map((e) => [e, (e.closest(".field") ?? e).getBoundingClientRect()])
  .filter(([, r]) => r.height < finger - 0.5)
  .map(([e, r]) => `${e.tagName} ${e.className} ${e.ariaLabel || e.textContent.slice(0, 20)}: ${r.height}`), FINGER);

// What stands above a view, of the height of the screen.
const above = (page) => page.evaluate(() => document.querySelector(".body").getBoundingClientRect().top / innerHeight);

test("on a telephone pictures have most of the screen, and controls the height of a finger", async ({ browser, two }) => {
  const c = await Client.open(browser, two.url, { size: [390, 844], touch: true });
  try {
    await c.page.waitForFunction(() => window.allotrace.start.facts);
    const share = await c.page.evaluate(() => document.querySelector(".canvas").getBoundingClientRect().height / innerHeight);
    assert.ok(share >= 0.62, `the flame has ${share}`);
    for (const patch of [{}, { mode: "sandwich", focus: "Stdlib__Map.Make.bal" }, { filter: "size:>=8" }, { filter: "size:>=8 -fn:Stdlib__Map" }, { filter: "size:>=8 size:<64 -fn:Stdlib__Map life:<1s -fn:Stdlib__List" }, { view: "hotspots" }, { view: "callers" }, { view: "leaks" }, { view: "diff" }, { view: "diff", moments: true, a: "0.2s", b: "0.5s" }, { view: "lifetimes" }, { view: "advice" }]) {
      await c.go({ mode: "icicle", filter: "", ...patch });
      assert.deepEqual(await small(c.page), [], JSON.stringify(patch));
      assert.ok((await above(c.page)) <= 1 / 3, `${JSON.stringify(patch)}: ${await above(c.page)}`);
    }
  } finally {
    await c.close();
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
