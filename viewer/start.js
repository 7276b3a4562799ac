// start.js: what to look at first: the peak, growth, the largest site, and advice, each a link to its view. It is shown
// until the user looks at something else. Also determines which views a trace can fill.
import { fill, h } from "./dom.js";
import { amount, count, duration, filterTime, percent } from "./format.js";
import { shortenTo } from "./names.js";
import { common, readAdvice, readPlaces, rowOf } from "./source.js";

const NAME = 34; // characters
const ADVISED_MOST = 1e6; // samples; for larger traces, advice takes so long that it is computed on demand only

// Sums imported from another tool do not say when blocks were allocated and freed.
export const hasTimes = (trace) => !/^imported from .*: there are no times/.test(trace?.context ?? "");

const OF_TIMES = ["leaks", "lifetimes", "advice"]; // views that need times

export class Start {
  constructor(app) {
    this.app = app;
    this.element = h("nav.start", { "aria-label": "What to look at first", hidden: true });
    this.facts = null;
  }

  // Whether the state is that of a trace as it opens, before the user has asked for anything.
  static isStart(s) {
    return s.view === "flame" && s.mode === "icicle" && !s.filter && !s.search && s.measure === "allocated" && !s.zoom.length;
  }

  show(s) {
    this.element.hidden = this.away || !Start.isStart(s) || !this.facts?.length;
  }

  // Loads the facts once per reading of a trace, after the answer that the user asked for.
  async load(s) {
    const { app } = this, t = app.trace, key = `${s.trace} ${app.generation}`;
    if (!t || t.state !== "ready" || key === this.key) return;
    this.key = key;
    const ask = (params) => app.source.get("table", { trace: s.trace || undefined, ...params }).catch(() => null), timed = hasTimes(t);
    const [sites, leaks, types, live] = await Promise.all([ask({ kind: "hotspots", limit: 1 }), timed ? ask({ kind: "leaks", limit: 1 }) : null, ask({ kind: "types", limit: 1 }), timed ? null : ask({ kind: "hotspots", measure: "live", limit: 1 })]);
    if (key !== this.key) return;
    this.hasTypes = !types || types.count > 1 || (types.count === 1 && types.rows.type[0] > 0);
    this.facts = [timed ? this.#peak(t) : this.#live(live), this.#growth(leaks), this.#largest(sites), timed ? this.#advice(s) : null].filter(Boolean);
    fill(this.element, h("div.strip", this.facts.map((f) => this.#button(f))), this.#legend());
    this.show(app.store.state);
    if (timed) await this.#addAdvice(s, t, key);
  }

  #button([title, text, patch]) {
    return h("button.fact", { type: "button", dataset: { start: patch.view ?? "peak" }, title: `${title}: ${text}`, onclick: () => this.app.store.set(patch) }, h("span.soft", title), " ", h("b", text));
  }

  // On a phone, this strip takes the place of the timeline's legend.
  #legend() {
    const leave = () => {
      this.away = true;
      this.show(this.app.store.state);
    };
    return h("button.button.narrow", { type: "button", title: "Show the timeline’s legend and peaks instead", onclick: leave }, "Legend");
  }

  // Adds the top advice, for a trace that is opened as a whole.
  async #addAdvice(s, t, key) {
    const { source } = this.app;
    if (!Start.isStart(s) || t.growing || t.samples > ADVISED_MOST || source.offline || source.peek("advice", common(s))) return;
    await source.get("advice", common(s)).catch(() => null);
    if (key === this.key) this.element.firstElementChild.lastElementChild.replaceWith(this.#button(this.#advice(s)));
  }

  #live(a) {
    return a?.total ? ["Live at the end", amount(a.total.value, "B"), { measure: "live", at: "" }] : null;
  }

  #peak(t) {
    return t.peak?.value ? ["Peak", `${amount(t.peak.value, "B")} at ${duration(t.peak.time)}`, { measure: "live", at: filterTime(t.peak.time) }] : null;
  }

  // Returns what the classes of leaks say about the program, and the site with the most certain growth.
  #growth(a) {
    if (!a?.leaks) return null;
    const first = a.count ? a.strings[a.rows.class[0]] : "", grows = /grow|steps/.test(first);
    const place = grows ? readPlaces(a.strings, a.places)[a.rows.place[0]] : null;
    return ["Growth", place ? `${shortenTo(place.function || "?", NAME)}, ${first}` : "none with certainty", { view: "leaks" }];
  }

  #largest(a) {
    if (!a?.count) return null;
    const row = rowOf(a.rows, 0), place = readPlaces(a.strings, a.places)[row.place];
    return ["Largest site", `${percent(100 * row.share)} ${shortenTo(place?.function || place?.file || "(no call stack)", NAME)}`, { view: "hotspots", pick: place ? [place.id] : [] }];
  }

  #advice(s) {
    const known = this.app.source.peek("advice", common(s)), all = known && readAdvice(known);
    return ["Advice", !all ? "what could be improved" : all.length ? `${count(all.length)}: ${all[0].title}` : "none", { view: "advice" }];
  }

  // Returns why a view is hidden; null if it is not.
  lacks(view, s) {
    if (view === s.view) return null;
    if (OF_TIMES.includes(view) && !hasTimes(this.app.trace)) return "the trace has no times";
    if (view === "types") return this.hasTypes === false ? "no types are recorded" : null;
    if (view === "source") return s.line ? null : "no place is chosen";
    return null;
  }
}
