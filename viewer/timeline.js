// timeline.js: memory over time, and the choice of times. Live memory is drawn above, by heap; allocation and promotion
// below. What the filter keeps is filled, and the whole trace is an outline. Dragging selects a range, a click a
// moment.
import { fill, h, Popover, svg } from "./dom.js";
import { bytes, duration, filterTime } from "./format.js";
import { add, split } from "./filterline.js";
import { fillOf, HEAP_NAMES, HEAPS, isEmpty, layerAt, layersOf, STACKS } from "./layers.js";
import { shortenTo } from "./names.js";
import { readPlaces } from "./tree.js";

const PEAK_MARK = 18; // pixels on each side
const AXIS = 16, RATES = 30, GAP = 6, TOP = 12;
const LEAST_STEPS = 2.5; // of the scale, so that at least one round number is on it, however low it is
const GUTTER = 80; // pixels on the right, for the scale
const LAYER_NAME = 26; // characters
const NEAREST_PEAKS = 14; // pixels between two peaks that are buttons
const SHOWN_MARKS = 60;

// Readings of the recorder beside the heap; unknown ones have only their own names. [title, description]
const GAUGES = {
  rss: ["RSS", "all memory of the process in RAM, including mapped files such as the program and libraries"],
  anonymous: ["anonymous", "the part of RSS that belongs to no file: heap, stacks and anonymous mappings, including the recorder's own"],
  heap: ["private memory", "all private writable memory, in RAM or not; thread stacks count in full"],
  "python arenas": ["Python arenas", "what Python's allocator of small objects has mapped; an arena goes back to the system only when nothing in it is in use"],
  "python arenas in use": ["in use in arenas", "blocks in use in Python's arenas, rounded up to 16 bytes each; the rest of the arenas is free memory that Python keeps"],
};
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4]];
const ENDS = { a: "from", b: "to" };
const titleOf = (name) => GAUGES[name]?.[0] ?? name;

export class Timeline {
  // on: { brush(how, from, to), compare(a, b): times in filter syntax; moment(time): in microseconds }
  constructor(app, on) {
    this.app = app;
    this.on = on;
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "Timeline: arrows move, Shift with arrows selects a range, Enter uses it, e explains its numbers, p goes to the next peak" });
    this.stage = h("div.stage", this.canvas);
    this.legend = h("div.legend");
    this.element = h("section.timeline", { "aria-label": "Timeline" }, this.legend, this.stage);
    this.tip = h("div.tip", { hidden: true });
    document.body.append(this.tip);
    this.said = h("div.away", { role: "status" });
    this.element.append(this.said);
    this.peaks = [];
    this.cursor = null; // a time, set by keys or peaks; null: none
    this.range = null; // [a, b] while a range is being selected; else null
    this.menu = new Popover("menu", "menu");
    this.overlay = h("div.overlay");
    this.stage.append(this.overlay);
    this.#listen();
    new ResizeObserver(() => this.#resize()).observe(this.stage);
  }

  // compared: { answer, names: [name of `answer`, name of the other] } of another trace; null: none.
  show(answer, peaks, compared = null) {
    if (answer !== this.answer) this.layers = layersOf(answer, readPlaces(answer.strings ?? [], answer.places));
    this.answer = answer;
    this.compared = compared;
    this.peaks = peaks;
    this.#drawLegend();
    this.draw();
  }

  refuse(reason) {
    this.answer = null;
    fill(this.overlay);
    this.canvas.getContext("2d").clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.peaks = [];
    fill(this.legend, h("span.faint", `No timeline: ${reason}`));
  }

  // ---- drawing -----------------------------------------------------------------------------

  #resize() {
    const { width, height } = this.stage.getBoundingClientRect();
    this.scale = devicePixelRatio || 1;
    this.whole = Math.max(80, Math.floor(width));
    this.width = this.whole - GUTTER;
    this.height = Math.floor(height);
    this.canvas.width = Math.round(this.whole * this.scale);
    this.canvas.height = Math.round(this.height * this.scale);
    this.canvas.style.width = `${this.whole}px`;
    this.canvas.style.height = `${this.height}px`;
    this.#paint(); // before the browser shows the canvas, which is empty now
  }

  // If there is little room, live memory gets most of it.
  get ratesHeight() {
    return this.height < 110 ? RATES / 2 : RATES;
  }

  // If two traces are compared, the later end.
  get end() {
    return Math.max(this.answer.to, this.compared?.answer.to ?? 0);
  }
  get span() {
    return this.answer ? Math.max(1, this.end - this.answer.from) : 1;
  }
  x(time) {
    return ((time - this.answer.from) / this.span) * this.width;
  }
  time(x) {
    return this.answer.from + (Math.max(0, Math.min(this.width, x)) / this.width) * this.span;
  }

  redraw() {
    if (!this.answer) return;
    this.#drawLegend();
    this.draw();
  }

  // Rounds a time to digits that a pixel can distinguish, except at the ends.
  #round(time) {
    if (time <= this.answer.from || time >= this.end) return Math.round(time);
    const digit = Math.max(1, 10 ** Math.floor(Math.log10(this.span / this.width)));
    return Math.min(this.end, Math.round(time / digit) * digit);
  }

  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.#paint();
    });
  }

  #paint() {
    if (this.answer && this.width) this.paintOn(this.canvas.getContext("2d"), this.scale);
  }

  #drawLegend() {
    const a = this.answer.filtered || this.answer.all, theme = this.app.theme;
    const swatch = (color, text, kind = "") => h("span", h(`i.swatch${kind}`, { style: { backgroundColor: color } }), text);
    const stacked = this.app.store.state.stack;
    fill(this.legend,
      h("label.soft", "Live memory by ", this.#stackChoice(stacked)),
      this.layers.filter((l) => !isEmpty(l)).map((l) => this.#layerLegend(l, theme)),
      this.answer.filtered && !this.compared ? swatch(theme.curve, "without filter", ".line") : null,
      this.compared ? this.#comparedLegend(swatch, theme) : null,
      this.#gaugeButtons(),
      a.live_low?.some((low, i) => low < a.live_high[i]) && !this.answer.layers ? h("span", h("i.swatch", { style: { background: theme.curve, opacity: 0.3 } }), "95% interval") : null,
      h("span.soft", "below: allocated", a.promoted.some((v) => v > 0) ? [", ", h("i.swatch.hatched"), "promoted"] : null),
      h("span.grow"),
      this.#zoomed(),
      this.#marksButton(),
      this.#snapshots(),
      this.peaks.length ? h("button.button", { type: "button", title: "The main peaks (p: next)", "aria-haspopup": "menu", onclick: (e) => this.#listPeaks(e.currentTarget) }, `${this.peaks.length} ${this.peaks.length === 1 ? "peak" : "peaks"} ▾`) : null);
  }

  #stackChoice(stacked) {
    const { store, source } = this.app;
    const choice = h("select", { "aria-label": "Live memory, stacked by", title: "How to stack live memory", disabled: source.offline, onchange: () => store.set({ stack: choice.value }) },
      Object.entries(STACKS).map(([k, text]) => h("option", { value: k, selected: k === stacked }, text)));
    choice.value = stacked;
    return choice;
  }

  // Says which of the two traces is which.
  #comparedLegend(swatch, theme) {
    const { traces } = this.app.info, [own, other] = this.compared.names;
    const name = (answer) => traces[answer.trace]?.name ?? "";
    return [h("span", { dataset: { compared: own } }, `${own}: ${name(this.answer)}, filled`), h("span", { dataset: { compared: other } }, swatch(theme.text, `${other}: ${name(this.compared.answer)}`, ".line"))];
  }

  // The legend of a layer; a click shows its blocks.
  #layerLegend(l, theme) {
    const { color, texture } = fillOf(theme, l), swatch = h(`i.swatch${texture ? `.heap.${texture}` : ""}`, { style: { backgroundColor: color } });
    const text = shortenTo(l.name, LAYER_NAME);
    if (!l.place && !l.filter) return h("span", { dataset: { layer: l.key } }, swatch, text);
    return h("button.layer", {
      type: "button", dataset: { layer: l.key }, title: `${l.name}\nclick: ${l.place ? "the site among all" : "only these blocks"}`,
      onclick: () => this.#follow(l),
      onpointerenter: () => this.#light(l), onpointerleave: () => this.#light(null), onfocus: () => this.#light(l), onblur: () => this.#light(null),
    }, swatch, text);
  }

  #light(layer) {
    this.lit = layer;
    this.draw();
  }

  #follow(l) {
    const { store } = this.app, s = store.state;
    this.lit = null;
    if (l.filter) store.set({ filter: l.filter.split(" ").reduce(add, s.filter), zoom: [] });
    else store.set({ view: "hotspots", by: s.stack === "function" ? "function" : "", measure: "peak", search: "", pick: [l.place.id] });
  }

  // The visible range, if it is not all, and a button that resets it.
  #zoomed() {
    const { store } = this.app, { stretch } = store.state;
    return stretch ? h("button.button", { type: "button", dataset: { timeline: "whole" }, title: "Show the whole time (-)", onclick: () => store.set({ stretch: "" }) }, `${stretch.replace("..", " … ")}: whole time`) : null;
  }

  get marks() {
    const { from, to } = this.answer;
    return (this.app.trace?.marks ?? []).filter((m) => m.time >= from && m.time <= to);
  }

  #marksButton() {
    const n = this.marks.length;
    return n ? h("button.button", { type: "button", dataset: { timeline: "marks" }, title: "Moments marked by the program", "aria-haspopup": "menu", onclick: (e) => this.#listMarks(e.currentTarget) }, `${n} ${n === 1 ? "mark" : "marks"} ▾`) : null;
  }

  #listMarks(button) {
    const box = button.getBoundingClientRect(), marks = this.marks, shown = marks.slice(0, SHOWN_MARKS);
    this.menu.open(box.left, box.bottom + 4, [
      h("div.title", "Moments marked by the program"),
      shown.map((m) => h("button", { type: "button", role: "menuitem", onclick: () => (this.menu.close(), this.on.moment(m.time)) }, h("span", shortenTo(m.name, 40)), h("span.grow"), h("span.faint", duration(m.time)))),
      marks.length > shown.length ? h("div.title", `${marks.length - shown.length} more: zoom in`) : null,
    ]);
    this.menu.box.onkeydown = null;
  }

  get gauges() {
    return this.answer?.gauges ?? [];
  }

  // Returns the gauges that are drawn, with their dashes.
  #shownGauges() {
    if (this.compared) return []; // gauges are of one of the two traces
    const shown = this.app.store.state.gauges.split(",");
    return this.gauges.map((g, i) => ({ ...g, dash: DASHES[i % DASHES.length] })).filter((g) => shown.includes(g.name));
  }

  #gaugeButtons() {
    const { store } = this.app, shown = store.state.gauges.split(",").filter(Boolean);
    if (!this.gauges.length || this.compared) return null;
    const toggle = (name) => store.set({ gauges: (shown.includes(name) ? shown.filter((n) => n !== name) : [...shown, name]).join(",") });
    const line = (i) => svg("svg", { class: "stroke", viewBox: "0 0 18 4", "aria-hidden": "true" }, svg("path", { d: "M0 2H18", stroke: this.app.theme.text, "stroke-dasharray": DASHES[i % DASHES.length].join(" ") }));
    return h("span.segments", { role: "group", "aria-label": "Reported by the system and the runtime" },
      this.gauges.map((g, i) => h("button", { type: "button", dataset: { gauge: g.name }, title: `${titleOf(g.name)}: ${GAUGES[g.name]?.[1] ?? "as read by the recorder"}. Click: show or hide`, "aria-pressed": String(shown.includes(g.name)), onclick: () => toggle(g.name) }, line(i), titleOf(g.name))),
      h("button", { type: "button", dataset: { gauge: "explain" }, title: "Why RSS and live memory differ", onclick: (e) => this.#explainGauges(e.currentTarget) }, "RSS vs live"));
  }

  // Explains the difference between live memory and the system's numbers, at the selected moment or the peak.
  #explainGauges(button) {
    const box = button.getBoundingClientRect(), s = this.app.store.state;
    const time = (s.measure === "live" && s.at ? this.timeOf(s.at) : null) ?? this.cursor ?? this.app.trace?.peak?.time ?? this.answer.to;
    const i = this.#bucket(time), { all } = this.answer;
    this.explained ??= new Popover("explain");
    this.explained.open(box.left, box.bottom + 6, [
      h("h2", `RSS and live memory at ${duration(time)}`),
      h("dl.facts", h("dt", "live"), h("dd", this.app.number({ value: all.live[i], low: all.live_low?.[i], high: all.live_high?.[i], samples: all.live_samples?.[i] }, { rate: this.answer.rate, measure: "live" })), this.gauges.map((g) => [h("dt", titleOf(g.name)), h("dd", g.values[i] === null ? "not read yet" : this.app.following("reading", { value: g.values[i], title: titleOf(g.name), what: GAUGES[g.name]?.[1] ?? g.name }, {}, { alone: true }))])),
      h("p", "Live memory is an estimate of the blocks that were allocated and not freed. The other values are reported by the system or the runtime for the whole process, regardless of the filter."),
      h("ul",
        h("li", "RSS far above anonymous: mapped files and libraries."),
        h("li", "Anonymous far above live: freed memory that the allocator keeps (does live fall where anonymous stays?), gaps between blocks, stacks, uncollected garbage, or memory that does not come from malloc. It includes a few MB of the recorder."),
        h("li", "Live above anonymous: blocks that were never written to, or were swapped out."),
        this.gauges.some((g) => g.name === "python arenas") ? h("li", "Python arenas far above in use: a few long-lived objects keep arenas that are otherwise empty.") : null),
    ]);
  }

  // Buttons for two moments, and for what was allocated between them and stayed.
  #snapshots() {
    const { store } = this.app, s = store.state;
    const now = () => filterTime(s.measure === "live" && s.at ? this.timeOf(s.at) : this.cursor ?? this.answer.to);
    const mark = (key) => h("button", { type: "button", dataset: { snapshot: key }, title: s[key] ? `“${ENDS[key]}” is ${s[key]}; click: drop it` : `Take the chosen moment, or the end, as “${ENDS[key]}”`, onclick: () => store.set({ [key]: s[key] ? "" : now() }) }, ENDS[key], s[key] ? ` ${s[key]}` : "");
    const both = s.a && s.b;
    return h("div.segments", { role: "group", "aria-label": "Two moments" }, mark("a"), mark("b"),
      both ? h("button", { type: "button", dataset: { snapshot: "compare" }, title: "Allocated between these moments and live at the second", onclick: () => this.on.compare(...[s.a, s.b].sort((x, y) => this.timeOf(x) - this.timeOf(y))) }, "Stayed") : null,
      both ? h("button", { type: "button", dataset: { snapshot: "diff" }, title: "Compare live memory at both moments: what was freed, what was added, how certain", onclick: () => store.set({ view: "diff", moments: true, zoom: [], pick: [] }) }, "Compare") : null);
  }

  // Paints on a canvas, or on a context that records the drawing.
  paintOn(c, scale) {
    const t = this.app.theme, a = this.answer;
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, this.whole, this.height);
    const floor = this.height - AXIS - this.ratesHeight - GAP;
    const gauges = this.#shownGauges();
    const most = this.most;
    const y = (v) => floor - (v / most) * (floor - TOP);
    this.#grid(c, t, most, y, floor);
    this.#stack(c, y);
    if (!a.layers) this.#band(c, a.filtered || a.all, y, t);
    if (a.filtered && !this.compared) this.#line(c, a.all.live, y, t.curve);
    if (this.compared) this.#line(c, this.#otherLive, y, t.text, this.compared.answer);
    const mostRead = this.#mostRead(gauges), read = (v) => floor - (v / mostRead) * (floor - TOP);
    for (const g of gauges) this.#gaugeLine(c, g, read, t);
    if (gauges.length) this.#gaugeScale(c, gauges, mostRead, t);
    this.#rates(c, a, t);
    this.#chosen(c, t);
    this.#drawMarks(c, t);
    this.#markPeaks(c, t, y);
    this.#markSnapshots(c, t);
    if (this.range) this.#shade(c, this.range[0], this.range[1], t.brush, t.accent);
    if (this.cursor !== null) this.#moment(c, this.cursor, t.select, []);
  }

  #grid(c, t, most, y, floor) {
    c.font = '11px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif';
    c.textBaseline = "middle";
    const step = niceStep(most / Math.max(LEAST_STEPS, Math.min(3, Math.floor((floor - TOP) / 22))), 1024);
    for (let v = step; v <= most; v += step) {
      c.fillStyle = t.grid;
      c.fillRect(0, Math.round(y(v)), this.width, 1);
      c.fillStyle = t.dim;
      c.textAlign = "left";
      c.fillText(bytes(v), this.width + 6, y(v));
    }
    c.fillStyle = t.grid;
    c.fillRect(0, floor, this.width, 1);
    c.fillRect(0, this.height - AXIS, this.width, 1);
    const { times, text } = ticks(this.answer.from, this.end, Math.max(2, this.width / 110));
    c.textAlign = "left";
    c.fillStyle = t.dim;
    times.forEach((time, i) => {
      const x = this.x(time);
      c.fillRect(x, this.height - AXIS, 1, 4);
      if (x + c.measureText(text[i]).width + 4 < this.width) c.fillText(text[i], x + 4, this.height - AXIS / 2);
    });
  }

  #each(values, f, a = this.answer) {
    // The last bucket may be shorter.
    const w = (a.width / this.span) * this.width, from = this.x(a.from), end = this.x(a.to);
    for (let i = 0; i < values.length; i++) f(from + i * w, Math.min(w, end - from - i * w), values[i], i);
  }

  // Like #each, from right to left.
  #back(values, f) {
    const steps = [];
    this.#each(values, (...step) => steps.push(step));
    for (const step of steps.reverse()) f(...step);
  }

  #stack(c, y) {
    const sum = new Float64Array(this.answer.all.live.length);
    for (const l of this.layers) {
      const { color, texture } = fillOf(this.app.theme, l);
      c.globalAlpha = this.lit && this.lit !== l ? 0.25 : 1;
      c.fillStyle = color;
      c.beginPath();
      this.#each(l.values, (x, w, v, i) => {
        c.lineTo(x, y(sum[i] + v));
        c.lineTo(x + w, y(sum[i] + v));
      });
      this.#back(l.values, (x, w, v, i) => {
        c.lineTo(x + w, y(sum[i]));
        c.lineTo(x, y(sum[i]));
      });
      c.fill();
      if (texture) {
        c.fillStyle = this.#texture(c, texture);
        c.fill();
      }
      l.values.forEach((v, i) => (sum[i] += v));
    }
    c.globalAlpha = 1;
  }

  // Distinguishes heaps without color: by stripes and dots; the minor heap is plain.
  #texture(to, heap) {
    const n = 8, tile = document.createElement("canvas");
    tile.width = tile.height = n;
    const c = tile.getContext("2d");
    c.fillStyle = c.strokeStyle = this.app.theme.texture;
    c.beginPath();
    if (heap === "major") for (const x of [-n, 0, n]) c.moveTo(x - 1, n + 1), c.lineTo(x + n + 1, -1);
    else for (const [x, y] of [[2, 2], [6, 6]]) c.rect(x - 1, y - 1, 2, 2);
    if (heap === "major") c.stroke();
    else c.fill();
    return to.createPattern(tile, "repeat");
  }

  #markSnapshots(c, t) {
    for (const key of ["a", "b"]) {
      const time = this.timeOf(this.app.store.state[key]);
      if (time === null) continue;
      this.#moment(c, time, t.text, [4, 3]);
      c.fillStyle = t.text;
      c.textAlign = "left";
      c.fillText(ENDS[key], this.x(time) + 4, this.height - AXIS - this.ratesHeight + 6);
    }
  }

  // Draws the 95% interval of live memory.
  #band(c, curves, y, t) {
    if (!curves.live_low) return;
    c.fillStyle = t.curve;
    c.globalAlpha = 0.16;
    c.beginPath();
    this.#each(curves.live_high, (x, w, v) => (c.lineTo(x, y(v)), c.lineTo(x + w, y(v))));
    this.#back(curves.live_low, (x, w, v) => (c.lineTo(x + w, y(v)), c.lineTo(x, y(v))));
    c.fill();
    c.globalAlpha = 1;
  }

  get #otherLive() {
    const { filtered, all } = this.compared.answer;
    return (filtered || all).live;
  }

  #line(c, values, y, color, a = this.answer) {
    c.strokeStyle = color;
    c.lineWidth = 1.2;
    c.beginPath();
    this.#each(values, (x, w, v) => (c.lineTo(x, y(v)), c.lineTo(x + w, y(v))), a);
    c.stroke();
  }

  #gaugeLine(c, g, y, t) {
    c.strokeStyle = t.text;
    c.lineWidth = 1.4;
    c.setLineDash(g.dash);
    c.beginPath();
    this.#each(g.values, (x, w, v) => v !== null && c.lineTo(x + w, y(v)));
    c.stroke();
    c.setLineDash([]);
  }

  // The system's numbers may be many times live memory. If they exceed it, they have a scale of their own.
  #mostRead(gauges) {
    const read = Math.max(1, ...gauges.flatMap((g) => g.values));
    return read <= this.most ? this.most : read;
  }

  #ownScale(names) {
    const most = this.#mostRead(this.#shownGauges());
    return names.length && most !== this.most ? `; ${names.join(", ")} have a scale of their own, up to ${bytes(most)}` : "";
  }

  #gaugeScale(c, gauges, most, t) {
    const read = Math.max(...gauges.flatMap((g) => g.values));
    const text = `${gauges.map((g) => titleOf(g.name)).join(", ")}: up to ${bytes(read)}${most === this.most ? "" : ", on a separate scale"}`;
    const width = c.measureText(text).width + 8, free = this.#besidePeaks(width);
    if (free === undefined && most === this.most) return; // the scale on the right says nearly the same
    const x = free ?? 2;
    c.textAlign = "left";
    c.fillStyle = t.background;
    c.globalAlpha = 0.75;
    c.fillRect(x, 0, width, TOP + 2);
    c.globalAlpha = 1;
    c.fillStyle = t.text;
    c.fillText(text, x + 4, TOP / 2 + 1);
  }

  // Returns an x where a text at the top covers no peak's mark and number; undefined if there is none.
  #besidePeaks(width) {
    const at = this.peaks.map((p) => this.x(p.time)).sort((a, b) => a - b);
    return [2, ...at.map((x) => x + PEAK_MARK)].find((x) => x + width <= this.width && at.every((p) => p + PEAK_MARK <= x || p - PEAK_MARK >= x + width));
  }

  #rates(c, a, t) {
    const floor = this.height - AXIS - 1, shown = a.filtered || a.all;
    const most = Math.max(1, ...a.all.allocated);
    const height = (v) => (v / most) * (this.ratesHeight - 4);
    c.fillStyle = t.grid;
    if (a.filtered) this.#each(a.all.allocated, (x, w, v) => c.fillRect(x, floor - height(v), Math.max(0.6, w - 0.4), height(v)));
    c.fillStyle = t.curve;
    c.globalAlpha = 0.75;
    this.#each(shown.allocated, (x, w, v) => c.fillRect(x, floor - height(v), Math.max(0.6, w - 0.4), height(v)));
    c.globalAlpha = 1;
    c.fillStyle = this.#hatch(c, t);
    this.#each(shown.promoted, (x, w, v) => v > 0 && c.fillRect(x, floor - height(v), Math.max(0.6, w - 0.4), height(v)));
    c.fillStyle = t.dim;
    c.textAlign = "left";
    c.fillText(`${bytes((most / a.width) * 1e6)}/s`, this.width + 6, floor - this.ratesHeight + 8);
  }

  #hatch(to, t) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 4;
    const c = tile.getContext("2d");
    c.fillStyle = t.background;
    c.fillRect(0, 0, 4, 4);
    c.strokeStyle = t.text;
    c.beginPath();
    c.moveTo(-1, 5);
    c.lineTo(5, -1);
    c.stroke();
    return to.createPattern(tile, "repeat");
  }

  // Draws the times in the filter and the measure.
  #chosen(c, t) {
    const s = this.app.store.state;
    for (const term of split(s.filter)) {
      if (term.negated || (term.name !== "alloc" && term.name !== "live")) continue;
      for (const value of term.value.split(",")) {
        const [from, to] = this.rangeOf(value);
        if (from !== null) this.#shade(c, from, to, t.brush, t.accent);
      }
    }
    if (s.measure === "live" && s.at) this.#moment(c, this.timeOf(s.at) ?? this.answer.to, t.accent, []);
  }

  timeOf(text) {
    if (text === "@start") return 0;
    if (text === "@end") return this.app.trace?.duration ?? this.answer.to;
    if (text === "@peak") return this.app.trace?.peak?.time ?? null;
    const m = /^([\d.]+)(us|µs|ms|s|min|h)?$/.exec(text);
    return m ? +m[1] * { us: 1, µs: 1, ms: 1e3, s: 1e6, min: 60e6, h: 3600e6 }[m[2] || "us"] : null;
  }

  rangeOf(value) {
    const end = this.app.trace?.duration ?? this.answer.to;
    let m = /^([<>]=?)(.+)$/.exec(value);
    if (m) return m[1][0] === "<" ? [0, this.timeOf(m[2])] : [this.timeOf(m[2]), end];
    m = /^(.*?)\.\.(.*)$/.exec(value);
    if (!m) return [this.timeOf(value), this.timeOf(value)];
    return [m[1] ? this.timeOf(m[1]) : 0, m[2] ? this.timeOf(m[2]) : end];
  }

  #shade(c, from, to, color, edge) {
    const x0 = this.x(Math.min(from, to)), x1 = this.x(Math.max(from, to));
    c.fillStyle = color;
    c.fillRect(x0, 0, Math.max(1, x1 - x0), this.height - AXIS);
    c.fillStyle = edge;
    c.fillRect(x0 - 0.5, 0, 1, this.height - AXIS);
    c.fillRect(x1 - 0.5, 0, 1, this.height - AXIS);
  }

  #moment(c, time, color, dash) {
    const x = Math.round(this.x(time)) + 0.5;
    c.strokeStyle = color;
    c.setLineDash(dash);
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(x, 0);
    c.lineTo(x, this.height - AXIS);
    c.stroke();
    c.setLineDash([]);
  }

  #drawMarks(c, t) {
    c.fillStyle = t.text;
    for (const m of this.marks) {
      const x = this.x(m.time), floor = this.height - AXIS - this.ratesHeight - GAP;
      for (let y = TOP; y < floor; y += 6) c.fillRect(x, y, 1, 2);
      c.beginPath();
      c.moveTo(x, TOP);
      c.lineTo(x + 6, TOP + 3);
      c.lineTo(x, TOP + 6);
      c.fill();
    }
  }

  // Draws a triangle for each peak. Peaks that are not too close to a larger one are also buttons.
  #markPeaks(c, t, y) {
    c.textAlign = "center";
    const buttons = [];
    this.peaks.forEach((p, i) => {
      if (p.time < this.answer.from || p.time > this.answer.to) return;
      const x = this.x(p.time), top = Math.max(2, y(p.value) - 8);
      c.fillStyle = t.text;
      c.beginPath();
      c.moveTo(x - 4, top);
      c.lineTo(x + 4, top);
      c.lineTo(x, top + 6);
      c.fill();
      if (i < 3) c.fillText(String(i + 1), Math.min(this.width - 6, x + 9), top + 3);
      if (buttons.every((b) => Math.abs(b.x - x) >= NEAREST_PEAKS)) buttons.push({ p, i, x, top });
    });
    if (c === this.canvas.getContext("2d")) this.#placePeaks(buttons);
  }

  #placePeaks(buttons) {
    const key = JSON.stringify(buttons.map((b) => [b.x, b.top, b.p.time]));
    if (key === this.placed && this.overlay.childElementCount === buttons.length) return;
    this.placed = key;
    fill(this.overlay, buttons.map(({ p, i, x, top }) => {
      const text = `Peak ${i + 1}: ${bytes(p.value)} at ${duration(p.time)}`;
      return h("button.peak", { type: "button", title: `${text}\nclick: what was live then`, "aria-label": text, dataset: { peak: String(i + 1) }, style: { left: `${x}px`, top: `${top + 3}px` }, onclick: () => this.on.moment(p.time) });
    }));
  }

  // ---- choosing ----------------------------------------------------------------------------

  #listen() {
    const c = this.canvas;
    const at = (e) => e.clientX - c.getBoundingClientRect().left;
    let start = null;
    c.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || !this.answer) return;
      c.setPointerCapture(e.pointerId);
      start = at(e);
    });
    c.addEventListener("pointermove", (e) => {
      if (!this.answer) return;
      const x = at(e);
      if (start !== null && Math.abs(x - start) > 3) this.range = [this.time(start), this.time(x)];
      this.#showTip(e, x);
      this.draw();
    });
    c.addEventListener("pointerleave", () => (this.tip.hidden = true));
    c.addEventListener("pointerup", (e) => {
      if (start === null) return;
      const moved = this.range !== null;
      const from = start;
      start = null;
      this.tip.hidden = true;
      if (moved) this.#offer(e.clientX, e.clientY);
      else if (from > this.width) this.#explainScale(e);
      else this.on.moment(this.#round(this.time(from)));
    });
    c.addEventListener("pointercancel", () => {
      start = this.range = null;
      this.draw();
    });
    c.addEventListener("contextmenu", (e) => {
      if (!this.answer) return;
      e.preventDefault();
      this.tip.hidden = true;
      if (at(e) > this.width) return this.#explainScale(e);
      this.cursor = this.time(at(e));
      this.draw();
      this.#explain();
    });
    c.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || !this.answer) return;
      if (this.#key(e)) {
        e.preventDefault();
        e.stopPropagation();
      }
    });
    c.addEventListener("blur", () => {
      if (this.menu.isOpen) return;
      this.cursor = this.range = null;
      this.draw();
    });
  }

  #key(e) {
    const names = { h: "ArrowLeft", l: "ArrowRight", H: "ArrowLeft", L: "ArrowRight" };
    const k = names[e.key] || e.key, extend = e.shiftKey;
    const step = this.span / Math.max(1, this.answer.buckets);
    const old = this.cursor ?? this.answer.from;
    if (k === "ArrowLeft" || k === "ArrowRight") this.cursor = old + (k === "ArrowLeft" ? -step : step) * (e.repeat ? 4 : 1);
    else if (k === "Home") this.cursor = this.answer.from;
    else if (k === "End") this.cursor = this.answer.to;
    else if (k === "Enter" && this.range) {
      const box = this.canvas.getBoundingClientRect();
      this.#offer(box.left + this.x(this.range[1]), box.top + this.height / 2);
      return true;
    } else if (k === "Enter" && this.cursor !== null) {
      this.on.moment(this.#round(this.cursor));
      return true;
    } else if (k === "e" && this.cursor !== null) {
      this.#explain();
      return true;
    } else if (k === "-" && this.app.store.state.stretch) {
      this.app.store.set({ stretch: "" });
      return true;
    } else if (k === "Escape" && (this.range || this.cursor !== null)) {
      this.range = this.cursor = null;
      this.draw();
      return true;
    } else return false;
    this.cursor = Math.max(this.answer.from, Math.min(this.answer.to, this.cursor));
    this.range = extend ? [this.range ? this.range[0] : old, this.cursor] : null;
    this.#say();
    this.draw();
    return true;
  }

  #bucket(time) {
    return Math.max(0, Math.min(this.answer.buckets - 1, Math.floor((time - this.answer.from) / this.answer.width)));
  }

  #say() {
    const i = this.#bucket(this.cursor), a = this.answer.filtered || this.answer.all;
    this.said.textContent = `${duration(this.cursor)}: ${bytes(a.live[i])} live`;
  }

  // Explains live memory at the cursor.
  #explain() {
    const i = this.#bucket(this.cursor), a = this.answer, c = a.filtered || a.all, box = this.canvas.getBoundingClientRect();
    const figure = { value: c.live[i], low: c.live_low?.[i], high: c.live_high?.[i], samples: c.live_samples?.[i] };
    const lead = { text: `live at ${duration(this.cursor)}`, title: "Live memory", definition: `At the end of the ${duration(a.width)} that this step of the timeline stands for.`, worked: this.#worked(c, i) };
    this.app.explain({ left: box.left + this.x(this.cursor), bottom: box.bottom - AXIS }, { lead, figure, unit: "B", rate: a.rate, measure: "live" });
  }

  // Returns the other numbers of a step, and how they are computed.
  #worked(c, i) {
    const a = this.answer, perSecond = (what, v) => `${what}: ${bytes(v)} / ${duration(a.width)} = ${bytes((v / a.width) * 1e6)}/s`;
    const gauges = this.gauges.filter((g) => g.values[i] !== null).map((g) => `${titleOf(g.name)} ${bytes(g.values[i])}, as read by the recorder`);
    return [this.#byHeap(c, i), perSecond("allocated", c.allocated[i]), c.promoted[i] > 0 ? perSecond("promoted", c.promoted[i]) : "", ...gauges].filter(Boolean).join("\n");
  }

  // The top of the scale of live memory.
  get most() {
    const { all } = this.answer;
    return Math.max(1, ...all.live_high ?? all.live, ...all.live, ...(this.compared ? this.#otherLive : []));
  }

  // Explains the numbers beside the curves and below them.
  #explainScale(e) {
    const a = this.answer, rate = Math.max(1, ...a.all.allocated), gauges = this.#shownGauges().map((g) => titleOf(g.name));
    const lead = { text: `0 … ${bytes(this.most)}`, title: "Scale of the timeline", definition: `Bytes: the top is the most of live memory with its 95% interval${this.#ownScale(gauges)}. Below, what was allocated in each step of ${duration(a.width)}, a second; times count from the beginning of the trace.`, worked: `most allocated: ${bytes(rate)} / ${duration(a.width)} = ${bytes((rate / a.width) * 1e6)}/s` };
    this.app.explain({ left: e.clientX, bottom: e.clientY }, { lead, figure: null });
  }

  // Returns a text such as "minor heap 1.2 MB, major heap 30.1 MB"; "" if there is only one heap.
  #byHeap(curves, i) {
    const heaps = HEAPS.filter((k) => curves[`live_${k}`]?.some((v) => v > 0));
    return heaps.length < 2 ? "" : heaps.map((k) => `${HEAP_NAMES[k]} ${bytes(curves[`live_${k}`][i])}`).join(", ");
  }

  // Describes the layer under the pointer.
  #layerTip(e, i) {
    if (!this.answer.layers) return null;
    const floor = this.height - AXIS - this.ratesHeight - GAP, y = e.clientY - this.canvas.getBoundingClientRect().top;
    const l = y > floor ? null : layerAt(this.layers, i, ((floor - y) / (floor - TOP)) * this.most);
    if (!l) return null;
    return h("div", h("i.swatch", { style: { backgroundColor: fillOf(this.app.theme, l).color } }), `${l.name}: ${bytes(l.values[i])}`);
  }

  #comparedTip(time) {
    if (!this.compared) return null;
    const a = this.compared.answer, live = this.#otherLive, i = Math.floor((time - a.from) / a.width);
    return h("div", `${this.compared.names[1]}: ${i < live.length ? `${bytes(live[i])} live` : "has ended"}`);
  }

  #markTip(x) {
    const near = this.marks.filter((m) => Math.abs(this.x(m.time) - x) < 4);
    return near.length ? h("div", "mark: ", near.slice(0, 3).map((m) => m.name).join(", ")) : null;
  }

  #showTip(e, x) {
    const time = this.time(x), i = this.#bucket(time), a = this.answer;
    const line = (name, curves) => h("div", `${name}${bytes(curves.live[i])} live`, h("span.faint", curves.live_low ? ` (${bytes(curves.live_low[i])} … ${bytes(curves.live_high[i])})` : ""), `, ${bytes((curves.allocated[i] / a.width) * 1e6)}/s allocated`, curves.promoted[i] > 0 ? `, ${bytes((curves.promoted[i] / a.width) * 1e6)}/s promoted` : "", h("div.soft", this.#byHeap(curves, i)));
    fill(this.tip, this.range ? h("b", `${duration(Math.min(...this.range))} … ${duration(Math.max(...this.range))}`) : h("b", duration(time)), a.filtered ? [line("filtered: ", a.filtered), line("all: ", a.all)] : line(this.compared ? `${this.compared.names[0]}: ` : "", a.all), this.#comparedTip(time), this.#layerTip(e, i), this.#markTip(x), this.gauges.length ? h("div", this.gauges.map((g) => `${titleOf(g.name)} ${g.values[i] === null ? "–" : bytes(g.values[i])}`).join(", ")) : null, this.range ? null : h("div.faint", "click: live at this moment · drag: select a range · right click: explain the numbers"));
    this.tip.hidden = false;
    const { width } = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, Math.min(e.clientX + 12, innerWidth - width - 8))}px`;
    this.tip.style.top = `${e.clientY + 16}px`;
  }

  #offer(x, y) {
    const [a, b] = [Math.min(...this.range), Math.max(...this.range)].map((v) => this.#round(v));
    const choice = (how, text, key) =>
      h("button", { type: "button", role: "menuitem", dataset: { brush: how }, onclick: () => (this.menu.close(), this.#choose(how, a, b)) }, text, h("kbd", key));
    this.menu.open(x, y, [
      h("div.title", `${filterTime(a)} … ${filterTime(b)}`),
      choice("alloc", "Allocated in this range", "a"),
      choice("live", "Live at some moment in it", "l"),
      choice("freed", "Freed in it", "f"),
      choice("ends", "Compare its ends: live at start and end", "c"),
      this.app.source.offline ? null : choice("zoom", "Zoom the timeline to it", "z"),
    ]);
    this.menu.box.onkeydown = (e) => {
      const how = { a: "alloc", l: "live", f: "freed", c: "ends", z: "zoom" }[e.key];
      const items = [...this.menu.box.querySelectorAll("button")];
      const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
      if (!how && !step) return;
      e.preventDefault();
      e.stopPropagation();
      if (step) return items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
      this.menu.close();
      this.#choose(how, a, b);
    };
  }

  #choose(how, a, b) {
    this.range = null;
    if (how === "zoom") this.app.store.set({ stretch: `${filterTime(a)}..${filterTime(b)}` });
    else if (how === "ends") this.app.store.set({ a: filterTime(a), b: filterTime(b), view: "diff", moments: true, zoom: [], pick: [] });
    else this.on.brush(how, filterTime(a), filterTime(b));
    this.draw();
  }

  // Returns the next of the main peaks, in order of size.
  nextPeak() {
    if (!this.peaks.length) return null;
    const at = this.app.store.state.measure === "live" ? this.timeOf(this.app.store.state.at) : null;
    const now = this.peaks.findIndex((p) => p.time === at);
    return this.peaks[(now + 1) % this.peaks.length];
  }

  #listPeaks(button) {
    const box = button.getBoundingClientRect();
    this.menu.open(box.left, box.bottom + 4, [
      h("div.title", "The main peaks of live memory"),
      this.peaks.map((p, i) => h("button", { type: "button", role: "menuitem", onclick: () => (this.menu.close(), this.on.moment(p.time)) }, `${i + 1}.`, h("span", bytes(p.value)), h("span.margin", p.low < p.high ? `${bytes(p.low)} … ${bytes(p.high)}` : "exact"), h("span.grow"), h("span.faint", duration(p.time)))),
    ]);
    this.menu.box.onkeydown = null;
  }
}

// Returns the least 1, 2 or 5 times a power of ten that is not less than x, in the largest unit that fits.
function niceStep(x, base) {
  const unit = base ** Math.floor(Math.log(Math.max(1, x)) / Math.log(base));
  const v = x / unit, power = 10 ** Math.floor(Math.log10(v));
  const digit = v / power > 5 ? 10 : v / power > 2 ? 5 : v / power > 1 ? 2 : 1;
  return digit * power * unit;
}

export function ticks(from, to, most) {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 18e8, 36e8, 72e8, 144e8, 288e8, 864e8];
  const step = steps.find((s) => (to - from) / s <= most) ?? steps.at(-1);
  const times = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) times.push(t);
  const text = times.map((t) => (t === 0 ? "0" : t >= 6e7 && step >= 1e6 ? `${Math.floor(t / 6e7)}:${String(Math.round((t % 6e7) / 1e6)).padStart(2, "0")} min` : step >= 1e6 ? `${Math.round(t / 1e6)} s` : t >= 1e6 || step >= 1e5 ? `${+(t / 1e6).toFixed(6)} s` : step >= 1e3 ? `${Math.round(t / 1e3)} ms` : `${t} µs`));
  return { times, text };
}
