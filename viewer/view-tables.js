// view-tables.js: the tables: what their columns are, how their rows are asked for and unrolled, and what a choice
// in them leads to.
import { fill, h, icon, ICONS } from "./dom.js";
import { amount, count, marginText, percent } from "./format.js";
import { focusOn, focusStep } from "./filterline.js";
import { openMenu } from "./menu.js";
import { askTable, common, readPlaces, rowOf, searchPattern } from "./source.js";
import { changeWhisker, sparkline, Table, whisker } from "./table.js";
import { changeText, momentsOf } from "./view-flame.js";

const figureOf = (row, prefix = "") =>
  prefix ? { value: row[prefix], low: row[`${prefix}_low`], high: row[`${prefix}_high`], samples: row[`${prefix}_samples`] } : row;

const TITLES = {
  hotspots: "Places that allocate",
  functions: "Every function on any stack, with all it causes and what it allocates itself",
  types: "Types of what was allocated",
  callers: "Who calls it",
  callees: "What it calls",
  paths: "Call fragments that do not overlap and together explain most",
  leaks: "Places whose blocks live on",
};

export class TableView {
  constructor(app, kind) {
    this.app = app;
    this.kind = kind;
    this.max = 0;
    this.title = h("span.soft.cut");
    this.search = h("input", {
      type: "text", placeholder: "Search", "aria-label": "Search in this table", spellcheck: "false",
      oninput: () => {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => app.store.replace({ search: this.search.value }), 180);
      },
      onkeydown: (e) => {
        if (e.key !== "Enter" && e.key !== "Escape") return;
        e.stopPropagation();
        clearTimeout(this.typing);
        if (e.key === "Escape") this.search.value = "";
        app.store.replace({ search: this.search.value });
        this.table.body.focus();
      },
    });
    this.by = h("div.segments", { role: "group", "aria-label": "What is one place" }, ["line", "function"].map((b) =>
      h("button", { type: "button", dataset: { by: b }, onclick: () => app.store.set({ by: b, pick: [] }) }, b === "line" ? "Lines" : "Functions")));
    this.tools = h("div.tools", this.#toolsOf());
    this.table = new Table({
      columns: this.#columns(),
      label: TITLES[kind],
      onPick: (row) => this.#pick(row),
      onOpen: (row) => this.#open(row),
      onUnroll: this.#unrolls() ? (row, i, open) => this.#unroll(row, i, open) : undefined,
      onMenu: (row, x, y) => row.place && openMenu(app, row.place, x, y, { path: row.frames || row.chain }),
      onSort: (sort, order) => app.store.set({ sort: sort === "value" && order === "desc" ? "" : `${order === "asc" ? "-" : ""}${sort}` }),
    });
    this.empty = h("div.empty", { hidden: true });
    this.element = h("div.view", this.tools, this.table.element, this.empty);
  }

  #unrolls() {
    return this.kind === "callers" || this.kind === "callees";
  }

  #toolsOf() {
    const hasLines = ["hotspots", "leaks"].includes(this.kind);
    return [hasLines ? this.by : null, h("span.field.search", icon(ICONS.search), this.search), this.title, h("span.grow")];
  }

  // ---- columns -----------------------------------------------------------------------------

  #columns() {
    const num = (key, title, width, prefix, extra = {}) => ({
      key, title, width, right: true, sort: key, ...extra,
      cell: (row) => this.app.number({ ...figureOf(row, prefix), blocks: prefix ? undefined : row.blocks }, { ...this.head, share: prefix ? undefined : row.share * 100, name: key }),
    });
    const value = [
      num("value", "Amount", "104px"),
      { key: "margin", title: "±", width: "150px", right: true, help: "half of the 95 % interval, or both its ends where samples are few", cell: (row) => h("span.margin", marginText(row, this.head.unit, this.head.rate)) },
      { key: "whisker", title: "95 % interval", width: "minmax(90px,1fr)", sort: "low", help: "bar: the estimate; line: its interval. Sorts by the lower end: what is surely large", cell: (row) => whisker(row, this.max) },
      { key: "share", title: "Share", width: "66px", right: true, cell: (row) => percent(row.share * 100) },
      { key: "samples", title: "Samples", width: "78px", right: true, sort: "samples", cell: (row) => count(row.samples) },
    ];
    const place = { key: "place", title: this.kind === "functions" ? "Function" : "Place", width: "minmax(200px,2.4fr)", sort: "function", text: true, cell: (row) => this.#placeCell(row) };
    const callers = { key: "callers", title: "Mostly called by", width: "minmax(100px,1.3fr)", cell: (row) => this.#callersCell(row) };
    switch (this.kind) {
      case "types":
        return [{ key: "type", title: "Type", width: "minmax(160px,2fr)", sort: "type", text: true, cell: (row) => h("span.mono", row.type || "(unknown)") }, ...value, { ...callers, title: "Mostly allocated at" }];
      case "functions":
        return [place, ...value.slice(0, 4), num("self", "Itself", "104px", "self"), value[4]];
      case "paths":
        return [{ key: "frames", title: "Where, and who calls it", width: "minmax(260px,3.4fr)", cell: (row) => this.#fragment(row) }, ...value.slice(0, 4), { key: "explained", title: "Explained", width: "88px", right: true, help: "the share of this row and all before it", cell: (row) => percent(row.explained * 100) }];
      case "callers":
      case "callees":
        return [place, ...value];
      case "leaks":
        return [place, ...value.slice(0, 4), ...this.#leakColumns()];
      default:
        return [place, ...value, callers];
    }
  }

  #leakColumns() {
    const rate = (v) => `${v > 0 ? "+" : ""}${amount(v, "B")}/s`;
    return [
      { key: "class", title: "How it grows", width: "112px", cell: (row) => h("span", { title: this.head.leaks?.classes?.[row.class] ?? "" }, row.class) },
      { key: "slope", title: "Slope", width: "98px", right: true, help: "bytes a second, of what stays live after the start", cell: (row) => h("span", { title: `${rate(row.slope_low)} … ${rate(row.slope_high)}, q = ${row.q}` }, rate(row.slope)) },
      { key: "line", title: "Live over time", width: "minmax(80px,1fr)", cell: (row) => sparkline(row.line) },
    ];
  }

  #placeCell(row) {
    const p = row.place;
    const twist = this.#unrolls()
      ? h("button.twist", {
          type: "button", tabindex: "-1", "aria-label": row.open ? "Roll up" : "Unroll", "aria-expanded": String(!!row.open),
          style: { marginLeft: `${(row.level || 0) * 16}px`, visibility: row.more ? "visible" : "hidden" },
          onclick: (e) => (e.stopPropagation(), this.#unroll(row, this.table.rows.indexOf(row), !row.open)),
        }, icon("M6 4l5 4-5 4"))
      : null;
    if (!p) return h("div.place", twist, h("span.fn", "(no backtrace)"));
    return h("div.place", { title: `${p.function}\n${p.file}${p.line ? `:${p.line}` : ""}` }, twist, h("span.fn", p.function || "?"), h("span.file", p.file ? `\u200e${p.file}${p.line ? `:${p.line}` : ""}` : ""));
  }

  #callersCell(row) {
    const first = row.callers?.[0];
    if (!first?.place) return h("span.faint", "–");
    const more = row.n_callers - 1;
    return h("span", { title: row.callers.map((c) => `${percent(c.share * 100)} ${c.place?.function || "?"}`).join("\n") }, h("span.mono", first.place.function || "?"), h("span.faint", more > 0 ? ` +${count(more)}` : ""));
  }

  #fragment(row) {
    const names = row.frames.map((p) => p?.function || p?.file || "?");
    return h("span.fragment", { title: names.join("\n") }, [...names].reverse().map((n, i) => [i ? h("span.arrow", "‹") : null, i ? h("span.soft", n) : n]));
  }

  // ---- data --------------------------------------------------------------------------------

  restyle() {}

  async update(s, changed) {
    const order = s.sort.startsWith("-") ? "asc" : "desc", sort = s.sort.replace("-", "") || "value";
    this.table.setSort(sort, order);
    for (const b of this.by.children) b.setAttribute("aria-pressed", String(b.dataset.by === (s.by || "line")));
    if (document.activeElement !== this.search) this.search.value = s.search;
    const mine = ["trace", "filter", "measure", "at", "wrappers", "by", "focus", "sort", "search"];
    if (changed && !mine.some((k) => changed.has(k)) && this.head) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    const kind = this.#unrolls() && !s.focus ? "functions" : this.kind;
    this.element.setAttribute("aria-busy", "true");
    try {
      const ask = (offset, limit) => this.#ask(s, kind, { sort, order, offset, limit, signal });
      const first = await this.table.setModel({ page: ask });
      if (signal.aborted) return;
      if (this.#unrolls()) this.#asTree(first, s, kind);
      this.#finish(s, kind, first);
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.app.trouble(error, this, () => this.#showEmpty("This cannot be shown", error.message));
    }
    this.element.removeAttribute("aria-busy");
  }

  async #ask(s, kind, { sort, order, offset, limit, signal, root }) {
    const answer = await askTable(this.app.source, s, kind, {
      sort: sort === "value" ? undefined : sort, order: order === "desc" ? undefined : order, offset: offset || undefined, limit,
      search: s.search ? searchPattern(s.search) : undefined, by: s.by || undefined,
      focus: kind === "callers" || kind === "callees" ? s.focus : undefined, root: root?.join("."), signal,
    });
    this.head = answer;
    const rows = this.#rows(answer);
    // The scale of the whiskers: that of the first page, or more.
    this.max = Math.max(1e-9, offset || root ? this.max : 0, ...rows.map((r) => r.high || 0));
    return { rows, count: answer.count, answer };
  }

  #rows(answer) {
    const places = readPlaces(answer.strings, answer.places);
    const n = answer.rows.value?.length ?? 0;
    return Array.from({ length: n }, (_, i) => {
      const row = rowOf(answer.rows, i);
      if (answer.rows.place) row.place = places[row.place] || null;
      if (answer.rows.class) row.class = answer.strings[row.class];
      if (answer.rows.type) row.type = answer.strings[row.type];
      if (row.callers) row.callers = row.callers.map((c) => ({ ...c, place: places[c.place] || null }));
      if (row.frames) row.frames = row.frames.map((f) => places[f]);
      return row;
    });
  }

  // Callers and callees unroll: rows are a list that grows in the middle.
  #asTree(first, s, kind) {
    if (kind === "functions") return;
    for (const row of first.rows) {
      row.level = 0;
      row.path = row.place ? [row.place.id] : [];
    }
    this.table.setRows(first.rows);
  }

  async #unroll(row, i, open) {
    if (!open && !row.open && row.level > 0) {
      // Rolled up already: to the parent.
      for (let k = i - 1; k >= 0; k--) if (this.table.rows[k].level < row.level) return this.table.choose(k);
      return;
    }
    if (open === !!row.open || !row.more || !row.place) return;
    const rows = this.table.rows;
    if (!open) {
      let end = i + 1;
      while (end < rows.length && rows[end].level > row.level) end++;
      rows.splice(i + 1, end - i - 1);
      row.open = false;
    } else {
      const s = this.app.store.state;
      const { rows: inner } = await this.#ask(s, this.kind, { sort: "value", order: "desc", limit: 200, root: row.path, offset: 0 }).catch(() => ({ rows: [] }));
      inner.forEach((r) => {
        r.level = row.level + 1;
        r.path = [...row.path, r.place?.id];
      });
      const at = rows.indexOf(row);
      if (at < 0) return;
      rows.splice(at + 1, 0, ...inner);
      row.open = true;
    }
    this.table.setRows(rows, true);
    this.table.choose(rows.indexOf(row), false);
  }

  #finish(s, kind, { answer, rows }) {
    this.app.report(answer);
    this.empty.hidden = true;
    this.table.element.hidden = false;
    const name = this.#unrolls() && s.focus ? this.app.nameOfFocus(s.focus) : "";
    fill(this.title, kind !== this.kind ? "Choose a function (Enter)" : name ? `${TITLES[kind]}: ` : TITLES[kind], name ? h("b.mono", name) : null);
    const wrappers = answer.wrappers?.length ? `Wrappers of malloc were skipped: ${answer.wrappers.map((w) => readPlaces(answer.strings, answer.places)[w.place]?.function || "?").join(", ")}. ` : "";
    fill(this.table.foot, `${count(answer.count)} ${answer.count === 1 ? "row" : "rows"}. `, answer.left_out ? `${count(answer.left_out)} smaller ones are not in this file. ` : "", wrappers, this.#invisible());
    if (answer.count === 0) {
      const why = answer.total?.blocks ? ["Nothing here", this.#whyNone(s)] : this.app.whyEmpty(answer);
      return this.#showEmpty(...why);
    }
    const wanted = s.pick.length ? s.pick[s.pick.length - 1] : null;
    const at = wanted === null ? -1 : rows.findIndex((r) => r.place?.id === wanted);
    if (at >= 0) this.table.choose(at, true);
    this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
  }

  #whyNone(s) {
    if (s.search) return `No row matches “${s.search}”.`;
    if (this.kind === "types") return "The trace does not say of which types its blocks are.";
    if (this.kind === "callees") return "It calls nothing that allocates: all is allocated right there.";
    if (this.kind === "callers") return "Nothing calls it: its stacks begin there.";
    return "No row remains.";
  }

  #invisible() {
    const t = this.app.trace;
    return t?.invisible ? `Sites below about ${amount(t.invisible, "B")} may be invisible at this rate.` : "";
  }

  // ---- choosing ----------------------------------------------------------------------------

  #pick(row) {
    const place = row.place || row.frames?.at(-1) || null;
    this.app.select({ place, name: place ? place.function || place.file : row.type || "(no backtrace)", figure: row, self: row.self, selfFigure: row.self === undefined ? null : figureOf(row, "self"), path: row.frames, head: this.head, shown: this.head.total.value });
    if (place) this.app.store.replace({ pick: [place.id] });
  }

  #open(row) {
    const { store } = this.app;
    if (this.kind === "types") return store.set({ filter: `${store.state.filter} type:"${(row.type || "").replaceAll('"', '\\"')}"`.trim(), view: "hotspots" });
    if (row.frames) return store.set({ view: "flame", mode: "sandwich", focus: focusOn(row.frames), zoom: [], pick: [] });
    if (!row.place) return;
    if (this.#unrolls() && store.state.focus) return row.more && !row.open ? this.#unroll(row, this.table.rows.indexOf(row), true) : store.set({ focus: focusStep(row.place) });
    if (this.#unrolls()) return store.set({ focus: focusStep(row.place) });
    store.set({ view: "flame", mode: "sandwich", focus: focusStep(row.place), zoom: [], pick: [] });
  }

  focusSearch() {
    this.search.focus();
    this.search.select();
  }

  focusMain() {
    this.table.body.focus();
  }

  menuOfPick() {
    this.table.key("ContextMenu");
  }

  #showEmpty(title, text, buttons) {
    this.table.element.hidden = true;
    this.empty.hidden = false;
    fill(this.empty, h("h2", title), h("p", text), buttons);
    this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
  }

  leave() {
    this.abort?.abort();
  }
}

// ---- what changed between two traces -------------------------------------------------------------

const NAN = null; // how an answer writes what is infinite or undefined

export class DiffTable {
  constructor(app, { moments = false } = {}) {
    this.app = app;
    this.moments = moments;
    this.max = 1;
    const side = (key, title) => ({
      key, title, width: "100px", right: true, sort: key,
      cell: (row) => app.number(figureOf(row, key), { ...this.heads?.[key], unit: this.unit, name: key }),
    });
    const moved = (key, title, help) => ({ key, title, help, width: "100px", right: true, cell: (row) => app.number(figureOf(row, key), { ...this.heads?.[key], unit: this.unit, name: key, measure: "allocated" }) });
    this.table = new Table({
      label: "What changed",
      columns: [
        { key: "place", title: "Place", width: "minmax(200px,2.2fr)", cell: (row) => h("div.place", { title: `${row.name}\n${row.where}` }, h("span.fn", row.name), h("span.file", row.where ? `\u200e${row.where}` : "")) },
        side("before", moments ? "Live at A" : "Before"),
        side("after", moments ? "Live at B" : "After"),
        moments ? moved("went", "Went", "live at A, and no more at B") : null,
        moments ? moved("came", "Came", "live at B, and not yet at A") : null,
        { key: "change", title: "Change", width: "104px", right: true, sort: "change", cell: (row) => app.number({ value: row.change, low: row.change_low, high: row.change_high }, { unit: this.unit, name: "change", text: signed(row.change, this.unit) }) },
        { key: "whisker", title: "95 % interval of the change", width: "minmax(110px,1.3fr)", cell: (row) => changeWhisker(row.change, row.change_low, row.change_high, row.sure, this.max) },
        { key: "sure", title: "Verdict", width: "118px", cell: (row) => h(`span${row.sure ? "" : ".faint"}`, { title: `${changeText(changeOf(row), this.unit)}; q = ${row.q}` }, row.sure ? (row.change > 0 ? "▲ surely more" : "▼ surely less") : moments && row.went === 0 && row.came === 0 ? "the same" : "maybe none") },
      ].filter(Boolean),
      onPick: (row) => app.select({ place: row.place, name: row.name, change: changeOf(row), head: this.heads.after, ofDiff: true }),
      onMenu: (row, x, y) => row.place && openMenu(app, row.place, x, y),
      onSort: (sort, order) => app.store.set({ sort: `${order === "asc" ? "-" : ""}${sort}` }),
    });
    this.by = h("div.segments", { role: "group", "aria-label": "What is one place" }, ["line", "function", "type"].map((b) =>
      h("button", { type: "button", dataset: { by: b }, onclick: () => app.store.set({ by: b === "type" ? "" : b, difftypes: b === "type" }) }, { line: "Lines", function: "Functions", type: "Types" }[b])));
    this.summary = h("div.tools.soft");
    this.element = h("div.grid", this.summary, this.table.element);
  }

  async load(s, signal) {
    const order = s.sort.startsWith("-") ? "asc" : "desc", sort = ["change", "before", "after"].find((k) => k === s.sort.replace("-", ""));
    const by = s.difftypes ? "type" : s.by || "line";
    const first = await this.table.setModel({ page: (offset, limit) => this.#page(s, { by, sort, order: sort ? order : undefined, offset, limit }, signal) });
    const { total, n_sure } = first.answer;
    this.table.setSort(sort || "", order);
    for (const b of this.by.children) b.setAttribute("aria-pressed", String(b.dataset.by === by));
    this.app.report(this.moments ? { ...this.heads.after, note: "live at B" } : this.heads[s.trace === s.before ? "before" : "after"]);
    const t = { sure: total.sure, change: total.change.value, low: total.change.low, high: total.change.high };
    const whole = (key) => this.app.number({ ...this.heads[key].total, ...total[key] }, { ...this.heads[key], unit: this.unit, name: `total-${key}` });
    fill(this.summary, this.by,
      this.moments ? h("span", "Went: ", this.#moved(first.answer, "went"), ", came: ", this.#moved(first.answer, "came"), ". ") : null,
      h("span", "In all ", whole("before"), " → ", whole("after"), `: ${changeText(t, this.unit)}. `,
        n_sure ? `${count(n_sure)} of ${count(first.count)} places changed beyond accident.` : `None of ${count(first.count)} places changed beyond accident.`));
    fill(this.table.foot, `${count(first.count)} rows. Only changes that are sure at a false discovery rate of ${percent(100 * first.answer.false_discovery_rate)} are coloured and marked.`);
    return first;
  }

  #moved(answer, key) {
    return this.app.number(answer[key], { ...this.heads.after, unit: this.unit, measure: "allocated", name: `total-${key}` });
  }

  // Which two.
  #sides(s) {
    const m = this.moments && momentsOf(s, this.app);
    return m ? { trace: s.trace || undefined, measure: undefined, at: undefined, from: m.from, to: m.to } : { before: s.before, after: s.after, normalise: s.normalise === "none" ? undefined : s.normalise };
  }

  async #page(s, { by, sort, order, offset, limit }, signal) {
    const { trace, ...asked } = common(s);
    void trace;
    const answer = await this.app.source.get("diff", {
      ...asked, ...this.#sides(s), by,
      sort, order: order === "asc" ? "asc" : undefined, offset: offset || undefined, limit, search: s.search ? searchPattern(s.search) : undefined,
    }, signal);
    this.heads = { before: answer.before, after: answer.after };
    this.unit = answer.after.unit;
    const rows = Array.from({ length: answer.rows.change.length }, (_, i) => this.#row(answer, i));
    if (!offset) this.max = Math.max(1e-9, ...rows.map((r) => Math.max(Math.abs(r.change_low), Math.abs(r.change_high))).filter(Number.isFinite));
    return { rows, count: answer.count, answer };
  }

  #row(answer, i) {
    const row = rowOf(answer.rows, i), { strings } = answer;
    for (const k of ["change_low", "change_high"]) row[k] = row[k] === NAN ? 0 : row[k];
    const fn = strings[row.function] || "", file = strings[row.file] || "", type = strings[row.type] || "";
    row.place = fn || file ? { id: row.id_after >= 0 ? row.id_after : row.id_before, function: fn, file, line: row.line || 0 } : null;
    row.name = type || fn || (file ? "?" : "(no backtrace)");
    row.where = file ? `${file}${row.line ? `:${row.line}` : ""}` : "";
    return row;
  }
}

const signed = (x, unit) => `${x > 0 ? "+" : ""}${amount(x, unit)}`;
const changeOf = (row) => ({ before: row.before, after: row.after, change: row.change, low: row.change_low, high: row.change_high, sure: row.sure });
