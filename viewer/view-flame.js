// view-flame.js: the flame view: loads trees, passes them to the canvas, and turns what is chosen there into state. A
// zoom is drawn immediately from the tree at hand; the finer tree replaces it when it arrives.
import { changeColor, changeText, signed, unsureText } from "./delta.js";
import { fill, h } from "./dom.js";
import { elementParts, SvgDrawing } from "./drawing.js";
import { focusField, searchField } from "./fields.js";
import { amount, count, duration, filterTime, marginText, percent } from "./format.js";
import { focusOn } from "./filterline.js";
import { Flame } from "./flame.js";
import { openMenu } from "./menu.js";
import { shortenTo } from "./names.js";
import { colorOf, moduleLegend, moduleOf, modulesIn } from "./modules.js";
import { askTimePaths, askTree, matcher, readTree, searchPattern } from "./source.js";
import { ancestors, follow, search } from "./tree.js";
import { MODES } from "./state.js";
import { hasTimes } from "./start.js";

const MODE_NAMES = { icicle: "Icicle", flame: "Flame", inverted: "Inverted", sandwich: "Sandwich", time: "Over time" };
const MODE_HELP = {
  icicle: "Callers above, what they call below",
  flame: "Callers below, what they call above",
  inverted: "What allocates on top, its callers below",
  sandwich: "Callers above and callees below a function or a sequence of them",
  time: "From left to right over time: the calls that allocated most in each interval",
};

const CRUMB = 22, CRUMB_LAST = 60; // characters

export class FlameView {
  constructor(app, { diff = false } = {}) {
    this.app = app;
    this.diff = diff;
    this.known = new Map(); // path → figure and place, for the frames around a zoomed one
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": "Call tree: arrows move, Enter zooms in, Backspace out, x opens a menu" });
    this.stage = h("div.canvas", this.canvas);
    this.crumbs = h("nav.crumbs", { "aria-label": "Zoomed into" });
    this.stretched = h("button.stretched", { type: "button", title: "The wheel zoomed in (Ctrl). Esc, 0 or Backspace: all again", hidden: true, onclick: () => this.zoomWhole() });
    this.legend = h("div.modules", { tabindex: "0", role: "group", "aria-label": "What colours mean" });
    this.matched = h("span.matched", { role: "status" });
    this.step = h("span.segments", { role: "group", "aria-label": "Matches", hidden: true },
      h("button", { type: "button", title: "Previous match (N)", "aria-label": "Previous match", onclick: () => this.stepMatch(-1) }, "‹"),
      (this.steps = h("span.steps", { role: "status" })),
      h("button", { type: "button", title: "Next match (n)", "aria-label": "Next match", onclick: () => this.stepMatch(1) }, "›"));
    this.said = h("div.away", { role: "status" });
    this.empty = h("div.empty", { hidden: true });
    this.tip = h("div.tip", { hidden: true });
    document.body.append(this.tip);
    this.tools = h("div.tools");
    this.#buildTools();
    this.element = h("div.view", this.tools, this.crumbs, this.stage, this.empty, this.legend, this.said);
    this.flame = new Flame(this.canvas, this.theme, {
      pick: (at) => this.#pick(at),
      zoom: (at) => this.zoomTo(at),
      menu: (at, x, y) => this.#menu(at, x, y),
      hover: (at, x, y, other) => this.#hover(at, x, y, other),
      moved: (span) => app.store.replace({ span }),
      stretched: () => this.#showStretch(),
      whole: () => this.zoomWhole(),
      other: (o) => this.zoomTo({ layer: o.layer, node: o.parent }),
    });
    this.flame.colorOf = (tree, i) => this.#color(tree, i);
    this.flame.labelOf = (tree, i) => this.label(tree, i);
    this.flame.amountOf = (tree, i) => this.amount(tree, i);
  }

  // ---- tools -------------------------------------------------------------------------------

  #buildTools() {
    const { store } = this.app;
    this.modes = h("div.segments", { role: "group", "aria-label": "Form" }, MODES.filter((m) => !this.diff || (m !== "sandwich" && m !== "time")).map((m) =>
      h("button", { type: "button", title: `${MODE_HELP[m]} (v)`, dataset: { mode: m }, onclick: () => store.set({ mode: m, zoom: [], pick: [] }) }, MODE_NAMES[m])));
    const done = () => this.canvas.focus();
    this.search = searchField(this.app, { label: "Search functions and files", placeholder: "Search: a word or a regex", done, entered: (search, back) => this.#enterSearch(search, back) });
    this.around = this.diff ? null : focusField(this.app, done);
    this.recursion = h("button.button", { type: "button", title: "Show recursive calls of a function as one frame (r)", onclick: () => store.set({ recursion: !store.state.recursion, zoom: [], pick: [] }) }, "Collapse recursion");
    this.lines = h("button.button", { type: "button", title: "Frames are lines of the source instead of functions", onclick: () => store.set({ by: store.state.by === "line" ? "" : "line", zoom: [], pick: [] }) }, "Lines");
    this.wrappers = h("button.button", { type: "button", title: "Show allocation wrappers such as xmalloc as sites", onclick: () => store.set({ wrappers: !store.state.wrappers, zoom: [], pick: [] }) }, "Wrappers");
    this.share = h("input", {
      type: "range", min: "0", max: "50", step: "1", "aria-label": "Merge frames below this share", title: "Merge frames below this share of what is shown",
      oninput: () => store.replace({ share: shareOf(+this.share.value) }),
    });
    this.shareText = h("span.faint");
    fill(this.tools, this.modes, this.around?.element, this.search.element, h("span.grow"), this.recursion, this.lines, this.wrappers, h("label", { title: "Frames below this share of what is shown are merged" }, "Merge below", this.share, this.shareText));
  }

  #showTools(s) {
    for (const b of this.modes.children) {
      b.setAttribute("aria-pressed", String(b.dataset.mode === s.mode));
      b.hidden = b.dataset.mode === "time" && s.mode !== "time" && !hasTimes(this.app.trace);
    }
    this.recursion.setAttribute("aria-pressed", String(s.recursion));
    this.lines.setAttribute("aria-pressed", String(s.by === "line"));
    this.wrappers.setAttribute("aria-pressed", String(s.wrappers));
    this.search.show(s.search);
    this.around?.show(s.focus);
    if (this.around) this.around.element.hidden = s.mode !== "sandwich";
    this.recursion.hidden = this.#isTimed(s);
    this.share.value = String(sliderOf(s.share));
    this.shareText.textContent = `${s.share}%`;
    for (const b of [this.recursion, this.lines, this.wrappers]) b.disabled = this.app.source.offline && b !== this.recursion;
  }

  focusSearch() {
    this.search.focus();
  }

  // ---- data --------------------------------------------------------------------------------

  get theme() {
    return this.app.theme;
  }

  restyle() {
    this.hues = new WeakMap();
    this.flame.restyle(this.theme);
    this.#drawLegend();
  }

  async update(s, changed) {
    this.#showTools(s);
    this.flame.setShare(s.share);
    if (changed?.has("lit")) this.restyle();
    const mine = ["trace", "filter", "measure", "at", "wrappers", "mode", "by", "recursion", "focus", "zoom", "search", "before", "after", "moments", "a", "b", "of", ...(s.mode === "time" ? ["stretch"] : [])];
    if (changed && !mine.some((k) => changed.has(k)) && this.layers) {
      if (changed.has("pick")) this.#restorePick(s);
      if (changed.has("span")) this.flame.setSpan(s.span);
      this.#showStretch();
      this.#showStep();
      return;
    }
    await this.#load(s);
  }

  #isTimed(s) {
    return s.mode === "time" && !this.diff;
  }

  // Returns what to ask for: one tree, or the two around a focus.
  #questions(s) {
    if (this.#isTimed(s)) return [{ mode: "time", direction: 1, zoom: [] }];
    const up = s.zoom[0] === "^", zoom = up ? s.zoom.slice(1) : s.zoom;
    if (s.mode !== "sandwich" || this.diff) return [{ mode: s.mode === "inverted" ? "inverted" : "down", direction: s.mode === "flame" ? -1 : 1, zoom }];
    return [
      { mode: "callees", direction: 1, zoom: up ? [] : zoom },
      { mode: "callers", direction: -1, zoom: up ? zoom : [] },
    ];
  }

  async #load(s) {
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    const focus = s.mode === "sandwich" && !this.diff ? s.focus : "";
    if (s.mode === "sandwich" && !this.diff && !s.focus) {
      this.app.report(null);
      return this.#showEmpty("Choose a function", "A sandwich shows callers above and callees below a function, or a sequence of calls. Select one in a flame or a table and choose “Sandwich around it”.", [h("button.button", { type: "button", onclick: () => this.app.store.set({ view: "functions" }) }, "All functions")]);
    }
    const moments = this.diff && momentsOf(s, this.app);
    const diff = moments ? { trace: s.trace || undefined, measure: undefined, at: undefined, ...moments } : this.diff ? { trace: undefined, before: s.before, after: s.after } : undefined;
    const question = JSON.stringify([this.#isTimed(s) && s.stretch, s.trace, s.filter, s.measure, s.at, s.wrappers, s.mode, s.by, s.recursion, focus, diff]);
    const base = `${question} ${this.app.generation}`;
    if (base !== this.base) this.known.clear();
    const ask = (q, root) => q.mode === "time" ? askTimePaths(this.app.source, s, { width: this.flame.width || 1200, signal }) : askTree(this.app.source, s, q.mode, { width: this.flame.width || 1200, focus, root, signal, diff });
    const questions = this.#questions(s);
    let answers;
    this.loading = true;
    this.element.setAttribute("aria-busy", "true");
    try {
      answers = await Promise.all(questions.flatMap((q) => [
        ask(q, this.app.source.offline ? [] : q.zoom),
        // The frames around a zoomed frame, if they have not been loaded yet.
        q.zoom.length && !this.app.source.offline && !this.#knows(q) ? ask(q, []) : null,
      ]));
      if (this.#moving()) await this.#settled();
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.element.removeAttribute("aria-busy");
      return this.app.trouble(error, this, () => error.status === 0 && this.layers ? this.app.toast(`${error.message}: the page may be out of date`) : this.#showEmpty("This cannot be shown", error.message, this.app.waysOut()));
    }
    if (signal.aborted) return;
    const before = this.base === base ? this.zoomed : null;
    // If the trace has grown, or more of it was read, the visible range stays.
    const grown = this.base !== base && this.question === question && JSON.stringify(s.zoom) === this.zoom;
    Object.assign(this, { base, question, zoom: JSON.stringify(s.zoom) });
    this.#take(s, questions, answers, before, grown);
    this.element.removeAttribute("aria-busy");
  }

  #moving() {
    return this.flame.layers.some((v) => v.move);
  }

  #settled() {
    return new Promise((done) => {
      const look = () => (this.#moving() ? requestAnimationFrame(look) : done());
      look();
    });
  }

  #take(s, questions, answers, before, grown) {
    const head = answers[0];
    this.head = this.diff ? { ...head, rate: undefined } : head;
    this.app.report(!this.diff ? head : head.to !== undefined ? { ...head.after, note: `${noteOf(s)}, and not yet at “from”` } : head[s.trace === s.before ? "before" : "after"]);
    if (!head.total?.blocks && !this.diff) return this.#showEmpty(...this.app.whyEmpty(head));
    if (this.diff && answers[0].nodes.parent.length < 2) return this.#showEmpty("Nothing to compare", nothingOn(s, this.app));
    questions.forEach((q, i) => {
      if (!answers[2 * i + 1]) return;
      const tree = readTree(answers[2 * i + 1]);
      this.#learn(tree, q.mode, follow(tree, q.zoom).node);
    });
    this.layers = questions.map((q, i) => {
      const answer = answers[2 * i];
      const trail = this.#trail(q, answer);
      const tree = readTree(answer, trail.slice(0, -1));
      this.#learn(tree, q.mode, tree.root);
      return { ...q, answer, tree, ids: trail.slice(1).map((t) => t.id) };
    });
    this.hues = new WeakMap();
    this.modules = modulesIn(this.layers.map((l) => l.tree));
    if (!this.diff) this.app.takeHues(this.modules);
    this.empty.hidden = true;
    this.stage.hidden = this.legend.hidden = this.crumbs.hidden = false;
    const focused = this.flame.picked;
    this.flame.show(this.layers.map((l) => ({ tree: l.tree, direction: l.direction })), { keepView: grown });
    this.flame.theme = this.theme;
    this.layers.forEach((l, i) => this.#enter(l, i, before?.[i]));
    if (!grown) this.layers.forEach((l, i) => l.tree.root > 0 && this.flame.bringUp({ layer: i, node: l.tree.root }));
    this.zoomed = this.layers.map((l) => l.ids);
    if (s.span.length && !grown) this.flame.setSpan(s.span);
    this.#search(s);
    this.#drawCrumbs();
    this.#drawLegend();
    this.#restorePick(s, focused);
    this.#showStep();
    this.loading = false;
    if (this.stepWhenLoaded) this.stepMatch(this.stepWhenLoaded, false);
    this.stepWhenLoaded = 0;
    this.stage.dataset.ready = String((+this.stage.dataset.ready || 0) + 1);
  }

  // Animates from the previous range to the whole of the new tree.
  #enter(l, i, oldIds) {
    const { tree } = l;
    let node = tree.root;
    if (this.app.source.offline && l.zoom.length) node = follow(tree, l.zoom).node;
    if (oldIds && oldIds.length > l.ids.length) {
      const old = follow(tree, oldIds.slice(l.ids.length), node).node;
      if (old !== node) {
        this.flame.zoom({ layer: i, node: old }, false);
        return this.flame.zoom({ layer: i, node }, true);
      }
    }
    this.flame.zoom({ layer: i, node }, false);
  }

  // Remembers what a tree says about the frames on the path to a node.
  #learn(tree, mode, node) {
    const path = ancestors(tree, node);
    const ids = path.slice(1).map((n) => tree.places[tree.place[n]]?.id);
    path.forEach((n, i) => {
      if (Number.isNaN(tree.value[n])) return;
      this.known.set(this.#pathKey(mode, ids.slice(0, i)), { value: tree.value[n], low: tree.low[n], high: tree.high[n], samples: tree.samples[n], blocks: tree.blocks[n], self: tree.self[n], at: i === 0 ? null : tree.places[tree.place[n]] });
    });
  }

  #knows(q) {
    return Array.from({ length: q.zoom.length }, (_, i) => i).every((i) => this.known.has(this.#pathKey(q.mode, q.zoom.slice(0, i))));
  }

  #pathKey(mode, ids) {
    return ids.length ? `${mode === "callers" ? "^" : ""}${ids.join(".")}` : "";
  }

  // Returns the frames from the root to the zoomed one, with what is known about them.
  #trail(q, answer) {
    const found = this.app.source.offline ? [] : answer.root?.found ?? q.zoom;
    const trail = [{ ...(this.known.get(this.#pathKey(q.mode, [])) || unknown()), at: null, id: null }];
    found.forEach((id, i) => {
      const known = this.known.get(this.#pathKey(q.mode, found.slice(0, i + 1)));
      trail.push({ ...(known || unknown()), at: known?.at ?? placeById(answer, id), id });
    });
    return trail;
  }

  label(tree, i) {
    if (i === 0) {
      if (this.app.store.state.mode === "sandwich" && !this.diff) return this.#focusName();
      if (this.diff) return `change ${signed(tree.diff_change[0], tree.unit)}`;
      if (tree.at) return `all, ${duration(tree.start)} to ${duration(tree.start + tree.total[0])}: ${amount(tree.value[0], tree.unit)}`;
      return `all ${amount(tree.value[0] >= 0 ? tree.value[0] : tree.total[0], tree.unit)}`;
    }
    const p = tree.places[tree.place[i]];
    if (!p) return "(no call stack)";
    const name = p.function || p.file || "?";
    return this.app.store.state.by === "line" && p.line ? `${name}:${p.line}` : name;
  }

  // Returns the text at the right end of a frame: amount and share of the total, or the change in a diff.
  amount(tree, i) {
    const value = tree.value[i] >= 0 ? tree.value[i] : tree.total[i], all = this.head?.total?.value;
    if (this.diff) return i > 0 ? signed(tree.diff_change[i], tree.unit) : null;
    const sandwich = this.app.store.state.mode === "sandwich";
    return (i > 0 || sandwich) && all > 0 ? `${amount(value, tree.unit)} · ${percent((100 * value) / all)}` : null;
  }

  #focusName() {
    const focus = this.app.store.state.focus;
    return this.app.nameOfFocus(focus);
  }

  #color(tree, i) {
    if (this.diff) return changeColor(this.theme, tree.diff_change[i], tree.diff_sure[i], this.#largestChange(tree));
    let hues = this.hues.get(tree);
    if (!hues) {
      hues = tree.places.map((p) => {
        const m = moduleOf(p), { lit } = this.app.store.state;
        return lit && lit !== m ? this.theme.rest : colorOf(this.app, m);
      });
      this.hues.set(tree, hues);
    }
    const place = tree.place[i];
    return place < 0 ? this.theme.rest : hues[place];
  }

  // Returns the largest change of all nodes in the tree.
  #largestChange(tree) {
    tree.largest ??= tree.diff_change.reduce((most, v) => Math.max(most, Math.abs(v) || 0), 0);
    return tree.largest;
  }

  #drawLegend() {
    if (!this.layers) return;
    const swatch = (color, text) => h("span", h("i.swatch", { style: { background: color } }), text);
    if (this.diff) return fill(this.legend, swatch(this.theme.up, "▲ more"), swatch(this.theme.down, "▼ less"), swatch(this.theme.still, unsureText(this.layers[0].answer)), h("span.faint", this.layers[0].answer.to === undefined ? "the stronger, the larger the change; widths are both traces together" : "the stronger, the larger the change; widths: what went and what came"));
    fill(this.legend, moduleLegend(this.app, this.modules), h("span", h("i.swatch.hatched"), "too small to draw"));
  }

  // ---- search ------------------------------------------------------------------------------

  #search(s) {
    if (!s.search) {
      this.flame.setMatches(null);
      fill(this.matched);
      this.#showStep();
      return;
    }
    const shown = this.layers[0].answer.matched, { tree } = this.layers[0], whole = tree.at ? tree.value[0] : tree.total[tree.root];
    const found = this.layers.map((l) => this.#matches(l, s));
    this.flame.setMatches(found.map((f) => f.matched));
    const figure = shown ? { ...shown, share: shown.share * 100 } : { value: found[0].amount, samples: found[0].samples, share: (100 * found[0].amount) / whole };
    fill(this.matched, figure.value > 0 ? ["matched ", this.app.number(figure, { ...this.head, name: "matched" }), " (", this.app.following("share", figure, this.head, { whole, of: "what is shown" }), " of what is shown)"] : "no match in what is shown");
    this.#showStep();
  }

  // Enter in the search field goes to the next match, once the search for the typed text is done.
  #enterSearch(search, back) {
    this.app.store.set({ search });
    if (!search) return false;
    if (this.loading) this.stepWhenLoaded = back ? -1 : 1;
    else this.stepMatch(back ? -1 : 1, false);
    return true;
  }

  // Selects the match after or before the selected frame, wrapping around.
  stepMatch(step, focus = true) {
    const found = this.flame.matches(), { picked } = this.flame;
    if (!found.length) return false;
    const place = ({ layer, node }) => layer * 1e9 + node, now = picked ? place(picked) : -1;
    const at = step > 0 ? found.findIndex((f) => place(f) > now) : found.findLastIndex((f) => place(f) < now);
    this.#pick(found[at >= 0 ? at : step > 0 ? 0 : found.length - 1], focus);
    return true;
  }

  #showStep() {
    const found = this.flame.matches(), { picked } = this.flame;
    const at = found.findIndex((f) => f.node === picked?.node && f.layer === picked.layer);
    this.step.hidden = !found.length;
    fill(this.steps, at < 0 ? count(found.length) : `${count(at + 1)} of ${count(found.length)}`);
  }

  #matches({ tree, answer }, s) {
    if (answer.nodes.match) return { matched: tree.match.map((m) => (m === 1 ? 1 : 0)) };
    const matches = matcher(searchPattern(s.search));
    return search(tree, tree.root, tree.places.map((p) => p && (matches(p.function) || matches(p.file))));
  }

  // ---- choosing ----------------------------------------------------------------------------

  pathIds({ layer, node }) {
    const { tree, mode } = this.layers[layer];
    const ids = ancestors(tree, node).slice(1).map((i) => tree.places[tree.place[i]]?.id).filter((id) => id !== undefined);
    return mode === "callers" ? (ids.length ? ["^", ...ids] : []) : ids;
  }

  #drawCrumbs() {
    const l = this.layers.find((x) => x.zoom.length) || this.layers[0];
    const prefix = l.mode === "callers" ? ["^"] : [];
    const nodes = ancestors(l.tree, this.app.source.offline ? follow(l.tree, l.zoom).node : l.tree.root);
    const steps = nodes.map((node, i) => ({ text: i === 0 ? "all" : this.label(l.tree, node), zoom: i === 0 ? [] : [...prefix, ...nodes.slice(1, i + 1).map((n) => l.tree.places[l.tree.place[n]]?.id)] }));
    const room = 7, cutFrom = 2, cut = steps.length > room ? steps.length - room + 1 : 0;
    fill(this.crumbs, steps.map((step, i) => {
      if (cut && i === cutFrom) return [h("span", `… ${cut} more`), h("span", " › ")];
      if (cut && i > cutFrom && i < cutFrom + cut) return null;
      const last = i === steps.length - 1;
      return [h(`button.cut`, { type: "button", title: step.text, "aria-current": last ? "true" : undefined, onclick: () => this.app.store.set({ zoom: step.zoom, span: [] }) }, shortenTo(step.text, last ? CRUMB_LAST : CRUMB)), last ? null : h("span", "›")];
    }), steps.length > 1 || this.#zoomedInTime ? h("button", { type: "button", title: "Zoom out (Backspace)", onclick: () => this.zoomOut() }, "zoom out") : this.app.store.state.search ? null : h("span.faint", { style: { paddingLeft: "8px" } }, "double click or Enter zooms in"), this.stretched, h("span.grow"), this.matched, this.step);
    this.crumbs.classList.toggle("whole", steps.length === 1 && !this.app.store.state.search);
    this.#showStretch();
  }

  get #zoomedInTime() {
    const s = this.app.store.state;
    return this.#isTimed(s) && !!s.stretch;
  }

  // Magnification by the wheel has no crumb, so a button shows it and resets it.
  #showStretch() {
    const by = this.flame.stretch;
    this.stretched.hidden = by < 1.001;
    fill(this.stretched, `× ${by < 10 ? by.toFixed(1) : count(by)}: show the whole width`);
  }

  // Resets the visible range to the whole zoomed frame.
  zoomWhole() {
    if (this.flame.stretch < 1.001) return false;
    this.flame.whole();
    this.#showStretch();
    this.app.store.replace({ span: [] });
    return true;
  }

  #wholeTime() {
    const { stretch } = this.app.store.state;
    if (stretch) this.app.store.set({ stretch: "", pick: [], span: [] });
    return !!stretch;
  }

  zoomAll() {
    this.flame.whole();
    if (this.#isTimed(this.app.store.state)) this.#wholeTime();
    else this.app.store.set({ zoom: [], span: [] });
  }

  zoomTo(at) {
    const l = this.layers[at.layer];
    if (l.tree.at) return this.#zoomInTime(l.tree, at.node);
    const ids = this.pathIds(at);
    const target = at.node <= l.tree.root && at.node > 0 && at.node === l.tree.root ? ids.slice(0, -1) : ids;
    this.#learn(l.tree, l.mode, at.node);
    this.flame.zoom(at);
    this.app.store.set({ zoom: target, pick: ids, span: [] });
  }

  // Zooms the timeline as well.
  #zoomInTime(tree, node) {
    const from = tree.start + tree.at[node], to = from + tree.total[node];
    if (node > 0 && to - from > 1) this.app.store.set({ stretch: `${filterTime(from)}..${filterTime(to)}`, pick: [], span: [] });
  }

  zoomOut() {
    if (this.zoomWhole()) return true;
    if (this.#isTimed(this.app.store.state)) return this.#wholeTime();
    const { zoom } = this.app.store.state;
    if (!zoom.length) return false;
    const shorter = zoom.slice(0, -1);
    this.app.store.set({ zoom: shorter.length === 1 && shorter[0] === "^" ? [] : shorter });
    return true;
  }

  describe({ layer, node }) {
    const { tree } = this.layers[layer];
    const path = ancestors(tree, node).slice(1).map((i) => tree.places[tree.place[i]]).filter(Boolean);
    return {
      place: node === 0 ? null : tree.places[tree.place[node]] || null,
      name: this.label(tree, node),
      figure: { value: tree.value[node], low: tree.low[node], high: tree.high[node], samples: tree.samples[node], blocks: tree.blocks[node] },
      self: tree.self[node],
      counts: this.layers[layer].mode === "down" && node > 0 && !this.diff ? "with callees" : undefined,
      path: ["down", "time"].includes(this.layers[layer].mode) ? path : [...path].reverse(),
      time: tree.at ? [tree.start + tree.at[node], tree.start + tree.at[node] + tree.total[node]] : null,
      head: this.head,
      shown: tree.at ? this.head.total.value : tree.value[tree.root],
      change: tree.change ? { before: tree.diff_before[node], after: tree.diff_after[node], change: tree.diff_change[node], low: tree.diff_change_low[node], high: tree.diff_change_high[node], sure: tree.diff_sure[node], decided: this.layers[layer].answer.decided } : null,
    };
  }

  #pick(at, focus = true) {
    this.flame.pick(at);
    if (focus) this.canvas.focus({ preventScroll: true });
    this.#showStep();
    const d = this.describe(at);
    this.said.textContent = `${d.name}, ${amount(d.figure.value, this.head.unit)}, ${percent((100 * d.figure.value) / this.head.total.value)}`;
    this.app.select(d);
    if (!d.time) this.app.store.replace({ pick: this.pathIds(at) });
  }

  #restorePick(s) {
    if (!s.pick.length || !this.layers) return;
    const up = s.pick[0] === "^", ids = up ? s.pick.slice(1) : s.pick;
    const layer = Math.max(0, this.layers.findIndex((l) => (l.mode === "callers") === up));
    const { node, steps } = follow(this.layers[layer].tree, ids);
    if (steps !== ids.length) return;
    const at = { layer, node };
    this.flame.pick(at, false);
    this.app.select(this.describe(at));
  }

  #menu(at, x, y) {
    this.tip.hidden = true;
    this.#pick(at);
    const d = this.describe(at);
    openMenu(this.app, d.place, x, y, { path: d.path, zoom: () => this.zoomTo(at), sequence: this.#sequence(at), subtree: this.layers[at.layer].mode === "down" ? d.path : null });
  }

  // In a sandwich: extends the focus by the frames up to the selected one.
  #sequence(at) {
    const s = this.app.store.state;
    if (s.mode !== "sandwich" || this.diff || at.node === 0) return null;
    const { tree, mode } = this.layers[at.layer];
    const steps = ancestors(tree, at.node).slice(1).map((i) => tree.places[tree.place[i]]).filter(Boolean);
    return mode === "callers" ? `${focusOn(steps.reverse())} > ${s.focus}` : `${s.focus} > ${focusOn(steps)}`;
  }

  menuOfPick() {
    if (this.flame.picked) this.flame.menuAtPick();
  }

  #hover(at, x, y, other) {
    if (!at && !other) return (this.tip.hidden = true);
    const unit = this.head.unit;
    if (other) {
      if (this.layers[other.layer]?.tree.at) fill(this.tip, h("div.fn", count(other.count), other.count === 1 ? " call" : " calls"), h("div", `in ${duration(other.value)}, too short to draw here; a click zooms in`));
      else fill(this.tip, h("div.fn", other.count ? `other, ${count(other.count)} ${other.count === 1 ? "site" : "sites"}` : "deeper calls"), h("div", `${amount(other.value, unit)}, too ${other.count ? "small" : "deep"} to draw here; a click zooms in`));
    } else {
      const d = this.describe(at), p = d.place;
      fill(this.tip,
        h("div.fn", d.name),
        p?.file ? h("div.faint", `${p.file}${p.line ? `:${p.line}` : ""}`) : null,
        d.time ? h("div", `from ${duration(d.time[0])} to ${duration(d.time[1])}`) : null,
        h("div", `${amount(d.figure.value, unit)} `, h("span.margin", marginText(d.figure, unit, this.head.rate)), ` · ${percent((100 * d.figure.value) / this.head.total.value)} of all`, d.shown !== this.head.total.value ? ` · ${percent((100 * d.figure.value) / d.shown)} of what is shown` : ""),
        d.change ? h("div", `${amount(d.change.before, unit)} → ${amount(d.change.after, unit)}: ${changeText(d.change, unit)}`) : d.self > 0 ? h("div.soft", `${amount(d.self, unit)} allocated right here`) : null);
    }
    this.tip.hidden = false;
    const { width, height } = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    this.tip.style.top = `${y + 20 + height > innerHeight ? y - height - 12 : y + 20}px`;
  }

  #showEmpty(title, text, buttons = []) {
    this.loading = false;
    this.layers = null;
    this.flame.show([]);
    this.stage.hidden = this.legend.hidden = this.crumbs.hidden = true;
    this.empty.hidden = false;
    fill(this.empty, h("h2", title), h("p", text), buttons);
  }

  // Returns the parts of the picture to download.
  drawings() {
    if (!this.layers) return [elementParts(this.empty)];
    const d = new SvgDrawing(this.flame.width, this.flame.height, "flame");
    this.flame.paintOn(d);
    return [elementParts(this.crumbs), d, elementParts(this.legend)];
  }

  leave() {
    this.abort?.abort();
    this.tip.hidden = true;
  }
}

// Returns two moments of a trace to compare, the earlier one first; null if moments are not compared.
export function momentsOf(s, app) {
  if (!s.a || !s.b || (!s.moments && app.info.traces.length > 1)) return null;
  const [from, to] = [s.a, s.b].sort((x, y) => app.timeline.timeOf(x) - app.timeline.timeOf(y));
  return { from, to, of: s.of === "live" ? undefined : s.of };
}

// Returns why a diff has no frames.
const nothingOn = (s, app) => {
  const m = momentsOf(s, app), left = s.filter ? ", of blocks matching the filter" : "";
  if (!m) return `There are no samples on either side${left}.`;
  return `${s.of === "live" ? `None of the sampled blocks was live at only one of ${m.from} and ${m.to}` : `Nothing was allocated between ${m.from} and ${m.to}`}${left}.`;
};

export const noteOf = (s) => (s.of === "live" ? "live at “to”" : "allocated until “to”");

const unknown = () => ({ value: NaN, low: NaN, high: NaN, samples: NaN, blocks: NaN, self: 0 });

function placeById(answer, id) {
  const i = answer.places.id.indexOf(id);
  if (i < 0) return { id, function: `#${id}`, file: "", line: 0 };
  return { id, function: answer.strings[answer.places.function[i]], file: answer.strings[answer.places.file[i]], line: answer.places.line[i] };
}

// The 50 steps of the slider are finer for small shares: 0, 0.01 … 20%.
const STEPS = [0];
for (let i = 0; i < 50; i++) STEPS.push(+(0.01 * 2000 ** (i / 49)).toPrecision(2));
const shareOf = (step) => STEPS[step] ?? 0;
const sliderOf = (share) => STEPS.reduce((best, v, i) => (Math.abs(v - share) < Math.abs(STEPS[best] - share) ? i : best), 0);
