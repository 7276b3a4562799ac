// details.js: what is selected: its name, its numbers, what can be done with it, who calls it and what it calls, and
// the advice that concerns it.
import { fill, h } from "./dom.js";
import { amount, percent } from "./format.js";
import { number } from "./explain.js";
import { focusStep } from "./filterline.js";
import { actionsFor } from "./menu.js";
import { askTable, common, readPlaces } from "./source.js";
import { adviceCard } from "./view-others.js";
import { changeText } from "./view-flame.js";

export class Details {
  constructor(app) {
    this.app = app;
    this.element = h("aside.details", { "aria-label": "Selected" });
    this.clear();
  }

  clear() {
    this.shown = null;
    const t = this.app.trace;
    fill(this.element,
      h("h2", t?.program?.split("/").pop() || "Nothing is selected"),
      t ? h("div.where", t.program) : null,
      t ? h("dl.facts", this.#trace(t)) : null,
      h("p.faint", "Select a frame or a row to see its numbers, callers and callees here."),
      t?.warnings?.length ? [h("h3", "The trace is damaged"), t.warnings.map((w) => h("p.soft", w.text))] : null);
  }

  #trace(t) {
    const rows = [];
    const row = (name, value) => value !== null && value !== undefined && value !== "" && rows.push(h("dt", name), h("dd", value));
    const all = (f) => (f?.samples ? number(this.app, f, { unit: "B", rate: t.rate, measure: "allocated" }) : null);
    row("allocated", all(t.allocated));
    row("minor heap", all(t.minor));
    row("major heap", all(t.major));
    row("malloc and other", all(t.external));
    row("promoted", t.promoted?.samples ? [all(t.promoted), ` (${percent(100 * t.promoted.share)})`] : null);
    row("peak of live", t.peak?.value ? number(this.app, t.peak, { unit: "B", rate: t.rate, measure: "peak" }) : null);
    row("lasted", t.duration !== undefined ? this.app.format.duration(t.duration) : null);
    row("rate", this.app.format.rate(t.rate));
    row("recorded on", t.host);
    row("started", t.start ? new Date(t.start / 1000).toISOString().slice(0, 19).replace("T", " ") : null);
    row("domains", t.domains > 1 ? t.domains : null);
    return rows;
  }

  async show(d) {
    const key = JSON.stringify([d.place?.id, d.name, d.figure?.value, this.app.store.state.filter, this.app.store.state.measure, this.app.store.state.at, this.app.generation]);
    if (key === this.shown) return;
    this.shown = key;
    const { app } = this, head = d.head, p = d.place;
    this.callers = h("div");
    this.callees = h("div");
    this.advice = h("div");
    fill(this.element,
      h("h2", d.name),
      p?.file ? h("div.where", `${p.file}${p.line ? `:${p.line}` : ""}`) : null,
      h("dl.facts", this.#facts(d, head)),
      p ? h("div.actions", actionsFor(app, p, {}).map((a) => h("button.button", { type: "button", disabled: a.off, onclick: a.run }, a.text.replace(/:.*|,.*/, "").replace(" stacks with it", "").replace(" around it", "")))) : null,
      this.advice, this.callers, this.callees,
      d.path?.length > 1 ? [h("h3", "Stack, outermost first"), h("ol.stack", d.path.map((f) => h("li", { title: f?.file }, f?.function || f?.file || "?")))] : null);
    if (!p || d.change) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    this.#neighbours("callers", "Called by", this.callers, p, signal);
    this.#neighbours("callees", "Calls", this.callees, p, signal);
    this.#advise(p, signal);
  }

  #facts(d, head) {
    const rows = [];
    const row = (name, ...value) => rows.push(h("dt", name), h("dd", value));
    const { unit } = head;
    if (d.figure) {
      row(head.measure ?? "amount", this.app.number(d.figure, { ...head, share: (100 * d.figure.value) / head.total.value, name: "total" }));
      if (d.figure.high >= d.figure.low) row("95 % interval", d.figure.high > d.figure.low ? `${amount(d.figure.low, unit)} … ${amount(d.figure.high, unit)}` : "exact");
      row("of all", percent((100 * d.figure.value) / head.total.value));
      if (d.shown && d.shown !== head.total.value) row("of what is shown", percent((100 * d.figure.value) / d.shown));
      if (d.figure.samples >= 0) row("samples", this.app.format.count(d.figure.samples));
    }
    if (d.selfFigure) row("itself", this.app.number(d.selfFigure, { ...head, name: "self" }));
    else if (d.self > 0) row("itself", amount(d.self, unit));
    if (d.change) {
      row("before", amount(d.change.before, unit));
      row("after", amount(d.change.after, unit));
      row("change", changeText(d.change, unit));
    }
    return rows;
  }

  async #neighbours(kind, title, into, place, signal) {
    const s = this.app.store.state;
    const answer = await askTable(this.app.source, s, kind, { focus: focusStep(place), limit: 6, by: s.by || undefined, signal }).catch(() => null);
    if (!answer || signal.aborted) return;
    const places = readPlaces(answer.strings, answer.places);
    const rows = (answer.rows.place || []).map((p, i) => ({ place: places[p], value: answer.rows.value[i], share: answer.rows.share[i] })).filter((r) => r.place);
    if (!rows.length) return;
    fill(into, h("h3", title), h("div.small", rows.map((r) =>
      h("button.row", { type: "button", title: `${r.place.function}\n${r.place.file}`, onclick: () => this.app.store.set({ view: "flame", mode: "sandwich", focus: focusStep(r.place), zoom: [], pick: [] }) }, h("span.cut", r.place.function || r.place.file), h("span.faint", amount(r.value, answer.unit))))),
      answer.count > rows.length ? h("button.row.faint", { type: "button", onclick: () => this.app.store.set({ view: kind, focus: focusStep(place) }) }, `${answer.count - rows.length} more …`) : null);
  }

  async #advise(place, signal) {
    const a = await this.app.source.get("advice", common(this.app.store.state)).catch(() => null);
    if (!a || signal.aborted) return;
    const places = readPlaces(a.strings, a.places);
    const mine = a.advice.filter((x) => places[x.place] && places[x.place].function === place.function && places[x.place].file === place.file);
    fill(this.advice, mine.map((x) => adviceCard(this.app, x, null, a)));
  }
}
