// flame.js: draws call trees on a canvas: flame graphs, icicles, inverted ones, and callers and callees around a focus.
// It draws and handles input. Its owner decides what is shown, through `show`, and what a choice leads to, through the
// callbacks in `on`.
import { shorten } from "./names.js";
import { children, drawRow, firstAfter, hit, isBelow, layout } from "./tree.js";
import { ticks } from "./timeline.js";

const ROW = 21, MIN_WIDTH = 3, LABEL_WIDTH = 28, PAD = 6, MOVE_MS = 190, MOVED_MS = 250;
const BESIDE = 24; // pixels between a name and its amount
const FONT = '12px ui-sans-serif, system-ui, -apple-system, "Segoe UI", "Inter", "Noto Sans", "DejaVu Sans", sans-serif';
const NUMBER = new Intl.NumberFormat("en");

export class Flame {
  // on: { pick(node), zoom(node), menu(node, x, y), hover(node, x, y, other), other(other, x, y), moved(span),
  // stretched(), whole() }. A node is { layer, node } or null; `other` is an entry of `others`.
  constructor(canvas, theme, on) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.on = on;
    this.layers = []; // { l: layout, direction: 1 down, -1 up, zoom: node, left, right, move: the animation, if any }
    this.scroll = 0;
    this.picked = null;
    this.hovered = null;
    this.matched = null; // by layer, then node
    this.limitShare = 0;
    this.theme = theme;
    this.widths = new Map(); // text → width in pixels
    this.colorOf = () => this.theme.rest;
    this.labelOf = (tree, i) => tree.places[tree.place[i]]?.function ?? "all";
    this.frame = 0;
    this.stats = { frames: 0, boxes: 0 };
    this.#listen();
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(canvas.parentElement);
  }

  // trees: [{ tree, direction }]. With keepView, the visible range stays.
  show(trees, { keepView = false } = {}) {
    const old = this.layers;
    this.layers = trees.map(({ tree, direction }, i) => {
      const l = layout(tree);
      const kept = keepView && old[i];
      return { l, direction, zoom: 0, left: kept ? old[i].left : 0, right: kept ? old[i].right : tree.total[0] };
    });
    this.telling = clearTimeout(this.telling);
    this.picked = this.matched = null;
    this.#unhover();
    if (!keepView) this.scroll = 0;
    this.redraw();
  }

  // The node under the pointer has moved, or has other numbers.
  #unhover() {
    this.hovered = null;
    this.on.hover(null);
  }

  restyle(theme, colorOf) {
    this.theme = theme;
    if (colorOf) this.colorOf = colorOf;
    this.hatch = null;
    this.redraw();
  }

  setMatches(matched) {
    this.matched = matched;
    this.redraw();
  }

  // Returns the matching frames that are drawn, as { layer, node } in the order of the tree.
  matches() {
    return this.layers.flatMap((v, layer) => {
      const limit = this.#limit(v), from = v.l.x0[v.zoom], to = v.l.x1[v.zoom], found = [];
      this.matched?.[layer]?.forEach((m, node) => {
        const inside = v.l.x0[node] >= from && v.l.x1[node] <= to && v.l.depth[node] >= v.l.depth[v.zoom];
        if (m && inside && v.l.x1[node] - v.l.x0[node] >= limit) found.push({ layer, node });
      });
      return found;
    });
  }

  setShare(percent) {
    this.limitShare = percent / 100;
    this.redraw();
  }

  pick(at, reveal = true) {
    this.picked = at;
    if (at && reveal) this.#reveal(at);
    this.redraw();
  }

  zoom({ layer, node }, animate = true) {
    const view = this.layers[layer];
    if (!view) return;
    this.#unhover();
    view.zoom = node;
    const to = [view.l.x0[node], Math.max(view.l.x1[node], view.l.x0[node] + 1e-9)];
    const still = !animate || matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still) {
      [view.left, view.right] = to;
      view.move = null;
    } else {
      view.move = { from: [view.left, view.right], to, start: performance.now() };
    }
    this.redraw();
  }

  // Scrolls so that a zoomed frame and the frames beyond it are visible, with its nearest callers above it.
  bringUp({ layer, node }) {
    const view = this.layers[layer];
    if (!view || !this.height) return;
    const top = this.#rowTop(view, view.l.depth[node]);
    if (view.direction > 0 && top > this.height / 2) this.scroll += top - 4 * ROW;
    if (view.direction < 0 && top < this.height / 2) this.scroll += top - (this.height - 5 * ROW);
    this.#clampScroll();
  }

  // The node that fills the width and its total, for tests and for the slider.
  shown(layer = 0) {
    const v = this.layers[layer];
    return v ? { node: v.zoom, total: v.l.tree.total[v.zoom] } : null;
  }

  // How many times the wheel has magnified the zoomed node; 1 if all of it is visible.
  get stretch() {
    const v = this.layers[0];
    if (!v) return 1;
    const [left, right] = v.move?.to ?? [v.left, v.right];
    return (v.l.x1[v.zoom] - v.l.x0[v.zoom]) / Math.max(right - left, 1e-9);
  }

  // Shows the whole zoomed node again.
  whole() {
    this.telling = clearTimeout(this.telling);
    this.layers.forEach((v, layer) => this.zoom({ layer, node: v.zoom }));
    this.scroll = 0;
    this.layers.forEach((v, layer) => v.zoom > 0 && this.bringUp({ layer, node: v.zoom }));
  }

  // The visible range after wheel and drag, in layer 0; the other layers follow it.
  #shownSpan() {
    const v = this.layers[0], from = v.l.x0[v.zoom], extent = v.l.x1[v.zoom] - from;
    const share = (x) => +((x - from) / extent).toPrecision(6);
    return [Math.max(0, share(v.left)), Math.max(0, share(v.right)), Math.round(this.scroll)];
  }

  setSpan(span) {
    if (!span.length) return this.whole();
    const [from, to, scroll] = span;
    for (const v of this.layers) {
      const left = v.l.x0[v.zoom], extent = v.l.x1[v.zoom] - left;
      this.#setRange(v, left + from * extent, left + to * extent);
    }
    this.scroll = scroll;
    this.redraw();
  }

  #moved() {
    this.#unhover();
    this.on.stretched();
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      this.telling = null;
      if (this.layers.length) this.on.moved(this.#shownSpan());
      this.redraw();
    }, MOVED_MS);
    this.canvas.dataset.moving = "1";
  }

  redraw() {
    if (!this.frame) this.frame = requestAnimationFrame((now) => this.#paint(now));
  }

  // ---- geometry ----------------------------------------------------------------------------

  // A canvas of another size is black until it is painted, so that is done before the browser shows it.
  #resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    this.width = Math.max(1, Math.floor(box.width));
    this.height = Math.max(1, Math.floor(box.height));
    if (this.canvas.width !== Math.round(this.width * scale) || this.canvas.height !== Math.round(this.height * scale)) {
      this.canvas.width = Math.round(this.width * scale);
      this.canvas.height = Math.round(this.height * scale);
      this.canvas.style.width = `${this.width}px`;
      this.canvas.style.height = `${this.height}px`;
    }
    this.scale = scale;
    this.hatch = null;
    cancelAnimationFrame(this.frame);
    this.#paint(performance.now());
  }

  // Returns the y of the edge of the first row at the baseline, before scrolling.
  #base() {
    if (this.layers.length === 2) {
      // Around a focus, callers are above and callees below, and the height is divided by their numbers of rows.
      const up = this.layers.find((v) => v.direction < 0), down = this.layers.find((v) => v.direction > 0);
      const wanted = up.l.rows.length * ROW;
      const room = this.height - Math.min(down.l.rows.length * ROW, this.height / 2);
      return Math.min(wanted, Math.max(room, this.height / 2));
    }
    return this.layers[0]?.direction < 0 ? this.height : 0;
  }

  #rowTop(view, d) {
    const base = this.#base() - this.scroll;
    if (view.direction > 0) return base + (this.layers.length === 2 ? d - 1 : d) * ROW;
    return base - (d + 1) * ROW;
  }

  #extent() {
    const base = this.#base();
    let low = 0, high = this.height;
    for (const v of this.layers) {
      if (v.direction > 0) high = Math.max(high, base + v.l.rows.length * ROW + ROW);
      else low = Math.min(low, base - v.l.rows.length * ROW - ROW / 2);
    }
    return [low, high - this.height];
  }

  #clampScroll() {
    const [low, high] = this.#extent();
    this.scroll = Math.min(high, Math.max(low, this.scroll));
  }

  #reveal({ layer, node }) {
    const view = this.layers[layer];
    const top = this.#rowTop(view, view.l.depth[node]);
    if (top < ROW) this.scroll += top - ROW;
    else if (top > this.height - 2 * ROW) this.scroll += top - (this.height - 2 * ROW);
    this.#clampScroll();
    // If the node is outside the visible range, centers it, or shows its beginning if it is wider.
    const { left, right, l } = view, extent = right - left, wide = l.x1[node] - l.x0[node];
    if (view.move || (l.x1[node] > left && l.x0[node] < right)) return;
    const from = wide > extent ? l.x0[node] : l.x0[node] + wide / 2 - extent / 2;
    for (const v of this.layers) this.#setRange(v, from, from + extent);
    this.#moved();
  }

  #limit(view) {
    const extent = view.right - view.left;
    return Math.max((MIN_WIDTH / this.width) * extent, this.limitShare * view.l.tree.total[view.zoom]);
  }

  // Returns the rectangle of a node, in pixels from the canvas' corner.
  rectangle({ layer, node }) {
    const v = this.layers[layer];
    const k = this.width / (v.right - v.left);
    return {
      x: (v.l.x0[node] - v.left) * k,
      y: this.#rowTop(v, v.l.depth[node]),
      width: (v.l.x1[node] - v.l.x0[node]) * k,
      height: ROW - 1,
    };
  }

  at(x, y) {
    for (let layer = 0; layer < this.layers.length; layer++) {
      const v = this.layers[layer];
      const value = v.left + (x / this.width) * (v.right - v.left);
      const base = this.#base() - this.scroll;
      let d = v.direction > 0 ? Math.floor((y - base) / ROW) + (this.layers.length === 2 ? 1 : 0) : Math.floor((base - y) / ROW);
      if (d < 0 || d >= v.l.rows.length || (this.layers.length === 2 && v.direction > 0 && d < 1)) continue;
      const node = hit(v.l, d, value);
      if (node < 0) continue;
      const limit = this.#limit(v);
      if (v.l.x1[node] - v.l.x0[node] >= limit || isBelow(v.l.tree, v.zoom, node)) return { layer, node };
    }
    return null;
  }

  // Returns the hatched stretch at a point.
  otherAt(x, y) {
    for (const o of this.others || []) if (x >= o.x && x < o.x + o.width && y >= o.y && y < o.y + ROW) return o;
    return null;
  }

  // ---- painting ----------------------------------------------------------------------------

  #paint(now) {
    this.frame = 0;
    if (!this.width) return this.#resize();
    let moving = false;
    for (const v of this.layers) moving = this.#advance(v, now) || moving;
    this.#clampScroll();
    const c = this.context, t = this.theme;
    c.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    c.fillStyle = t.background;
    c.fillRect(0, 0, this.width, this.height);
    c.font = FONT;
    c.textBaseline = "middle";
    this.stats.boxes = 0;
    this.others = [];
    for (let i = 0; i < this.layers.length; i++) this.#paintLayer(this.layers[i], i);
    this.#outline(this.hovered, 1);
    this.#outline(this.picked, 2);
    this.stats.frames++;
    if (moving) this.redraw();
    this.canvas.dataset.moving = moving || this.telling ? "1" : "";
  }

  // Paints on a context that records the drawing.
  paintOn(context) {
    const own = { context: this.context, scale: this.scale, hatch: this.hatch };
    Object.assign(this, { context, scale: 1, hatch: null });
    this.#paint(performance.now());
    Object.assign(this, own);
    this.redraw();
  }

  #advance(v, now) {
    if (!v.move) return false;
    const part = Math.min(1, Math.max(0, (now - v.move.start) / MOVE_MS));
    const eased = 1 - (1 - part) ** 3;
    v.left = v.move.from[0] + (v.move.to[0] - v.move.from[0]) * eased;
    v.right = v.move.from[1] + (v.move.to[1] - v.move.from[1]) * eased;
    if (part < 1) return true;
    [v.left, v.right] = v.move.to;
    v.move = null;
    return false;
  }

  #paintLayer(v, index) {
    const { l } = v;
    const k = this.width / (v.right - v.left);
    const limit = this.#limit(v);
    const searching = this.matched?.[index];
    const labels = [];
    const zoomDepth = l.depth[v.zoom];
    let above;
    for (let d = this.layers.length === 2 && v.direction > 0 ? 1 : 0; d < l.rows.length + 1; d++) {
      const y = this.#rowTop(v, d);
      if (y > this.height || y + ROW < 0) continue;
      above = drawRow(
        l, d, v.left, v.right, limit,
        (i, from, to) => this.#box(v, i, (from - v.left) * k, (to - v.left) * k, y, d < zoomDepth, searching, labels),
        (parent, from, to, count) => this.#other((from - v.left) * k, (to - v.left) * k, y, count, parent, index),
        above,
      );
      if (!above.length) break; // there is nothing further down
    }
    const c = this.context;
    for (const dim of [false, true]) {
      c.fillStyle = dim ? this.theme.dim : this.theme.text;
      for (const label of labels) if (label.dim === dim) c.fillText(label.text, label.x, label.y);
    }
  }

  #box(v, i, from, to, y, isAncestor, searching, labels) {
    const c = this.context;
    const x = Math.max(-1, from), end = Math.min(this.width + 1, to);
    const w = end - x;
    this.stats.boxes++;
    const { tree } = v.l;
    const faded = isAncestor || !!(searching && !searching[i]);
    if (faded) c.globalAlpha = 0.45;
    c.fillStyle = i === 0 ? this.theme.rest : this.colorOf(tree, i);
    c.fillRect(x, y, Math.max(1, w - 1), ROW - 1);
    if (faded) c.globalAlpha = 1;
    if (searching && searching[i]) {
      c.fillStyle = this.theme.match;
      c.fillRect(x, y + ROW - 4, Math.max(1, w - 1), 3);
    }
    if (i === 0 && tree.at) return this.#timeAxis(v, y);
    this.#mark(tree, i, x, y, w);
    if (w < LABEL_WIDTH) return;
    const text = this.#fit(this.labelOf(tree, i), w - 2 * PAD + 2 - (tree.change?.[i] ? 9 : 0));
    if (!text) return;
    labels.push({ text, x: x + PAD, y: y + ROW / 2 - 0.5, dim: faded });
    if (!text.startsWith("…") && !text.endsWith("…")) this.#labelAmount(tree, i, x, y, w, this.#measure(text), faded, labels);
  }

  // Over time, the root is the axis.
  #timeAxis(v, y) {
    const c = this.context, { start } = v.l.tree, k = this.width / (v.right - v.left);
    const { times, text } = ticks(start + v.left, start + v.right, Math.max(2, this.width / 110));
    times.forEach((t, n) => {
      const x = Math.round((t - start - v.left) * k) + 0.5;
      c.fillStyle = this.theme.dim;
      c.fillRect(x, y + ROW - 6, 1, 5);
      c.fillStyle = this.theme.text;
      if (x + 4 + this.#measure(text[n]) < this.width) c.fillText(text[n], x + 4, y + ROW / 2 - 0.5);
    });
  }

  // Writes amount and share at the right end, if there is room beside the full name.
  #labelAmount(tree, i, x, y, w, taken, faded, labels) {
    const text = this.amountOf?.(tree, i);
    if (!text) return;
    const width = this.#measure(text), right = x + w - PAD - (tree.change?.[i] ? 10 : 0);
    if (right - width >= x + PAD + taken + BESIDE) labels.push({ text, x: right - width, y: y + ROW / 2 - 0.5, dim: faded });
  }

  // Marks a significant change with a triangle, so that color is not the only sign.
  #mark(tree, i, x, y, w) {
    const sure = tree.change?.[i];
    if (!sure || w < 9) return;
    const c = this.context, up = sure > 0, right = x + w - 7, middle = y + ROW / 2;
    c.fillStyle = this.theme.text;
    c.beginPath();
    c.moveTo(right - 3, middle + (up ? 2 : -3));
    c.lineTo(right + 3, middle + (up ? 2 : -3));
    c.lineTo(right, middle + (up ? -3 : 2));
    c.fill();
  }

  #other(from, to, y, count, parent, layer) {
    const c = this.context;
    const x = Math.max(0, from), w = Math.min(this.width, to) - x - 1;
    if (w < 0.4) return;
    c.fillStyle = this.#hatching();
    c.fillRect(x, y, Math.max(0.5, w), ROW - 1);
    this.others.push({ x, y, width: w + 1, count, parent, layer, value: ((to - from) / this.width) * this.#span(layer) });
    if (w < 60) return;
    const text = this.#fit(count ? `other, ${NUMBER.format(count)} ${this.#pieces(layer, count)}` : "deeper calls: double click zooms in", w - 2 * PAD);
    if (!text) return;
    c.fillStyle = this.theme.hatchGround;
    c.fillRect(x + PAD - 3, y + 3, this.#measure(text) + 6, ROW - 7);
    c.fillStyle = this.theme.dim;
    c.fillText(text, x + PAD, y + ROW / 2 - 0.5);
  }

  #pieces(layer, n) {
    return this.layers[layer].l.tree.at ? (n === 1 ? "call" : "calls") : n === 1 ? "site" : "sites";
  }

  #span(layer) {
    return this.layers[layer].right - this.layers[layer].left;
  }

  #hatching() {
    if (this.hatch) return this.hatch;
    const tile = document.createElement("canvas");
    const n = Math.round(6 * this.scale);
    tile.width = tile.height = n;
    const c = tile.getContext("2d");
    c.fillStyle = this.theme.hatchGround;
    c.fillRect(0, 0, n, n);
    c.strokeStyle = this.theme.hatch;
    c.lineWidth = Math.max(1, this.scale * 0.9);
    for (const shift of [-n, 0, n]) {
      c.beginPath();
      c.moveTo(shift - 1, n + 1);
      c.lineTo(shift + n + 1, -1);
      c.stroke();
    }
    this.hatch = this.context.createPattern(tile, "repeat");
    this.hatch.setTransform(new DOMMatrix().scale(1 / this.scale));
    return this.hatch;
  }

  #outline(at, width) {
    if (!at || !this.layers[at.layer]) return;
    const r = this.rectangle(at), c = this.context;
    if (r.x > this.width || r.x + r.width < 0) return;
    const x = Math.max(0, r.x), w = Math.min(this.width, r.x + r.width - 1) - x;
    c.strokeStyle = this.theme.select;
    c.lineWidth = width;
    c.strokeRect(x + width / 2, r.y + width / 2, Math.max(1, w - width), ROW - 1 - width);
  }

  #measure(text) {
    let w = this.widths.get(text);
    if (w === undefined) {
      if (this.widths.size > 50000) this.widths.clear();
      w = this.context.measureText(text).width;
      this.widths.set(text, w);
    }
    return w;
  }

  #fit(text, room) {
    return shorten(text, (form) => this.#measure(form) <= room);
  }

  // ---- mouse and keys ----------------------------------------------------------------------

  #listen() {
    const c = this.canvas;
    const point = (e) => {
      const box = c.getBoundingClientRect();
      return [e.clientX - box.left, e.clientY - box.top];
    };
    let drag = null, pinch = null;
    const fingers = new Map(); // pointer id → position, for the fingers that are down
    c.addEventListener("pointermove", (e) => {
      const [x, y] = point(e);
      if (fingers.has(e.pointerId)) fingers.set(e.pointerId, [x, y]);
      if (pinch) return this.#pinch(pinch, [...fingers.values()]);
      if (drag) return this.#drag(drag, e, x);
      const at = this.at(x, y);
      if (at?.node !== this.hovered?.node || at?.layer !== this.hovered?.layer) {
        this.hovered = at;
        this.redraw();
      }
      this.on.hover(at, e.clientX, e.clientY, at ? null : this.otherAt(x, y));
    });
    c.addEventListener("pointerleave", () => {
      this.#unhover();
      this.redraw();
    });
    c.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      const [x, y] = point(e);
      fingers.set(e.pointerId, [x, y]);
      const views = this.layers.map((v) => [v.left, v.right]);
      pinch = fingers.size === 2 ? { from: [...fingers.values()], scroll: this.scroll, views } : null;
      drag = fingers.size === 1 ? { x, y: e.clientY, moved: false, scroll: this.scroll, page: document.scrollingElement.scrollTop, views } : null;
    });
    const end = (e) => {
      fingers.delete(e.pointerId);
      if (pinch) {
        pinch = null;
        return this.#moved();
      }
      const was = drag;
      drag = null;
      if (was?.moved) return this.#moved();
      if (!was) return;
      const [x, y] = point(e);
      const at = this.at(x, y);
      if (at) this.on.pick(at);
      else {
        const other = this.otherAt(x, y);
        if (other) this.on.other(other, e.clientX, e.clientY);
      }
    };
    c.addEventListener("pointerup", end);
    c.addEventListener("pointercancel", (e) => {
      fingers.delete(e.pointerId);
      drag = pinch = null;
    });
    c.addEventListener("dblclick", (e) => {
      const at = this.at(...point(e));
      if (at) this.on.zoom(at);
    });
    c.addEventListener("contextmenu", (e) => {
      e.preventDefault();
      const at = this.at(...point(e));
      if (at) this.on.menu(at, e.clientX, e.clientY);
    });
    c.addEventListener("wheel", (e) => this.#wheel(e, point(e)), { passive: false });
    c.addEventListener("keydown", (e) => {
      if (!e.ctrlKey && !e.metaKey && !e.altKey && this.key(e.key)) {
        e.preventDefault();
        e.stopPropagation();
      }
    });
  }

  #drag(drag, e, x) {
    const down = e.clientY - drag.y;
    if (!drag.moved && Math.hypot(x - drag.x, down) < 4) return;
    if (!drag.moved) this.canvas.setPointerCapture(e.pointerId);
    drag.moved = true;
    this.scroll = drag.scroll - down;
    this.#clampScroll();
    // Passes on the rest of the movement to the page, if it is higher than the window.
    document.scrollingElement.scrollTop = drag.page + drag.scroll - down - this.scroll;
    this.layers.forEach((v, i) => {
      const [left, right] = drag.views[i];
      const shift = (-(x - drag.x) / this.width) * (right - left);
      this.#setRange(v, left + shift, right + shift);
    });
    this.redraw();
  }

  // Keeps the points under two fingers in place: their distance scales the range, and their midpoint moves it.
  #pinch({ from, scroll, views }, to) {
    const distance = ([[x, y], [u, v]]) => Math.max(1, Math.hypot(u - x, v - y)), middle = ([a, b], i) => (a[i] + b[i]) / 2;
    const factor = distance(from) / distance(to);
    this.scroll = scroll - (middle(to, 1) - middle(from, 1));
    this.layers.forEach((v, i) => {
      const [left, right] = views[i];
      const at = left + (middle(from, 0) / this.width) * (right - left);
      this.#stretchTo(v, at, middle(to, 0), (right - left) * factor);
    });
    this.#unhover();
    this.redraw();
  }

  // Shows a range of width `extent` with value `at` at x.
  #stretchTo(v, at, x, extent) {
    const seen = Math.max(v.l.tree.total[0] * 1e-7, extent), left = at - (x / this.width) * seen;
    this.#setRange(v, left, left + seen);
  }

  #setRange(v, left, right) {
    const whole = v.l.tree.total[0];
    const extent = Math.min(whole, right - left);
    v.left = Math.min(whole - extent, Math.max(0, left));
    v.right = v.left + extent;
    v.move = null;
  }

  #wheel(e, [x]) {
    if (!e.ctrlKey && !e.metaKey) {
      const sideways = e.shiftKey ? e.deltaY : e.deltaX, before = this.scroll;
      this.scroll += e.shiftKey ? 0 : e.deltaY;
      this.#clampScroll();
      if (this.scroll === before && !sideways) return; // passes the event on to a page that is higher than the window
      e.preventDefault();
      for (const v of this.layers) {
        const shift = (sideways / this.width) * (v.right - v.left);
        if (shift) this.#setRange(v, v.left + shift, v.right + shift);
      }
    } else {
      e.preventDefault();
      const factor = Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.006);
      for (const v of this.layers) {
        const at = v.left + (x / this.width) * (v.right - v.left);
        this.#stretchTo(v, at, x, (v.right - v.left) * factor);
      }
    }
    this.#moved();
    this.redraw();
  }

  // Moves the selection. Returns true if the key was used.
  key(key) {
    const names = { h: "ArrowLeft", j: "ArrowDown", k: "ArrowUp", l: "ArrowRight" };
    const arrow = names[key] || key;
    if (arrow === "Enter" && this.picked) return this.on.zoom(this.picked), true;
    if (arrow === "ContextMenu" && this.picked) return this.menuAtPick(), true;
    if (!arrow.startsWith("Arrow") && arrow !== "Home") return false;
    const at = this.picked ?? { layer: 0, node: this.layers[0]?.zoom ?? 0 };
    if (!this.layers.length) return true;
    if (arrow === "Home") this.on.whole();
    const next = !this.picked || arrow === "Home" ? { layer: at.layer, node: this.layers[at.layer].zoom } : this.#neighbour(at, arrow);
    if (next) {
      this.pick(next);
      this.on.pick(next);
    }
    return true;
  }

  menuAtPick() {
    const r = this.rectangle(this.picked), box = this.canvas.getBoundingClientRect();
    this.on.menu(this.picked, box.left + Math.max(8, r.x + 8), box.top + r.y + ROW);
  }

  #neighbour({ layer, node }, arrow) {
    const v = this.layers[layer], { l } = v;
    const inward = v.direction > 0 ? "ArrowDown" : "ArrowUp";
    if (arrow === "ArrowLeft" || arrow === "ArrowRight") return this.#sideways(v, layer, node, arrow === "ArrowRight" ? 1 : -1);
    if (arrow === inward) {
      const limit = this.#limit(v);
      const child = children(l.tree, node).find((c) => l.x1[c] - l.x0[c] >= limit);
      return child === undefined ? null : { layer, node: child };
    }
    if (node > 0) return { layer, node: l.tree.parent[node] };
    if (this.layers.length === 2) return { layer: 1 - layer, node: this.layers[1 - layer].l.tree.first[0] || 0 };
    return null;
  }

  #sideways(v, layer, node, step) {
    const { l } = v;
    const row = l.rows[l.depth[node]], limit = this.#limit(v);
    for (let k = firstAfter(l, row, l.x0[node]) + step; k >= 0 && k < row.length; k += step) {
      const i = row[k];
      if (l.x1[i] <= v.left || l.x0[i] >= v.right) return null;
      if (l.x1[i] - l.x0[i] >= limit) return { layer, node: i };
    }
    return null;
  }
}
