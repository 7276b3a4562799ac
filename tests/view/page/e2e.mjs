// e2e.mjs: what a user does with the page, in a real browser against a real server; and that each number on it is the
// one that the commands print for the same question. Waits for states, never for time.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { amount, marginText, percent } from "../../../viewer/format.js";
import { ARTEFACTS, cli, cliJson, Client, FIREFOX, launch, runAll, runAndView, serve, test, TRACES } from "./browser.mjs";
import { at, headline, IRMIN, OCAMLOPT, one, shownTotal, two, withPage } from "./common.mjs";
import "./axe.mjs";
import "./graph.mjs";
import "./overtime.mjs";
import "./phone.mjs";
import "./places.mjs";
import "./reach.mjs";
import "./takeaway.mjs";
import "./timeline.mjs";
import "./transforms.mjs";

test("it opens, takes the token from the address, and shows the total that hotspots prints", withPage(one, async (c) => {
  assert.equal(await shownTotal(c), headline(IRMIN));
  assert.ok(!(await c.page.url()).includes("token"));
  assert.match(await c.page.title(), /irmin-replay\.ctf/);
  assert.ok((await c.frames()).length > 100);
  for (const r of c.requests) assert.ok(r.startsWith("http://localhost:"), `only its own server is asked: ${r}`);
  await c.shot("open");
}));

test("without the token it says what to do", async ({ browser, one }) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(one.url.replace(/\?.*/, ""));
  await page.getByText("This address lacks its key").waitFor({ timeout: 90000 });
  await context.close();
});

test("each frame's number is that of tree", withPage(one, async (c) => {
  const tree = cliJson("tree", "--json", "--min-share", "0", "--depth", "1000", IRMIN).tree;
  const rows = new Map();
  const walk = (n) => n.children.forEach((x) => (rows.set(`${x.function} ${x.samples}`, x.value), walk(x)));
  walk(tree);
  const frames = (await c.frames()).filter((f) => f.node > 0);
  assert.ok(frames.length > 100);
  for (const f of frames) assert.equal(rows.get(`${f.name} ${f.samples}`), f.value, f.name);
}));

test("zoom by double click, out by key, back and forward through history", withPage(one, async (c) => {
  const name = "Irmin_traces__Trace_replay.Make.exec_commit";
  const frame = await c.clickFrame(name, { times: 2 });
  await c.page.waitForFunction(() => window.allotrace.store.state.zoom.length > 3);
  await c.quiet();
  const wide = await c.frame(name);
  assert.ok(wide.width > 2 * frame.width && wide.value === frame.value);
  assert.equal(await c.text(".crumbs [aria-current]"), name);
  const zoomed = await c.hash();
  await c.page.locator(".canvas canvas").first().focus();
  await c.press("Backspace");
  const depth = (await c.state()).zoom.length;
  await c.press("[");
  await c.page.waitForFunction((h) => location.hash === h, zoomed);
  await c.quiet();
  await c.press("[");
  await c.page.waitForFunction(() => window.allotrace.store.state.zoom.length === 0);
  await c.quiet();
  await c.press("]", "]");
  await c.page.waitForFunction((d) => window.allotrace.store.state.zoom.length === d, depth);
}));

test("search says how much matches, as the filter does", withPage(one, async (c) => {
  await c.page.locator(".tools .search input").first().fill("Stdlib__Map");
  await c.page.waitForFunction(() => window.allotrace.store.state.search === "Stdlib__Map");
  await c.quiet();
  const f = cliJson("hotspots", "--json", "--top", "1", "--filter", "fn:/Stdlib__Map/", IRMIN).total;
  const all = cliJson("hotspots", "--json", "--top", "1", IRMIN).total;
  assert.equal((await c.text(".matched")).replace(/\s+/g, " "), `matched ${amount(f.value, "B")} (${percent((100 * f.value) / all.value)} of what is shown)`);
  await c.shot("search");
  await c.page.locator(".tools .search input").first().fill("no such function");
  await c.page.getByText("no match in what is shown").waitFor();
}));

test("filters are chips: typed, completed, turned round, removed, undone", withPage(one, async (c) => {
  const entry = c.page.locator(".filterbar .entry");
  await entry.fill("siz");
  await c.page.locator(".completion [role=option]").first().waitFor();
  await entry.press("ArrowDown");
  await entry.press("Enter");
  assert.equal(await entry.inputValue(), "size:");
  await c.until({ filter: "size:>=16" }, async () => {
    await entry.pressSequentially(">=16");
    await entry.press("Enter");
  });
  assert.equal(await c.page.locator(".chip").count(), 1);
  assert.equal(await shownTotal(c), headline("--filter", "size:>=16", IRMIN));
  await c.until({ filter: "-size:>=16" }, () => c.page.locator(".chip .text").click({ modifiers: ["Alt"] }));
  assert.equal(await shownTotal(c), headline("--filter", "-size:>=16", IRMIN));
  await c.until({ filter: "" }, () => c.page.locator(".chip .x").click());
  await c.until({ filter: "-size:>=16" }, () => c.page.getByRole("button", { name: "Undo the last filter change" }).click());
  await c.page.reload();
  await c.quiet();
  await c.until({ filter: "size:>=16" }, () => c.press("u"));
}));

test("what was typed last is taken, however late the answers are that complete it", withPage(one, async (c) => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await c.page.route("**/api/filter?**", async (route) => {
    await held;
    await route.continue();
  });
  const entry = c.page.locator(".filterbar .entry");
  await entry.fill("siz");
  await c.page.locator(".completion [role=option]").first().waitFor();
  await entry.press("ArrowDown");
  await entry.press("Enter");
  assert.equal(await entry.inputValue(), "size:");
  await entry.pressSequentially(">=16");
  await entry.press("Enter");
  assert.equal(await entry.inputValue(), "", "nothing offered for an earlier text replaces it");
  await c.page.waitForFunction(() => window.allotrace.store.state.filter === "size:>=16");
  release();
  await c.quiet();
}));

test("a wrong filter is refused where it is wrong; one that keeps nothing says which term did it", withPage(one, async (c) => {
  const entry = c.page.locator(".filterbar .entry");
  await entry.fill("alloc:10x");
  await entry.press("Enter");
  await c.page.locator(".problem", { hasText: "character 9" }).waitFor();
  assert.equal(await shownTotal(c), headline(IRMIN), "what is shown stays");
  await c.until({ filter: "" }, () => c.page.locator(".chip .x").click());
  c.trouble = c.trouble.filter((t) => !/status of 400/.test(t)); // the refusal itself
  await entry.fill("life:<1ms");
  await c.until({ filter: "life:<1ms" }, () => entry.press("Enter"));
  await c.page.keyboard.type("size:>=100M"); // the field kept the keyboard when the answer came
  await c.until({ filter: "life:<1ms size:>=100M" }, () => c.page.keyboard.press("Enter"));
  await c.page.getByText("“size” removed the last 9,249").waitFor();
}));

test("a brush over the timeline filters by time; a click shows what was live; p goes to the peak", withPage(one, async (c) => {
  const box = await c.page.locator(".timeline canvas").boundingBox();
  const y = box.y + box.height / 2;
  const brush = async (how) => {
    await c.page.mouse.move(box.x + box.width * 0.25, y);
    await c.page.mouse.down();
    await c.page.mouse.move(box.x + box.width * 0.35, y);
    await c.page.mouse.move(box.x + box.width * 0.5, y);
    await c.page.mouse.up();
    await c.page.locator(`[data-brush=${how}]`).click();
    await c.page.waitForFunction((h) => window.allotrace.store.state.filter.includes(h === "alloc" ? "alloc:" : "live:"), how);
    await c.quiet();
    return (await c.state()).filter;
  };
  for (const how of ["alloc", "live", "freed"]) {
    const filter = await brush(how);
    assert.match(filter, { alloc: /^alloc:\S+\.\.\S+$/, live: /^live:\S+\.\.\S+$/, freed: /^live:\S+\.\.(\S+) -live:\1$/ }[how]);
    assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN), filter);
  }
  await c.shot("brush");
  await c.go({ filter: "" });
  await c.page.mouse.click(box.x + box.width * 0.6, y);
  await c.page.waitForFunction(() => window.allotrace.store.state.measure === "live");
  await c.quiet();
  const { at: moment } = await c.state();
  assert.equal(await shownTotal(c), headline("--measure", "live", "--at", moment, IRMIN));
  await c.press("p");
  await c.page.waitForFunction((m) => window.allotrace.store.state.at !== m, moment);
  await c.quiet();
  assert.equal(await shownTotal(c), headline("--measure", "peak", IRMIN), "the first of the peaks is the peak");
}));

test("every measure is that of the commands", withPage(two, async (c) => {
  for (const measure of ["allocated", "blocks", "live", "peak", "promoted", "survived", "temporary", "byteseconds"]) {
    await c.page.locator(".head select").last().selectOption(measure);
    await c.page.waitForFunction((m) => window.allotrace.store.state.measure === m, measure);
    await c.quiet();
    const j = cliJson("hotspots", "--json", "--top", "1", "--measure", measure, IRMIN);
    const text = `${amount(j.total.value, j.unit)} ${marginText(j.total, j.unit, j.rate)}`;
    assert.equal((await c.total()).slice(0, text.length), text, measure);
  }
}));

test("the four forms show the same total, and count what is too small", withPage(one, async (c) => {
  const totals = [];
  for (const mode of ["icicle", "flame", "inverted"]) {
    await c.until({ mode }, () => c.page.locator(`[data-mode=${mode}]`).click());
    totals.push((await c.frames())[0].value);
    await c.shot(`mode-${mode}`);
  }
  assert.equal(new Set(totals).size, 1);
  const inverted = (await c.frames()).filter((f) => f.node > 0);
  const sites = new Map();
  for (const s of cliJson("tree", "--inverted", "--json", "--depth", "1", "--min-share", "0", IRMIN).tree.children) sites.set(`${s.function} ${s.samples}`, s.value);
  assert.ok(inverted.filter((f) => sites.get(`${f.name} ${f.samples}`) === f.value).length > 20);
  // Boxes and hatched stretches of the second row fill the first, but for what is the root's own.
  const { boxes, other, root } = await c.page.evaluate(() => {
    const t = window.allotrace.view.flame.layers[0].l.tree;
    let boxes = 0;
    for (let i = t.first[0]; i; i = t.next[i]) boxes += t.total[i];
    return { boxes, other: t.omittedValue[0], root: t.total[0] };
  });
  assert.ok(other > 0);
  assert.ok(Math.abs(boxes + other - root) < 1e-6 * root);
}));

test("a sandwich stands around any sequence of frames", withPage(at(one, "mode=sandwich&focus=Stdlib__Map.Make.add"), async (c) => {
  const callers = cliJson("callers", "--json", "--min-share", "0", "Stdlib__Map.Make.add", IRMIN).tree;
  const [down, up] = [await c.frames(0), await c.frames(1)];
  assert.equal(down[0].value, callers.value);
  assert.equal(up[0].value, callers.value);
  const caller = callers.children[0];
  assert.ok(up.some((f) => f.name === caller.function && f.value === caller.value));
  await c.shot("sandwich");
  // Longer by a caller, through the menu.
  await c.clickFrame(caller.function, { button: "right", layer: 1 });
  await c.page.locator('[data-action="Sandwich around the sequence up to it"]').click();
  const focus = `${caller.function} > Stdlib__Map.Make.add`;
  await c.page.waitForFunction((f) => window.allotrace.store.state.focus === f, focus);
  await c.quiet();
  assert.equal((await c.frames(0))[0].value, cliJson("callees", "--json", focus, IRMIN).tree.value);
}));

test("the menu of a frame keeps and drops stacks with it, merges it, and goes to callers and callees", withPage(one, async (c) => {
  const name = "Irmin_traces__Trace_replay.Make.exec_commit";
  const choose = async (action, wanted) => {
    await c.go({ view: "flame", mode: "icicle", filter: "", zoom: [] });
    await c.clickFrame(name, { button: "right" });
    await c.until(wanted, () => c.page.locator(`.popover.menu [data-action^="${action}"]`).click());
  };
  const pattern = "/^Irmin_traces__Trace_replay\\.Make\\.exec_commit$/";
  await choose("Only stacks with it", { filter: `fn:${pattern}` });
  assert.equal(await shownTotal(c), headline("--filter", `fn:${pattern}`, IRMIN));
  assert.equal((await c.text(".chip")).replace(/\s+/g, " "), `fn ${name}`);
  await choose("Drop stacks with it", { filter: `-fn:${pattern}` });
  assert.equal(await shownTotal(c), headline("--filter", `-fn:${pattern}`, IRMIN));
  await choose("Merge it", { filter: `hide:${pattern}` });
  assert.ok(!(await c.frames()).some((f) => f.name === name));
  await choose("Callers", { view: "callers", focus: name });
  await choose("Callees", { view: "callees", focus: name });
  await c.page.locator(".gridrow").first().waitFor();
}));

test("recursion collapses, and the slider puts together what is below a share", withPage(one, async (c) => {
  await c.until({ recursion: true }, () => c.press("r"));
  const collapsed = cliJson("tree", "--json", "--collapse-recursion", "--depth", "1000", "--min-share", "3", IRMIN).tree;
  const frames = await c.frames();
  const walk = (n) => n.children.forEach((x) => (assert.ok(frames.some((f) => f.name === x.function && f.value === x.value), x.function), walk(x)));
  walk(collapsed);
  const drawn = () => c.page.evaluate(() => window.allotrace.view.flame.stats.boxes);
  const before = await drawn();
  await c.page.locator("input[type=range]").fill("45");
  await c.page.waitForFunction(() => window.allotrace.store.state.share > 5);
  await c.quiet();
  assert.ok((await drawn()) < before / 2);
  assert.ok((await c.state()).share > 5);
}));

test("rows of hotspots are those of the command, with interval and share", withPage(at(one, "view=hotspots"), async (c) => {
  for (const [filter, measure] of [["", "allocated"], ["size:>=16 -fn:/exec_find/", "allocated"], ["", "peak"]]) {
    await c.go({ filter, measure });
    const j = cliJson("hotspots", "--json", "--top", "15", "--min-share", "0", ...(filter ? ["--filter", filter] : []), "--measure", measure, IRMIN);
    const rows = await c.rows();
    assert.ok(j.hotspots.length >= 10);
    j.hotspots.forEach((h, i) => {
      assert.ok(rows[i].place.startsWith(h.function || "?"), `${rows[i].place} / ${h.function}`);
      assert.equal(rows[i].value, amount(h.value, j.unit));
      assert.equal(rows[i].margin, marginText(h, j.unit, j.rate));
      assert.equal(rows[i].share, percent(100 * h.share));
    });
  }
  await c.shot("hotspots");
}, { size: [2800, 900] })); // so wide that names are whole

test("hotspots are by thread and by scope as well, and a row leads to the places where its blocks were allocated", withPage(at(one, "view=hotspots&search="), async (c) => {
  const names = () => c.page.locator(".main .gridrow [data-column=name]").allInnerTexts();
  for (const by of ["thread", "scope"]) {
    await c.until({ group: by }, () => c.page.locator(`.main [data-by=${by}]`).click());
    await c.quiet();
    const j = cliJson("hotspots", "--json", "--by", by, "--min-share", "0", IRMIN);
    assert.deepEqual(await names(), j.hotspots.map((r) => r[by]));
    assert.deepEqual((await c.rows()).map((r) => r.value), j.hotspots.map((r) => amount(r.value, j.unit)));
    const name = c.page.locator(".main .gridrow [data-column=name]").first();
    await (FIREFOX ? name.click() : name.dblclick()); // as in clickFrame
    if (FIREFOX) await c.page.keyboard.press("Enter");
    await c.quiet();
    const { filter, group } = await c.page.evaluate(() => window.allotrace.store.state);
    assert.equal(group, "");
    assert.match(filter, by === "thread" ? /^thread:\/\^thread 0\$\/$/ : /^scope:\/\^\$\/$/);
    assert.ok((await c.rows())[0].place);
    await c.go({ filter: "" });
  }
}));

// Buffers of loop@: one is freed before the next comes, n times, each 4,000 bytes. Those of kept@ stay.
const looping = (n) => ["rate 1", "context ", ...Array.from({ length: n }, (_, i) => [`alloc external 500 501 Main@main.c:1 loop@loop.c:2`, `same collect ${2 * i}`, "same alloc external 8 9 Main@main.c:1 kept@kept.c:3"]).flat()].join("\n");

test("what is temporary is in each view what the commands say, and a comparison of exact traces says that it is exact", async ({ browser }) => {
  const [before, after] = [10, 15].map((n) => {
    const file = path.join(ARTEFACTS, `temporary-${n}.ctf`);
    fs.writeFileSync(file, execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: looping(n) }));
    return file;
  });
  const server = await serve([before, after]), c = await Client.open(browser, `${server.url}#measure=temporary`);
  const asked = ["--measure", "temporary"], { value } = cliJson("hotspots", "--json", ...asked, before).total, bytes = amount(value, "B");
  try {
    assert.equal(value, 10 * 501 * 8);
    for (const mode of ["icicle", "inverted", "time"]) {
      await c.go({ mode });
      assert.equal(await c.total(), `${bytes} exact 10 blocks at rate 1`, mode);
      const frames = (await c.frames()).filter((f) => f.node > 0);
      assert.ok(frames.some((f) => f.name === "loop") && !frames.some((f) => f.name === "kept"), mode);
      if (mode !== "time") assert.equal(frames.find((f) => f.name === "loop").value, value);
      else assert.equal(frames.filter((f) => f.name === "loop").reduce((sum, f) => sum + f.value, 0), value);
    }
    for (const view of ["hotspots", "functions", "types", "paths", "callees"]) {
      await c.go({ view, mode: "icicle", focus: "Main" });
      assert.equal((await c.rows())[0].value, bytes, view);
    }
    await c.go({ view: "graph" });
    assert.match(await c.text(".graph"), /loop/);
    await c.go({ view: "diff", by: "function" });
    const change = cliJson("diff", "--json", "--by", "function", ...asked, before, after).total.change, said = amount(change.value ?? change, "B");
    assert.equal((await c.text(".delta")).replace(/\s+/g, " "), `Before ${bytes} → After ${amount(15 * 501 * 8, "B")} Δ +${said} more, exact`);
    assert.deepEqual((await c.rows()).map((r) => [r.place.split(" ")[0], r.change, r.sure]), [["loop", `+${said}`, "▲ more"]]);
    await c.go({ before: 0, after: 0 });
    assert.deepEqual((await c.rows()).map((r) => r.sure), ["the same"]);
    assert.match(await c.text(".delta"), /the same, exact/);
    assert.deepEqual(c.trouble, []);
  } finally {
    await c.close();
    await server.stop();
  }
});

test("where every block is known, the page counts blocks, as the commands do", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "exact.ctf");
  const lines = ["alloc minor 4000 4001 Main@main.c:1 big@big.c:2", ...Array.from({ length: 60 }, () => "alloc minor 8 9 Main@main.c:1 small@small.c:3")];
  fs.writeFileSync(file, execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: `rate 1\n${lines.join("\n")}\n`, maxBuffer: 1 << 26 }));
  const server = await serve([file]);
  const c = await Client.open(browser, `${server.url}#view=hotspots`);
  try {
    assert.match(await c.total(), /exact 61 blocks at rate 1$/);
    assert.doesNotMatch(await c.page.locator("body").innerText(), /Live memory by[^]*95% interval[^]*Flame/, "of nothing that is drawn");
    const shown = () => c.page.locator(".main .gridrow [data-column=samples]").allInnerTexts();
    assert.deepEqual(await shown(), ["1", "60"]);
    assert.match(await c.page.locator(".main .gridhead").innerText(), /Blocks/i);
    await c.until({ sort: "blocks" }, () => c.page.locator("[data-sort=blocks]").click());
    await c.quiet();
    assert.deepEqual(await shown(), ["60", "1"]);
    await c.go({ measure: "blocks" });
    assert.match(await c.total(), /exact at rate 1$/);
    await c.go({ measure: "allocated", view: "functions", sort: "" });
    assert.deepEqual((await shown()).sort(), ["1", "60", "61"]);
    await c.go({ view: "leaks" });
    assert.match(await c.total(), /exact 61 blocks at rate 1$/);
    assert.deepEqual(c.trouble, []);
  } finally {
    await c.close();
    await server.stop();
  }
});

test("tables hold only the rows that are seen, sort, search, and obey the keys", withPage(at(one, "view=hotspots"), async (c) => {
  const count = cliJson("hotspots", "--json", "--top", "0", "--min-share", "0", IRMIN).hotspots.length;
  await c.page.getByText(`${count} rows.`).waitFor();
  assert.ok((await c.rows()).length < 80);
  await c.page.locator(".gridbody").focus();
  await c.press("End");
  await c.page.locator(`.gridrow.chosen[aria-rowindex="${count + 1}"] [data-column=value]`).waitFor();
  await c.press("Home", "j", "j", "k");
  assert.equal(await c.page.locator(".gridrow.chosen").getAttribute("aria-rowindex"), "3");
  await c.until({ sort: "-function" }, () => c.page.locator("[data-sort=function]").click());
  const names = (await c.rows()).map((r) => r.place);
  assert.ok(names.length > 5 && names[0] <= names[5]);
  await c.until({ sort: "low" }, () => c.page.locator("[data-sort=low]").click());
  await c.press("/");
  await c.page.keyboard.type("Lwt");
  await c.page.waitForFunction(() => window.allotrace.store.state.search === "Lwt");
  await c.quiet();
  for (const r of await c.rows()) assert.match(r.place, /Lwt|lwt/);
}));

test("leaks come in the order of the command, until another is chosen", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "leaks.ctf");
  // A large site that stays, and a small one that grows.
  const lines = ["alloc minor 4000 900 Main@main.c:1 big@big.c:2", ...Array.from({ length: 60 }, () => "alloc minor 8 4 Main@main.c:1 grows@grows.c:3")];
  fs.writeFileSync(file, execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: `rate 0.5\n${lines.join("\n")}\n`, maxBuffer: 1 << 26 }));
  const j = cliJson("leaks", "--json", file).sites;
  const server = await serve([file]);
  const c = await Client.open(browser, `${server.url}#view=leaks`);
  try {
    const names = async () => (await c.rows()).map((r) => r.place.split(" ")[0]);
    assert.deepEqual(await names(), j.map((s) => s.function));
    assert.equal(await c.page.locator(".gridhead [aria-sort]").count(), 0);
    assert.match((await c.text(".gridhead")).replace(/\s+/g, " "), /How it grows Amount ± 95% interval/);
    await c.until({ sort: "value" }, () => c.page.locator("[data-sort=value]").click());
    assert.deepEqual(await names(), [...j].sort((a, b) => b.value - a.value).map((s) => s.function));
    assert.notDeepEqual(await names(), j.map((s) => s.function));
  } finally {
    await c.close();
    await server.stop();
  }
});

test("where the program cleaned up, leaks are of what was live before, as the command says", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "cleaned-up.ctf");
  const script = ["alloc major 999 1000 main@main.ml:1", ...Array.from({ length: 120 }, () => "alloc major 9 10 main@main.ml:2 parse@parse.ml:10"), ...Array.from({ length: 121 }, (_, i) => `collect ${i}`)];
  fs.writeFileSync(file, execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: `${script.join("\n")}\n`, maxBuffer: 1 << 26 }));
  const said = cli("leaks", file).split("\n");
  const [, end] = /^The program cleaned up from (.*) on; /.exec(said[1]);
  const [, live] = /^(\S+ \S+) live before that/.exec(said[3]);
  const server = await serve([file]);
  const c = await Client.open(browser, `${server.url}#view=leaks`);
  try {
    assert.equal(await c.text(".remark"), said.slice(1, 3).join(" "));
    const measure = () => c.page.locator('.head select[aria-label^="Measure"]').evaluate((s) => s.selectedOptions[0].textContent);
    assert.equal(await measure(), "Live before the cleanup");
    assert.equal(await c.text('[data-number="grand-total"]'), live);
    assert.match(await c.page.locator('[data-number="grand-total"]').getAttribute("aria-label"), /^Live before the cleanup: /);
    assert.ok((await c.total()).includes(`at ${end},`), await c.total());
    await c.page.locator('[data-number="grand-total"]').click();
    assert.doesNotMatch(await c.page.locator(".popover.explain:not([hidden])").innerText(), /never freed/i);
    await c.page.keyboard.press("Escape");
    await c.go({ measure: "blocks" });
    assert.equal(await measure(), "Blocks live before the cleanup");
    await c.go({ view: "hotspots" });
    await c.go({ view: "leaks" });
    assert.equal(await measure(), "Blocks live before the cleanup");
  } finally {
    await c.close();
    await server.stop();
  }
});

test("names of scopes and slopes of blocks are shown whole", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "scopes.ctf");
  const events = Array.from({ length: 20 }, (_, i) => `alloc external 0 0 GET/api/v1/orders/${100 + i}/with@<scope>:0\nsame collect ${31 * i}\n${"same alloc external 9 10 main@a.c:1 keep@a.c:2\n".repeat(30)}`);
  fs.writeFileSync(file, execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: events.join("") }));
  const server = await serve([file]);
  const c = await Client.open(browser, `${server.url}#view=hotspots&group=scope`);
  const cut = (column) => c.page.locator(`.main .gridrow [data-column=${column}]`).evaluateAll((cells) => cells.filter((e) => [e, ...e.querySelectorAll("*")].some((x) => x.scrollWidth > x.clientWidth && getComputedStyle(x).display !== "inline")).map((e) => e.innerText));
  try {
    await c.quiet();
    assert.equal((await c.rows()).length > 10, true);
    assert.deepEqual(await cut("name"), []);
    await c.go({ view: "leaks", group: "", measure: "blocks" });
    assert.match((await c.rows())[0].slope, /blocks\/s$/);
    assert.deepEqual(await cut("slope"), []);
  } finally {
    await c.close();
    await server.stop();
  }
});

test("leaks count what the measure says, as the command does", withPage(at(one, "view=leaks&measure=peak"), async (c) => {
  for (const [measure, text, unit] of [["peak", "Live at the end", "B"], ["blocks", "Blocks live at the end", "blocks"], ["byteseconds", "Bytes × time held", "B·s"]]) {
    await c.go({ measure });
    const j = cliJson("leaks", "--json", "--measure", measure === "peak" ? "allocated" : measure, IRMIN);
    assert.deepEqual((await c.rows()).slice(0, 10).map((r) => r.value), j.sites.slice(0, 10).map((s) => amount(s.value, unit)), measure);
    assert.equal(await c.page.locator('.head select[aria-label^="Measure"]').evaluate((s) => s.selectedOptions[0].textContent), text);
    assert.equal(await c.page.locator('[data-number="grand-total"]').innerText(), amount(j.all_sites.value, unit));
    await c.page.locator(".gridrow").first().click({ position: { x: 60, y: 10 } });
    await c.page.locator('.gridrow [data-number="slope"]').first().click();
    const told = c.page.locator(".popover.explain:not([hidden])");
    assert.match(await told.innerText(), measure === "blocks" ? /blocks\/s(.|\n)*how many blocks per second/ : /B\/s(.|\n)*how many bytes per second/);
    await c.page.keyboard.press("Escape");
  }
  await c.go({ view: "hotspots", measure: "allocated" });
  assert.equal(await c.page.locator('.head select[aria-label^="Measure"]').evaluate((s) => s.selectedOptions[0].textContent), "Allocated");
}));

test("callers unroll and roll up by keys", withPage(at(one, "view=callers&focus=Stdlib__Map.Make.bal"), async (c) => {
  const j = cliJson("callers", "--json", "--min-share", "0", "Stdlib__Map.Make.bal", IRMIN).tree;
  const rows = await c.rows();
  assert.equal(rows.length, j.children.length);
  assert.equal(rows[0].value, amount(j.children[0].value, "B"));
  await c.page.locator(".gridbody").focus();
  await c.press("Home", "ArrowRight");
  await c.page.locator('.gridrow[aria-level="2"]').first().waitFor();
  const inner = (await c.rows())[1];
  assert.equal(inner.value, amount(j.children[0].children[0].value, "B"));
  await c.shot("callers");
  await c.press("ArrowLeft");
  await c.page.waitForFunction((n) => document.querySelectorAll(".main .gridrow").length === n, rows.length);
}));

test("functions, types, hot paths, leaks, lifetimes, advice and source all show something or say why not", withPage(two, async (c) => {
  for (const view of ["functions", "types", "paths", "leaks", "lifetimes", "advice", "source"]) {
    await c.until({ view }, () => (["types", "source"].includes(view) ? c.go({ view }) : c.page.locator(`#tab-${view}`).click()));
    const text = await c.text(".main");
    assert.ok(!/cannot be shown|undefined|NaN/.test(text), `${view}: ${text.slice(0, 200)}`);
    await c.shot(`view-${view}`);
  }
}));

test("a stretch of the histogram of lifetimes becomes a filter", withPage(at(one, "view=lifetimes"), async (c) => {
  const box = await c.page.locator(".plot canvas").first().boundingBox();
  await c.page.mouse.move(box.x + 80, box.y + 60);
  await c.page.mouse.down();
  await c.page.mouse.move(box.x + 120, box.y + 60);
  await c.page.mouse.move(box.x + 200, box.y + 60);
  await c.page.mouse.up();
  await c.page.waitForFunction(() => window.allotrace.store.state.filter.includes("life:"));
  await c.quiet();
  const { filter } = await c.state();
  assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN), filter);
}));

test("a stretch of the map of sizes and lifetimes becomes a filter, a cell explains its number", withPage(at(one, "view=lifetimes"), async (c) => {
  const cell = await c.page.evaluate(() => {
    const v = window.allotrace.view, a = v.answer, m = a.map, i = m.value.indexOf(Math.max(...m.value)), box = v.map.canvas.getBoundingClientRect();
    const w = (v.map.width - 76) / (a.lifetime.low.length + 1), hh = (v.map.height - 30) / a.size.low.length;
    return { x: box.left + 64 + (m.lifetime[i] + 0.5) * w, y: box.top + v.map.height - 22 - (m.size[i] + 0.5) * hh, w, hh, samples: m.samples[i], size: [a.size.low[m.size[i]], a.size.high[m.size[i]]] };
  });
  await c.page.mouse.click(cell.x, cell.y);
  const box = c.page.locator(".popover.explain:not([hidden])");
  await box.locator("dd", { hasText: new RegExp(`^${cell.samples.toLocaleString("en")}$`) }).first().waitFor();
  await c.press("Escape");
  for (const [plot, what] of [[0, /^0 … .*\s+Histogram of lifetimes[^]*upper limit/], [1, /^0 … .*\s+Size and lifetime[^]*power of two/]]) {
    const canvas = await c.page.locator(".plot canvas").nth(plot).boundingBox();
    await c.page.mouse.click(canvas.x + canvas.width / 2, canvas.y + canvas.height - 6);
    await box.filter({ hasText: "Across" }).waitFor();
    assert.match(await box.innerText(), what);
    await c.press("Escape");
  }
  await c.page.mouse.move(cell.x - 0.4 * cell.w, cell.y);
  await c.page.mouse.down();
  await c.page.mouse.move(cell.x, cell.y);
  await c.page.mouse.move(cell.x + 0.4 * cell.w, cell.y);
  await c.page.mouse.up();
  await c.page.waitForFunction(() => /size:/.test(window.allotrace.store.state.filter));
  await c.quiet();
  const { filter } = await c.state();
  assert.match(filter, new RegExp(`^life:\\S+ -survived size:${cell.size[0]}\\.\\.${cell.size[1] - 1}$`));
  assert.equal(await c.page.evaluate(() => window.allotrace.view.answer.total.samples), cell.samples);
  assert.equal(await shownTotal(c), headline("--filter", filter, IRMIN));
}));

test("what was freed is asked for in one word", withPage(one, async (c) => {
  const entry = c.page.locator(".filterbar .entry");
  await entry.fill("freed:5s..9s");
  await c.until({ filter: "live:5s..9s -live:9s" }, () => entry.press("Enter"));
  assert.equal(await shownTotal(c), headline("--filter", "live:5s..9s -live:9s", IRMIN));
}));

test("a sandwich and callers stand around what is typed, with the names that there are", withPage(at(one, "mode=sandwich"), async (c) => {
  const field = c.page.locator(".around input:visible");
  await field.fill("Stdlib__Map.Make.a");
  await c.page.waitForFunction(() => [...document.querySelectorAll(".around:not([hidden]) datalist option")].some((o) => o.value === "Stdlib__Map.Make.add"));
  const focus = "Stdlib__Map.Make.add > Stdlib__Map.Make.bal";
  await field.fill(focus);
  await c.until({ focus }, () => field.press("Enter"));
  assert.equal((await c.frames(0))[0].value, cliJson("callees", "--json", focus, IRMIN).tree.value);
  assert.equal((await c.frames(1))[0].value, cliJson("callers", "--json", focus, IRMIN).tree.value);
  await c.go({ view: "callers" });
  assert.equal(await c.page.locator(".around input:visible").inputValue(), focus);
}));

test("rows beyond the first page are asked for, not lost", withPage(two, async (c) => {
  // A page of three rows, as if there were hundreds.
  await c.page.evaluate(() => {
    const real = window.fetch;
    window.fetch = (url, options) => real(String(url).replace("limit=200", "limit=3"), options);
  });
  await c.go({ view: "callers", focus: "Stdlib__Map.Make.bal" });
  const all = cliJson("callers", "--json", "--min-share", "0", "Stdlib__Map.Make.bal", IRMIN).tree.children;
  assert.ok(all.length > 6);
  const places = async () => (await c.rows()).filter((r) => r.value).map((r) => r.value);
  assert.equal((await places()).length, 3);
  assert.match(await c.text(".gridrow .instead"), new RegExp(`^${all.length - 3} more`));
  await c.page.locator(".gridbody").focus();
  await c.press("End", "Enter");
  await c.page.waitForFunction(() => document.querySelectorAll(".main .gridrow [data-column=value]").length === 6);
  await c.press("End", "ArrowRight");
  await c.page.waitForFunction(() => document.querySelectorAll(".main .gridrow [data-column=value]").length === 9);
  assert.deepEqual(await places(), all.slice(0, 9).map((r) => amount(r.value, "B")));
}));

test("advice is marked beside the site it concerns, and shown on a click", withPage(at(one, "view=functions"), async (c) => {
  const [advice] = cliJson("advise", "--json", IRMIN).advice;
  const tag = c.page.locator(".gridrow .tag").first();
  assert.equal(c.requests.some((r) => r.includes("/api/advice")), false, "nobody asked for it yet");
  assert.equal(await tag.count(), 0);
  await c.page.locator(".main .gridrow").first().click();
  await c.page.locator(".details [data-ask=advice]").click();
  await tag.waitFor();
  await tag.click();
  await c.page.locator(".details .card .advised").first().waitFor();
  assert.equal(await c.text(".details .card .advised"), advice.title);
  const card = await c.text(".details .card");
  for (const words of [advice.why, advice.do, "Gain: at most", `Sure: ${advice.certainty}: ${advice.evidence}`, ...advice.check]) assert.ok(card.includes(words), `${words}: ${card}`);
}));

// What the command says, by label: "what", "why", …; of each piece of advice.
const sentencesOf = (file) => [...cli("advise", file).matchAll(/^ {7}(where|what|from|why|do|gain|sure|check) +([^\n]*(?:\n {14}[^\n]*)*)/gm)]
  .map(([, label, text]) => [label, text.replace(/\s+/g, " ").trim()]);

test("advice says what the command says, in its words", async ({ browser }) => {
  for (const file of [IRMIN, OCAMLOPT]) {
    const server = await serve([file]), c = await Client.open(browser, `${server.url}#view=advice`);
    try {
      const shown = (await c.text(".cards")).replace(/\s+/g, " "), said = sentencesOf(file);
      assert.ok(["what", "why", "do", "gain", "sure", "check"].every((label) => said.some(([l]) => l === label)), `${file}: ${JSON.stringify(said)}`);
      for (const [label, text] of said.filter(([l, t]) => l !== "check" && l !== "from" && t !== "as above")) assert.ok(shown.includes(text), `${file}: ${label} ${text} not in ${shown}`);
      const [gain] = cliJson("advise", "--json", file).advice;
      for (const command of gain.check) assert.ok(shown.includes(command), command);
    } finally {
      await c.close();
      await server.stop();
    }
  }
});

test("seven tabs of an ended trace do not wait for each other's connections", async ({ browser, one: server }) => {
  const first = await Client.open(browser, server.url), pages = [];
  try {
    for (let i = 0; i < 7; i++) pages.push(await first.context.newPage());
    await Promise.all(pages.map((p) => p.goto(`${server.url}#view=${viewOfTab(pages.indexOf(p))}`)));
    for (const p of pages) await p.waitForFunction(() => window.allotrace?.shown && !window.allotrace.busy && document.querySelector(".total .num"), null, { timeout: 90000 });
  } finally {
    await first.close();
  }
});
const viewOfTab = (i) => ["hotspots", "functions", "types", "paths", "leaks", "flame", "lifetimes"][i];

test("what was allocated until two moments is compared, too", withPage(at(one, "a=8s&b=15s&view=diff&of=allocated"), async (c) => {
  const of = (filter) => cliJson("hotspots", "--json", "--top", "1", "--filter", filter, IRMIN).total;
  const text = (await c.text(".main")).replace(/\s+/g, " ");
  assert.ok(text.includes(`8s ${amount(of("alloc:..8s").value, "B")} → 15s ${amount(of("alloc:..15s").value, "B")}`), text.slice(0, 300));
  assert.ok(text.includes("Went: 0 B, came: "));
  await c.until({ of: "live" }, () => c.page.locator("[data-of=live]").click());
}));

test("a number explains itself: definition, formula, samples, interval", withPage(one, async (c) => {
  await c.page.locator(".total [data-number=grand-total]").click();
  const box = c.page.locator(".popover.explain");
  await box.locator(".formula").waitFor();
  const text = await box.innerText();
  const t = cliJson("hotspots", "--json", "--top", "1", IRMIN).total;
  assert.ok(text.includes("10,607") && text.includes(`${amount(t.low, "B")} … ${amount(t.high, "B")}`), text);
  await c.shot("explain");
  await c.page.keyboard.press("Escape");
  await box.waitFor({ state: "hidden" });
}));

test("a diff shows what the command calls sure, and colours nothing else", withPage(at(two, "view=diff&by=function"), async (c) => {
  const j = cliJson("diff", "--json", "--by", "function", IRMIN, OCAMLOPT);
  const [row] = j.sites;
  const rows = await c.rows();
  assert.ok(rows[0].place.startsWith((row.site_after ?? row.site_before).function));
  assert.equal(rows[0].before, amount(row.before.value, "B"));
  assert.equal(rows[0].after, amount(row.after.value, "B"));
  assert.ok(/^[▲▼] (more|less)/.test(rows[0].sure));
  const marks = () => c.page.evaluate(() => [...document.querySelectorAll(".main .gridrow")].map((r) => [/^[▲▼]/.test(r.querySelector("[data-column=sure]")?.innerText.trim()), !!r.querySelector(".whisker .up, .whisker .down")]));
  assert.ok((await marks()).every(([mark, colour]) => mark && colour), "the sure ones come first");
  await c.shot("diff");
  await c.page.locator(".gridbody").focus();
  await c.press("End");
  await c.page.locator(".gridrow.chosen [data-column=sure]").waitFor();
  assert.ok((await marks()).some(([mark, colour]) => !mark && !colour));
  for (const [mark, colour] of await marks()) assert.equal(mark, colour);
}));

test("a diff's flame is as wide as both, and marks what is sure", withPage(at(two, "view=diff&diffas=flame"), async (c) => {
  const totals = [IRMIN, OCAMLOPT].map((f) => cliJson("hotspots", "--json", "--top", "1", f).total.value);
  assert.equal((await c.frames())[0].value, totals[0] + totals[1]);
  await c.shot("diff-flame");
}));

test("the address holds all of it: reloaded and sent, the page is the same", async ({ browser, one }) => {
  const hash = "#view=flame&filter=size:>=16&measure=blocks&mode=inverted&recursion=1&share=0.5&search=Map";
  const c = await Client.open(browser, one.url + hash);
  try {
    const site = (await c.frames()).find((f) => f.node > 0 && f.width > 60 && f.inView);
    await c.clickFrame(site.name, { times: 2 });
    await c.page.waitForFunction(() => window.allotrace.store.state.zoom.length > 0);
    await c.quiet();
    const picture = async (x) => ({ hash: await x.hash(), total: await x.total(), frames: (await x.frames()).map((f) => [f.name, f.value, Math.round(f.x), Math.round(f.y), Math.round(f.width)]), crumbs: await x.text(".crumbs"), matched: await x.text(".matched"), details: await x.text(".details h2"), chips: await x.text(".filterbar") });
    const before = await picture(c);
    await c.page.reload();
    await c.quiet();
    assert.deepEqual(await picture(c), before);
    const other = await Client.open(browser, one.url + before.hash);
    assert.deepEqual(await picture(other), before);
    await other.close();
  } finally {
    await c.close();
  }
});

test("two clients look at different things at the same time", async ({ browser, one }) => {
  const [a, b] = await Promise.all([Client.open(browser, `${one.url}#filter=heap:major`), Client.open(browser, `${one.url}#filter=size:>=16&view=hotspots`)]);
  try {
    assert.equal(await shownTotal(a), headline("--filter", "heap:major", IRMIN));
    assert.equal(await shownTotal(b), headline("--filter", "size:>=16", IRMIN));
    await Promise.all([a.go({ filter: "life:<1ms" }), b.go({ measure: "peak" })]);
    assert.equal(await shownTotal(a), headline("--filter", "life:<1ms", IRMIN));
    assert.equal(await shownTotal(b), headline("--measure", "peak", "--filter", "size:>=16", IRMIN));
  } finally {
    await Promise.all([a.close(), b.close()]);
  }
});

test("a trace that grows is followed, can be paused, and two moments of it compared", async ({ browser }) => {
  const [file, part] = ["grows.ctf", "part.ctf"].map((name) => path.join(ARTEFACTS, name)), whole = fs.readFileSync(OCAMLOPT);
  fs.writeFileSync(file, whole.subarray(0, 60000));
  const server = await serve([file]);
  const c = await Client.open(browser, server.url);
  const samples = () => c.page.evaluate(() => +/([\d,]+) samples/.exec(document.querySelector(".total").innerText)[1].replaceAll(",", ""));
  const generation = () => c.page.evaluate(() => +document.querySelector(".live").dataset.generation);
  try {
    const first = await samples();
    assert.ok(first > 0 && first < 1676);
    await c.page.locator("[data-snapshot=a]").click();
    await c.page.waitForFunction(() => document.querySelector(".live").dataset.generation);
    fs.writeFileSync(part, whole.subarray(0, 100000));
    const second = cliJson("hotspots", "--json", "--top", "1", part).total.samples;
    assert.ok(second > first && second < 1676);
    fs.appendFileSync(file, whole.subarray(60000, 100000));
    await c.page.locator(".total", { hasText: `${second.toLocaleString("en")} samples` }).waitFor();
    await c.quiet();
    await c.page.getByRole("button", { name: "Pause" }).click();
    await c.page.getByText("paused at").waitFor();
    await c.quiet();
    assert.equal(await samples(), second);
    const seen = await generation();
    fs.appendFileSync(file, whole.subarray(100000));
    await c.page.waitForFunction((g) => +document.querySelector(".live").dataset.generation > g, seen);
    await c.until({ mode: "flame" }, () => c.page.locator("[data-mode=flame]").click());
    assert.equal(await samples(), second, "paused, it stays as it was");
    await c.page.reload();
    await c.page.getByText("paused at").waitFor();
    await c.quiet();
    assert.equal(await samples(), second, "also when it is loaded anew");
    await c.shot("paused");
    await c.page.getByRole("button", { name: "Resume" }).click();
    await c.page.waitForFunction(() => document.querySelector(".total").innerText.includes("1,676 samples"));
    await c.quiet();
    assert.equal(await shownTotal(c), headline(OCAMLOPT));
    await c.page.locator("[data-snapshot=b]").click();
    await c.page.locator("[data-snapshot=compare]").click();
    await c.page.waitForFunction(() => /^alloc:\S+\.\.\S+ live:\S+$/.test(window.allotrace.store.state.filter));
    await c.quiet();
    assert.equal(await shownTotal(c), headline("--filter", (await c.state()).filter, OCAMLOPT));
    assert.deepEqual(c.trouble, []);
  } finally {
    await c.close();
    await server.stop();
    fs.rmSync(file);
  }
});

test("a program is recorded and shown at once, as it goes on, and in the end with the numbers of the commands", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "shown.ctf");
  const work = 'while read -r line; do for i in {1..3000}; do words="$words $i"; done; words=; done';
  try {
    cli("run", "-o", file, "--", "/bin/true");
  } catch {
    return "programs cannot be recorded here";
  }
  const server = await runAndView(["-o", file, "--rate", "1e-4", "--", "bash", "-c", work]);
  let c;
  try {
    server.stdin.write("go\n");
    c = await Client.open(browser, server.url);
    const samples = (more) => c.page.waitForFunction((n) => {
      const now = +/([\d,]+) samples/.exec(document.querySelector(".total")?.innerText)?.[1].replaceAll(",", "");
      return now > n && now;
    }, more).then((n) => n.jsonValue());
    const first = await samples(0);
    await c.page.getByRole("button", { name: "Pause" }).waitFor();
    assert.match(await c.text(".live"), /^live, /);
    for (let i = 0; i < 3; i++) server.stdin.write("go\n");
    await samples(first);
    server.stdin.end();
    await server.says(/the viewer keeps running/); // the trace is whole, and its names are resolved
    await c.page.getByText("ended", { exact: true }).waitFor();
    await c.go({ view: "hotspots" });
    // The page reads the whole of it within a second or so.
    const j = cliJson("hotspots", "--json", "--top", "3", file), values = j.hotspots.map((h) => amount(h.value, j.unit));
    await c.page.locator(".total", { hasText: `${j.total.samples.toLocaleString("en")} samples` }).waitFor();
    await c.page.waitForFunction((v) => v.every((x, i) => document.querySelector(`.main .gridrow[aria-rowindex="${i + 2}"] [data-column=value]`)?.innerText.trim() === x), values);
    await c.quiet();
    assert.equal(await shownTotal(c), headline(file));
    (await c.rows()).slice(0, 3).forEach((r, i) => assert.ok(r.place.startsWith(j.hotspots[i].function) && r.value === values[i], r.place));
    await c.shot("shown");
    assert.deepEqual(c.trouble, []);
  } finally {
    server.stdin.end();
    await c?.close();
    await server.stop();
    fs.rmSync(file);
  }
});

// Names as bytes, some of them not UTF-8.
const HOSTILE = [
  '<img src=x onerror="window.pwned=1">', "</script><script>window.pwned=1</script>", '"><svg/onload=window.pwned=1>', "javascript:window.pwned=1//",
  "\u202egnp.rtl\u202ereverse", "line\nbreak\ttab\rreturn", Buffer.from("bad\xff\xfe\xc3utf8", "latin1"), "x".repeat(5000), "&lt;b&gt;&amp;", "__proto__", "constructor", "${window.pwned=1}",
].map((n) => Buffer.from(n));

// A trace whose functions, files and types are called so: the maker's own names of the same length are replaced.
function hostileTrace(file) {
  const stand = HOSTILE.map((n, i) => `${String.fromCharCode(65 + i)}${"q".repeat(n.length - 1)}`);
  const lines = stand.flatMap((n, i) => Array.from({ length: 3 }, () => `alloc minor ${200 + i} 50 Main@main.c:1 ${n}@${n}.c:${i + 2}`));
  let bytes = execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: `rate 0.5\n${lines.join("\n")}\n`, maxBuffer: 1 << 26 });
  stand.forEach((n, i) => {
    for (let at = bytes.indexOf(n); at >= 0; at = bytes.indexOf(n, at)) HOSTILE[i].copy(bytes, at);
  });
  fs.writeFileSync(file, bytes);
}

async function isHarmless(c, where) {
  const found = await c.page.evaluate(() => ({ pwned: "pwned" in window, strange: [...document.querySelectorAll("#app img, #app script, #app iframe, .popover img, .tip img, .tip script")].length }));
  assert.deepEqual(found, { pwned: false, strange: 0 }, where);
  assert.deepEqual(c.trouble, [], where);
}

test("names that are markup, scripts, turned round, endless, or no text at all are only names", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "hostile.ctf"), html = path.join(ARTEFACTS, "hostile.html");
  hostileTrace(file);
  cli("export", "--to", "html", "-o", html, file);
  const server = await serve([file, file]);
  const total = headline(file);
  try {
    for (const [url, offline] of [[server.url, false], [`file://${html}`, true]]) {
      const c = await Client.open(browser, url, { offline });
      assert.equal(await shownTotal(c), total);
      for (const view of ["hotspots", "functions", "paths", "types", "leaks", "advice", "lifetimes", ...(offline ? [] : ["diff", "source"])]) {
        await c.go({ view });
        await isHarmless(c, view);
      }
      await c.go({ view: "hotspots" });
      const plain = (text) => text.replace(/[\u202a-\u202e]/g, ""); // Firefox leaves these out of innerText
      const rows = (await c.rows()).map((r) => plain(r.place));
      for (const name of HOSTILE) {
        const shown = plain(name.toString("utf8").replace(/[\s]+/g, " "));
        assert.ok(rows.some((r) => r.includes(shown.replace(/\ufffd+/g, "").slice(0, 3))), `${shown.slice(0, 40)}: ${rows.length} rows`);
      }
      await c.go({ view: "flame", mode: "icicle", zoom: [] });
      const frames = (await c.frames()).filter((f) => f.node > 1 && f.width >= 3 && f.inView);
      assert.ok(frames.length >= HOSTILE.length);
      for (const f of frames.slice(0, HOSTILE.length)) {
        await c.page.mouse.click(f.x + f.width / 2, f.y + f.height / 2);
        await c.page.mouse.click(f.x + f.width / 2, f.y + f.height / 2, { button: "right" });
        await c.page.keyboard.press("Escape");
        await c.quiet();
        await isHarmless(c, f.name);
      }
      if (!offline) {
        // As a filter, and back out of the address.
        for (const f of frames.slice(0, 4)) {
          await c.page.mouse.click(f.x + f.width / 2, f.y + f.height / 2, { button: "right" });
          await c.page.locator('.popover.menu [data-action^="Only stacks with it"]').click();
          await c.page.waitForFunction(() => window.allotrace.store.state.filter !== "");
          await c.page.reload();
          await c.quiet();
          assert.equal((await c.frames())[0].samples, f.samples, f.name);
          await isHarmless(c, f.name);
          await c.go({ filter: "" });
        }
      }
      await c.shot(`hostile-${offline ? "exported" : "served"}`);
      await c.close();
    }
  } finally {
    await server.stop();
  }
});

test("two moments of a trace are compared: what is live at each, what went, what came, how surely", withPage(at(one, "a=8s&b=15s"), async (c) => {
  await c.until({ view: "diff" }, () => c.page.locator("[data-snapshot=diff]").click());
  const of = (...args) => cliJson("hotspots", "--json", "--top", "0", "--min-share", "0", ...args, IRMIN);
  const live = { A: of("--measure", "live", "--at", "8s"), B: of("--measure", "live", "--at", "15s") };
  const went = of("--filter", "live:8s -live:15s"), came = of("--filter", "live:15s -live:8s");
  const text = (await c.text(".main")).replace(/\s+/g, " ");
  for (const x of [`Went: ${amount(went.total.value, "B")}, came: ${amount(came.total.value, "B")}`, `8s ${amount(live.A.total.value, "B")} → 15s ${amount(live.B.total.value, "B")}`]) assert.ok(text.includes(x), `${x}: ${text.slice(0, 400)}`);
  assert.equal(live.A.total.samples - went.total.samples + came.total.samples, live.B.total.samples);
  const rows = await c.rows();
  const valueOf = (j, row) => j.hotspots.filter((h) => row.place.startsWith(h.function) && row.place.endsWith(`:${h.line}`)).reduce((sum, h) => sum + h.value, 0);
  for (const row of rows.filter((r) => /:\d+$/.test(r.place) && !r.place.includes("…")).slice(0, 8)) {
    assert.equal(row.before, amount(valueOf(live.A, row), "B"), row.place);
    assert.equal(row.after, amount(valueOf(live.B, row), "B"), row.place);
    assert.equal(row.went, amount(valueOf(went, row), "B"), row.place);
    assert.equal(row.came, amount(valueOf(came, row), "B"), row.place);
  }
  await c.shot("moments");
  await c.until({ diffas: "flame" }, () => c.page.locator("[data-diffas=flame]").click());
  assert.equal((await c.frames())[0].samples, went.total.samples + came.total.samples);
  const change = live.B.total.value - live.A.total.value;
  assert.equal((await c.frames())[0].name, `change ${change < 0 ? "-" : "+"}${amount(Math.abs(change), "B")}`, "the root is the change");
  assert.ok((await c.text(".delta")).includes(`${change < 0 ? "-" : "+"}${amount(Math.abs(change), "B")}`));
}));

test("what to look at first leads there, and goes when something else is looked at", withPage(one, async (c) => {
  const strip = c.page.locator(".start"), fact = (name) => strip.locator(`[data-start=${name}]`);
  await fact("peak").waitFor();
  const { peak } = cliJson("info", "--json", IRMIN), [largest] = cliJson("hotspots", "--json", IRMIN).hotspots;
  if (peak) assert.ok((await fact("peak").innerText()).includes(amount(peak.value ?? peak.bytes, "B")));
  assert.ok((await fact("hotspots").innerText()).includes(`${(100 * largest.share).toFixed(1)}%`));
  const advice = cliJson("advise", "--json", IRMIN).advice;
  assert.equal(await fact("advice").innerText(), `Advice ${advice.length}: ${advice[0].title}`);
  for (const view of ["leaks", "hotspots", "advice"]) {
    await c.until({ view }, () => fact(view).click());
    assert.equal(await strip.isVisible(), false);
    await c.go({ view: "flame", pick: [] });
  }
  await c.until({ measure: "live" }, () => fact("peak").click());
  assert.equal(await strip.isVisible(), false);
}));

test("views that a trace cannot fill have no tab", withPage(one, async (c) => {
  await c.page.locator(".start .fact").first().waitFor();
  await c.quiet();
  assert.deepEqual([await c.page.locator("#tab-types").isVisible(), await c.page.locator("#tab-source").isVisible()], [false, false]);
  await c.go({ line: "12" });
  assert.equal(await c.page.locator("#tab-source").isVisible(), true);
  await c.go({ view: "types" });
  assert.equal(await c.page.locator("#tab-types").isVisible(), true, "the one that is shown has its tab");
}));

test("moments of a trace that is not the first are compared, too", withPage(at(two, "trace=1&view=diff&moments=1&a=0.2s&b=0.5s"), async (c) => {
  const [of, shown] = [(time) => cliJson("hotspots", "--json", "--measure", "live", "--at", time, OCAMLOPT).total.value, await c.text(".delta")];
  for (const time of ["0.2s", "0.5s"]) assert.ok(shown.includes(amount(of(time), "B")), shown);
  assert.ok((await c.rows()).length > 0);
}));

test("where nothing is live at one moment alone, the flame of two moments says so", withPage(at(one, "view=diff&diffas=flame&a=8s&b=15s&filter=size:900G"), async (c) => {
  assert.match(await c.text(".main .empty"), /Nothing to compare\s+None of the sampled blocks was live at only one of 8s and 15s, of blocks matching the filter/);
}));

test("the ends of a stretch that is dragged over the timeline are compared", withPage(one, async (c) => {
  const box = await c.page.locator(".timeline canvas").boundingBox();
  await c.page.mouse.move(box.x + 200, box.y + 40);
  await c.page.mouse.down();
  await c.page.mouse.move(box.x + 500, box.y + 40, { steps: 4 });
  await c.page.mouse.up();
  await c.until({ view: "diff", moments: true }, () => c.page.locator("[data-brush=ends]").click());
  const { a, b } = await c.state();
  assert.ok(a && b && a !== b);
  assert.match(await c.text(".delta"), new RegExp(`^${a} `));
  assert.equal(await c.text("[data-snapshot=a]"), `from ${a}`);
}));

test("blocks and byte-seconds are compared, too", withPage(at(two, "view=diff&by=function&measure=blocks"), async (c) => {
  for (const measure of ["blocks", "byteseconds"]) {
    await c.go({ measure, diffas: "table" });
    const j = cliJson("diff", "--json", "--by", "function", "--measure", measure, IRMIN, OCAMLOPT);
    const rows = await c.rows();
    assert.equal(rows[0].before, amount(j.sites[0].before.value, j.unit ?? "blocks"));
    for (const row of rows) assert.equal(row.sure === "undecided", measure === "byteseconds", "of times, one run a side says nothing");
    assert.equal((await c.text(".main")).includes("undecided: a trace is incomplete, or one run"), measure === "byteseconds");
    await c.go({ diffas: "flame" });
    const totals = [IRMIN, OCAMLOPT].map((f) => cliJson("hotspots", "--json", "--top", "1", "--measure", measure, f).total.value);
    assert.ok(Math.abs((await c.frames())[0].value / (totals[0] + totals[1]) - 1) < 1e-6);
  }
}));

test("the timeline draws what the system saw, and says why that differs from what is live", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "system.ctf");
  try {
    cli("run", "--rate", "0.01", "-o", file, "--", "/bin/sh", "-c", "x=1; while [ $x -lt 20000 ]; do x=$((x+1)); done");
  } catch {
    return "programs cannot be recorded here";
  }
  const server = await serve([file]);
  const c = await Client.open(browser, server.url);
  try {
    assert.doesNotMatch(await c.text(".timeline .legend"), /promoted/, "nothing of a native program is");
    assert.ok(await c.page.evaluate(() => {
      const { timeline } = window.allotrace, most = Math.max(...timeline.answer.all.live_high ?? timeline.answer.all.live);
      return timeline.most === Math.max(1, most);
    }), "live memory has the height, whatever RSS is");
    assert.equal(await c.page.locator("[data-gauge=rss]").getAttribute("aria-pressed"), "true");
    await c.until({ gauges: "rss,heap" }, () => c.page.locator("[data-gauge=heap]").click());
    await c.page.locator("[data-gauge=explain]").click();
    const text = await c.page.locator(".popover.explain:not([hidden])").innerText();
    assert.match(text, /RSS and live memory at .*live.*RSS.*anonymous/s);
    await c.shot("gauges");
    assert.deepEqual(c.trouble, []);
  } finally {
    await c.close();
    await server.stop();
  }
});

test("exported, it is one file that works without a server and says what it does not hold", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "irmin.html");
  cli("export", "--to", "html", "-o", file, IRMIN);
  const c = await Client.open(browser, `file://${file}`, { offline: true });
  try {
    assert.equal(await shownTotal(c), headline(IRMIN));
    const name = "Irmin_traces__Trace_replay.Make.exec_commit";
    const narrow = await c.clickFrame(name, { times: 2 });
    await c.page.waitForFunction(() => window.allotrace.store.state.zoom.length > 3);
    await c.quiet();
    assert.ok((await c.frame(name)).width > 2 * narrow.width);
    await c.go({ zoom: [], search: "Stdlib__Map" });
    assert.match(await c.text(".matched"), /matched \S+ GB \(\S+% of what is shown\)/);
    // All that it holds is what the commands say.
    for (const measure of ["peak", "survived", "blocks", "allocated"]) {
      await c.go({ measure, search: "" });
      const say = (...words) => cliJson(...words, "--json", "--measure", measure, IRMIN);
      const all = say("hotspots", "--top", "10");
      const text = `${amount(all.total.value, all.unit)} ${marginText(all.total, all.unit, all.rate)}`;
      assert.equal((await c.total()).slice(0, text.length), text, measure);
      for (const [view, rows] of [["hotspots", all.hotspots], ["types", measure === "blocks" ? [] : say("types", "--top", "3").hotspots]]) {
        await c.go({ view, sort: "" });
        assert.deepEqual((await c.rows()).slice(0, rows.length).map((r) => r.value), rows.map((r) => amount(r.value, all.unit)), `${view} ${measure}`);
      }
      await c.go({ view: "flame" });
    }
    await c.go({ view: "hotspots", sort: "-value" });
    assert.ok((await c.rows()).length > 5);
    await c.page.getByText(/smaller ones are not in this file/).waitFor();
    await c.go({ view: "hotspots", sort: "" });
    const j = cliJson("hotspots", "--json", "--top", "1", IRMIN).hotspots[0];
    assert.equal((await c.rows())[0].value, amount(j.value, "B"));
    await c.page.reload();
    await c.quiet();
    assert.equal((await c.state()).view, "hotspots");
    for (const view of ["functions", "types", "paths", "leaks", "lifetimes", "advice", "source", "diff"]) await c.go({ view });
    await c.go({ view: "flame", measure: "live", at: "1s" });
    await c.page.getByText("this file contains no summary of it").waitFor();
    await c.shot("exported");
    assert.deepEqual(c.requests.filter((r) => !r.startsWith(`file://${file}`) && !r.startsWith("blob:") && !r.startsWith("data:")), []);
    assert.deepEqual(c.trouble, []);
  } finally {
    await c.close();
  }
});

test("the page is under 150 KB compressed", async ({ browser, one }) => {
  const c = await Client.open(browser, one.url);
  const sizes = await c.page.evaluate(() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).filter((e) => !e.name.includes("/api/")).map((e) => e.encodedBodySize));
  const sum = sizes.reduce((x, y) => x + y, 0);
  assert.ok(sizes.length >= 3 && sum > 10000 && sum < 150 * 1024, `${sum}`);
  await c.close();
});

const { browser, close } = await launch();
let failed = 1;
const servers = [];
try {
  const one = await serve([IRMIN]);
  servers.push(one);
  const two = await serve([IRMIN, OCAMLOPT]);
  servers.push(two);
  fs.mkdirSync(ARTEFACTS, { recursive: true });
  failed = await runAll({ browser, one, two });
} finally {
  await close();
  await Promise.all(servers.map((s) => s.stop()));
}
process.exit(failed ? 1 : 0);
