import assert from "node:assert/strict";
import { test } from "node:test";
import { EmbeddedSource, HttpSource, matcher, readAdvice, searchPattern, SourceError } from "../../../../viewer/source.js";

const answer = {
  strings: ["", "alpha", "beta", "gamma", "x.c"], count: 3,
  places: { id: [1, 2, 3], function: [1, 2, 3], file: [4, 4, 4], line: [0, 0, 0] },
  rows: { place: [0, 1, 2], value: [30, 20, 10], low: [5, 18, 9], share: [0.5, 0.3, 0.2] },
};
const source = new EmbeddedSource({
  filter: "",
  answers: [
    { endpoint: "table", parameters: { kind: "hotspots", limit: "400" }, answer: { ...answer, count: 5 } },
    { endpoint: "tree", parameters: { width: "1600" }, answer: { nodes: {} } },
  ],
});

test("embedded tables are sorted, searched and cut as by a server", async () => {
  const low = await source.get("table", { kind: "hotspots", sort: "low", limit: 2 });
  assert.deepEqual(low.rows.place, [1, 2]);
  assert.deepEqual([low.count, low.left_out], [3, 2]);
  const names = await source.get("table", { kind: "hotspots", sort: "function", order: "asc", offset: 1, limit: 5 });
  assert.deepEqual(names.rows.place, [1, 2]);
  const usual = await source.get("table", { kind: "hotspots" }), turned = await source.get("table", { kind: "hotspots", order: "asc" });
  assert.deepEqual([usual.rows.place, turned.rows.place], [[0, 1, 2], [2, 1, 0]]);
  const found = await source.get("table", { kind: "hotspots", search: "/^(alp|gam)/" });
  assert.deepEqual([found.count, found.rows.value], [2, [30, 10]]);
});

test("what a file does not hold is refused with the reason", async () => {
  await assert.rejects(source.get("tree", { filter: "fn:x" }), (e) => e instanceof SourceError && /contains summaries/.test(e.message));
  await assert.rejects(source.get("tree", { measure: "live" }), /no summary/);
  assert.ok(await source.get("tree", { width: 900, search: "x" }));
});

test("patterns mean what they mean in filters", () => {
  assert.ok(matcher("lph")("alpha"));
  assert.ok(matcher("al*a")("alpha") && !matcher("al*")("xalpha"));
  assert.ok(matcher("/^al/")("alpha") && !matcher("/^l/")("alpha"));
  assert.ok(!matcher("/(/")("("), "one that cannot be read matches nothing");
  assert.equal(searchPattern("a/b"), "/a\\/b/");
  assert.equal(searchPattern("/a.b/"), "/a.b/");
});

test("a server's answers are kept until the trace grows, and errors say where", async () => {
  let calls = 0, status = 200, body = { ok: 1 };
  const urls = [];
  globalThis.fetch = async (url) => (calls++, urls.push(url), { ok: status === 200, status, json: async () => body });
  const http = new HttpSource({});
  await http.get("tree", { mode: "down", filter: "fn:a b", collapse: undefined });
  await http.get("tree", { filter: "fn:a b", mode: "down" });
  assert.equal(calls, 1);
  assert.equal(urls[0], "/api/tree?filter=fn%3Aa%20b&mode=down");
  http.forget();
  http.until = 7000000;
  await http.get("tree", { filter: "fn:a" });
  assert.equal(urls[1], "/api/tree?filter=fn%3Aa%20alloc%3A..7000000us");
  status = 400;
  body = { error: { parameter: "filter", column: 17, reason: "a time ends in s" } };
  await assert.rejects(http.get("tree", { filter: "x" }), (e) => e.column === 17 && e.parameter === "filter" && e.message === "a time ends in s");
  assert.equal(http.pending, 0);
});

test("a piece of advice has its words and places", () => {
  const { strings, places } = answer;
  const advice = { rule: [1, 2], place: [0, -1], functions: [[], [{ share: 0.2, place: 1 }, { share: 0.1, place: 2 }]], from: [2, -1], gain: [3, 0], check: [[1, 2], [3, 4]] };
  const [one, many] = readAdvice({ strings, places, advice });
  assert.deepEqual([one.rule, one.gain, one.from.function, one.check], ["alpha", "gamma", "gamma", ["alpha", "beta"]]);
  assert.deepEqual([one, many].map((a) => a.places.map((p) => p.function)), [["alpha"], ["beta", "gamma"]]);
  assert.deepEqual([many.place, many.from, many.gain, many.check], [undefined, undefined, "", ["gamma", "x.c"]]);
});

function standIn() {
  const opened = [], listeners = new Set();
  globalThis.EventSource = class {
    static CLOSED = 2;
    constructor(url) {
      opened.push(this);
      this.url = url;
      this.heard = {};
    }
    addEventListener(kind, f) {
      this.heard[kind] = f;
    }
    close() {
      this.closed = true;
    }
  };
  globalThis.document = { hidden: false, addEventListener: (_, f) => listeners.add(f), removeEventListener: (_, f) => listeners.delete(f) };
  const see = (hidden) => {
    document.hidden = hidden;
    for (const f of listeners) f();
  };
  const away = () => {
    delete globalThis.document;
    delete globalThis.EventSource;
  };
  return { opened, see, away };
}

/* Time that passes when it is told to. The mock of node:test is called differently by node 18 and 22. */
function standInTime() {
  const { setTimeout, clearTimeout } = globalThis, waiting = new Map();
  let now = 0, last = 0;
  globalThis.setTimeout = (f, after) => (waiting.set(++last, { f, at: now + after }), last);
  globalThis.clearTimeout = (id) => waiting.delete(id);
  const tick = (by) => {
    now += by;
    for (const [id, { f, at }] of waiting)
      if (at <= now && waiting.delete(id))
        f();
  };
  return { tick, reset: () => Object.assign(globalThis, { setTimeout, clearTimeout }) };
}

test("a page whose traces have ended holds no connection either, and looks in now and then", () => {
  const time = standInTime();
  const { opened, away } = standIn();
  let growing = true;
  const end = new HttpSource().follow(() => {}, () => !growing);
  opened[0].heard.trace({ data: "{}" });
  time.tick(10000);
  assert.deepEqual([opened.length, !!opened[0].closed], [1, false], "one that grows is followed");
  growing = false;
  opened[0].heard.trace({ data: "{}" });
  time.tick(1000);
  assert.equal(opened[0].closed, true);
  time.tick(10000);
  assert.equal(opened.length, 2);
  opened[1].heard.trace({ data: "{}" });
  time.tick(1000);
  assert.equal(opened[1].closed, true);
  end();
  time.tick(60000);
  assert.equal(opened.length, 2, "nothing is left of it");
  time.reset();
  away();
});

test("a page that nobody sees holds no connection, and takes it up again", () => {
  const { opened, see, away } = standIn();
  const news = [], end = new HttpSource().follow((n) => news.push(n));
  assert.deepEqual([opened.length, opened[0].url], [1, "/api/live"]);
  see(true);
  assert.equal(opened[0].closed, true);
  see(true);
  see(false);
  see(false);
  assert.equal(opened.length, 2);
  opened[1].heard.trace({ data: '{"trace":0}' });
  assert.deepEqual(news, [{ trace: 0 }]);
  end();
  assert.equal(opened[1].closed, true);
  see(false);
  assert.equal(opened.length, 2);
  away();
});
