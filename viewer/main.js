// main.js: the page: creates its parts, holds what they share, and tells them when the state changes.
import { Details } from "./details.js";
import { fill, h, icon, ICONS, Popover } from "./dom.js";
import { explain, fact, following, number, tellsBlocks } from "./explain.js";
import { Drop } from "./drop.js";
import { FilterBar } from "./filterbar.js";
import { join, legible, split, stepsOf, withBrush } from "./filterline.js";
import * as format from "./format.js";
import { listen, showHelp } from "./keys.js";
import { Hues } from "./modules.js";
import { THEMES } from "./palette.js";
import { EmbeddedSource, HttpSource, SourceError } from "./source.js";
import { ShareMenu } from "./share.js";
import { hasTimes, Start } from "./start.js";
import { MEASURES, MODES, startState, Store } from "./state.js";
import { Timeline } from "./timeline.js";
import { timelineKey, timelineQuestions } from "./timeline-data.js";
import { FlameView } from "./view-flame.js";
import { GraphView } from "./view-graph.js";
import { LifetimesView } from "./view-lifetimes.js";
import { AdviceView, DiffView, SourceView } from "./view-others.js";
import { TableView } from "./view-tables.js";

const MEASURE_NAMES = {
  allocated: "Allocated", blocks: "Blocks allocated", live: "Live at a moment", peak: "Live at the peak",
  promoted: "Promoted", survived: "Never freed", temporary: "Temporary", byteseconds: "Bytes × lifetime",
};
const TIMELINE_WAITS_MS = 200, LEAVING_MS = 2000;
// Three groups of tabs: where memory was allocated, when it was live, what changed and what to do.
const GROUPS = { leaks: "When", diff: "What to do" };
const OF_TIMES = ["temporary", "byteseconds", "peak"]; // measures that need times

const TABS = [
  ["flame", "Flame", (app) => new FlameView(app)],
  ["hotspots", "Hotspots", (app) => new TableView(app, "hotspots")],
  ["functions", "Functions", (app) => new TableView(app, "functions")],
  ["callers", "Callers", (app) => new TableView(app, "callers")],
  ["callees", "Callees", (app) => new TableView(app, "callees")],
  ["types", "Types", (app) => new TableView(app, "types")],
  ["paths", "Hot paths", (app) => new TableView(app, "paths")],
  ["graph", "Graph", (app) => new GraphView(app)],
  ["leaks", "Leaks", (app) => new TableView(app, "leaks")],
  ["lifetimes", "Lifetimes", (app) => new LifetimesView(app)],
  ["diff", "Diff", (app) => new DiffView(app)],
  ["advice", "Advice", (app) => new AdviceView(app)],
  ["source", "Source", (app) => new SourceView(app)],
];

class App {
  constructor(source) {
    this.source = source;
    this.store = new Store(window);
    this.format = format;
    this.generation = 0;
    this.views = new Map();
    this.hues = new Hues(THEMES.light.groups.length);
    this.heads = new Map(); // view → head of its answer
    this.info = { traces: [] };
    this.themeName = this.#themeWanted();
    this.applyTheme();
  }

  get trace() {
    return this.info.traces[this.store.state.trace] || this.info.traces[0] || null;
  }
  get theme() {
    return THEMES[this.themeName];
  }

  number(figure, options = {}) {
    return number(this, figure, options);
  }
  following(kind, figure, head, more) {
    return following(this, kind, figure, head, more);
  }
  fact(text, title, definition, worked) {
    return fact(this, text, title, definition, worked);
  }
  explain(at, about) {
    return explain(this, at, about);
  }

  // ---- parts -------------------------------------------------------------------------------

  build(root) {
    this.progress = h("div.progress", { role: "progressbar", "aria-label": "Asking" });
    this.source.onState = (pending, error) => {
      this.progress.classList.toggle("busy", pending > 0);
      if (this.refused || this.leaving) return;
      this.refused = error?.status === 403;
      this.banner.hidden = !error;
      if (this.refused) fill(this.banner, "Another server now answers at this address. The page shows data from the previous one. ", this.#wayBack());
      else if (error) fill(this.banner, `The server cannot be reached (${error.message}). The page may be out of date; it retries with your next action.`);
    };
    this.banner = h("div.banner", { role: "alert", hidden: true });
    // A reload aborts requests, which looks like a failure of the server. A link into an editor triggers the same
    // event, but the page stays.
    addEventListener("beforeunload", () => {
      this.leaving = true;
      setTimeout(() => (this.leaving = false), LEAVING_MS);
    });
    this.drop = new Drop(this);
    this.filterBar = new FilterBar(this);
    this.timeline = new Timeline(this, {
      brush: (how, a, b) => this.store.set({ filter: withBrush(this.store.state.filter, how, a, b), zoom: [] }),
      moment: (time) => this.store.set({ measure: "live", at: format.filterTime(time), zoom: [] }),
      compare: (a, b) => this.store.set({ filter: join([...split(this.store.state.filter).filter((t) => t.name !== "alloc" && t.name !== "live"), `alloc:${a}..${b}`, `live:${b}`]), measure: "allocated", zoom: [] }),
    });
    this.details = new Details(this);
    this.stage = h("main.main", { tabindex: "-1" });
    this.tabs = h("div.tabs", { role: "tablist", "aria-label": "Views" }, TABS.map(([id, text]) =>
      h("button", { type: "button", role: "tab", id: `tab-${id}`, dataset: { view: id, group: GROUPS[id] }, onclick: () => this.store.set({ view: id }) }, text)));
    this.tabs.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      e.stopPropagation();
      const all = [...this.tabs.children].filter((b) => !b.hidden);
      const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
      next.focus();
      next.click();
    });
    this.start = new Start(this);
    fill(root, this.#head(), this.banner, this.drop.said, this.filterBar.element, this.timeline.element, this.start.element, h("nav.tabsnav", { "aria-label": "Views" }, this.tabs), h("div.body", this.stage, this.details.element));
    root.removeAttribute("aria-busy");
    this.#showDetails();
  }

  #head() {
    const { store } = this;
    this.traces = h("select", { "aria-label": "Trace", onchange: () => store.set({ trace: +this.traces.value, zoom: [], pick: [] }) });
    this.program = h("span.program.cut.soft");
    this.measure = h("select", { "aria-label": "Measure (m)", title: "The measure: what to sum (m)", onchange: () => store.set({ measure: this.measure.value, zoom: [] }) },
      (this.otherMeasure = h("option", { value: "", hidden: true })), MEASURES.map((m) => h("option", { value: m }, MEASURE_NAMES[m])));
    this.total = h("div.total", { "aria-live": "polite" });
    this.liveBox = h("span.live", { hidden: true });
    this.damageWord = h("span");
    this.damage = h("button.damage", { type: "button", hidden: true, "aria-label": "The trace is damaged", onclick: () => this.#tellDamage() }, "⚠", this.damageWord);
    const tool = (name, label, run, kind = "") => h(`button.button.plain.square${kind}`, { type: "button", title: label, "aria-label": label, onclick: run }, icon(ICONS[name]));
    this.panelButton = tool("panel", "Details (d)", () => this.toggleDetails());
    return h("header.head", this.progress,
      h("h1.brand", h("i.mark", { "aria-hidden": "true" }, h("i"), h("i"), h("i")), h("span", "allotrace")), this.filterBar.opener,
      this.program, this.traces, this.damage, this.measure, this.total, h("span.grow"), this.liveBox,
      (this.shareButton = tool("link", "Share and export: link, CSV, picture, files", () => (this.shareMenu ??= new ShareMenu(this)).open(this.shareButton))),
      this.panelButton, tool("theme", "Dark or light (T)", () => this.toggleTheme()), tool("help", "Keys (?)", showHelp));
  }

  // Shows what of the trace cannot be read, if anything.
  #showDamage() {
    const lines = format.damageOf(this.trace);
    this.damage.hidden = !lines.length;
    this.damageWord.textContent = this.trace?.ends_early ? " ends early" : " damaged";
    this.damage.title = ["The trace is damaged", ...lines].join("\n");
  }

  #tellDamage() {
    const box = this.damage.getBoundingClientRect();
    this.damagePopover ??= new Popover("explain");
    this.damagePopover.box.setAttribute("aria-label", "The trace is damaged");
    this.damagePopover.open(box.left, box.bottom + 6, [
      h("h2", "The trace is damaged"), format.damageOf(this.trace).map((line) => h("p", line)),
      h("p", "All numbers cover the readable part only."),
    ]);
  }

  #showDetails() {
    const wanted = this.store.state.details, shown = wanted ? wanted === "shown" : innerWidth >= 900;
    this.details.element.hidden = !shown;
    this.panelButton.setAttribute("aria-pressed", String(shown));
    if (shown && this.selected) this.details.show(this.selected);
    else if (shown) this.details.clear();
  }

  toggleDetails() {
    this.store.replace({ details: this.details.element.hidden ? "shown" : "hidden" });
  }

  // ---- called by views ---------------------------------------------------------------------

  // Sets the head of an answer, which says what the page's numbers are of. Null: no numbers are shown.
  report(head) {
    this.heads.set(this.shown, head);
    this.#showHead(head);
  }

  #showHead(head) {
    if (!head) {
      this.reported = null;
      return fill(this.total);
    }
    const begun = this.trace?.state === "reading" ? `in the first ${format.percent(100 * this.trace.progress)} of the file, ` : "";
    const key = JSON.stringify([head.total, head.unit, head.named, head.measure, head.filter, head.time, head.kept_blocks, head.note, begun]);
    if (key === this.reported) return;
    this.reported = key;
    fill(this.total,
      this.number(head.total, { ...head, name: "grand-total", label: head.note ?? head.named ?? MEASURE_NAMES[head.measure] }),
      this.following("margin", head.total, head, { className: "margin" }),
      head.note ? h("span.faint.note", head.note) : null,
      h("span.faint.more", begun, head.time !== undefined && (head.measure === "live" || head.measure === "peak") ? ["at ", this.fact(format.duration(head.time), "Moment", "The time since the start of the trace at which this was live."), ", "] : null,
        head.unit === "blocks" && tellsBlocks(head.total, head.rate) ? "at rate " : [this.following("samples", head.total, head, { long: true }), " at rate "], this.following("rate", head.total, head, { alone: true })));
    this.filterBar.report(head.note ? {} : head);
  }

  select(d) {
    if (!this.details.element.hidden) this.details.show(d);
    this.selected = d;
    this.selectedOf = this.#selection;
  }

  // Identifies the question behind the numbers in the details.
  get #selection() {
    const { trace, filter, measure, at, wrappers } = this.store.state;
    return JSON.stringify([trace, filter, measure, at, wrappers, this.generation]);
  }

  // Drops a selection that the view has not found again, since its numbers are of another filter, or of a diff that is
  // no longer shown.
  #dropOldSelection() {
    const elsewhere = this.selected?.change && this.store.state.view !== "diff";
    if (!this.selected || (this.selectedOf === this.#selection && !elsewhere)) return;
    this.selected = null;
    if (!this.details.element.hidden) this.details.clear("The selection is not visible now.");
  }

  // Shows an error where it belongs.
  trouble(error, view, otherwise) {
    if (error instanceof SourceError && error.parameter === "filter") {
      this.filterBar.refuse(error);
      if (!(view ? this.heads.get(this.shown) : this.timeline.answer)) otherwise(); // otherwise the previous answer stays
      return;
    }
    if (error.status === 403) return this.locked();
    if (error instanceof SourceError) return otherwise();
    if (error.status === 0 && this.leaving) return;
    if (!(error instanceof TypeError)) otherwise();
    console.error(error);
  }

  // Buttons for an answer that could not be had.
  waysOut() {
    const { store } = this;
    return [
      h("button.button", { type: "button", dataset: { out: "again" }, onclick: () => this.refresh() }, "Try again"),
      h("button.button", { type: "button", dataset: { out: "start" }, onclick: () => store.set(startOver(store.state)) }, "Start over with the whole trace"),
    ];
  }

  locked() {
    fill(document.getElementById("app"), h("div.empty", h("h2", "This address lacks its key"), h("p", "Open the address that ", h("code", "allotrace view"), " printed in the terminal; it contains a token that this browser does not have, or has only from an earlier run."), this.#wayBack()));
  }

  // Asks for the address that a server printed, and keeps the current state.
  #wayBack() {
    const input = h("input", { type: "text", "aria-label": "Address", placeholder: "http://localhost:…/?token=…", spellcheck: "false", autocomplete: "off" });
    const wrong = h("p.problem", { role: "alert", hidden: true }, "This is not an address printed by `allotrace view`: http://…/?token=…");
    const open = (e) => {
      e.preventDefault();
      const url = URL.canParse(input.value.trim()) ? new URL(input.value.trim()) : null;
      wrong.hidden = !!url && /^https?:$/.test(url.protocol) && url.searchParams.has("token");
      if (wrong.hidden) location.assign(`${url.origin}${url.pathname}${url.search}${location.hash}`);
    };
    return h("form.wayback", { onsubmit: open }, h("label", "Its address ", h("span.field", input)), h("button.button", "Continue with the previous page"), wrong);
  }

  whyEmpty(head) {
    if (head.of_blocks && head.kept_blocks === 0) {
      const undo = h("button.button", { type: "button", onclick: () => this.undo() }, "Undo the filter");
      return ["Nothing is left", `The filter matches 0 of ${format.count(head.of_blocks)} sampled blocks: “${head.removed_by}” removed the last ${format.count(head.removed_last)}. Loosen it.`, [undo]];
    }
    if (head.measure === "promoted") return ["Nothing was promoted", "None of the sampled blocks moved from the minor to the major heap."];
    if (head.measure === "temporary") return ["Nothing was temporary", "None of the sampled blocks was freed within a millisecond and before its thread's next allocation with the same call stack."];
    if (head.measure === "survived") return ["All was freed", "None of the sampled blocks was live when the trace ended."];
    if (head.measure === "live" || head.measure === "peak") return ["Nothing was live", `None of the sampled blocks was live at ${format.duration(head.time ?? 0)}.`];
    return ["No samples", `The trace holds none at rate ${format.rate(head.rate)}. A program that allocates little may show none; record it at a higher rate.`];
  }

  nameOfFocus(focus) {
    return stepsOf(focus).map((step) => legible({ value: step }).value).join(" › ");
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.toast("Copied");
    } catch {
      this.#offerCopy(text);
    }
  }

  // Shows a text to copy by hand, if the browser refuses to copy. Stays open until it is closed.
  #offerCopy(text) {
    this.byHand ??= new Popover("byhand");
    const box = h("pre", { tabindex: "0", autofocus: true, "aria-label": "Text to copy" }, text);
    this.byHand.box.setAttribute("aria-label", "Copy by hand");
    this.byHand.open(innerWidth / 2 - 240, innerHeight / 4, [
      h("h2", "The browser does not allow this page to copy"),
      h("p", "The text is selected: copy it with Ctrl+C, or from the browser’s menu."), box,
      h("button.button", { type: "button", onclick: () => this.byHand.close() }, "Close"),
    ]);
    getSelection().selectAllChildren(box);
  }

  toast(text) {
    document.querySelector(".toast")?.remove();
    const t = h("div.toast", { role: "status" }, text);
    document.body.append(t);
    setTimeout(() => t.remove(), 2200);
  }

  undo() {
    if (!this.store.undo()) this.toast("There is no filter change to undo");
  }

  // Gives the largest modules of a picture hues of their own. The caller draws anyway; the other views are redrawn.
  takeHues(modules) {
    if (!this.hues.take(modules)) return;
    for (const v of this.views.values()) if (v !== this.shown) v.restyle();
  }

  // ---- theme -------------------------------------------------------------------------------

  applyTheme() {
    document.documentElement.dataset.theme = this.themeName;
  }

  toggleTheme() {
    const theme = this.themeName === "dark" ? "light" : "dark";
    remember("theme", theme);
    this.store.replace({ theme });
  }

  // The address takes precedence over the last choice.
  #themeWanted() {
    return this.store.state.theme || themeName();
  }

  #takeTheme() {
    if (this.themeName === this.#themeWanted()) return;
    this.themeName = this.#themeWanted();
    this.applyTheme();
    this.timeline.redraw();
    for (const v of this.views.values()) v.restyle();
  }

  // ---- state -------------------------------------------------------------------------------

  get view() {
    return this.views.get(this.store.state.view);
  }

  // Whether a request or an animation is in progress; tests wait for this.
  get busy() {
    return this.working > 0 || this.source.pending > 0 || !!document.querySelector("[data-moving='1']");
  }

  async show(s, changed) {
    this.working = (this.working || 0) + 1;
    try {
      await this.#show(s, changed);
    } finally {
      this.working--;
    }
  }

  async #show(s, changed) {
    const call = (this.calls = (this.calls || 0) + 1);
    const [, , make] = TABS.find(([id]) => id === s.view);
    if (!this.views.has(s.view)) {
      this.views.set(s.view, make(this));
      this.views.get(s.view).restyle();
    }
    const view = this.view;
    if (this.shown !== view) {
      this.shown?.leave();
      this.shown = view;
      fill(this.stage, view.element);
    }
    this.start.show(s);
    this.#showTabs(s);
    for (const b of this.tabs.children) {
      const on = b.dataset.view === s.view;
      b.setAttribute("aria-selected", String(on));
      b.tabIndex = on ? 0 : -1;
    }
    if (!changed || changed.has("details")) this.#showDetails();
    this.#takeTheme();
    this.#takePause(s.until);
    if (this.traces.value !== String(s.trace)) this.traces.value = String(s.trace);
    this.#showMeasure(s);
    this.#showDamage();
    document.title = `${this.trace?.name ?? ""} · ${TABS.find(([id]) => id === s.view)[1]} · allotrace`;
    if (!changed || changed.has("filter")) this.filterBar.draw();
    const timeAsked = timelineKey(s, this.info.traces), timeChanged = !changed || timeAsked !== this.timeAsked;
    this.timeAsked = timeAsked;
    if (!timeChanged && ["measure", "at", "a", "b", "gauges"].some((k) => changed.has(k))) this.timeline.redraw();
    if (!changed || changed.has("trace")) {
      if (!s.pick.length) this.selected = null, this.details.clear();
    }
    const updated = view.update(s, view.seen === this.generation && view.state ? differing(view, s, changed) : null);
    if (timeChanged) {
      // The view comes first; the timeline would compete for a processor.
      await Promise.race([updated.catch(() => {}), new Promise((done) => setTimeout(done, TIMELINE_WAITS_MS))]);
      if (timeAsked === timelineKey(this.store.state, this.info.traces)) this.#loadTimeline(s);
    }
    await updated;
    if (call !== this.calls) return; // a later call may have overtaken this one
    // A view that kept its answer did not report it again.
    if (!this.filterBar.problem) this.#showHead(this.heads.get(view) ?? null);
    this.#dropOldSelection();
    this.#showMeasure(s); // the answer may have changed its name
    view.state = s;
    view.seen = this.generation;
    this.start.load(s).then(() => this.#showTabs(this.store.state));
  }

  // Shows the tabs that have something to show for this trace.
  #showTabs(s) {
    let key = 0;
    for (const b of this.tabs.children) {
      b.hidden = !!this.start.lacks(b.dataset.view, s);
      if (!b.hidden) b.title = ++key <= 9 ? `${b.textContent} (${key})` : b.textContent;
    }
  }

  // Some views have one fixed measure, or only a few, or a more exact name for it. The selector shows what the view
  // shows.
  #showMeasure(s) {
    const { only, text, names } = this.view.measures?.(s) ?? { only: MEASURES };
    for (const o of this.measure.options) {
      if (o.value === "") continue;
      o.disabled = !only.includes(o.value);
      o.hidden = s.measure !== o.value && ((o.value === "promoted" && this.#promotesNothing) || (OF_TIMES.includes(o.value) && !hasTimes(this.trace)));
      fill(o, names?.[o.value] ?? MEASURE_NAMES[o.value]);
    }
    fill(this.otherMeasure, text ?? "");
    this.otherMeasure.hidden = !text;
    this.measure.value = text ? "" : only.includes(s.measure) ? s.measure : only[0];
    this.measure.disabled = only.length < 2;
    this.measure.title = this.measure.disabled ? "What this view shows, whatever the measure" : "The measure: what to sum (m)";
  }

  // A native program has no minor heap, so nothing can be promoted.
  get #promotesNothing() {
    return this.trace?.minor?.samples === 0;
  }

  #stepMeasure(step) {
    const { only: all, text } = this.view.measures?.(this.store.state) ?? { only: MEASURES };
    const only = all.filter((m) => (m !== "promoted" || !this.#promotesNothing) && (!OF_TIMES.includes(m) || hasTimes(this.trace)));
    if (only.length < 2) return this.toast(`This view always shows: ${text ?? MEASURE_NAMES[only[0]]}`);
    const at = Math.max(0, only.indexOf(this.store.state.measure));
    this.store.set({ measure: only[(at + step + only.length) % only.length], zoom: [] });
  }

  async #loadTimeline(s) {
    this.timeline.element.hidden = !hasTimes(this.trace);
    if (this.timeline.element.hidden) return;
    const call = (this.timelineCall = (this.timelineCall || 0) + 1);
    if (this.trace && this.trace.state !== "ready") return this.timeline.refuse("the blocks are still being read");
    const { own, peaks, other, names } = timelineQuestions(s, this.info.traces);
    const buckets = Math.max(100, Math.min(4096, Math.round(innerWidth / 3 / 50) * 50));
    try {
      this.timelineAbort?.abort();
      const { signal } = (this.timelineAbort = new AbortController());
      const [answer, beside] = await Promise.all([own, other].map((q) => q && this.source.get("timeline", { ...q, buckets }, signal)));
      if (call !== this.timelineCall) return;
      const compared = beside && { answer: beside, names };
      this.timeline.show(answer, [], compared);
      const p = (await this.source.get("peaks", { ...peaks, n: 8 }, signal)).peaks;
      if (call !== this.timelineCall) return;
      this.timeline.show(answer, p.time.map((time, i) => ({ time, value: p.value[i], low: p.low[i], high: p.high[i], samples: p.samples[i] })), compared);
      this.timeline.element.dataset.ready = String((+this.timeline.element.dataset.ready || 0) + 1);
    } catch (error) {
      if (error.name !== "AbortError" && call === this.timelineCall) this.trouble(error, null, () => this.timeline.refuse(error.message));
    }
  }

  // ---- a trace that grows ------------------------------------------------------------------

  #drawLive() {
    const growing = this.info.traces.some((t) => t.growing);
    const unread = this.info.traces.find((t) => t.state !== "ready");
    this.liveBox.hidden = !this.info.live && !this.grew && !unread && !this.paused;
    const t = this.trace;
    if (unread) {
      const how = unread.state === "reading" ? `reading, ${format.percent(100 * unread.progress)}` : unread.state === "partial" ? "reading the blocks" : "waiting for the trace";
      return fill(this.liveBox, h("i.dot"), h("span.soft", { title: "The timeline, filters and other measures appear when the whole trace has been read." }, how));
    }
    fill(this.liveBox,
      h(`i.dot${growing && !this.paused ? "" : ".still"}`),
      h("span.soft", this.paused ? `paused at ${format.duration(this.source.until)}` : !growing ? "ended" : `live, ${format.duration(t?.duration ?? 0)}`),
      growing || this.paused || this.grew ? h("button.button.plain.square", { type: "button", "aria-label": this.paused ? "Resume" : "Pause", title: this.paused ? "Resume (Space)" : "Pause (Space)", onclick: () => this.pause() }, icon(ICONS[this.paused ? "play" : "pause"])) : null);
  }

  pause() {
    if (this.liveBox.hidden || !this.trace || this.info.traces.some((t) => t.state !== "ready")) return false;
    this.store.replace({ until: this.paused ? 0 : this.trace.duration });
    return true;
  }

  // Pauses or resumes as the address says.
  #takePause(until) {
    if ((this.source.until ?? 0) === until) return;
    this.paused = until > 0;
    this.source.until = until || null;
    this.#drawLive();
    if (this.shown) this.refresh();
  }

  // Runs one refresh at a time; a call during a refresh causes one more.
  async refresh() {
    if (this.refreshing) return (this.again = true);
    this.refreshing = true;
    do {
      this.again = false;
      this.source.forget();
      this.generation++;
      if (!this.paused) await this.readInfo().catch(() => {});
      await this.show(this.store.state, null).catch((e) => console.error(e));
      await new Promise((done) => setTimeout(done, 400));
    } while (this.again);
    this.refreshing = false;
  }

  follow() {
    this.source.follow((news) => {
      const t = this.info.traces[news.trace];
      this.liveBox.dataset.generation = String(news.generation);
      if (!t || (t.generation === news.generation && t.growing === news.growing && t.state === news.state)) return;
      const wasReady = t.state === "ready";
      this.grew ||= wasReady && news.generation > t.generation;
      if (this.paused) {
        t.growing = news.growing;
        return this.#drawLive();
      }
      Object.assign(t, { generation: news.generation, growing: news.growing, duration: news.duration, state: news.state, progress: news.progress });
      this.#drawLive();
      this.refresh();
    }, () => this.info.traces.every((t) => t.state === "ready" && !t.growing));
  }

  async readInfo() {
    const info = await this.source.get("info");
    this.info = { ...info, traces: info.traces.map((t) => ({ ...t.about, ...t })) };
    fill(this.traces, this.info.traces.map((t) => h("option", { value: String(t.trace) }, t.name)));
    this.traces.hidden = this.info.traces.length < 2;
    this.traces.value = String(this.store.state.trace);
    const t = this.trace;
    fill(this.program, t ? t.name : "");
    this.program.hidden = this.info.traces.length > 1;
    this.program.title = t?.file ?? "";
    this.#drawLive();
    return this.info;
  }

  // Shows a message in place of the view until each trace has something to show.
  async waitUntilRead() {
    for (;;) {
      await this.readInfo();
      const waiting = this.info.traces.filter((t) => t.state === "waiting");
      if (!waiting.length) return;
      fill(this.stage, h("div.empty", h("h2", `Waiting for ${waiting[0].name} …`), h("p", "Nothing has been recorded yet.")));
      this.source.forget();
      await new Promise((done) => setTimeout(done, 250));
    }
  }

  // ---- keys --------------------------------------------------------------------------------

  actions() {
    const { store } = this;
    const cycle = (list, value, step) => list[(list.indexOf(value) + step + list.length) % list.length];
    const visible = () => [...this.tabs.children].filter((b) => !b.hidden).map((b) => b.dataset.view);
    const show = (view) => {
      if (!view) return false;
      store.set({ view });
      this.focusMain();
    };
    return {
      back: () => history.back(),
      forward: () => history.forward(),
      undo: () => this.undo(),
      zoomOut: () => this.view.zoomOut?.() ?? false,
      zoomAll: () => this.view.zoomAll?.() ?? false,
      search: () => (this.view.focusSearch ? this.view.focusSearch() : store.set({ view: "flame" })),
      nextMatch: () => this.view.stepMatch?.(1) ?? false,
      previousMatch: () => this.view.stepMatch?.(-1) ?? false,
      filter: () => this.filterBar.focus(),
      measure: () => this.#stepMeasure(1),
      measureBack: () => this.#stepMeasure(-1),
      timeline: () => this.timeline.canvas.focus(),
      peak: () => {
        const p = this.timeline.nextPeak();
        if (p) store.set({ measure: "live", at: format.filterTime(p.time) });
      },
      menu: () => this.view.menuOfPick?.(),
      explain: () => (this.details.element.querySelector("dd .num") || this.total.querySelector(".num"))?.click(),
      tab: (e) => show(visible()[+e.key - 1]),
      viewStep: (e) => show(cycle(visible(), store.state.view, e.key === "." ? 1 : -1)),
      mode: () => store.set({ mode: cycle(MODES, store.state.mode, 1), zoom: [], pick: [], view: store.state.view === "diff" ? "diff" : "flame" }),
      recursion: () => store.set({ recursion: !store.state.recursion, zoom: [], pick: [] }),
      details: () => this.toggleDetails(),
      theme: () => this.toggleTheme(),
      copyLink: () => this.copy(location.href),
      share: () => this.shareButton.click(),
      pause: () => this.pause(),
      help: showHelp,
      escape: () => {
        if (document.activeElement?.matches("input, select, button")) return this.focusMain();
        if (store.state.search) return store.set({ search: "" });
        return this.view.zoomWhole?.() ?? false;
      },
      arrows: (e) => this.#arrow(e),
    };
  }

  focusMain() {
    if (this.view?.focusMain) this.view.focusMain();
    else this.view?.canvas?.focus();
  }

  // Arrow keys go to the view if nothing has the focus.
  #arrow(e) {
    if (!/^Arrow|^[hjkl]$|^Enter$|^Home$/.test(e.key) || (document.activeElement !== document.body && document.activeElement !== this.stage)) return false;
    this.focusMain();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: e.key, bubbles: false }));
    return true;
  }
}

// Returns the keys that differ from what the view showed last. The view may have been hidden in between.
function differing(view, s, changed) {
  if (!changed) return null;
  const all = new Set(changed);
  for (const k of Object.keys(s)) if (JSON.stringify(s[k]) !== JSON.stringify(view.state[k])) all.add(k);
  return all;
}

// Keeps trace and view, and resets everything else.
const startOver = (s) => ({ ...startState(), trace: s.trace, view: s.view === "source" ? "flame" : s.view, theme: s.theme, details: s.details, before: s.before, after: s.after });

function remember(key, value) {
  try {
    localStorage.setItem(`allotrace.${key}`, value);
  } catch {
    // The browser may forbid storage; then the choice lasts until the page is closed.
  }
}

function themeName() {
  let kept = null;
  try {
    kept = localStorage.getItem("allotrace.theme");
  } catch {
    // The browser may forbid storage.
  }
  return kept === "dark" || kept === "light" ? kept : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// The address has the token once; afterwards the cookie has it.
function dropToken() {
  const url = new URL(location.href);
  if (!url.searchParams.has("token")) return;
  url.searchParams.delete("token");
  history.replaceState(null, "", `${url.pathname}${url.search}${url.hash}`);
}

async function embedded() {
  const e = document.getElementById("allotrace-data");
  if (!e) return null;
  const bytes = Uint8Array.from(atob(e.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function start() {
  const data = await embedded();
  if (!data) dropToken();
  const app = new App(data ? new EmbeddedSource(data) : new HttpSource(window));
  window.allotrace = app;
  app.build(document.getElementById("app"));
  try {
    await app.waitUntilRead();
  } catch (error) {
    if (error.status === 403) return app.locked();
    return fill(app.stage, h("div.empty", h("h2", "The trace cannot be shown"), h("p", error.message)));
  }
  app.store.listen((s, changed) => app.show(s, changed).catch((e) => console.error(e)));
  listen(app.actions());
  app.follow();
  await app.show(app.store.state, null);
}

start();
