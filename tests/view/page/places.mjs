// places.mjs: what a place leads to: its name and stack on the clipboard, and its line in the source, beside what the
// line allocates.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { amount } from "../../../viewer/format.js";
import { ARTEFACTS, cliJson, Client, FIREFOX, serve, test, TRACES } from "./browser.mjs";
import { at, headline, IRMIN, one, shownTotal, withPage } from "./common.mjs";

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

const clipboard = (c) => c.page.evaluate(() => navigator.clipboard.readText());

// Does something, then waits until the page says that it copied, and answers what is on the clipboard.
async function copied(c, action) {
  await c.page.evaluate(() => navigator.clipboard.writeText("what was there before"));
  await action();
  await c.page.locator(".toast", { hasText: /^Copied$/ }).waitFor();
  await c.page.evaluate(() => document.querySelector(".toast").remove());
  return clipboard(c);
}

const choose = (c, action) => c.page.locator(`.popover.menu [data-action="${action}"]`).click();
const menuOfRow = (c, index) => c.page.locator(`.main .gridrow[aria-rowindex="${index + 2}"]`).click({ button: "right", position: { x: 60, y: 10 } });

// The stacks of the command's tree that end in a function, outermost first, by falling value.
function stacksTo(name) {
  const found = [];
  const walk = (n, above) => n.children.forEach((x) => (x.function === name && found.push({ value: x.value, stack: [...above, x.function] }), walk(x, [...above, x.function])));
  walk(cliJson("tree", "--json", "--min-share", "0", "--depth", "1000", IRMIN).tree, []);
  return found.sort((a, b) => b.value - a.value);
}

test("the menu copies a name, and a stack from the outside inward, whichever way it is drawn", withPage(one, async (c) => {
  const name = "Irmin_traces__Trace_replay.Make.exec_commit", [{ stack }] = stacksTo(name);
  assert.ok(stack.length > 5);
  for (const mode of ["icicle", "flame"]) {
    await c.go({ mode });
    const copy = (action) => copied(c, async () => {
      await c.clickFrame(name, { button: "right" });
      await choose(c, action);
    });
    assert.equal(await copy("Copy name"), name, mode);
    assert.equal(await copy("Copy stack"), stack.join("\n"), mode);
  }
  // Sites first: the frames from the chosen one to the site.
  await c.go({ mode: "inverted" });
  const [site] = cliJson("tree", "--inverted", "--json", "--min-share", "0", "--depth", "2", IRMIN).tree.children;
  assert.ok(site.children.length > 0);
  const text = await copied(c, async () => {
    const all = await c.frames(), below = all.find((f) => f.name === site.function && f.value === site.value);
    const frame = all.find((f) => f.name === site.children[0].function && f.value === site.children[0].value && f.x >= below.x - 1);
    await c.page.mouse.click(frame.x + 3, frame.y + frame.height / 2, { button: "right" });
    await choose(c, "Copy stack");
  });
  assert.equal(text, [site.children[0].function, site.function].join("\n"));
}, CLIPBOARD));

test("rows copy their names, hot paths their calls, by keyboard too; c copies the address", withPage(at(one, "view=hotspots"), async (c) => {
  const [row] = cliJson("hotspots", "--json", "--top", "1", IRMIN).hotspots;
  assert.equal(await copied(c, async () => (await menuOfRow(c, 0), choose(c, "Copy name"))), row.function);
  assert.equal(await c.page.locator('.popover.menu [data-action="Copy stack"]').count(), 0, "of a row that is many stacks none is promised");
  await c.page.locator(".gridbody").focus();
  await c.press("Home");
  assert.equal(await copied(c, async () => {
    await c.press("x");
    await c.page.locator('.popover.menu [data-action="Copy name"]').focus();
    await c.page.keyboard.press("Enter");
  }), row.function);
  assert.equal(await copied(c, () => c.page.keyboard.press("c")), await c.page.url());
  await c.go({ view: "paths" });
  const calls = await c.page.evaluate(() => window.allotrace.view.table.rows[0].frames.map((p) => p.function));
  assert.ok(calls.length > 1);
  assert.equal(await copied(c, async () => (await menuOfRow(c, 0), choose(c, "Copy stack"))), calls.join("\n"));
}, CLIPBOARD));

// Names as C++ has them, with what each is called.
const LONG = [
  ["void std::vector<std::pair<int, std::allocator<int> >, std::allocator<std::pair<int, std::allocator<int> > > >::_M_realloc_insert<std::pair<int, int> const&>(std::pair<int, int>*, std::pair<int, int> const&)", "_M_realloc_insert", "/usr/include/c++/12/bits/vector.tcc:453"],
  ["std::_Hashtable<std::string, std::pair<std::string const, int>, std::allocator<std::pair<std::string const, int> >, std::__detail::_Select1st>::_M_insert(std::pair<std::string, int>&&, bool) const", "_M_insert", "/usr/include/c++/12/bits/hashtable.h:12"],
  ["libLLVM-14.so.1+0xf7f7ef", "+0xf7f7ef", "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"],
];

// A trace of these: the maker's own names of the same length are replaced.
export function longNames(file) {
  const stand = LONG.map(([n], i) => String.fromCharCode(65 + i).repeat(n.length));
  const lines = LONG.flatMap(([, , where], i) => Array.from({ length: 9 - i }, () => `alloc minor ${200 + i} 50 Main@main.c:1 ${stand[i]}@${/:/.test(where) ? where : `${where}:1`}`));
  const bytes = execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: `rate 0.5\n${lines.join("\n")}\n`, maxBuffer: 1 << 26 });
  stand.forEach((n, i) => {
    for (let at = bytes.indexOf(n); at >= 0; at = bytes.indexOf(n, at)) bytes.write(LONG[i][0], at);
  });
  fs.writeFileSync(file, bytes);
}

test("of a name without room, what it is called stays, and file and line beside it; the panel has the whole of it", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "long-names.ctf");
  longNames(file);
  const server = await serve([file]);
  try {
    for (const size of [[1440, 900], [1024, 768], [390, 844]]) {
      const c = await Client.open(browser, `${server.url}#view=hotspots`, { size });
      const shown = await c.page.evaluate(() => [...document.querySelectorAll(".gridrow .place:has(.file)")].map((e) => {
        const [fn, where] = [".fn", ".file"].map((s) => e.querySelector(s));
        return { fn: fn.textContent, cut: fn.scrollWidth > fn.clientWidth, room: where.clientWidth, title: e.title };
      }));
      assert.equal(shown.length, LONG.length);
      for (const [i, [name, called, where]] of LONG.entries()) {
        assert.ok(shown[i].fn.includes(called) && !shown[i].cut, `${size}: ${JSON.stringify(shown[i])}`);
        assert.ok(shown[i].room > 60, `${size}: room for ${where}: ${shown[i].room}`);
        assert.ok(shown[i].title.startsWith(name));
      }
      assert.ok((await c.rows())[0].place.endsWith("vector.tcc:453"));
      await c.shot(`names-${size[0]}`);
      if (size[0] < 900) {
        await c.close();
        continue;
      }
      await c.page.locator(".gridrow").first().click({ position: { x: 60, y: 10 } });
      await c.quiet();
      const title = c.page.locator(".details h2"), toggle = c.page.locator(".details .whole");
      assert.match(await title.innerText(), /_M_realloc_insert<.*>\(…\)$/);
      await toggle.click();
      assert.equal(await title.innerText(), LONG[0][0]);
      await toggle.click();
      assert.match(await title.innerText(), /_M_realloc_insert<.*>\(…\)$/);
      assert.deepEqual(c.trouble, []);
      await c.close();
    }
  } finally {
    await server.stop();
  }
});

test("of sums without times there is no timeline, nor what would follow from it", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "sums.ctf");
  execFileSync(process.env.ALLOTRACE, ["import", "-o", file, path.join(TRACES, "../import/go.pb.gz")], { stdio: "ignore" });
  const server = await serve([file]), c = await Client.open(browser, server.url);
  try {
    await c.page.locator(".start .fact").first().waitFor();
    const seen = (selector) => c.page.locator(`${selector}:visible`).allInnerTexts();
    const live = cliJson("hotspots", "--json", "--measure", "live", file).total.value;
    assert.deepEqual((await seen(".start .fact")).map((t) => t.replace(/\s+/g, " ")), [`Live at the end ${amount(live, "B")}`, "Largest site 39.5% fmt.Sprintf"]);
    assert.deepEqual((await seen(".tabs button")).filter((t) => /Leaks|Lifetimes|Advice/.test(t)), []);
    assert.ok(!(await seen(".segments button")).includes("Over time"));
    assert.equal(await c.page.locator("#app canvas.timeline:visible, .timeline:visible").count(), 0);
    assert.deepEqual(await c.page.locator('select[aria-label="Measure (m)"] option').evaluateAll((all) => all.filter((o) => !o.hidden && /Temporary|lifetime|peak/i.test(o.textContent)).map((o) => o.textContent)), []);
    assert.deepEqual(c.trouble, []);
  } finally {
    await c.close();
    await server.stop();
  }
});

test("a name with ` > ` in it is a name, wherever calls stand around it", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "long-names.ctf"), [name] = LONG[0];
  longNames(file);
  const server = await serve([file]);
  const c = await Client.open(browser, `${server.url}#view=functions`);
  try {
    assert.ok(name.includes(" > "));
    await c.page.locator(`.gridrow .place[title^="${name.slice(0, 40)}"]`).click({ button: "right", position: { x: 60, y: 8 } });
    await choose(c, "Callers");
    await c.page.waitForFunction(() => window.allotrace.store.state.view === "callers");
    await c.quiet();
    assert.equal(await c.page.locator(".tools b.mono").getAttribute("title"), name);
    assert.match(await c.text(".tools b.mono"), /_M_realloc_insert/);
    assert.deepEqual((await c.rows()).map((r) => r.place.split(" ")[0]), ["Main"]);
    await c.go({ view: "flame", mode: "sandwich" });
    assert.equal((await c.frames())[0].name, name);
    assert.deepEqual(c.trouble, []);
  } finally {
    await c.close();
    await server.stop();
  }
});

// At a port that no server of another test takes when this one has ended: those begin at 8080.
async function serveApart(args) {
  for (let tries = 1; ; tries++)
    try {
      return await serve(["--port", String(20000 + Math.floor(10000 * Math.random())), ...args]);
    } catch (error) {
      if (tries === 9 || !/in use/.test(error.message)) throw error;
    }
}

test("when the server ends, an idle page says so; what the next one prints leads on to what was shown", async ({ browser }) => {
  if (FIREFOX) return "Playwright waits for ever for a page of Firefox that replaces itself";
  let server = await serveApart([IRMIN]);
  const { port } = new URL(server.url), c = await Client.open(browser, `${server.url}#view=hotspots&filter=size:>=100`);
  try {
    const total = await shownTotal(c), banner = c.page.locator(".banner:not([hidden])");
    assert.equal(await banner.count(), 0);
    await server.stop();
    await banner.getByText("The server cannot be reached").waitFor();
    server = await serve(["--port", port, IRMIN]);
    await banner.getByText("Another server now answers at this address").waitFor();
    assert.equal(await shownTotal(c), total, "what is shown stays");
    const goOn = async (address) => {
      await c.page.getByLabel("Address").fill(address);
      await c.page.getByRole("button", { name: "Continue with the previous page" }).click();
    };
    await goOn("javascript:alert(1)");
    await c.page.getByText("This is not an address").waitFor();
    await c.shot("another-server");
    await goOn(` ${server.url}\n`);
    await c.page.waitForFunction((f) => window.allotrace?.store.state.filter === f && !document.querySelector(".wayback"), "size:>=100");
    await c.quiet();
    assert.equal(await shownTotal(c), total);
    assert.equal((await c.state()).view, "hotspots");
    // The page that lacks its key leads back, too.
    await c.context.clearCookies();
    await c.page.reload();
    await c.page.getByText("This address lacks its key").waitFor();
    await c.shot("locked");
    await goOn(server.url);
    await c.page.waitForFunction(() => window.allotrace?.store.state.view === "hotspots" && !document.querySelector(".wayback"));
    await c.quiet();
    assert.equal(await shownTotal(c), total);
  } finally {
    await c.close();
    await server.stop();
  }
});

test("that a trace is damaged stands in the head, whatever is selected and however small the window is", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "cut.ctf");
  fs.writeFileSync(file, fs.readFileSync(IRMIN).subarray(0, Math.floor(fs.statSync(IRMIN).size * 0.6)));
  const server = await serve([file]);
  try {
    for (const size of [[1440, 900], [390, 844]]) {
      const c = await Client.open(browser, `${server.url}#view=hotspots`, { size });
      await c.page.locator(".gridrow").first().click({ position: { x: 60, y: 10 } });
      const sign = c.page.getByRole("button", { name: "The trace is damaged" });
      assert.ok(await sign.isVisible());
      assert.ok(await sign.evaluate((e) => e.getBoundingClientRect().right <= innerWidth));
      assert.ok(await c.page.getByRole("button", { name: "Keys" }).evaluate((e) => e.getBoundingClientRect().right <= innerWidth));
      await sign.click();
      const [warning] = await c.page.evaluate(() => window.allotrace.trace.warnings.map((w) => w.text));
      await c.page.locator(".popover:not([hidden])", { hasText: warning }).waitFor();
      await c.shot(`damaged-${size[0]}`);
      await c.page.keyboard.press("Escape");
      assert.deepEqual(c.trouble, []);
      await c.close();
    }
  } finally {
    await server.stop();
  }
});

test("of blocks without types it says so, as the command does", withPage(at(one, "view=types"), async (c) => {
  assert.equal((await c.rows())[0].type, "(type not recorded)");
  assert.match(await c.text(".remark"), /^The trace records no types for these blocks; traces of OCaml programs never do\./);
  await c.go({ view: "hotspots" });
  assert.ok(!(await c.page.locator(".remark").isVisible()));
}));

test("the rate beside the timeline has room for its unit", withPage(one, async (c) => {
  const widest = await c.page.evaluate(() => {
    const { timeline } = window.allotrace, context = document.createElement("canvas").getContext("2d");
    context.font = '11px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif';
    return { text: context.measureText("1022.9 MB/s").width, room: timeline.whole - timeline.width - 6 };
  });
  assert.ok(widest.text <= widest.room, JSON.stringify(widest));
}));

test("where the browser refuses the clipboard, what was to be copied is selected, and stays until it is closed", withPage(one, async (c) => {
  const name = "Irmin_traces__Trace_replay.Make.exec_commit", [{ stack }] = stacksTo(name);
  await c.clickFrame(name, { button: "right" });
  await choose(c, "Copy stack");
  const box = c.page.locator(".popover.byhand");
  await box.waitFor();
  assert.deepEqual((await c.page.evaluate(() => getSelection().toString())).split("\n"), stack);
  const { y, height } = await box.boundingBox();
  assert.ok(y >= 0 && y + height <= 900, "all of it can be reached");
  await c.shot("copy-by-hand");
  await c.page.keyboard.press("Escape");
  await box.waitFor({ state: "hidden" });
  assert.ok(await c.page.evaluate(() => document.activeElement.matches(".canvas canvas")), "the keys go on where they were");
}));

// ---- source --------------------------------------------------------------------------------------

const LINES = 400, textOf = (n) => `  let line_${n} = f <b>${n}</b> &amp; "\\t"`;

// A trace of a file that is there. Its stacks call themselves (line 120), and have two functions on one line (121: a
// function that is passed on where it is written); the second file is not there.
function sourceTrace(folder) {
  const lines = [];
  const put = (times, samples, ...frames) => lines.push(...Array.from({ length: times }, () => `alloc minor 99 ${samples} ${frames.join(" ")}`));
  const main = "Prog.main@prog.ml:350", build = "Prog.build@prog.ml:120";
  put(9, 7, main, build, build, "Prog.leaf@prog.ml:10");
  put(5, 3, main, build, "Prog.each@prog.ml:121", "Stdlib.iter@stdlib.ml:5", "Prog.each.fun@prog.ml:121");
  put(4, 2, main, "Prog.each@prog.ml:121");
  put(3, 5, main, "Stdlib.iter@stdlib.ml:5", "Prog.each.fun@prog.ml:121|Prog.leaf@prog.ml:11");
  put(2, 11, main);
  const file = path.join(folder, "prog.ctf");
  fs.writeFileSync(file, execFileSync("python3", [path.join(TRACES, "../cli/make-trace")], { input: `rate 0.25\n${lines.join("\n")}\n` }));
  fs.writeFileSync(path.join(folder, "prog.ml"), Array.from({ length: LINES }, (_, i) => `${textOf(i + 1)}\n`).join(""));
  return file;
}

// What the commands say of each line of a file: in all stacks with it, each once, from the tree by lines; and in itself.
function costsOf(trace, name, ...asked) {
  const costs = new Map(), cost = (n) => costs.get(n) || costs.set(n, { value: 0, self: 0 }).get(n);
  const walk = (n, above) => n.children.forEach((x) => {
    const known = x.file !== name || above.includes(x.line);
    if (!known) cost(x.line).value += x.value;
    walk(x, known ? above : [...above, x.line]);
  });
  walk(cliJson("tree", "--json", "--by", "line", "--min-share", "0", "--depth", "1000", ...asked, trace).tree, []);
  for (const h of cliJson("hotspots", "--json", "--by", "line", "--top", "0", "--min-share", "0", ...asked, trace).hotspots) if (h.file === name) cost(h.line).self += h.value;
  return costs;
}

const linesShown = (c) => c.page.evaluate(() => [...document.querySelectorAll(".code .line:not(.title)")].map((e) => {
  const [value, self, no, , text] = [...e.children].map((x) => x.textContent);
  return { value: value.trim(), self: self.trim(), no: +no, text, here: e.classList.contains("here") };
}));

async function expectSource(c, trace, { line, asked = [], first, last }) {
  const costs = costsOf(trace, "prog.ml", ...asked), lines = await linesShown(c);
  assert.deepEqual(lines.map((l) => l.no), Array.from({ length: last - first + 1 }, (_, i) => first + i));
  for (const l of lines) {
    const cost = costs.get(l.no);
    assert.equal(l.text, textOf(l.no));
    assert.equal(l.value, cost ? amount(cost.value, "B") : "", `line ${l.no}`);
    assert.equal(l.self, cost?.self ? amount(cost.self, "B") : "", `line ${l.no} itself`);
    assert.equal(l.here, l.no === line);
  }
  const [box, here] = await Promise.all([c.page.locator(".code").boundingBox(), c.page.locator(".code .here").boundingBox()]);
  assert.ok(here.y >= box.y && here.y + here.height <= box.y + box.height, "the line is in view");
  assert.deepEqual(await c.page.locator(".main .view .tools > span:not(.grow, .editor)").allInnerTexts(), ["prog.ml", `lines ${first} … ${last} of ${LINES}`]);
  return costs;
}

// Words of the language, numbers and texts look different, and the margin says where most is: it is hottest there.
async function expectPainted(c) {
  const pieces = await c.page.evaluate(() => [...document.querySelectorAll('.code [data-line="121"] i')].map((e) => [e.className, e.textContent, getComputedStyle(e).color]));
  assert.deepEqual(pieces.slice(0, 2).map((p) => p.slice(0, 2)), [["hl-word", "let"], ["hl-number", "121"]]);
  assert.deepEqual(pieces.at(-1).slice(0, 2), ["hl-text", '"\\t"']);
  assert.equal(new Set(pieces.map((p) => p[2])).size, 3);
  const heat = await c.page.evaluate(() => ["120", "121", "122"].map((n) => getComputedStyle(document.querySelector(`.code [data-line="${n}"] .heat`)).backgroundColor));
  assert.equal(new Set(heat).size, 3, "hotter, less hot, and cold");
  assert.equal(heat[2], "rgba(0, 0, 0, 0)");
}

// A line leads to an editor: by its address, which the file's own name cannot change, or as a command for a terminal.
async function expectEditors(c, file, line) {
  const address = (n) => c.page.locator(`.code [data-line="${n}"] .no a`).getAttribute("href");
  assert.equal(await address(122), `vscode://file${file}:122`);
  assert.equal(await c.page.locator("[data-open=editor]").getAttribute("href"), `vscode://file${file}:${line}`);
  const choose = c.page.getByLabel("Editor", { exact: true });
  await choose.selectOption({ label: "JetBrains" });
  assert.equal(await address(122), `idea://open?file=${file}&line=122`);
  await choose.selectOption({ label: "other …" });
  const own = c.page.getByLabel("Address or command of an editor"), problem = c.page.locator(".editor .problem");
  for (const [text, says] of [["javascript://%0aalert(1)//{file}", /^javascript: opens no editor; give an address or a command, as in vscode:/], ["zed://file", /^\{file\} is missing/]]) {
    await own.fill(text);
    await own.press("Enter");
    assert.match(await problem.innerText(), says);
    assert.equal(await address(122), `idea://open?file=${file}&line=122`);
  }
  await own.fill("my-ed://{file}#{line}");
  await own.press("Enter");
  assert.ok(!(await problem.isVisible()));
  assert.equal(await address(122), `my-ed://${file}#122`);
  await c.page.reload(); // it is kept
  await c.quiet();
  assert.equal(await address(122), `my-ed://${file}#122`);
  await choose.selectOption({ label: "$EDITOR, in a terminal" });
  await c.page.evaluate(() => (window.allotrace.copy = (text) => (window.copiedText = text)));
  await c.page.locator("[data-open=editor]").click();
  assert.equal(await c.page.evaluate(() => window.copiedText), `\${EDITOR:-vi} +${line} ${file}`);
  await choose.selectOption({ label: "other …" });
  await own.fill("hx {file}:{line}"); // and left, without Enter
  await c.page.locator(".code").focus();
  await c.page.locator('.code [data-line="122"] .no button').click();
  assert.equal(await c.page.evaluate(() => window.copiedText), `hx ${file}:122`);
  // What another page of this address may have left there is no address to be clicked on.
  await c.page.evaluate(() => localStorage.setItem("allotrace-editor", "javascript://%0aalert(1)//{file}"));
  await c.page.reload();
  await c.quiet();
  assert.equal(await address(122), `vscode://file${file}:122`);
}

// A link to an editor leaves the page as it was: it still says when the server is gone. The browser's own question what to
// open takes all keys and clicks from then on; in Firefox, nobody could answer it.
async function expectStays(c) {
  if (FIREFOX) return;
  await c.page.locator("[data-open=editor]").click();
  await c.page.waitForFunction(() => window.allotrace.leaving === false);
}

test("the menu opens the source at the line; each line has its number and what the commands say of it", async ({ browser }) => {
  const folder = fs.mkdtempSync(path.join(ARTEFACTS, "source-")), trace = sourceTrace(folder);
  const server = await serve(["--sources", folder, trace]);
  const c = await Client.open(browser, `${server.url}#view=hotspots`);
  try {
    const open = async (place, filter) => {
      await c.go({ view: "hotspots", filter });
      const index = (await c.rows()).findIndex((r) => r.place.endsWith(place));
      assert.ok(index >= 0, place);
      await menuOfRow(c, index);
      await choose(c, "Source");
      await c.page.waitForFunction(() => window.allotrace.store.state.view === "source");
      await c.quiet();
    };
    await open("prog.ml:121", "");
    const costs = await expectSource(c, trace, { line: 121, first: 21, last: 221 });
    assert.deepEqual([...costs.keys()].sort((x, y) => x - y), [10, 11, 120, 121, 350]);
    assert.ok(costs.get(120).value > 0 && costs.get(120).self === 0 && costs.get(121).self < costs.get(121).value);
    await expectPainted(c);
    await expectEditors(c, path.join(fs.realpathSync(folder), "prog.ml"), 121);
    await c.page.locator(".code").evaluate((e) => (e.scrollTop = e.scrollHeight));
    await c.shot("source-here");
    await open("prog.ml:10", "");
    await expectSource(c, trace, { line: 10, first: 1, last: 201 });
    await open("prog.ml:350", "");
    await expectSource(c, trace, { line: 350, first: 250, last: LINES });
    const { value } = cliJson("hotspots", "--json", "--top", "1", trace).total;
    assert.equal((await linesShown(c)).find((l) => l.no === 350).value, amount(value, "B"), "what all stacks go through is all");
    // The numbers obey the filter.
    await open("prog.ml:121", "fn:Prog.build");
    await expectSource(c, trace, { line: 121, first: 21, last: 221, asked: ["--filter", "fn:Prog.build"] });
    assert.equal(await shownTotal(c), headline("--filter", "fn:Prog.build", trace));
    // And so it is from a frame, and from the address.
    await c.go({ view: "flame", mode: "icicle", filter: "" });
    await c.clickFrame("Prog.build", { button: "right" });
    await choose(c, "Source");
    await c.page.waitForFunction(() => window.allotrace.store.state.view === "source");
    await c.quiet();
    await expectSource(c, trace, { line: 120, first: 20, last: 220 });
    await c.page.reload();
    await c.quiet();
    await expectSource(c, trace, { line: 120, first: 20, last: 220 });
    // What is seen stays where it is when there are more lines around it.
    const where = async () => (await c.page.locator(".code .here").boundingBox()).y;
    await c.page.evaluate(() => (document.querySelector(".code").scrollTop -= 60));
    const before = await where();
    await c.until({ lines: "1-220" }, () => c.page.getByRole("button", { name: "19 more lines above" }).dispatchEvent("click"));
    assert.ok(Math.abs((await where()) - before) < 2, "no jump");
    await c.until({ lines: "1-320" }, () => c.page.getByRole("button", { name: "100 more lines below" }).dispatchEvent("click"));
    await c.until({ lines: "1-400" }, () => c.page.getByRole("button", { name: "80 more lines below" }).dispatchEvent("click"));
    await expectSource(c, trace, { line: 120, first: 1, last: LINES });
    assert.equal(await c.page.locator("[data-more]").count(), 0, "there are no more");
    await c.page.reload();
    await c.quiet();
    await expectSource(c, trace, { line: 120, first: 1, last: LINES });
    await c.shot("source-all");
    await open("prog.ml:350", "");
    await expectSource(c, trace, { line: 350, first: 250, last: LINES });
    assert.deepEqual(c.trouble, []);
    await expectStays(c);
  } finally {
    await c.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true });
  }
});

test("instances of a template at one line are rows that can be told apart", async ({ browser }) => {
  const file = path.join(ARTEFACTS, "instances.ctf"), makeTrace = new URL("../../cli/make-trace", import.meta.url).pathname;
  const events = ["int", "long", "char"].map((type, i) => `alloc external ${200 + i} ${201 + i} main@main.c:1 std::vector<${type}>::grow(${type})@vector.h:5`);
  fs.writeFileSync(file, execFileSync(makeTrace, { input: [...events, "alloc external 9 10 main@main.c:7 other@other.c:5"].join("\n") }));
  const server = await serve([file]), c = await Client.open(browser, `${server.url}#view=hotspots`);
  try {
    const apart = await c.page.evaluate(() => [...document.querySelectorAll(".main .gridrow")].map((r) => r.querySelector(".apart")?.textContent ?? ""));
    assert.deepEqual(apart.toSorted(), ["", "<char>", "<int>", "<long>"]);
  } finally {
    await c.close();
    await server.stop();
  }
});
