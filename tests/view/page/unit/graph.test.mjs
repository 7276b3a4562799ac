// The layout of the graph of callers: layers, no overlaps, ways that go where they should.
import assert from "node:assert/strict";
import { test } from "node:test";
import { curve, layoutGraph } from "../../../../viewer/graph.js";

const size = { width: 100, height: 30 }, edge = (from, to) => ({ from, to, weight: 1 });

test("callers stand above what they call, and boxes of a layer beside each other", () => {
  const l = layoutGraph([size, size, size, size], [edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3)]);
  assert.deepEqual(l.nodes.map((n) => n.layer), [0, 1, 1, 2]);
  assert.ok(Math.abs(l.nodes[1].x - l.nodes[2].x) >= 100);
  assert.ok(Math.abs(l.nodes[0].x - (l.nodes[1].x + l.nodes[2].x) / 2) < 1, "in the middle of what it calls");
  assert.ok(l.height >= 3 * 30);
});

test("recursion leads back at the side, and leaves the layers as they are", () => {
  const l = layoutGraph([size, size, size], [edge(0, 1), edge(1, 2), edge(2, 1), edge(1, 1)]);
  assert.deepEqual(l.nodes.map((n) => n.layer), [0, 1, 2]);
  assert.deepEqual(l.back, [false, false, true, true]);
  assert.ok(l.ways[2][1][0] > l.nodes[1].x + 50, "beside the boxes");
  assert.match(curve(l.ways[2]), /^M.*Q/);
  assert.match(curve(l.ways[0]), /^M.*C/);
});

test("a long arrow goes between the boxes of the layers that it passes", () => {
  const l = layoutGraph([size, size, size, size], [edge(0, 1), edge(1, 2), edge(2, 3), edge(0, 3)]);
  for (const [x, y] of l.ways[3].slice(1, -1)) {
    const beside = l.nodes.filter((n) => Math.abs(n.y - y) < 1);
    assert.equal(beside.length, 1);
    assert.ok(Math.abs(beside[0].x - x) > 50);
  }
});

test("many boxes: none lies on another, and none is outside", () => {
  const n = 120, sizes = Array.from({ length: n }, (_, i) => ({ width: 40 + (i * 37) % 120, height: 20 + (i % 4) * 8 })), edges = [];
  for (let i = 1; i < n; i++) edges.push(edge((i * 7) % i, i), edge((i * 13) % n, (i * 5) % n));
  const l = layoutGraph(sizes, edges);
  l.nodes.forEach((a, i) => {
    assert.ok(a.x - a.width / 2 >= -1e-6 && a.x + a.width / 2 <= l.width && a.y >= 0 && a.y <= l.height);
    for (const b of l.nodes.slice(i + 1)) assert.ok(a.layer !== b.layer || Math.abs(a.x - b.x) >= (a.width + b.width) / 2, `${i}`);
  });
});

test("nothing is nothing", () => {
  assert.deepEqual(layoutGraph([], []), { nodes: [], ways: [], width: 0, height: 0 });
  assert.equal(layoutGraph([size], []).nodes.length, 1);
});
