// view-graph.js: the graph of callers, in the style of pprof: each function once, sized by what it allocates itself,
// with arrows as thick as the amounts that go through them.
import { fill, h, svg, textWidth } from "./dom.js";
import { elementParts } from "./drawing.js";
import { amount, count, percent } from "./format.js";
import { curve, layoutGraph } from "./graph.js";
import { focusStep } from "./filterline.js";
import { openMenu } from "./menu.js";
import { byAmount, colorOf, moduleLegend } from "./modules.js";
import { shortenTo } from "./names.js";
import { common, readPlaces } from "./source.js";

const NAME = 36; // characters
const SMALL = 11, LARGE = 20, PAD = 8, GAP = 4; // pixels
const EDGE = 14; // pixels: the widest arrow
const LEGIBLE = 0.9; // smallest scale at which names are legible
const SCALES = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2];
const NODES = [20, 40, 80, 160];

export class GraphView {
  constructor(app) {
    this.app = app;
    this.scale = 0; // 0: fitted to the width, but legible
    this.picked = -1;
    this.nodes = h("select", { "aria-label": "Functions at most", onchange: () => app.store.set({ nodes: +this.nodes.value }) }, NODES.map((n) => h("option", { value: String(n) }, `at most ${n} functions`)));
    const zoom = (label, text, run) => h("button", { type: "button", "aria-label": label, title: label, onclick: run }, text);
    this.tools = h("div.tools", this.nodes, h("span.segments", { role: "group", "aria-label": "Zoom" }, zoom("Smaller (−)", "−", () => this.#zoomBy(-1)), zoom("Fit all of the width (0)", "Fit", () => this.zoomAll()), zoom("Larger (+)", "+", () => this.#zoomBy(1))), (this.said = h("span.faint")));
    this.stage = h("div.graph", { tabindex: "0", role: "application", "aria-label": "Graph of callers: arrows follow the largest, Enter makes a sandwich, x opens a menu, + and − zoom" });
    this.legend = h("div.modules", { tabindex: "0", role: "group", "aria-label": "What colours mean" });
    this.empty = h("div.empty", { hidden: true });
    this.tell = h("div.away", { role: "status" });
    this.element = h("div.view", this.tools, this.stage, this.empty, this.legend, this.tell);
    this.stage.addEventListener("keydown", (e) => !e.ctrlKey && !e.metaKey && !e.altKey && this.#key(e.key) && (e.preventDefault(), e.stopPropagation()));
    this.stage.addEventListener("wheel", (e) => (e.ctrlKey || e.metaKey) && (e.preventDefault(), this.#zoomBy(e.deltaY < 0 ? 1 : -1)), { passive: false });
    // The scroll position, which is lost while another view is shown.
    this.stage.addEventListener("scroll", () => this.stage.isConnected && (this.at = [this.stage.scrollLeft, this.stage.scrollTop]));
    new ResizeObserver(() => {
      this.#size();
      if (this.stage.clientWidth && this.at) [this.stage.scrollLeft, this.stage.scrollTop] = this.at;
    }).observe(this.stage);
  }

  // Returns the parts of the picture to download: the whole graph, including what is scrolled out of view.
  drawings() {
    if (!this.svg) return [elementParts(this.empty)];
    const [width, height] = this.extent.map(Math.ceil);
    return [{ width, height, parts: new XMLSerializer().serializeToString(this.svg).replace(/ (width|height)="\d+"/g, "") }, elementParts(this.legend)];
  }

  restyle() {
    if (this.graph) this.#draw();
  }

  async update(s, changed) {
    this.nodes.value = String(s.nodes);
    if (changed?.has("lit") && this.graph) this.#draw();
    if (changed && this.graph && !["trace", "filter", "measure", "at", "wrappers", "nodes"].some((k) => changed.has(k))) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    this.element.setAttribute("aria-busy", "true");
    try {
      const a = await this.app.source.get("graph", { ...common(s), nodes: s.nodes === 80 ? undefined : s.nodes }, signal);
      if (signal.aborted) return;
      this.app.report(a);
      this.#take(a, s);
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.app.trouble(error, this, () => this.#showEmpty("This cannot be shown", error.message, this.app.waysOut()));
    }
    this.element.removeAttribute("aria-busy");
    this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
  }

  #take(a, s) {
    if (!a.total.blocks) return this.#showEmpty(...this.app.whyEmpty(a));
    const places = readPlaces(a.strings, a.places), row = (columns, i) => Object.fromEntries(["value", "low", "high", "samples", "blocks", "self", "from", "to", "direct"].filter((k) => columns[k]).map((k) => [k, columns[k][i]]));
    this.graph = { head: a, nodes: a.nodes.place.map((p, i) => ({ ...row(a.nodes, i), place: places[p] })), edges: a.edges.from.map((_, i) => row(a.edges, i)) };
    const at = this.graph.nodes.findIndex((n) => n.place?.id === s.pick.at(-1));
    this.picked = at;
    this.stage.hidden = this.legend.hidden = false;
    this.empty.hidden = true;
    fill(this.said, a.omitted ? `${count(a.omitted)} smaller ${a.omitted === 1 ? "function is" : "functions are"} left out` : "");
    this.scale = 0;
    this.#draw();
    this.#begin();
    if (at >= 0) this.#pick(at, false);
  }

  #showEmpty(title, text, buttons = []) {
    this.graph = this.svg = null;
    this.stage.hidden = this.legend.hidden = true;
    this.empty.hidden = false;
    fill(this.empty, h("h2", title), h("p", text), buttons);
  }

  // ---- drawing -----------------------------------------------------------------------------

  #share(x) {
    return this.graph.head.total.value > 0 ? x / this.graph.head.total.value : 0;
  }

  // Returns the lines of a box: the name, what it allocates itself, and what is allocated while it is on the stack.
  #lines(n) {
    const { unit } = this.graph.head, part = (v) => `${amount(v, unit)} · ${percent(100 * this.#share(v))}`;
    return [shortenTo(n.place?.function || n.place?.file || "(no call stack)", NAME), n.self > 0 ? `itself ${part(n.self)}` : null, n.self < n.value ? `with callees ${part(n.value)}` : null].filter(Boolean);
  }

  #box(n) {
    const size = SMALL + (LARGE - SMALL) * Math.sqrt(this.#share(n.self)), lines = this.#lines(n);
    const widths = lines.map((l, i) => textWidth(l, "font") * ((i ? SMALL : size) / 12) * (i ? 1 : 1.07));
    return { size, lines, width: Math.max(...widths) + 2 * PAD, height: size + (lines.length - 1) * (SMALL + GAP) + 2 * PAD };
  }

  #draw() {
    const { nodes, edges } = this.graph, theme = this.app.theme, { lit } = this.app.store.state;
    const boxes = nodes.map((n) => this.#box(n)), modules = this.#modules();
    this.app.takeHues(modules);
    const l = layoutGraph(boxes, edges.map((e) => ({ from: e.from, to: e.to, weight: Math.sqrt(this.#share(e.value)) })));
    this.placed = l.nodes;
    this.extent = [l.width + 2 * PAD, l.height + 2 * PAD];
    this.arrows = edges.map((e, i) => this.#arrow(e, l.ways[i], theme));
    this.boxes = nodes.map((n, i) => this.#node(n, i, boxes[i], l.nodes[i], theme, !lit || n.place?.module === lit));
    this.svg = svg("svg", { viewBox: `${-PAD} ${-PAD} ${this.extent[0]} ${this.extent[1]}`, role: "img", "aria-label": `Graph of ${count(nodes.length)} functions and ${count(edges.length)} calls between them` },
      svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 1L10 5L0 9z", fill: theme.dim }))),
      ...this.arrows, ...this.boxes);
    fill(this.stage, this.svg);
    this.#size();
    fill(this.legend, moduleLegend(this.app, modules), edges.some((e) => !e.direct) ? h("span.faint", "dotted: through omitted functions") : null);
    this.#outline();
  }

  #modules() {
    return byAmount(this.graph.nodes.map((n) => [n.place?.module, n.self + n.value / 64]));
  }

  #arrow(e, points, theme) {
    const width = 1 + (EDGE - 1) * this.#share(e.value), middle = points[points.length >> 1], before = points[(points.length >> 1) - 1];
    const text = amount(e.value, this.graph.head.unit), { nodes } = this.graph;
    const name = (i) => nodes[i].place?.function || nodes[i].place?.file || "?";
    return svg("g", { class: "edge" },
      svg("title", {}, `${name(e.from)} › ${name(e.to)}\n${text}, ${percent(100 * this.#share(e.value))} of all${e.direct ? "" : "\nthrough omitted functions"}`),
      svg("path", { d: curve(points), fill: "none", stroke: theme.dim, "stroke-opacity": ".55", "stroke-width": width.toFixed(1), "stroke-dasharray": e.direct ? "none" : "2 5", "marker-end": "url(#arrow)" }),
      svg("text", { x: ((middle[0] + before[0]) / 2 + 5).toFixed(1), y: ((middle[1] + before[1]) / 2).toFixed(1), "font-size": SMALL - 1, fill: theme.dim }, text));
  }

  #node(n, i, box, at, theme, coloured) {
    let y = at.y - box.height / 2 + PAD;
    const g = svg("g", { class: "node", "data-node": i },
      svg("title", {}, `${n.place?.function || "?"}\n${n.place?.file || ""}`),
      svg("rect", { x: (at.x - box.width / 2).toFixed(1), y: (at.y - box.height / 2).toFixed(1), width: box.width.toFixed(1), height: box.height.toFixed(1), rx: 5, fill: coloured ? colorOf(this.app, n.place?.module) : theme.rest, stroke: theme.dim }),
      ...box.lines.map((text, k) => {
        const size = k ? SMALL : box.size;
        y += size + (k ? GAP : 0);
        return svg("text", { x: at.x.toFixed(1), y: (y - 2).toFixed(1), "text-anchor": "middle", "font-size": size.toFixed(1), "font-weight": k ? 400 : 600, fill: theme.text }, text);
      }));
    g.addEventListener("click", () => this.#pick(i));
    g.addEventListener("dblclick", () => this.#around(i));
    g.addEventListener("contextmenu", (e) => {
      e.preventDefault();
      this.#pick(i);
      openMenu(this.app, n.place, e.clientX, e.clientY);
    });
    return g;
  }

  // ---- zoom --------------------------------------------------------------------------------

  #fitting(least = LEGIBLE) {
    return Math.min(1, Math.max(least, (this.stage.clientWidth - 2) / this.extent[0]));
  }

  #size() {
    if (!this.svg) return;
    this.drawn = this.scale || this.#fitting();
    this.svg.setAttribute("width", Math.round(this.extent[0] * this.drawn));
    this.svg.setAttribute("height", Math.round(this.extent[1] * this.drawn));
  }

  #zoomTo(scale) {
    if (!this.svg) return;
    const s = this.stage, x = (s.scrollLeft + s.clientWidth / 2) / this.drawn, y = (s.scrollTop + s.clientHeight / 2) / this.drawn;
    this.scale = scale;
    this.#size();
    s.scrollLeft = x * this.drawn - s.clientWidth / 2;
    s.scrollTop = y * this.drawn - s.clientHeight / 2;
  }

  #zoomBy(step) {
    const now = this.scale || this.#fitting();
    const next = step > 0 ? SCALES.find((k) => k > now * 1.01) : SCALES.findLast((k) => k < now * 0.99);
    if (next) this.#zoomTo(next);
  }

  zoomAll() {
    this.#zoomTo(this.#fitting(SCALES[0]));
  }

  // ---- choosing ----------------------------------------------------------------------------

  #around(i) {
    const { place } = this.graph.nodes[i];
    if (place) this.app.store.set({ view: "flame", mode: "sandwich", focus: focusStep(place), zoom: [], pick: [] });
  }

  #pick(i, focus = true) {
    const n = this.graph.nodes[i], { head } = this.graph;
    this.picked = i;
    this.#outline();
    this.tell.textContent = this.#lines(n).join(", ");
    this.app.select({ place: n.place, counts: "with callees", name: n.place?.function || n.place?.file || "(no call stack)", figure: n, self: n.self, path: null, head, shown: head.total.value, change: null });
    if (n.place) this.app.store.replace({ pick: [n.place.id] });
    if (!focus) return;
    this.stage.focus({ preventScroll: true });
    this.#reveal(i);
  }

  #outline() {
    const near = new Set();
    this.arrows.forEach((a, i) => {
      const e = this.graph.edges[i], on = e.from === this.picked || e.to === this.picked;
      a.classList.toggle("near", on);
      if (on) near.add(e.from).add(e.to);
    });
    this.boxes.forEach((b, i) => {
      b.classList.toggle("picked", i === this.picked);
      b.classList.toggle("away-from", this.picked >= 0 && !near.has(i) && i !== this.picked);
    });
  }

  // Scrolls to the outermost of the functions that account for half of the total.
  #begin() {
    const { nodes } = this.graph, most = [...nodes.keys()].filter((i) => this.#share(nodes[i].value) >= 0.5);
    const first = most.reduce((best, i) => (this.placed[i].y < this.placed[best].y ? i : best), most[0] ?? 0);
    this.stage.scrollTop = 0;
    this.#reveal(first);
    this.stage.scrollLeft = this.placed[first].x * this.drawn - this.stage.clientWidth / 2;
  }

  #reveal(i) {
    const k = this.drawn, s = this.stage, x = this.placed[i].x * k, y = this.placed[i].y * k, edge = 60;
    if (x < s.scrollLeft + edge || x > s.scrollLeft + s.clientWidth - edge) s.scrollLeft = x - s.clientWidth / 2;
    if (y < s.scrollTop + edge || y > s.scrollTop + s.clientHeight - edge) s.scrollTop = y - s.clientHeight / 2;
  }

  // Up and down follow the largest arrow; left and right stay in the layer.
  #key(key) {
    if (!this.graph) return false;
    const arrow = { h: "ArrowLeft", j: "ArrowDown", k: "ArrowUp", l: "ArrowRight" }[key] || key;
    if (arrow === "+" || arrow === "=") return this.#zoomBy(1), true;
    if (arrow === "-") return this.#zoomBy(-1), true;
    if (arrow === "Enter" && this.picked >= 0) return this.#around(this.picked), true;
    if (arrow === "Home") return this.#pick(0), true;
    if (!arrow.startsWith("Arrow")) return false;
    const { edges } = this.graph, at = this.picked;
    if (at < 0) return this.#pick(0), true;
    if (arrow === "ArrowDown" || arrow === "ArrowUp") {
      const e = edges.find((x) => (arrow === "ArrowDown" ? x.from : x.to) === at && x.from !== x.to);
      if (e) this.#pick(arrow === "ArrowDown" ? e.to : e.from);
      return true;
    }
    const row = this.placed.map((p, i) => [p, i]).filter(([p]) => p.layer === this.placed[at].layer).sort((a, b) => a[0].x - b[0].x).map(([, i]) => i);
    const next = row[row.indexOf(at) + (arrow === "ArrowRight" ? 1 : -1)];
    if (next !== undefined) this.#pick(next);
    return true;
  }

  menuOfPick() {
    if (this.picked < 0) return;
    const box = this.boxes[this.picked].getBoundingClientRect();
    openMenu(this.app, this.graph.nodes[this.picked].place, box.left + 8, box.bottom);
  }

  focusMain() {
    this.stage.focus();
  }
  leave() {
    this.abort?.abort();
  }
}
