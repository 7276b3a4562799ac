// tree.js: a tree of calls as rectangles: where each is, what a point hits, what is too small to draw, what a search
// matches. It does not draw: everything here is numbers and runs without a browser.
//
// A tree has columns, in preorder: parent[i] < i; total[i], including all nodes below; place[i], an index into
// `places`; omittedValue[i] and omittedCount[i], of the children that the source left out; first[i] and next[i], the
// first child and the next sibling, 0 for none. Over time, at[i] is where a node begins, and total[i] its duration.

// Computes the extents in the tree's unit, and for each depth the nodes from left to right.
export function layout(tree) {
  const n = tree.parent.length;
  const x0 = new Float64Array(n), x1 = new Float64Array(n), next = new Float64Array(n);
  const depth = new Uint16Array(n);
  const counts = [];
  for (let i = 0; i < n; i++) {
    const p = tree.parent[i];
    x0[i] = tree.at ? tree.at[i] : i === 0 ? 0 : next[p];
    x1[i] = x0[i] + tree.total[i];
    next[i] = x0[i];
    if (i > 0) {
      next[p] = x1[i];
      depth[i] = depth[p] + 1;
    }
    counts[depth[i]] = (counts[depth[i]] || 0) + 1;
  }
  const rows = counts.map((c) => new Uint32Array(c));
  const at = counts.map(() => 0);
  for (let i = 0; i < n; i++) rows[depth[i]][at[depth[i]]++] = i;
  return { tree, x0, x1, depth, rows, childrenEnd: next };
}

// Returns the first position in the row whose node ends beyond x.
export function firstAfter(l, row, x) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (l.x1[row[middle]] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Whether a node is too small to be drawn individually; `limit` is the smallest extent that is not. Ancestors of the
// zoomed node are never too small.
export const isSmall = (l, node, limit) => l.x1[node] - l.x0[node] < limit;

// Returns the visible nodes of a row that are drawn individually.
function drawnIn(l, d, left, right, limit) {
  const drawn = [], row = l.rows[d] || [];
  for (let k = firstAfter(l, row, left); k < row.length && l.x0[row[k]] < right; k++) if (row[k] === 0 || !isSmall(l, row[k], limit)) drawn.push(row[k]);
  return drawn;
}

// Calls box(node, from, to) for each node of a row that is drawn individually, and other(parent, from, to, count) for
// each stretch below a drawn parent whose nodes are too small or were left out by the source. Returns the drawn nodes.
// Given those of the row above, it visits only their children.
export function drawRow(l, d, left, right, limit, box, other, above = d > 0 ? drawnIn(l, d - 1, left, right, limit) : []) {
  const { x0, x1, tree } = l, drawn = [];
  if (d === 0) {
    if (x1[0] > x0[0]) box(0, x0[0], x1[0]);
    return [0];
  }
  for (const p of above) {
    let i = tree.first[p], from = 0, to = 0, count = 0;
    while (i && x1[i] <= left) i = tree.next[i];
    for (; i && x0[i] < right; i = tree.next[i]) {
      const small = isSmall(l, i, limit);
      // Over time, siblings are not sorted by size, and there are gaps between them.
      if (count && (!small || x0[i] - to >= limit)) {
        other(p, from, to, count);
        count = 0;
      }
      if (!small) {
        if (x1[i] > x0[i]) box(i, x0[i], x1[i]);
        drawn.push(i);
        continue;
      }
      if (!count) from = x0[i];
      to = x1[i];
      count++;
    }
    // What the source left out comes after the last child, and joins it if that is small.
    const end = l.childrenEnd[p], omitted = tree.omittedValue[p];
    if (omitted > 0 && count && to === end) other(p, from, to + omitted, count + tree.omittedCount[p]);
    else {
      if (count) other(p, from, to, count);
      if (omitted > 0 && end < right && end + omitted > left) other(p, end, end + omitted, tree.omittedCount[p]);
    }
  }
  return drawn;
}

// Returns the node at x in a row, or -1.
export function hit(l, d, x) {
  const row = l.rows[d];
  if (!row) return -1;
  const k = firstAfter(l, row, x);
  return k < row.length && l.x0[row[k]] <= x ? row[k] : -1;
}

export function ancestors(tree, node) {
  const path = [node];
  while (node > 0) path.push((node = tree.parent[node]));
  return path.reverse();
}

export const isBelow = (tree, node, ancestor) => {
  while (node > ancestor) node = tree.parent[node];
  return node === ancestor;
};

export function children(tree, node) {
  const list = [];
  for (let i = tree.first[node]; i; i = tree.next[i]) list.push(i);
  return list;
}

// Follows a path of ids. Returns the node it leads to, and the number of ids that could be followed.
export function follow(tree, ids, from = 0) {
  let node = from, steps = 0;
  for (const id of ids) {
    const next = children(tree, node).find((c) => tree.places[tree.place[c]]?.id === id);
    if (next === undefined) break;
    node = next;
    steps++;
  }
  return { node, steps };
}

// Finds the nodes below `root` that match. The amount is that of the outermost matches, so that nothing is counted
// twice.
export function search(tree, root, matchesPlace) {
  const n = tree.parent.length;
  const matched = new Uint8Array(n), covered = new Uint8Array(n);
  let amount = 0, samples = 0, nodes = 0;
  for (let i = root; i < n; i++) {
    const p = tree.parent[i];
    const inside = i === root || (i > root && covered[p] & 2);
    if (!inside) continue;
    const m = i > 0 && matchesPlace[tree.place[i]] ? 1 : 0;
    matched[i] = m;
    nodes += m;
    if (m && !(i !== root && covered[p] & 1)) {
      amount += tree.at ? tree.value[i] : tree.total[i];
      samples += tree.samples ? tree.samples[i] : 0;
    }
    covered[i] = 2 | m | (i !== root ? covered[p] & 1 : 0);
  }
  return { matched, amount, samples, nodes };
}


// Makes a tree of the columns in an answer. Its "other" nodes become omittedValue and omittedCount of their parents. So
// do calls deeper than the answer, with a count of 0. `trail`: the places around the root, outermost first; each
// becomes a node as wide as the root.
export function fromAnswer(nodes, places, trail = []) {
  const kept = [], index = new Int32Array(nodes.parent.length).fill(-1);
  const shift = trail.length;
  for (let i = 0; i < nodes.parent.length; i++)
    if (i === 0 || !(nodes.place[i] < 0 && nodes.sites[i] > 0)) {
      index[i] = kept.length + shift;
      kept.push(i);
    }
  const n = kept.length + shift;
  const column = (name, Type = Float64Array) => {
    const c = new Type(n);
    if (nodes[name]) kept.forEach((i, at) => (c[at + shift] = nodes[name][i]));
    for (let t = 0; t < shift; t++) c[t] = trail[t][name] ?? (nodes[name] ? nodes[name][0] : 0);
    return c;
  };
  const tree = {
    places,
    root: shift,
    total: column("value"), // extents: nodes around the root are as wide as the root
    value: column("value"), // what is shown; NaN if only the name is known
    low: column("low"),
    high: column("high"),
    samples: column("samples"),
    blocks: column("blocks"),
    self: column("self"),
    match: nodes.match ? column("match", Uint8Array) : null,
    change: nodes.change ? changes(nodes, column) : null,
    parent: new Uint32Array(n),
    place: new Int32Array(n).fill(-1),
    first: new Uint32Array(n),
    next: new Uint32Array(n),
    last: new Uint32Array(n),
    omittedValue: new Float64Array(n),
    omittedCount: new Float64Array(n),
  };
  if (nodes.change)
    for (const name of ["before", "after", "change", "change_low", "change_high", "sure"]) tree[`diff_${name}`] = column(name);
  for (let t = 0; t < shift; t++) {
    tree.parent[t] = Math.max(0, t - 1);
    tree.place[t] = trail[t].place;
    tree.value[t] = trail[t].value ?? NaN;
    tree.total[t] = nodes.value[0];
    if (tree.match) tree.match[t] = 2;
  }
  kept.forEach((i, k) => {
    const at = k + shift;
    tree.place[at] = nodes.place[i];
    tree.parent[at] = i === 0 ? Math.max(0, shift - 1) : index[nodes.parent[i]];
  });
  if (shift) tree.place[shift] = nodes.place[0];
  for (let i = 1; i < n; i++) {
    const p = tree.parent[i];
    if (tree.last[p]) tree.next[tree.last[p]] = i;
    else tree.first[p] = i;
    tree.last[p] = i;
  }
  for (let i = 1; i < nodes.parent.length; i++)
    if (index[i] < 0) {
      tree.omittedValue[index[nodes.parent[i]]] += nodes.value[i];
      tree.omittedCount[index[nodes.parent[i]]] += nodes.sites[i];
    }
  if (nodes.begin) placeInTime(tree, nodes);
  if (nodes.more)
    kept.forEach((i, k) => {
      const at = k + shift;
      if (nodes.more[i] && !tree.first[at] && !tree.omittedCount[at]) tree.omittedValue[at] = nodes.value[i] - nodes.self[i];
    });
  return tree;
}

// Times are in microseconds; `start` is the start of the range.
function placeInTime(tree, { begin, end }) {
  tree.start = begin[0];
  tree.at = Float64Array.from(begin, (t) => t - begin[0]);
  tree.total = Float64Array.from(end, (t, i) => t - begin[i]);
}

function changes(nodes, column) {
  const sure = column("sure"), change = column("change");
  return sure.map((s, i) => (s ? Math.sign(change[i]) : 0));
}

// Returns the places of an answer, with their ids and names.
export function readPlaces(strings, places) {
  if (!places) return [];
  return places.id.map((id, i) => ({
    id,
    function: strings[places.function[i]] || "",
    file: strings[places.file[i]] || "",
    line: places.line[i] || 0,
    module: places.module ? strings[places.module[i]] || "" : "",
    match: places.match ? places.match[i] : 0,
  }));
}
