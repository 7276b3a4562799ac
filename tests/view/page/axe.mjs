// axe.mjs: axe-core finds nothing wrong in any view, light and dark, wide and narrow.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { ARTEFACTS, Client, test } from "./browser.mjs";

const axe = fs.readFileSync(path.join(ARTEFACTS, "node_modules/axe-core/axe.min.js"), "utf8");

const VIEWS = [
  {}, { mode: "sandwich", focus: "Stdlib__Map.Make.bal" }, { mode: "time" }, { search: "Map" }, { filter: "size:>=8" }, { view: "hotspots" }, { view: "functions" }, { view: "callers", focus: "Stdlib__Map.Make.bal" },
  { view: "callees", focus: "Stdlib__Map.Make.bal" }, { view: "types" }, { view: "paths" }, { view: "graph" }, { view: "leaks" }, { view: "lifetimes" }, { view: "diff" }, { view: "diff", diffas: "flame" },
  { view: "diff", moments: true, a: "0.2s", b: "0.5s" }, { view: "advice" }, { view: "source", line: "12" }, { filter: "size:wrong" },
];
const PLAIN = { mode: "icicle", focus: "", search: "", filter: "", view: "flame", diffas: "table", moments: false, a: "", b: "", line: "" };

// What is wrong, one line a rule and element.
const violations = (page) => page.evaluate(async () => {
  const { violations: found } = await window.axe.run(document, { resultTypes: ["violations"] });
  return found.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 140)} ${n.any.concat(n.all, n.none).map((c) => c.message).join("; ")}`));
});

for (const [theme, size] of [["light", [1440, 900]], ["dark", [390, 844]]])
  test(`axe-core finds nothing wrong: ${theme}, ${size[0]} pixels wide`, async ({ browser, two }) => {
    const c = await Client.open(browser, two.url, { theme, size });
    try {
      await c.page.evaluate(axe);
      const wrong = {};
      for (const view of VIEWS) {
        await c.go({ ...PLAIN, ...view });
        if (view.view === "hotspots" && size[0] > 1000) await c.page.locator(".main .gridrow").first().click({ position: { x: 60, y: 10 } });
        await c.quiet();
        const found = await violations(c.page);
        if (found.length) wrong[JSON.stringify(view)] = found;
      }
      assert.deepEqual(wrong, {});
    } finally {
      await c.close();
    }
  });
