// graph.js: layout of the graph of callers: positions of boxes and arrows, in layers, with callers above their callees.
// It does not draw: everything here is numbers and runs without a browser.

const SWEEPS = 12, ACROSS = 26, DOWN = 58, THIN = 10; // passes over the order; pixels between boxes, pixels between layers; pixels for an arrow that passes by

// Finds the edges that lead back to a node on the current path. They are drawn upward and ignored by the layers.
function backEdges(n, edges) {
  const out = Array.from({ length: n }, () => []), into = new Int32Array(n), back = new Uint8Array(edges.length), state = new Uint8Array(n);
  edges.forEach((e, i) => {
    if (e.from === e.to) return (back[i] = 1);
    out[e.from].push(i);
    into[e.to]++;
  });
  const visit = (root) => {
    const path = [[root, 0]];
    state[root] = 1;
    while (path.length) {
      const top = path.at(-1), edge = out[top[0]][top[1]++];
      if (edge === undefined) {
        state[path.pop()[0]] = 2;
        continue;
      }
      const { to } = edges[edge];
      if (state[to] === 1) back[edge] = 1;
      else if (!state[to]) {
        state[to] = 1;
        path.push([to, 0]);
      }
    }
  };
  for (let i = 0; i < n; i++) if (!into[i] && !state[i]) visit(i);
  for (let i = 0; i < n; i++) if (!state[i]) visit(i);
  return back;
}

// A node's layer is the length of the longest path from a root, so that each arrow goes down.
function layersOf(n, edges, back) {
  const layer = new Int32Array(n), into = new Int32Array(n), out = Array.from({ length: n }, () => []), ready = [];
  edges.forEach((e, i) => !back[i] && (into[e.to]++, out[e.from].push(e.to)));
  for (let i = 0; i < n; i++) if (!into[i]) ready.push(i);
  for (let k = 0; k < ready.length; k++)
    for (const to of out[ready[k]]) {
      layer[to] = Math.max(layer[to], layer[ready[k]] + 1);
      if (!--into[to]) ready.push(to);
    }
  // A root is placed right above its highest callee rather than at the top.
  for (let i = 0; i < n; i++) if (out[i].length && !edges.some((e, k) => !back[k] && e.to === i)) layer[i] = Math.max(0, Math.min(...out[i].map((to) => layer[to])) - 1);
  return layer;
}

// Adds items that represent long arrows in the layers that they cross, and splits the arrows into pieces between
// adjacent layers.
function withBends(sizes, edges, back, layer) {
  const items = sizes.map((s, i) => ({ layer: layer[i], width: s.width, height: s.height })), pieces = [], ways = [];
  edges.forEach((e, i) => {
    if (back[i]) return (ways[i] = null);
    const way = [e.from];
    for (let l = layer[e.from] + 1; l < layer[e.to]; l++) way.push(items.push({ layer: l, width: THIN, height: 0 }) - 1);
    way.push(e.to);
    for (let k = 1; k < way.length; k++) pieces.push({ from: way[k - 1], to: way[k], weight: e.weight || 1 });
    ways[i] = way;
  });
  return { items, pieces, ways };
}

function crossings(rows, pieces, place) {
  let n = 0;
  const of = rows.map(() => []);
  for (const p of pieces) of[p.layer].push(p);
  for (const list of of)
    for (let i = 0; i < list.length; i++)
      for (let k = i + 1; k < list.length; k++) n += (place[list[i].from] - place[list[k].from]) * (place[list[i].to] - place[list[k].to]) < 0;
  return n;
}

// Alternately from above and from below, moves each box to the mean position of its neighbors. Keeps the order with the
// fewest crossings.
function order(items, pieces) {
  const rows = [], place = new Float64Array(items.length), up = items.map(() => []), down = items.map(() => []);
  items.forEach((x, i) => (rows[x.layer] ??= []).push(i));
  for (const p of pieces) {
    p.layer = items[p.from].layer;
    down[p.from].push(p.to);
    up[p.to].push(p.from);
  }
  const number = () => rows.forEach((row) => row.forEach((i, k) => (place[i] = k)));
  number();
  let best = rows.map((r) => [...r]), least = crossings(rows, pieces, place);
  for (let sweep = 0; sweep < SWEEPS && least > 0; sweep++) {
    const side = sweep % 2 ? down : up;
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const middle = new Map(row.map((i) => [i, side[i].length ? side[i].reduce((sum, k) => sum + place[k], 0) / side[i].length : place[i]]));
      row.sort((a, b) => middle.get(a) - middle.get(b) || place[a] - place[b]);
      row.forEach((i, k) => (place[i] = k));
    }
    const now = crossings(rows, pieces, place);
    if (now < least) [best, least] = [rows.map((r) => [...r]), now];
  }
  return best;
}

// Places each item of a row as near to the position it wants as its neighbors allow (pool adjacent violators).
// Positions are of centers.
function settle(row, items, wanted) {
  const blocks = [];
  let shift = 0, before = 0;
  row.forEach((i, k) => {
    const half = items[i].width / 2;
    shift += k ? before + half + ACROSS : 0;
    before = half;
    blocks.push({ sum: wanted[i] - shift, n: 1, members: [[i, shift]] });
    while (blocks.length > 1 && blocks.at(-2).sum / blocks.at(-2).n > blocks.at(-1).sum / blocks.at(-1).n) {
      const last = blocks.pop(), b = blocks.at(-1);
      b.sum += last.sum;
      b.n += last.n;
      b.members.push(...last.members);
    }
  });
  for (const b of blocks) for (const [i, s] of b.members) items[i].x = b.sum / b.n + s;
}

function position(rows, items, pieces) {
  const near = items.map(() => []);
  for (const p of pieces) {
    near[p.from].push([p.to, p.weight]);
    near[p.to].push([p.from, p.weight]);
  }
  for (const row of rows) settle(row, items, items.map(() => 0));
  for (let pass = 0; pass < SWEEPS; pass++)
    for (const row of pass % 2 ? [...rows].reverse() : rows) {
      const wanted = [];
      for (const i of row) {
        const all = near[i].reduce((sum, [, w]) => sum + w, 0);
        wanted[i] = all ? near[i].reduce((sum, [k, w]) => sum + items[k].x * w, 0) / all : items[i].x;
      }
      settle(row, items, wanted);
    }
  let y = 0;
  for (const row of rows) {
    const height = Math.max(...row.map((i) => items[i].height));
    for (const i of row) items[i].y = y + height / 2;
    y += height + DOWN;
  }
  return y - DOWN;
}

// sizes: [{ width, height }] of the boxes; edges: [{ from, to, weight }], heaviest first. Returns the centers of the
// boxes, and for each edge the points on its way; an edge that leads back goes from side to side.
export function layoutGraph(sizes, edges) {
  if (!sizes.length) return { nodes: [], ways: [], width: 0, height: 0 };
  const back = backEdges(sizes.length, edges), layer = layersOf(sizes.length, edges, back);
  const { items, pieces, ways } = withBends(sizes, edges, back, layer);
  const height = position(order(items, pieces), items, pieces);
  const left = Math.min(...items.map((i) => i.x - i.width / 2));
  for (const i of items) i.x -= left;
  const nodes = items.slice(0, sizes.length);
  const points = edges.map(({ from, to }, i) => {
    const a = nodes[from], b = nodes[to];
    if (!ways[i]) return [[a.x + a.width / 2, a.y], [Math.max(a.x + a.width / 2, b.x + b.width / 2) + ACROSS, (a.y + b.y) / 2 - (from === to ? a.height : 0)], [b.x + b.width / 2, from === to ? b.y - b.height / 3 : b.y]];
    return [[a.x, a.y + a.height / 2], ...ways[i].slice(1, -1).map((k) => [items[k].x, items[k].y]), [b.x, b.y - b.height / 2]];
  });
  return { nodes, ways: points, back: [...back].map(Boolean), width: Math.max(...items.map((i) => i.x + i.width / 2)) + 2 * ACROSS, height };
}

// Returns a smooth line through points that go down, or around a side, as the `d` of a path.
export function curve(points) {
  const [first, ...rest] = points, f = (v) => v.map((x) => x.toFixed(1)).join(",");
  if (points.length === 3 && points[1][0] > Math.max(first[0], points[2][0])) return `M${f(first)}Q${f(points[1])} ${f(points[2])}`;
  let d = `M${f(first)}`, at = first;
  for (const to of rest) {
    const middle = (at[1] + to[1]) / 2;
    d += `C${f([at[0], middle])} ${f([to[0], middle])} ${f(to)}`;
    at = to;
  }
  return d;
}
