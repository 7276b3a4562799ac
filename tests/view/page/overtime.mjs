// overtime.mjs: the flame over time: its boxes lie where the timeline has their time, and it zooms with that.
import assert from "node:assert/strict";
import { cliJson, FIREFOX, test } from "./browser.mjs";
import { at, IRMIN, one, withPage } from "./common.mjs";

const boxes = (c) => c.page.evaluate(() => {
  const { tree } = window.allotrace.view.layers[0];
  return [...tree.at].map((from, i) => ({ from: from + tree.start, to: from + tree.start + tree.total[i], value: tree.value[i], parent: tree.parent[i] }));
});

test("over time: the root is all of the time, boxes lie side by side in it, and their amounts are the commands'", withPage(at(one, "mode=time"), async (c) => {
  const all = await boxes(c), j = cliJson("hotspots", "--json", "--top", "1", IRMIN).total;
  assert.ok(all.length > 100);
  assert.deepEqual([all[0].from, all[0].value], [0, j.value]);
  const last = new Map();
  for (const [i, b] of all.entries()) {
    if (!i) continue;
    assert.ok(b.from >= all[b.parent].from && b.to <= all[b.parent].to && b.from >= (last.get(b.parent) ?? 0), `${i}`);
    last.set(b.parent, b.to);
  }
  const i = all.findIndex((b, k) => k > 0 && b.to - b.from > 1e6), b = all[i];
  const within = cliJson("hotspots", "--json", "--top", "1", "--filter", `alloc:${b.from}us..${b.to - 1}us`, IRMIN).total;
  assert.ok(b.value <= within.value && b.value > 0);
  await c.shot("over-time");
}));

test("over time: a double click zooms in, the timeline too; Backspace and the button of the timeline lead back", withPage(at(one, "mode=time"), async (c) => {
  const f = (await c.frames()).filter((x) => x.node > 0 && x.inView && x.width > 200 && x.width < 700)[0];
  // The two clicks of Playwright are too far apart for Firefox on a busy machine.
  await c.page.mouse.click(f.x + 40, f.y + 8, { clickCount: FIREFOX ? 1 : 2 });
  if (FIREFOX) await c.page.keyboard.press("Enter");
  await c.page.waitForFunction(() => window.allotrace.store.state.stretch !== "");
  await c.quiet();
  const [root] = await boxes(c), times = await c.page.evaluate(() => [window.allotrace.timeline.answer.from, window.allotrace.timeline.answer.to]);
  assert.ok(root.to - root.from < 20e6 && Math.abs(root.from - times[0]) < 1000 && Math.abs(root.to - times[1]) < 1e5, `${root.from} ${root.to} ${times}`);
  await c.page.locator(".canvas canvas").first().focus();
  await c.until({ stretch: "" }, () => c.page.keyboard.press("Backspace"));
  await c.page.locator(".canvas canvas").first().focus();
  await c.press("ArrowDown", "ArrowDown");
  assert.match(await c.page.locator(".main .away").last().textContent(), /\d/);
  await c.until({ search: "Lwt" }, () => c.page.locator(".tools .search input").first().fill("Lwt"));
  assert.match(await c.text(".matched"), /^matched .* of what is shown/);
}));
