import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, encode, KEYS, startState, Store } from "../../../../viewer/state.js";

test("the start has an empty address, and every key comes back from one", () => {
  assert.equal(encode(startState()), "");
  const state = { ...startState(), view: "callers", filter: 'fn:"a&b=c" size:>=1K +x %', measure: "live", at: "1.5s", mode: "sandwich", by: "line", group: "scope", recursion: true, wrappers: true, share: 0.25, focus: "f > g", zoom: ["^", 3, 4], search: "^a+b", sort: "-low", pick: [7], line: "9", trace: 2, a: "1s", b: "2s", before: 1, after: 0, normalise: "time", diffas: "flame", difftypes: true, gauges: "rss,heap", moments: true, of: "allocated", until: 7000000, details: "hidden", open: "3,3.14", span: [0.25, 0.75, -40], theme: "dark", lit: "utils", lines: "20-420", stack: "life", nodes: 40, stretch: "1s..2s" };
  for (const k of Object.keys(KEYS)) assert.notDeepEqual(state[k], KEYS[k].start, `${k} is not tested`);
  assert.deepEqual(decode(`#${encode(state)}`), state);
});

test("a mangled address falls back to defaults", () => {
  assert.deepEqual(decode("#view=nonsense&measure=&mode&zoom=a.b&share=-1&x=1&filter=%E0%A4%A"), startState());
  assert.deepEqual(decode("#zoom=1.2.&pick=^"), startState());
  assert.deepEqual(decode("#span=1,2&until=x"), startState());
});

function fakeWindow(hash = "") {
  const w = { location: { hash, pathname: "/", search: "" }, entries: [], addEventListener: (k, f) => (w[k] = f) };
  w.history = {
    state: null,
    pushState: (state, _, url) => ((w.history.state = state), w.entries.push(url)),
    replaceState: (state, _, url) => ((w.history.state = state), w.entries.splice(-1, 1, url)),
  };
  return w;
}

test("what the wheel left goes with what it was of, unrolled rows with their focus", () => {
  const store = new Store(fakeWindow("#span=0.1,0.2,0&focus=f&open=3"));
  store.replace({ pick: [4], search: "x" });
  assert.deepEqual([store.state.span, store.state.open], [[0.1, 0.2, 0], "3"]);
  store.set({ filter: "fn:a" });
  assert.deepEqual([store.state.span, store.state.open], [[], "3"]);
  store.set({ focus: "g", zoom: [] });
  assert.equal(store.state.open, "");
});

test("what can be undone survives a reload", () => {
  const w = fakeWindow("#filter=fn:z"), store = new Store(w);
  store.set({ filter: "fn:a" });
  store.set({ filter: "fn:b" });
  w.location.hash = w.entries.at(-1).slice(1);
  w.history.state = structuredClone(w.history.state);
  const again = new Store(w);
  assert.equal(again.state.filter, "fn:b");
  assert.ok(again.undo());
  assert.ok(again.undo());
  assert.equal(again.state.filter, "fn:z");
  assert.ok(!again.undo());
  assert.deepEqual(w.history.state, { undo: [] });
});

test("more lines are of one place", () => {
  const store = new Store(fakeWindow("#line=3&lines=1-400"));
  store.replace({ pick: [4] });
  assert.equal(store.state.lines, "1-400");
  store.set({ line: "4" });
  assert.equal(store.state.lines, "");
});

test("changes make history, listeners hear what differs, undo is of filters", () => {
  const w = fakeWindow("#view=types"), store = new Store(w), heard = [];
  store.listen((s, changed) => heard.push([...changed].sort().join()));
  store.set({ filter: "fn:a" });
  store.set({ filter: "fn:a" });
  store.set({ filter: "fn:a fn:b", zoom: [1, 2] });
  store.replace({ search: "x" });
  assert.deepEqual(heard, ["filter", "filter,zoom", "search"]);
  assert.equal(w.entries.length, 2);
  assert.equal(w.entries[1], "/#view=types&filter=fn:a+fn:b&zoom=1.2&search=x");
  assert.ok(store.undo());
  assert.equal(store.state.filter, "fn:a");
  assert.ok(store.undo());
  assert.equal(store.state.filter, "");
  assert.ok(!store.undo());
  w.location.hash = "#filter=fn:z";
  w.popstate();
  assert.equal(store.state.filter, "fn:z");
  assert.equal(store.state.view, "flame");
});
