// transforms.mjs: call stacks cut and folded from the menu, by mouse and by keys, in flames, trees and sandwiches. Each is a chip
// that stands in the address and can be undone, and the numbers are those of the commands with that filter.
import assert from "node:assert/strict";
import { cliJson, test } from "./browser.mjs";
import { at, headline, IRMIN, OCAMLOPT, one, shownTotal, two, withPage } from "./common.mjs";

const ocamlopt = (hash) => at(two, `trace=1&${hash}`);
const filterOf = async (c) => (await c.state()).filter;

// The frames that are drawn, but for what is too narrow, are nodes of the command's tree.
async function asTheTree(c, trace, filter) {
  const known = new Map();
  const walk = (n) => n.children.forEach((x) => (known.set(`${x.function} ${x.samples} ${x.value}`, x), walk(x)));
  walk(cliJson("tree", "--json", "--min-share", "0", "--depth", "1000", "--filter", filter, trace).tree);
  const frames = (await c.frames()).filter((f) => f.node > 0 && f.width >= 2);
  assert.ok(frames.length > 0);
  for (const f of frames) assert.ok(known.has(`${f.name} ${f.samples} ${f.value}`), `${filter}: ${f.name}`);
}

// A frame's menu by mouse, then the key of an action in it.
async function byKey(c, name, key, layer = 0) {
  await c.clickFrame(name, { button: "right", layer });
  await c.page.locator(".popover.menu:not([hidden])").waitFor();
  await c.page.keyboard.press(key);
  await c.quiet();
}

test("stacks are cut and folded from a flame's menu, as the commands' filter does it", withPage(at(one, ""), async (c) => {
  const name = "Irmin_traces__Trace_replay.Make.exec_commit", exact = `/^${name.replaceAll(".", "\\.")}$/`;
  for (const [action, filter] of [
    ["Drop stacks with it", `-fn:${exact}`], ["Merge it into its callers", `hide:${exact}`], ["Begin stacks with it", `below:${exact}`],
    ["End stacks with it", `above:${exact}`], ["Collapse its recursion", `recursion:${exact}`], ["Collapse its calls of itself", `repeats:${exact}`],
  ]) {
    await c.go({ filter: "", zoom: [] });
    await c.clickFrame(name, { button: "right" });
    await c.until({ filter }, () => c.page.locator(`.popover.menu:not([hidden]) [data-action="${action}"]`).click());
    assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN), action);
    await asTheTree(c, IRMIN, filter);
    assert.equal(await c.page.locator(".chip .text").innerText().then((t) => t.includes(name)), true, "the chip says the function's name");
  }
}));

test("a chain of transforms is in the address, survives a reload, and is undone one by one", withPage(ocamlopt(""), async (c) => {
  await byKey(c, "Misc.try_finally", "r");
  await byKey(c, "Compenv.process_action", "f");
  await byKey(c, "Optcompile.clambda.(fun)", "F");
  const wanted = "recursion:/^Misc\\.try_finally$/ below:/^Compenv\\.process_action$/ above:/^Optcompile\\.clambda\\.\\(fun\\)$/";
  assert.equal(await filterOf(c), wanted);
  assert.equal(await shownTotal(c), headline("--filter", wanted, OCAMLOPT));
  await asTheTree(c, OCAMLOPT, wanted);
  await c.page.reload();
  await c.quiet();
  assert.equal(await filterOf(c), wanted);
  await asTheTree(c, OCAMLOPT, wanted);
  await c.press("u");
  assert.equal(await filterOf(c), wanted.split(" ").slice(0, 2).join(" "));
  await c.until({ filter: wanted.split(" ")[0] }, () => c.page.locator('.chip[data-term^="below"] .x').click());
  await asTheTree(c, OCAMLOPT, wanted.split(" ")[0]);
}));

test("what is below one frame is left by its path, also where recursion is collapsed", withPage(ocamlopt(""), async (c) => {
  for (const recursion of [false, true]) {
    await c.go({ filter: "", zoom: [], recursion });
    const all = await c.frames(), { name, value } = all.findLast((f) => f.inView && f.width > 100 && all.filter((x) => x.name === f.name).length === 1);
    await byKey(c, name, "s");
    const filter = await filterOf(c);
    assert.match(filter, recursion ? /^recursion:\/\.\/ path:\/\^/ : /^path:\/\^/);
    const chip = await c.page.locator('.chip[data-term^="path"]').innerText();
    assert.ok(chip.includes("Main.main › ") && chip.includes(` › ${name}`), chip);
    const [, root] = await c.frames();
    assert.deepEqual([root.name, root.value], [name, value], "as much as the frame had");
    await asTheTree(c, OCAMLOPT, filter);
  }
}));

test("modules are dropped and merged", withPage(ocamlopt(""), async (c) => {
  await byKey(c, "Asmgen.compile_unit.(fun)", "M");
  const merged = await filterOf(c);
  assert.equal(merged, "hide-module:/^asmcomp$/");
  assert.equal((await c.page.locator(".chip .text").innerText()).replace(/\s+/g, " ").trim(), "hide-module asmcomp");
  assert.ok((await c.frames()).every((f) => !f.name.startsWith("Asmgen.")));
  assert.equal(await shownTotal(c), headline(OCAMLOPT).replace(/$/, ""), "nothing is lost");
  await asTheTree(c, OCAMLOPT, merged);
  await byKey(c, "Typemod.type_structure.type_struct", "D");
  const dropped = await filterOf(c);
  assert.equal(dropped, `${merged} -module:/^typing$/`);
  assert.equal(await shownTotal(c), headline("--filter", dropped, OCAMLOPT));
}));

test("transforms by keyboard alone, in a tree of callers and in a sandwich", withPage(ocamlopt("view=callers&focus=Interf.build_graph.interf"), async (c) => {
  await c.page.locator(".gridbody, .grid").first().focus();
  await c.press("ArrowDown", "x");
  await c.page.locator(".popover.menu:not([hidden])").waitFor();
  const title = await c.text(".popover.menu:not([hidden]) .title");
  await c.page.keyboard.press("R");
  await c.page.waitForFunction(() => window.allotrace.store.state.filter.startsWith("repeats:"));
  await c.quiet();
  const filter = await filterOf(c);
  assert.ok(filter.includes(title.split(".")[0]), `${title}: ${filter}`);
  const wanted = cliJson("callers", "Interf.build_graph.interf", "--json", "--min-share", "0", "--depth", "1", "--filter", filter, OCAMLOPT).tree;
  assert.equal((await c.rows()).length, wanted.children.length);

  await c.go({ view: "flame", mode: "sandwich", filter: "" });
  await c.page.locator(".canvas canvas").first().focus();
  await c.press("ArrowDown", "ArrowDown", "x");
  await c.page.locator(".popover.menu:not([hidden])").waitFor();
  await c.page.keyboard.press("m");
  await c.page.waitForFunction(() => window.allotrace.store.state.filter.startsWith("hide:"));
  await c.quiet();
  const hidden = await filterOf(c), callees = cliJson("callees", "Interf.build_graph.interf", "--json", "--min-share", "0", "--filter", hidden, OCAMLOPT).tree;
  assert.equal((await c.frames())[0].value, callees.value);
}));
