import assert from "node:assert/strict";
import { test } from "node:test";
import { ancestors, children, drawRow, follow, fromAnswer, hit, layout, readPlaces, search } from "../../../../viewer/tree.js";

const strings = ["", "main", "f", "g", "x.c"];
const columns = { id: [10, 20, 30], function: [1, 2, 3], file: [4, 4, 4], line: [0, 0, 7] };
// all 100 ─ main 100 ─┬ f 60 ─ g 50 (self 10)
//                     ├ g 30
//                     └ other 8, 3 sites      (self of main: 2)
const nodes = {
  place: [-1, 0, 1, 2, 2, -1], parent: [-1, 0, 1, 2, 1, 1],
  value: [100, 100, 60, 50, 30, 8], low: [90, 90, 50, 40, 20, 4], high: [110, 110, 70, 60, 40, 12],
  samples: [100, 100, 60, 50, 30, 8], blocks: [10, 10, 6, 5, 3, 3], self: [0, 2, 10, 50, 30, 8], sites: [0, 0, 0, 0, 0, 3], more: [0, 0, 0, 0, 0, 1],
};
const make = (trail) => fromAnswer(nodes, readPlaces(strings, columns), trail);

function drawn(tree, d, { left = 0, right = 100, limit = 1 } = {}) {
  const out = [];
  drawRow(layout(tree), d, left, right, limit, (i, a, b) => out.push([i, a, b]), (p, a, b, n) => out.push([`other${n}`, a, b]));
  return out;
}

test("over time, what is too small is one stretch only where nothing is between", () => {
  const begin = [0, 2, 4, 10, 50, 90], end = [100, 3, 5, 40, 51, 91];
  const t = fromAnswer({ place: [-1, 0, 1, 0, 1, 0], parent: [0, 0, 0, 0, 0, 0], value: [100, 5, 5, 80, 5, 5], low: [], high: [], samples: [], blocks: [], self: [0, 0, 0, 0, 0, 0], begin, end }, readPlaces(strings, columns));
  assert.deepEqual(drawn(t, 1, { limit: 3 }), [["other2", 2, 5], [3, 10, 40], ["other1", 50, 51], ["other1", 90, 91]]);
});

test("places have names", () => assert.deepEqual(readPlaces(strings, columns)[2], { id: 30, function: "g", file: "x.c", line: 7, module: "", match: 0 }));

test("an other node becomes what its parent leaves out", () => {
  const t = make();
  assert.deepEqual([...t.parent], [0, 0, 1, 2, 1]);
  assert.deepEqual([...t.omittedValue], [0, 8, 0, 0, 0]);
  assert.deepEqual([...t.omittedCount], [0, 3, 0, 0, 0]);
  assert.deepEqual(children(t, 1), [2, 4]);
  assert.deepEqual(ancestors(t, 3), [0, 1, 2, 3]);
});

test("siblings lie next to each other, largest first; nothing is absent", () => {
  const t = make();
  assert.deepEqual(drawn(t, 1), [[1, 0, 100]]);
  assert.deepEqual(drawn(t, 2), [[2, 0, 60], [4, 60, 90], ["other3", 90, 98]]);
  assert.deepEqual(drawn(t, 3), [[3, 0, 50]]);
});

test("what is too small joins what was left out, with all sites counted", () => {
  const t = make();
  assert.deepEqual(drawn(t, 2, { limit: 40 }), [[2, 0, 60], ["other4", 60, 98]]);
  assert.deepEqual(drawn(t, 2, { limit: 70 }), [["other5", 0, 98]]);
  assert.deepEqual(drawn(t, 3, { limit: 70 }), []); // below an undrawn parent
});

test("only what lies in view is visited", () => assert.deepEqual(drawn(make(), 2, { left: 61, right: 80 }), [[4, 60, 90]]));

test("a point hits its node, and nothing beyond the calls", () => {
  const l = layout(make());
  assert.equal(hit(l, 2, 59.9), 2);
  assert.equal(hit(l, 2, 60), 4);
  assert.equal(hit(l, 2, 99), -1); // main itself
  assert.equal(hit(l, 9, 1), -1);
});

test("a path of ids leads to a node, as far as it goes", () => {
  const t = make();
  assert.deepEqual(follow(t, [10, 20, 30]), { node: 3, steps: 3 });
  assert.deepEqual(follow(t, [10, 99, 30]), { node: 1, steps: 1 });
});

test("frames around a zoom are as wide as it, and keep their numbers", () => {
  const t = make([{ value: 500, low: 400, high: 600, samples: 500, blocks: 50, self: 0, place: -1 }, { value: NaN, place: 0 }]);
  assert.equal(t.root, 2);
  assert.deepEqual([...t.total.slice(0, 4)], [100, 100, 100, 100]);
  assert.equal(t.value[0], 500);
  assert.ok(Number.isNaN(t.value[1]));
  assert.deepEqual([...t.parent], [0, 0, 1, 2, 3, 4, 3]);
  assert.deepEqual(ancestors(t, 5), [0, 1, 2, 3, 4, 5]);
});

test("calls deeper than the answer are hatched, not absent", () => {
  const t = fromAnswer({ ...nodes, place: [-1, 0], parent: [-1, 0], value: [100, 100], self: [0, 2], sites: [0, 0], more: [0, 1] }, readPlaces(strings, columns));
  assert.deepEqual(drawn(t, 2), [["other0", 0, 98]]);
});

test("a search counts what lies inside another match once", () => {
  const t = make(), r = search(t, 0, [false, true, true]);
  assert.equal(r.amount, 90); // f 60 and g 30; not the g in f
  assert.equal(r.nodes, 3);
  assert.deepEqual([...r.matched], [0, 0, 1, 1, 1]);
  assert.equal(search(t, 2, [false, false, true]).amount, 50); // below f alone
});

test("a hundred thousand nodes are laid out and drawn within one screen's work", () => {
  const n = 100000, place = [-1], parent = [-1], value = [], self = [];
  for (let i = 1; i < n; i++) {
    place.push(i % 3);
    parent.push(i % 40 === 1 ? 0 : i - 1);
  }
  for (let i = 0; i < n; i++) value.push(0), self.push(1);
  for (let i = n - 1; i >= 0; i--) {
    value[i] += 1;
    if (i) value[parent[i]] += value[i];
  }
  const zeros = value.map(() => 0);
  const t = fromAnswer({ place, parent, value, low: value, high: value, samples: value, blocks: value, self, sites: zeros, more: zeros }, readPlaces(strings, columns));
  const l = layout(t);
  let boxes = 0, others = 0;
  for (let d = 0; d < 42; d++) drawRow(l, d, 0, n, (3 / 1400) * n, () => boxes++, () => others++);
  assert.ok(boxes <= 42 * 467, `${boxes} boxes`);
  assert.ok(others >= 1);
});

// Some hundred nodes with few or many children of any width, largest first, and with parts left out.
function anyTree(seed) {
  let random = seed;
  const next = (n) => ((random = (random * 1103515245 + 12345) % 2147483648) >> 8) % n;
  const parent = [-1], value = [100000], sites = [0], place = [-1];
  for (let i = 0; i < parent.length && parent.length < 400; i++) {
    if (sites[i]) continue;
    let left = value[i];
    for (const part of Array.from({ length: next(6) }, () => next(Math.max(1, value[i] >> 1))).sort((a, b) => b - a)) {
      if (part > left) continue;
      left -= part;
      parent.push(i), value.push(part), sites.push(0), place.push(next(3));
    }
    if (next(2) && left > 10) parent.push(i), value.push(next(left)), sites.push(2), place.push(-1);
  }
  const zeros = parent.map(() => 0);
  return fromAnswer({ place, parent, value, low: value, high: value, samples: value, blocks: value, self: zeros, sites, more: zeros }, readPlaces(strings, columns));
}

// What a row shows, from the definition: each drawn child of a drawn parent, and each stretch of what is not.
function plainly(l, d, left, right, limit) {
  const { tree, x0, x1 } = l, inView = (from, to) => to > left && from < right, big = (i) => i === 0 || x1[i] - x0[i] >= limit;
  const out = [];
  for (let i = 0; i < tree.parent.length; i++) if (l.depth[i] === d && big(i) && (i === 0 || big(tree.parent[i])) && inView(x0[i], x1[i])) out.push([i, x0[i], x1[i]]);
  for (let p = 0; p < tree.parent.length; p++) {
    if (l.depth[p] !== d - 1 || !big(p)) continue;
    const small = children(tree, p).filter((i) => !big(i) && inView(x0[i], x1[i])), omitted = tree.omittedValue[p], end = l.childrenEnd[p];
    if (small.length) {
      const joined = omitted > 0 && x1[small.at(-1)] === end;
      out.push([`other${small.length + (joined ? tree.omittedCount[p] : 0)}`, x0[small[0]], joined ? end + omitted : x1[small.at(-1)]]);
      if (joined) continue;
    }
    if (omitted > 0 && inView(end, end + omitted)) out.push([`other${tree.omittedCount[p]}`, end, end + omitted]);
  }
  return out;
}

test("rows are what they should be, whether or not the row above is known", () => {
  const sorted = (rows) => JSON.stringify([...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)));
  let boxes = 0, others = 0;
  for (let seed = 1; seed < 60; seed++) {
    const tree = anyTree(seed), l = layout(tree), left = (seed * 7919) % 60000, right = left + 1000 + ((seed * 104729) % 90000), limit = 1 + ((seed * 31) % 3000);
    let above;
    for (let d = 0; d <= l.rows.length; d++) {
      const alone = [], after = [];
      const into = (list) => [(i, a, b) => list.push([i, a, b]), (p, a, b, n) => list.push([`other${n}`, a, b])];
      drawRow(l, d, left, right, limit, ...into(alone));
      above = drawRow(l, d, left, right, limit, ...into(after), above);
      const expected = sorted(plainly(l, d, left, right, limit));
      assert.equal(sorted(alone), expected, `seed ${seed}, row ${d}`);
      assert.equal(sorted(after), expected, `seed ${seed}, row ${d}, after the one above`);
      boxes += alone.filter(([what]) => typeof what === "number").length;
      others += alone.filter(([what]) => typeof what === "string").length;
    }
  }
  assert.ok(boxes > 500 && others > 100, `${boxes} boxes, ${others} others`);
});
