// view-lifetimes.js: lifetimes of blocks: a histogram, and a map of size and lifetime. Dragging over either makes a
// filter. The cells of the map differ in size as well as in shade.
import { elementParts, SvgDrawing } from "./drawing.js";
import { fill, h } from "./dom.js";
import { tellsBlocks } from "./explain.js";
import { amount, bytes, duration, filterTime, percent, plural } from "./format.js";
import { put, join, split } from "./filterline.js";
import { common, rowOf } from "./source.js";

const LEFT = 64, RIGHT = 12, BOTTOM = 22, TOP = 8;

const seenText = (figure, rate) => (tellsBlocks(figure, rate) ? `, ${plural(figure.blocks, "block")}` : rate >= 1 ? "" : `, ${plural(figure.samples, "sample")}`);

export class LifetimesView {
  constructor(app) {
    this.app = app;
    this.histogram = this.#plot("Histogram of lifetimes");
    this.map = this.#plot("Size and lifetime");
    this.note = h("span.soft");
    this.empty = h("div.empty", { hidden: true });
    this.split = h("div.split", this.histogram.element, this.map.element);
    this.element = h("div.view", h("div.tools", this.note), this.split, this.empty);
    this.tip = h("div.tip", { hidden: true });
    document.body.append(this.tip);
  }

  #plot(label) {
    const canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": `${label}: arrows move, Shift with arrows chooses, Enter filters, e explains` });
    const p = { canvas, element: h("div.plot", canvas), label, range: null, cursor: null };
    new ResizeObserver(() => this.#resize(p)).observe(p.element);
    let start = null;
    const at = (e) => {
      const b = canvas.getBoundingClientRect();
      return [e.clientX - b.left, e.clientY - b.top];
    };
    canvas.addEventListener("pointerdown", (e) => {
      start = at(e);
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      const [x, y] = at(e);
      if (start) p.range = this.#cells(p, start, [x, y]);
      this.#hover(p, e, x, y);
      this.#draw();
    });
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("pointerup", (e) => {
      if (start && p.range) this.#filter(p);
      else if (start && this.answer?.histogram && (start[0] < LEFT || start[1] > p.height - BOTTOM)) this.#explainAxes(p, e);
      else if (start && this.answer?.histogram) this.#explain(p, this.#column(p, start[0]), this.#row(p, start[1]), e.clientX, e.clientY);
      start = null;
    });
    canvas.addEventListener("keydown", (e) => this.#key(p, e));
    canvas.addEventListener("blur", () => {
      p.range = p.cursor = null;
      this.#draw();
    });
    return p;
  }

  restyle() {
    this.#draw();
  }

  measures() {
    return { only: ["allocated", "blocks"] };
  }

  async update(s, changed) {
    if (changed && !["trace", "filter", "measure", "at", "wrappers"].some((k) => changed.has(k)) && this.answer) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    try {
      const measure = s.measure === "blocks" ? "blocks" : undefined;
      this.answer = await this.app.source.get("lifetimes", { ...common(s), measure, at: undefined }, signal);
      this.app.report(this.answer);
      const nothing = !this.answer.total?.blocks;
      this.split.hidden = nothing;
      this.empty.hidden = !nothing;
      if (nothing) {
        const [title, text] = this.app.whyEmpty(this.answer);
        fill(this.empty, h("h2", title), h("p", text));
      }
      const other = !["allocated", "blocks"].includes(s.measure);
      const a = this.answer;
      fill(this.note, other ? "Lifetimes cover all allocations. " : "", "Never freed: ", this.app.number(a.survivors, { ...a, measure: a.measure, name: "survivors" }), ", ", this.app.following("share", a.survivors, a, { whole: a.total.value }), ". Drag to filter by a range; click a bar or cell to explain its number.");
      this.#draw();
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.app.trouble(error, this, () => {
        this.split.hidden = true;
        this.empty.hidden = false;
        fill(this.empty, h("h2", "This cannot be shown"), h("p", error.message), this.app.waysOut());
      });
    }
    this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
  }

  // ---- geometry ----------------------------------------------------------------------------

  #resize(p) {
    const { width, height } = p.element.getBoundingClientRect();
    const scale = devicePixelRatio || 1;
    Object.assign(p, { width: Math.floor(width), height: Math.floor(height), scale });
    p.canvas.width = Math.round(p.width * scale);
    p.canvas.height = Math.round(p.height * scale);
    p.canvas.style.width = `${p.width}px`;
    p.canvas.style.height = `${p.height}px`;
    this.#paintBoth(); // before the browser shows the canvas, which is empty now
  }

  get classes() {
    return this.answer.lifetime.low.length;
  }
  #cellWidth(p) {
    return (p.width - LEFT - RIGHT) / (this.classes + 1); // the last column is for blocks never freed
  }
  #cellHeight(p) {
    return (p.height - TOP - BOTTOM) / this.answer.size.low.length;
  }
  #column(p, x) {
    return Math.max(0, Math.min(this.classes, Math.floor((x - LEFT) / this.#cellWidth(p))));
  }
  #row(p, y) {
    const n = this.answer.size.low.length;
    return Math.max(0, Math.min(n - 1, n - 1 - Math.floor((y - TOP) / this.#cellHeight(p))));
  }
  #cells(p, [x0, y0], [x1, y1]) {
    if (Math.hypot(x1 - x0, y1 - y0) < 4) return null;
    const sorted = (a, b) => [Math.min(a, b), Math.max(a, b)];
    const r = { columns: sorted(this.#column(p, x0), this.#column(p, x1)) };
    if (p === this.map) r.rows = sorted(this.#row(p, y0), this.#row(p, y1));
    return r;
  }

  // ---- drawing -----------------------------------------------------------------------------

  #draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.#paintBoth();
    });
  }

  #paintBoth() {
    if (!this.answer?.histogram || this.split.hidden) return;
    this.#paint(this.histogram, (c, p, t) => this.#paintHistogram(c, p, t));
    this.#paint(this.map, (c, p, t) => this.#paintMap(c, p, t));
  }

  #paint(p, what) {
    if (!p.width || p.width < 80) return;
    this.#paintOn(p.canvas.getContext("2d"), p, p.scale, what);
  }

  #paintOn(c, p, scale, what) {
    const t = this.app.theme;
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, p.width, p.height);
    c.font = '11px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = "middle";
    what(c, p, t);
    this.#axis(c, p, t);
    if (p.range) this.#shade(c, p, t);
  }

  // Returns the parts of the picture to download.
  drawings() {
    if (this.split.hidden) return [elementParts(this.element)];
    return [[this.histogram, "life", (c, p, t) => this.#paintHistogram(c, p, t)], [this.map, "map", (c, p, t) => this.#paintMap(c, p, t)]].filter(([p]) => p.width >= 80).map(([p, name, what]) => {
      const d = new SvgDrawing(p.width, p.height, name);
      this.#paintOn(d, p, 1, what);
      return d;
    });
  }

  #axis(c, p, t) {
    const w = this.#cellWidth(p), y = p.height - BOTTOM;
    c.fillStyle = t.grid;
    c.fillRect(LEFT, y, p.width - LEFT - RIGHT, 1);
    c.fillStyle = t.dim;
    c.textAlign = "left";
    let free = 0;
    this.answer.lifetime.low.forEach((v, i) => {
      const x = LEFT + i * w, text = v === 0 ? "0" : duration(v).replace(".00", "");
      if (x < free) return;
      if (x + c.measureText(text).width > LEFT + this.classes * w - 4) return;
      c.fillText(text, x, y + 11);
      free = x + c.measureText(text).width + 14;
    });
    c.textAlign = "right";
    c.fillText("never freed", p.width - 2, y + 11);
    c.fillStyle = t.grid;
    c.fillRect(LEFT + this.classes * w, TOP, 1, y - TOP);
  }

  #paintHistogram(c, p, t) {
    const a = this.answer, g = a.histogram, w = this.#cellWidth(p), floor = p.height - BOTTOM;
    const values = [...g.value, a.survivors.value], lows = [...g.low, a.survivors.low], highs = [...g.high, a.survivors.high];
    const most = Math.max(1e-9, ...highs), y = (v) => floor - (v / most) * (floor - TOP);
    c.textAlign = "right";
    c.fillStyle = t.dim;
    c.fillText(amount(most, a.unit).replace(/ blocks?/, ""), LEFT - 8, TOP + 4);
    c.fillText("0", LEFT - 8, floor - 4);
    values.forEach((v, i) => {
      const x = LEFT + i * w;
      c.fillStyle = i === this.classes ? t.heaps.major : t.groups[0];
      c.fillRect(x + 1, y(v), Math.max(1, w - 2), floor - y(v));
      if (highs[i] > lows[i] && v > 0) {
        c.strokeStyle = t.text;
        c.lineWidth = 1;
        c.beginPath();
        c.moveTo(x + w / 2, y(lows[i]));
        c.lineTo(x + w / 2, y(highs[i]));
        c.moveTo(x + w / 2 - 2.5, y(highs[i]));
        c.lineTo(x + w / 2 + 2.5, y(highs[i]));
        c.moveTo(x + w / 2 - 2.5, y(lows[i]));
        c.lineTo(x + w / 2 + 2.5, y(lows[i]));
        c.stroke();
      }
    });
  }

  #paintMap(c, p, t) {
    const a = this.answer, m = a.map, w = this.#cellWidth(p), hh = this.#cellHeight(p), n = a.size.low.length;
    const most = Math.max(1e-9, ...m.value);
    c.textAlign = "right";
    c.fillStyle = t.dim;
    let free = p.height;
    for (let r = 0; r < n; r++) {
      const y = p.height - BOTTOM - (r + 0.5) * hh;
      if (y > free) continue;
      c.fillText(bytes(a.size.low[r]).replace(".0", ""), LEFT - 8, y);
      free = y - 13;
    }
    m.value.forEach((v, i) => {
      const col = m.lifetime[i] < 0 ? this.classes : m.lifetime[i];
      const share = Math.sqrt(v / most);
      const side = [Math.max(2, (w - 1) * (0.25 + 0.75 * share)), Math.max(2, (hh - 1) * (0.25 + 0.75 * share))];
      const x = LEFT + (col + 0.5) * w, y = p.height - BOTTOM - (m.size[i] + 0.5) * hh;
      c.globalAlpha = 0.45 + 0.55 * share;
      c.fillStyle = m.lifetime[i] < 0 ? t.heaps.major : t.accent;
      c.fillRect(x - side[0] / 2, y - side[1] / 2, side[0], side[1]);
    });
    c.globalAlpha = 1;
    c.save();
    c.translate(9, (p.height - BOTTOM) / 2);
    c.rotate(-Math.PI / 2);
    c.textAlign = "center";
    c.fillStyle = t.dim;
    c.fillText("size", 0, 0);
    c.restore();
  }

  #shade(c, p, t) {
    const w = this.#cellWidth(p), hh = this.#cellHeight(p), [c0, c1] = p.range.columns;
    const [r0, r1] = p.range.rows || [0, this.answer.size.low.length - 1];
    const y = p.height - BOTTOM - (r1 + 1) * hh, height = (r1 - r0 + 1) * hh;
    c.fillStyle = t.brush;
    c.fillRect(LEFT + c0 * w, y, (c1 - c0 + 1) * w, height);
    c.strokeStyle = t.accent;
    c.strokeRect(LEFT + c0 * w + 0.5, y + 0.5, (c1 - c0 + 1) * w - 1, height - 1);
  }

  // ---- choosing ----------------------------------------------------------------------------

  // Returns the description of a column or cell, and its figure; null if there is no sample.
  #cell(p, col, row) {
    const a = this.answer;
    const life = col === this.classes ? "never freed" : `lived ${duration(a.lifetime.low[col])} … ${duration(a.lifetime.high[col])}`;
    if (p === this.histogram) return { what: life, figure: col === this.classes ? a.survivors : rowOf(a.histogram, col) };
    const i = a.map.value.findIndex((_, k) => a.map.size[k] === row && (a.map.lifetime[k] < 0 ? this.classes : a.map.lifetime[k]) === col);
    return { what: `${bytes(a.size.low[row])} … ${bytes(a.size.high[row])}, ${life}`, figure: i < 0 ? null : rowOf(a.map, i) };
  }

  #explain(p, col, row, x, y) {
    const { what, figure } = this.#cell(p, col, row), a = this.answer;
    this.tip.hidden = true;
    if (!figure?.samples) return this.app.toast(`No sample: ${what}`);
    const lead = { text: what, title: "Blocks of these sizes and lifetimes", definition: "Their total allocations, whenever they were freed.", worked: `share: ${percent((100 * figure.value) / a.total.value)} of ${amount(a.total.value, a.unit)}` };
    this.app.explain({ left: x, bottom: y + 8 }, { lead, figure, unit: a.unit, rate: a.rate, measure: a.measure });
  }

  #explainAxes(p, e) {
    const a = this.answer, across = "Across: how long blocks lived, two classes a decade, from the first to the last with a sample; the last column is of those that were never freed.";
    const up = p === this.histogram
      ? `Up: what was allocated of each class, up to ${amount(Math.max(...a.histogram.high, a.survivors.high), a.unit)}, the highest upper limit; the thin lines are 95% intervals.`
      : "Up: the size of a block without its header, one class a power of two. The larger and darker a cell, the more was allocated: its side grows with the square root of its share of the largest.";
    this.tip.hidden = true;
    this.app.explain({ left: e.clientX, bottom: e.clientY }, { lead: { text: `0 … ${duration(a.lifetime.high.at(-1))}`, title: p.label, definition: `${across} ${up}` }, figure: null });
  }

  #hover(p, e, x, y) {
    if (!this.answer?.histogram) return;
    const a = this.answer, { what, figure } = this.#cell(p, this.#column(p, x), this.#row(p, y));
    fill(this.tip, h("b", what), h("div", figure?.samples ? [amount(figure.value, a.unit), figure.high > figure.low ? h("span.margin", ` ${amount(figure.low, a.unit)} … ${amount(figure.high, a.unit)}`) : null, seenText(figure, a.rate)] : "no sample"));
    this.tip.hidden = false;
    this.tip.style.left = `${Math.min(e.clientX + 14, innerWidth - this.tip.offsetWidth - 8)}px`;
    this.tip.style.top = `${Math.min(e.clientY + 16, innerHeight - this.tip.offsetHeight - 8)}px`;
  }

  #key(p, e) {
    const k = { h: "ArrowLeft", l: "ArrowRight", j: "ArrowDown", k: "ArrowUp" }[e.key.toLowerCase()] || e.key;
    if (!this.answer?.histogram) return;
    if (k === "Enter" && p.range) this.#filter(p);
    else if (k === "e" && p.cursor) {
      const box = p.canvas.getBoundingClientRect();
      this.#explain(p, ...p.cursor, box.left + LEFT + (p.cursor[0] + 0.5) * this.#cellWidth(p), box.top + p.height - BOTTOM - (p.cursor[1] + 0.5) * this.#cellHeight(p));
    }
    else if (k.startsWith("Arrow")) {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[k];
      const n = this.answer.size.low.length;
      const clamp = (v, high) => Math.max(0, Math.min(high, v));
      p.cursor = p.cursor ? [clamp(p.cursor[0] + step[0], this.classes), clamp(p.cursor[1] + step[1], n - 1)] : [0, 0];
      if (!e.shiftKey || !p.anchor) p.anchor = [...p.cursor];
      const sorted = (i) => [Math.min(p.anchor[i], p.cursor[i]), Math.max(p.anchor[i], p.cursor[i])];
      p.range = { columns: sorted(0), rows: p === this.map ? sorted(1) : undefined };
      this.#draw();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  #filter(p) {
    const a = this.answer, { columns: [c0, c1], rows } = p.range;
    let line = this.app.store.state.filter;
    line = join(split(line).filter((t) => t.name !== "life" && t.name !== "survived"));
    if (c0 === this.classes) line = put(line, "survived");
    else {
      if (c1 === this.classes) line = put(line, `life:>=${filterTime(a.lifetime.low[c0])}`);
      else {
        const low = c0 === 0 ? "" : filterTime(a.lifetime.low[c0]);
        line = put(line, `life:${low}..${filterTime(Math.max(0, a.lifetime.high[c1] - 1))}`);
        line = put(line, "-survived");
      }
    }
    if (rows) {
      line = join(split(line).filter((t) => t.name !== "size"));
      line = put(line, `size:${a.size.low[rows[0]]}..${a.size.high[rows[1]] - 1}`);
    }
    p.range = p.cursor = p.anchor = null;
    this.tip.hidden = true;
    this.app.store.set({ filter: line });
  }

  focusMain() {
    this.map.canvas.focus();
  }

  leave() {
    this.abort?.abort();
    this.tip.hidden = true;
  }
}
