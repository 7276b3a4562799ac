// view-others.js: views that mostly show what the source says: diff, advice, source code.
import { deltaHead } from "./delta.js";
import { fill, h } from "./dom.js";
import { elementParts } from "./drawing.js";
import { editorTools, lineLink } from "./editor.js";
import { focusStep } from "./filterline.js";
import { amount, count } from "./format.js";
import { highlight } from "./highlight.js";
import { shortenTo } from "./names.js";
import { common, readAdvice } from "./source.js";
import { FlameView, momentsOf } from "./view-flame.js";
import { DiffTable } from "./view-tables.js";

export class DiffView {
  constructor(app) {
    this.app = app;
    this.as = h("div.segments", { role: "group", "aria-label": "Shown as" }, [["table", "Table"], ["flame", "Flame"]].map(([k, text]) =>
      h("button", { type: "button", dataset: { diffas: k }, onclick: () => app.store.set({ diffas: k, zoom: [], pick: [] }) }, text)));
    this.before = this.#select("before", "Before");
    this.after = this.#select("after", "After");
    this.normalise = h("select", { "aria-label": "Compare", onchange: () => app.store.set({ normalise: this.normalise.value }) },
      h("option", { value: "none" }, "amounts"), h("option", { value: "total" }, "shares of the total"), h("option", { value: "time" }, "amounts per second"));
    this.what = h("div.segments", { role: "group", "aria-label": "What is compared" }, [["", "Traces"], ["1", "Two moments"]].map(([k, text]) =>
      h("button", { type: "button", dataset: { moments: k }, onclick: () => app.store.set({ moments: k === "1", zoom: [], pick: [] }) }, text)));
    this.ofTraces = [h("label", "Before", this.before), h("label", "After", this.after), h("label", "Compare", this.normalise)];
    this.ofMoments = h("span.soft", { dataset: { shown: "moments" } });
    this.of = h("div.segments", { role: "group", "aria-label": "What of the moments" }, [["live", "Live then"], ["allocated", "Allocated until then"]].map(([k, text]) =>
      h("button", { type: "button", dataset: { of: k }, onclick: () => app.store.set({ of: k, zoom: [], pick: [] }) }, text)));
    this.tools = h("div.tools", this.what, this.as, this.of, this.ofTraces, this.ofMoments);
    this.traces = new DiffTable(app);
    this.moments = new DiffTable(app, { moments: true });
    this.flame = new FlameView(app, { diff: true });
    this.delta = h("div");
    this.stage = h("div.view");
    this.empty = h("div.empty", { hidden: true });
    this.element = h("div.view", this.tools, this.delta, this.stage, this.empty);
  }

  #select(key, label) {
    return h("select", { "aria-label": label, onchange: (e) => this.app.store.set({ [key]: +e.target.value, zoom: [] }) });
  }

  restyle() {
    this.flame.restyle();
  }

  measures(s) {
    if (!momentsOf(s, this.app)) return null;
    return { only: [], text: s.of === "live" ? "Live at two moments" : "Allocated until two moments" };
  }

  async update(s, changed) {
    const traces = this.app.info.traces;
    const options = () => traces.map((t) => h("option", { value: String(t.trace) }, t.name));
    for (const [e, v] of [[this.before, s.before], [this.after, s.after]]) {
      if (e.children.length !== traces.length) fill(e, options());
      e.value = String(v);
    }
    this.normalise.value = s.normalise;
    for (const b of this.as.children) b.setAttribute("aria-pressed", String(b.dataset.diffas === s.diffas));
    const two = traces.length > 1, moments = momentsOf(s, this.app);
    this.what.hidden = !two || !s.a || !s.b;
    for (const b of this.what.children) b.setAttribute("aria-pressed", String((b.dataset.moments === "1") === !!moments));
    for (const e of this.ofTraces) e.hidden = !!moments;
    this.of.hidden = !moments;
    for (const b of this.of.children) b.setAttribute("aria-pressed", String(b.dataset.of === s.of));
    fill(this.ofMoments, moments ? [s.of === "live" ? "What is live at " : "What was allocated until ", h("b", moments.from), s.of === "live" ? " and at " : " and until ", h("b", moments.to), s.filter ? ", of blocks matching the filter" : ""] : null);
    this.table = moments ? this.moments : this.traces;
    const few = !two && !moments;
    this.empty.hidden = !few;
    this.stage.hidden = this.tools.hidden = this.delta.hidden = few;
    if (few) this.app.report(null);
    if (few) return fill(this.empty, h("h2", "One trace is open"), h("p", "A diff needs two: ", h("code", "allotrace view before.ctf after.ctf")), h("p", "To compare two moments of this one, drag over the timeline and choose “Compare its ends”, or set “from” and “to” with its buttons."));
    const shown = s.diffas === "flame" ? this.flame : this.table;
    if (this.stage.firstChild !== shown.element) {
      fill(this.stage, shown.element);
      changed = null;
    }
    if (shown === this.flame) {
      await this.flame.update(s, changed);
      return this.#headOfFlame(s);
    }
    if (changed && !["trace", "filter", "measure", "at", "wrappers", "by", "before", "after", "normalise", "sort", "diffas", "difftypes", "search", "moments", "a", "b", "of"].some((k) => changed.has(k))) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    try {
      const { head } = await this.table.load(s, signal);
      fill(this.delta, deltaHead(this.app, this.#names(s), ...head));
      this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.app.trouble(error, this, () => {
        this.stage.hidden = true;
        this.empty.hidden = false;
        fill(this.empty, h("h2", "These cannot be compared"), h("p", error.message), this.app.waysOut());
      });
    }
  }

  #names(s) {
    const m = momentsOf(s, this.app);
    return m ? [m.from, m.to] : ["Before", "After"];
  }

  // Shows the total change, which is that of the root of the flame graph.
  #headOfFlame(s) {
    const l = this.flame.layers?.[0];
    if (!l?.tree.diff_change) return fill(this.delta);
    const d = this.flame.describe({ layer: 0, node: l.tree.root });
    const side = (key) => this.app.fact(amount(d.change[key], l.answer.unit), key === "before" ? "Before" : "After", "The estimate of one side, of what is shown; the table has its interval and samples.");
    const names = momentsOf(s, this.app) ? ["Went", "Came"] : ["Before", "After"];
    fill(this.delta, deltaHead(this.app, names, side("before"), side("after"), d.change, l.answer.unit));
  }

  // Returns the parts of the picture to download.
  drawings() {
    if (!this.empty.hidden) return [elementParts(this.empty)];
    return [elementParts(this.delta), ...(this.app.store.state.diffas === "flame" ? this.flame.drawings() : [elementParts(this.table.table.element)])];
  }

  focusSearch() {
    if (this.app.store.state.diffas === "flame") this.flame.focusSearch();
    else this.table.search.focus();
  }
  focusMain() {
    (this.app.store.state.diffas === "flame" ? this.flame.canvas : this.table.table.body).focus();
  }
  get #shownFlame() {
    return this.app.store.state.diffas === "flame" ? this.flame : null;
  }
  zoomOut() {
    return this.#shownFlame?.zoomOut() ?? false;
  }
  zoomWhole() {
    return this.#shownFlame?.zoomWhole() ?? false;
  }
  stepMatch(step) {
    return this.#shownFlame?.stepMatch(step) ?? false;
  }
  zoomAll() {
    return this.#shownFlame?.zoomAll() ?? false;
  }
  leave() {
    this.abort?.abort();
    this.flame.leave();
  }
}

const placeButton = (app, place) =>
  h("button.button", { type: "button", onclick: () => app.store.set({ view: "flame", mode: "sandwich", focus: focusStep(place), zoom: [], pick: [] }) }, h("span.mono.cut", { title: place.function }, shortenTo(place.function || place.file, 60)));

const GAIN = "The most that following the advice can save. Measure the changed program to see the actual saving.";

// Shows what the command says, in the same words and order.
export const adviceCard = (app, a, head, shown = true) => {
  const said = (label, text) => (text ? h("p", h("b", `${label} `), text) : null);
  return h("article.card", { dataset: { rule: a.rule } },
    h(shown ? "h2.advised" : "h3.advised", a.title),
    shown && a.head ? h("p", a.place ? ["in ", placeButton(app, a.place), " "] : null, a.head, a.functions.map((f) => [" ", placeButton(app, f.place)])) : null,
    said("Where:", a.where),
    said("What:", a.what),
    said("From:", a.from ? h("span.mono", { title: a.from.file }, shortenTo(a.from.function || a.from.file, 90)) : null),
    said("Why:", a.why),
    said("Do:", a.do),
    said("Gain:", a.gain ? app.fact(a.gain, "Gain", GAIN) : null),
    said("Sure:", a.sure),
    said("Check:", a.check.map((c) => h("code.command", c))),
    h("div.soft",
      shown && a.place && !a.head ? placeButton(app, a.place) : null,
      " ", app.number(a, { ...head, name: "advice" }), " ", app.following("interval", a, head, { className: "margin" }), head.total.value ? [" · ", app.following("share", a, head, { whole: head.total.value })] : null,
      a.filter && !app.source.offline ? [" ", h("button.button", { type: "button", onclick: () => app.store.set({ filter: a.filter, view: "flame", zoom: [], pick: [] }) }, "Show these blocks")] : null));
};

export class AdviceView {
  constructor(app) {
    this.app = app;
    this.cards = h("div.cards", { tabindex: "0", role: "region", "aria-label": "Advice" });
    this.element = h("div.view", this.cards);
  }
  restyle() {}
  measures() {
    return { only: ["allocated"] };
  }
  async update(s, changed) {
    if (changed && !["trace", "filter", "measure", "at", "wrappers"].some((k) => changed.has(k)) && this.head) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    try {
      const a = (this.head = await this.app.source.get("advice", common(s), signal));
      this.app.report(a);
      const all = readAdvice(a).map((x) => adviceCard(this.app, x, a));
      fill(this.cards, all.length ? all : h("div.empty", h("h2", "No advice"), h("p", "No rule found anything significant. That is good news, or the trace has too few samples.")));
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.app.trouble(error, this, () => fill(this.cards, h("div.empty", h("h2", "This cannot be shown"), h("p", error.message), this.app.waysOut())));
    }
    this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
  }
  focusMain() {
    this.cards.querySelector("button")?.focus();
  }
  leave() {
    this.abort?.abort();
  }
}

// A row of the CSV file.
const lineRow = (line, costs, source) => {
  const { value = 0, low = 0, high = 0, samples = 0, self = 0 } = costs.get(line) ?? {};
  return { line, value, low, high, samples, self, source };
};

const MORE = 100, LINES_MOST = 2000; // lines; the latter is the server's limit

const stretch = (lines) => {
  const m = /^(\d+)-(\d+)$/.exec(lines);
  return m ? { from: m[1], to: m[2] } : {};
};

export class SourceView {
  constructor(app) {
    this.app = app;
    this.title = h("span.mono.cut");
    this.range = h("span.faint");
    this.code = h("div.code", { tabindex: "0", "aria-label": "Source" });
    this.empty = h("div.empty", { hidden: true });
    this.editor = h("span.editor");
    this.element = h("div.view", h("div.tools", this.title, this.range, h("span.grow"), this.editor), this.code, this.empty);
  }
  restyle() {}
  async update(s, changed) {
    if (changed && !["trace", "filter", "measure", "at", "wrappers", "line", "lines"].some((k) => changed.has(k)) && this.head) return;
    const show = (title, text, buttons) => {
      if (title) this.rows = [];
      this.code.hidden = !!title;
      this.empty.hidden = !title;
      if (title) fill(this.empty, h("h2", title), h("p", text), buttons);
    };
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    if (!/^\d+$/.test(s.line)) {
      this.app.report(null);
      return show("Choose a place", "Select a frame or a row and choose “Source” in its menu (x).");
    }
    try {
      const a = (this.head = await this.app.source.get("source", { ...common(s), place: s.line, ...stretch(s.lines) }, signal));
      this.app.report(a);
      fill(this.title, a.file || "?");
      fill(this.range, a.found ? `lines ${a.first} … ${a.first + a.lines.length - 1} of ${a.count}` : "");
      const costs = new Map((a.costs?.line || []).map((line, i) => [line, { value: a.costs.value[i], low: a.costs.low[i], high: a.costs.high[i], samples: a.costs.samples[i], blocks: a.costs.blocks[i], self: a.costs.self[i] }]));
      if (!a.found && costs.size === 0) show("The file is not here", a.reason || "");
      else {
        show();
        this.#draw(a, costs, s);
      }
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.app.trouble(error, this, () => show("This cannot be shown", error.message, this.app.waysOut()));
    }
    this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
  }

  // A button for more lines above or below, if the file has any.
  #more(a, above) {
    const last = a.first + a.lines.length - 1;
    if (this.app.source.offline || (above ? a.first <= 1 : last >= a.count)) return null;
    const from = above ? Math.max(1, a.first - MORE) : Math.max(a.first, last + MORE - LINES_MOST + 1);
    const to = above ? Math.min(last, from + LINES_MOST - 1) : Math.min(a.count, last + MORE);
    const text = `${count(above ? a.first - from : to - last)} more lines ${above ? "above" : "below"}`;
    return h("button.button.plain.morelines", { type: "button", dataset: { more: above ? "above" : "below" }, onclick: () => this.app.store.replace({ lines: `${from}-${to}` }) }, text);
  }

  // Keeps the visible lines in place if only more lines were added.
  #keepInView(a, s, before) {
    const same = this.drawn === `${s.trace} ${s.line}`;
    this.drawn = `${s.trace} ${s.line}`;
    if (!same) return this.code.querySelector(".here")?.scrollIntoView({ block: "center" });
    const row = before && this.code.querySelector(`[data-line="${before.line}"]`);
    if (row) this.code.scrollTop += row.getBoundingClientRect().top - before.top;
  }

  #topmost() {
    const top = this.code.getBoundingClientRect().top;
    const row = [...this.code.querySelectorAll("[data-line]")].find((e) => e.getBoundingClientRect().top >= top);
    return row && { line: row.dataset.line, top: row.getBoundingClientRect().top };
  }

  #draw(a, costs, s) {
    const before = this.#topmost();
    const most = Math.max(1, ...[...costs.values()].map((c) => c.value));
    const painted = a.found ? highlight(a.lines, a.file) : [];
    this.rows = a.found ? a.lines.map((text, i) => lineRow(a.first + i, costs, text)) : [...costs.keys()].map((n) => lineRow(n, costs, ""));
    fill(this.editor, a.path ? editorTools(this.app, a.path, a.line, () => this.#draw(a, costs, s)) : null);
    const lines = a.found ? painted.map((pieces, i) => [a.first + i, pieces.map((p) => (p.kind ? h(`i.hl-${p.kind}`, p.text) : p.text))]) : [...costs.keys()].sort((x, y) => x - y).map((n) => [n, ""]);
    fill(this.code, a.found ? null : h("p.soft", `${a.file || "The file"}: ${a.reason || "it is not here"}. Its lines with costs:`), h("div.line.title", h("span.cost", { title: "Of all stacks that contain the line" }, "with callees"), h("span.cost", { title: "Allocated in the line itself" }, "itself"), h("span.no", "line"), h("span.heat"), h("span")), a.found ? this.#more(a, true) : null, lines.map(([n, text]) => {
      const c = costs.get(n);
      const row = h(`div.line${c ? ".hot" : ""}${n === a.line ? ".here" : ""}`, { dataset: { line: String(n) } },
        h("span.cost", c ? this.app.number(c, { ...a, name: "line" }) : ""),
        h("span.cost.faint", c?.self > 0 ? this.app.following("self", { value: c.self }, a, { alone: true }) : ""),
        h("span.no", lineLink(this.app, a.path, n)), h("span.heat"), h("span", text));
      if (c) row.style.setProperty("--heat", String(Math.sqrt(c.value / most)));
      return row;
    }), a.found ? this.#more(a, false) : null);
    this.#keepInView(a, s, before);
  }
  focusMain() {
    this.code.focus();
  }
  leave() {
    this.abort?.abort();
  }
}
