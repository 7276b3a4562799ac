// details.js: the panel about the selection: its name and numbers, its actions, callers and callees, and the advice
// about it.
import { fill, h, textWidth } from "./dom.js";
import { amount, damageOf, percent } from "./format.js";
import { number, tellsBlocks } from "./explain.js";
import { focusStep } from "./filterline.js";
import { actionsFor } from "./menu.js";
import { shorten, shortenTo } from "./names.js";
import { askTable, common, readAdvice, readPlaces, rowOf } from "./source.js";
import { adviceCard } from "./view-others.js";
import { changeShown } from "./delta.js";
import { hasTimes } from "./start.js";

const TITLE = 140; // characters: about four lines

export class Details {
  constructor(app) {
    this.app = app;
    this.element = h("aside.details", { "aria-label": "Selected" });
    this.clear();
  }

  // Shows facts about the whole trace, and `why` there are none about a place.
  clear(why = "Select a frame or a row to see its numbers, callers and callees here.") {
    this.abort?.abort();
    this.shown = null;
    const t = this.app.trace;
    fill(this.element,
      h("h2", t?.program?.split("/").pop() || "Nothing is selected"),
      t ? h("div.where", t.program) : null,
      t ? h("dl.facts", this.#trace(t)) : null,
      h("p.faint", why),
      damageOf(t).length ? [h("h3", "The trace is damaged"), damageOf(t).map((line) => h("p.soft", line))] : null);
  }

  #trace(t) {
    const rows = [];
    const row = (name, value) => value !== null && value !== undefined && value !== "" && rows.push(h("dt", name), h("dd", value));
    const all = (f) => (f?.samples ? number(this.app, f, { unit: "B", rate: t.rate, measure: "allocated" }) : null);
    row("allocated", all(t.allocated));
    row("minor heap", all(t.minor));
    row("major heap", all(t.major));
    row("malloc and other", all(t.external));
    row("promoted", t.promoted?.samples ? [number(this.app, t.promoted, { unit: "B", rate: t.rate, measure: "promoted" }), " (", this.app.fact(percent(100 * t.promoted.share), "Share promoted", "Of the memory allocated in the minor heap whose fate is known, the share that moved to the major heap."), ")"] : null);
    row("peak of live", t.peak?.value && hasTimes(t) ? number(this.app, t.peak, { unit: "B", rate: t.rate, measure: "peak" }) : null);
    row("lasted", t.duration !== undefined ? this.app.fact(this.app.format.duration(t.duration), "Lasted", "The time from the start of the trace to its end.") : null);
    row("rate", t.rate ? this.app.following("rate", null, { rate: t.rate }, { alone: true }) : null);
    row("recorded on", t.host ? h("span.name", t.host) : null);
    row("started", t.start ? h("time", new Date(t.start / 1000).toISOString().slice(0, 19).replace("T", " ")) : null);
    const [one, many] = t.minor?.samples || t.major?.samples ? ["Domains", "domains"] : ["Threads", "threads"];
    row(many, t.domains > 1 ? this.app.fact(String(t.domains), one, `The number of ${many} that allocated, at a time.`) : null);
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
      this.#title(d.name),
      p?.file ? h("div.where", `${p.file}${p.line ? `:${p.line}` : ""}`) : null,
      h("dl.facts", this.#facts(d, head)),
      p ? h("div.actions", actionsFor(app, p, {}).filter((a) => !a.rare).map((a) => h("button.button", { type: "button", disabled: a.off, onclick: a.run }, a.short ?? a.text.replace(" around it", "")))) : null,
      this.advice, this.callers, this.callees,
      d.path?.length > 1 ? [h("h3", "Stack, outermost first"), h("ol.stack", d.path.map((f) => h("li", { title: `${f?.function || "?"}\n${f?.file || ""}` }, this.#short(f?.function || f?.file || "?"))))] : null);
    if (!p || d.change) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    this.#neighbours("callers", "Called by", this.callers, p, signal);
    this.#neighbours("callees", "Calls", this.callees, p, signal);
    this.#advise(p, signal);
  }

  // Advice takes a while on a large trace, so it is shown if it has been computed already, and is otherwise loaded on
  // demand.
  #advise(place, signal) {
    const known = this.app.source.peek("advice", common(this.app.store.state));
    if (known) return this.#showAdvice(known, place);
    if (this.app.source.offline) return;
    const ask = h("button.button", { type: "button", dataset: { ask: "advice" }, onclick: () => this.#askAdvice(ask, place, signal) }, "Show advice");
    fill(this.advice, ask);
  }

  async #askAdvice(button, place, signal) {
    button.disabled = true;
    button.textContent = "Looking for advice …";
    try {
      const a = await this.app.source.get("advice", common(this.app.store.state), signal);
      if (signal.aborted) return;
      this.#showAdvice(a, place);
      this.app.view?.markAdvised?.();
    } catch (error) {
      if (!signal.aborted) fill(this.advice, h("p.problem", error.message));
    }
  }

  #showAdvice(a, place) {
    const mine = readAdvice(a).filter((x) => x.places.some((p) => p.function === place.function && p.file === place.file));
    fill(this.advice, mine.length ? mine.map((x) => adviceCard(this.app, x, a, false)) : h("p.faint", { dataset: { advice: "none" } }, "There is no advice for it."));
  }

  // Shortens a name of several lines, with a button that shows all of it.
  #title(name) {
    const short = shortenTo(name, TITLE), title = h("h2", { title: name }, short);
    if (short === name) return title;
    const whole = h("button.whole", {
      type: "button", "aria-expanded": "false",
      onclick: () => {
        const open = title.textContent === short;
        title.textContent = open ? name : short;
        whole.textContent = open ? "Short name" : "Full name";
        whole.setAttribute("aria-expanded", String(open));
      },
    }, "Full name");
    return [title, whole];
  }

  // Shortens a name to one line of the panel, beside an element that is `beside` pixels wide.
  #short(name, beside = 0) {
    const room = (this.element.clientWidth || 324) - 36 - beside;
    return shorten(name, (text) => textWidth(text) <= room) || name;
  }

  #facts(d, head) {
    const rows = [];
    const row = (name, ...value) => rows.push(h("dt", name), h("dd", value));
    const { app } = this, { unit } = head;
    if (d.figure) {
      row(`${head.measure ?? "amount"}${d.counts ? `, ${d.counts}` : ""}`, app.number(d.figure, { ...head, share: (100 * d.figure.value) / head.total.value, name: "total" }));
      if (d.figure.high >= d.figure.low) row("95% interval", app.following("interval", d.figure, head));
      row("of all", app.following("share", d.figure, head, { whole: head.total.value }));
      if (d.shown && d.shown !== head.total.value) row("of what is shown", app.following("share", d.figure, head, { whole: d.shown, of: "what is shown" }));
      if (d.figure.samples >= 0 && !(tellsBlocks(d.figure, head.rate) && unit === "blocks")) row(tellsBlocks(d.figure, head.rate) ? "blocks" : "samples", app.following("samples", d.figure, head));
    }
    if (d.counts === "itself") return rows;
    if (d.selfFigure) row("itself", app.number(d.selfFigure, { ...head, name: "self" }));
    else if (d.self > 0) row("itself", app.following("self", { value: d.self }, head, { alone: true }));
    if (d.change) {
      for (const side of ["before", "after"]) row(side, app.fact(amount(d.change[side], unit), side === "before" ? "Before" : "After", "The estimate of one side; the table beside it has its interval and samples."));
      row("change", changeShown(app, d.change, unit));
    }
    return rows;
  }

  async #neighbours(kind, title, into, place, signal) {
    const s = this.app.store.state;
    const answer = await askTable(this.app.source, s, kind, { focus: focusStep(place), limit: 6, by: s.by || undefined, signal }).catch(() => null);
    if (!answer || signal.aborted) return;
    const places = readPlaces(answer.strings, answer.places);
    const rows = (answer.rows.place || []).map((p, i) => ({ ...rowOf(answer.rows, i), place: places[p] })).filter((r) => r.place);
    if (!rows.length) return;
    fill(into, h("h3", title), h("div.small", rows.map((r) =>
      h("div.row", h("button.cut", { type: "button", title: `${r.place.function}\n${r.place.file}`, onclick: () => this.app.store.set({ view: "flame", mode: "sandwich", focus: focusStep(r.place), zoom: [], pick: [] }) }, this.#short(r.place.function || r.place.file, 90)), this.app.number(r, { ...answer, name: kind })))),
      answer.count > rows.length ? h("button.row.faint", { type: "button", onclick: () => this.app.store.set({ view: kind, focus: focusStep(place) }) }, `All that ${kind === "callers" ? "call it" : "it calls"} …`) : null);
  }

}
