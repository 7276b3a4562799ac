// view-tables.js: the tables: their columns, how their rows are loaded and unrolled, and what a choice in them leads
// to.
import { elementParts } from "./drawing.js";
import { fill, h, icon, textWidth } from "./dom.js";
import { focusField, searchField } from "./fields.js";
import { amount, count, duration, percent } from "./format.js";
import { exactly, focusOn, focusStep } from "./filterline.js";
import { openMenu } from "./menu.js";
import { byAmount, colorOf, moduleOf } from "./modules.js";
import { bareName, shorten, shortenTo, tellApart } from "./names.js";
import { askTable, common, readAdvice, readPlaces, rowOf, searchPattern } from "./source.js";
import { changeWhisker, sparkline, Table, whisker } from "./table.js";
import { changeText } from "./delta.js";
import { momentsOf, noteOf } from "./view-flame.js";

const TITLE = 80; // characters
const APART = 14; // characters
const GAP = 10, TAG = 64, TWIST = 28, INDENT = 16, SLACK = 3; // pixels in the cell of a place

const nameOf = (name, room) => h("span.fn", h("bdi", { dir: "ltr" }, shorten(name, (text) => textWidth(text) <= room - SLACK) || name));

// Returns the location, without the part that distinguishes builds of a module, which is in the title.
const whereOf = (file, line) => (file ? `${file.replace(/\[[^\]]*\]$/, "")}${line ? `:${line}` : ""}` : "");

const fileOf = (where) => h("span.file", where ? `\u200e${where.replace(/:(\d+)$/, "\u200e:$1")}` : "");

// Returns a name and its location. The name is shortened so that at least file and line fit beside it; folders are
// dropped first. The name gets the larger part, and more of it if there is no line. On a phone, the name has a line of
// its own.
function nameAndWhere(name, where, room, between, twoLines) {
  if (twoLines) return [h("span.name", nameOf(name, room), between), fileOf(where)];
  const file = where.slice(where.lastIndexOf("/") + 1), least = file && GAP + SLACK + textWidth(file === where ? file : `…/${file}`, "font");
  return [nameOf(name, Math.max(room - least, (/:\d+$/.test(where) ? 0.55 : 0.75) * room)), between, fileOf(where)];
}

// Marks rows that are instances of one template at one line, which would otherwise look the same.
function markInstances(rows) {
  const groups = new Map();
  for (const r of rows) {
    const p = r.place, key = p?.function && JSON.stringify([bareName(p.function), p.file, p.line]);
    if (key) groups.set(key, [...groups.get(key) ?? [], r]);
  }
  for (const group of groups.values()) {
    const names = [...new Set(group.map((r) => r.place.function))], apart = names.length > 1 ? tellApart(names) : [];
    for (const r of group) r.apart = apart[names.indexOf(r.place.function)] || "";
  }
}

const moduleCell = (app, place) => {
  const m = moduleOf(place);
  return m ? h("span.cut", { title: m }, h("i.swatch", { style: { background: colorOf(app, m) } }), m) : null;
};

const keyOf = (place) => `${place.function}\n${place.file}`;

// Leaks are about what is live at the end. In bytes, that is the measure "never freed". If the program cleaned up, they
// are about what was live before that.
const LEFT = { allocated: "Live at the end", blocks: "Blocks live at the end", byteseconds: "Bytes × time held" };
const LEFT_BEFORE = { ...LEFT, allocated: "Live before the cleanup", blocks: "Blocks live before the cleanup" };
const namesOf = (head) => (head?.leaks?.cleaned_up ? LEFT_BEFORE : LEFT);
const leftOf = (head) => {
  const { cleaned_up, to } = head.leaks ?? {};
  const bytes = head.measure !== "allocated" ? {} : cleaned_up ? { measure: "live", time: to } : { measure: "survived" };
  return { ...head, named: namesOf(head)[head.measure], ...bytes };
};

const CHUNK = 200; // rows shown per step of unrolling

const figureOf = (row, prefix = "") =>
  prefix ? { value: row[prefix], low: row[`${prefix}_low`], high: row[`${prefix}_high`], samples: row[`${prefix}_samples`] } : row;

// Returns the filter term for a row that is a thread or a scope.
const termOf = (group, name) => (group === "scope" && name === "(no scope)" ? "scope:/^$/" : `${group}:${exactly(name)}`);

// What rows of the hotspots can be instead of places.
const GROUPS = { thread: { title: "Thread", many: "Threads", rows: "Threads that allocate, and the places where" }, scope: { title: "Scope", many: "Scopes", rows: "What the program said that it was doing, and the places that allocated meanwhile" } };

const TITLES = {
  hotspots: "Places that allocate",
  functions: "Every function on any stack, with its total and what it allocates itself",
  types: "Types of what was allocated",
  callers: "Who calls it",
  callees: "What it calls",
  paths: "Non-overlapping call fragments that together explain most",
  leaks: "Places whose blocks stay live",
};

// What the numbers of a row include: the place alone, or also what it calls.
const COUNTS = { hotspots: "itself", leaks: "itself", functions: "with callees" };

export class TableView {
  constructor(app, kind) {
    this.app = app;
    this.kind = kind;
    this.max = 0;
    this.title = h("span.soft.cut");
    this.remark = h("div.remark.soft", { hidden: true });
    const done = () => this.table.body.focus();
    this.search = searchField(app, { label: "Search in this table", done });
    this.around = this.#unrolls() ? focusField(app, done) : null;
    this.by = h("div.segments", { role: "group", "aria-label": "What counts as one place" }, ["line", "function"].map((b) =>
      h("button", { type: "button", dataset: { by: b }, onclick: () => app.store.set({ by: b, group: "", pick: [] }) }, b === "line" ? "Lines" : "Functions")),
      // An exported page has summaries by place only.
      kind === "hotspots" && !app.source.offline ? Object.entries(GROUPS).map(([g, { many }]) => h("button", { type: "button", dataset: { by: g }, onclick: () => app.store.set({ group: g, pick: [] }) }, many)) : null);
    this.group = ""; // what rows currently are
    this.exact = false; // whether every block was recorded
    this.tools = h("div.tools", this.#toolsOf());
    this.table = new Table({
      columns: this.#columns(),
      label: TITLES[kind],
      onPick: (row) => this.#pick(row),
      onOpen: (row) => this.#open(row),
      onUnroll: this.#unrolls() ? (row, i, open) => this.#unroll(row, i, open) : undefined,
      onMenu: (row, x, y) => row.place && openMenu(app, row.place, x, y, { path: row.frames }),
      onSort: (sort, order) => app.store.set({ sort: sort === this.#usual && order === "desc" ? "" : `${order === "asc" ? "-" : ""}${sort}` }),
    });
    this.empty = h("div.empty", { hidden: true });
    this.element = h("div.view", this.tools, this.remark, this.table.element, this.empty);
  }

  // The usual order of rows. Leaks have an order of their own, by certainty.
  get #usual() {
    return this.kind === "leaks" ? "default" : "value";
  }

  #unrolls() {
    return this.kind === "callers" || this.kind === "callees";
  }

  #toolsOf() {
    const hasLines = ["hotspots", "leaks"].includes(this.kind);
    return [hasLines ? this.by : null, this.around?.element, this.search.element, this.title, h("span.grow")];
  }

  // ---- columns -----------------------------------------------------------------------------

  #columns() {
    const num = (key, title, width, prefix, extra = {}) => ({
      key, title, width, right: true, sort: key, ...extra,
      cell: (row) => this.app.number({ ...figureOf(row, prefix), blocks: prefix ? undefined : row.blocks }, { ...this.#of(), share: prefix ? undefined : row.share * 100, name: key }),
    });
    const from = (kind, more) => (row, i) => this.app.following(kind, row, this.#of(), more?.(row, i));
    const value = [
      num("value", "Amount", "104px", "", { near: 1, narrow: "126px" }),
      { key: "margin", title: "±", below: "value", width: this.exact ? "64px" : "156px", right: true, help: "half of the 95% confidence interval, or both bounds with few samples", cell: from("margin", () => ({ className: "margin" })) },
      { key: "whisker", title: "95% interval", spare: 3, width: "minmax(64px,1fr)", sort: "low", help: "bar: the estimate; line: its interval. Sorts by the lower bound", cell: (row) => whisker(row, this.max) },
      { key: "share", title: "Share", spare: 5, near: 2, width: "66px", right: true, cell: from("share", (row) => ({ share: row.share, whole: row.value / row.share, of: this.kind !== "leaks" ? "all" : this.head.leaks?.cleaned_up ? "all that was live before the cleanup" : "all that is live at the end" })) },
      { key: "samples", title: "Samples", spare: 4, width: "78px", right: true, sort: "samples", cell: from("samples") },
    ];
    if (this.exact) value[4] = { ...value[4], title: "Blocks", sort: "blocks" };
    const grouped = GROUPS[this.group];
    if (grouped) return [{ key: "name", title: grouped.title, width: "minmax(110px,3fr)", sort: "function", text: true, cell: (row) => h("span.mono.cut", { title: row.name }, row.name) }, ...value, { ...this.#callers(), title: "Mostly allocated at", width: "minmax(130px,1.4fr)" }];
    const place = { key: "place", title: this.kind === "functions" ? "Function" : "Place", width: "minmax(258px,3.2fr)", sort: "function", text: true, cell: (row, i, room) => this.#placeCell(row, room) };
    const module = { key: "module", title: "Module", wide: true, spare: 2, width: "minmax(106px,0.8fr)", help: "the program or library, or the folder of the source, that it belongs to", cell: (row) => moduleCell(this.app, row.place) };
    const callers = this.#callers();
    switch (this.kind) {
      case "types":
        return [{ key: "type", title: "Type", width: "minmax(160px,2fr)", sort: "type", text: true, cell: (row) => h("span.mono", row.type || "(type not recorded)") }, ...value, { ...callers, title: "Mostly allocated at" }];
      case "functions":
        return [place, module, ...value.slice(0, 3), { ...value[3], near: 0 }, num("self", "Itself", "104px", "self", { near: 2, narrow: "92px" }), value[4]];
      case "paths":
        return [{ key: "frames", title: "The place and its callers", width: "minmax(260px,3.4fr)", cell: (row, i, room) => this.#fragment(row, room) }, ...value.slice(0, 4), { key: "explained", title: "Explained", width: "88px", right: true, help: "the share of this row and all before it", cell: from("explained", (row, i) => ({ share: row.explained, row: i })) }];
      case "callers":
      case "callees":
        return [place, module, ...value];
      case "leaks":
        return [{ ...place, width: "minmax(200px,3.2fr)" }, this.#classColumn(), ...value.slice(0, 2), { ...value[2], spare: 1 }, { ...value[3], spare: 2, near: 0 }, ...this.#growthColumns()];
      default:
        return [place, module, ...value, callers];
    }
  }

  #callers() {
    return { key: "callers", title: "Mostly called by", spare: 1, width: "minmax(104px,1.2fr)", cell: (row, i, room) => this.#callersCell(row, room) };
  }

  // Placed beside the place, so that it is visible in a narrow window, while an amount and its interval stay together.
  #classColumn() {
    return { key: "class", title: "How it grows", near: 2, width: "112px", narrow: "104px", help: "Rows are ordered by certainty of growth, then by amount", cell: (row) => h("span", { title: this.head.leaks?.classes?.[row.class] ?? "" }, row.class) };
  }

  #growthColumns() {
    return [
      { key: "slope", title: "Slope", spare: 4, width: this.blocks ? "150px" : "98px", right: true, help: "bytes or blocks per second of live memory, after startup", cell: (row) => this.app.following("slope", row, this.#of()) },
      { key: "history", title: "Live over time", spare: 3, width: "minmax(80px,1fr)", cell: (row) => sparkline(row.history) },
    ];
  }

  // Returns the head that describes the numbers of the rows.
  #of() {
    return this.kind === "leaks" ? leftOf(this.head) : this.head;
  }

  #placeCell(row, room) {
    const p = row.place, { narrow } = this.table;
    const twist = this.#unrolls()
      ? h("button.twist", {
          type: "button", tabindex: "-1", "aria-label": row.open ? "Roll up" : "Unroll", "aria-expanded": String(!!row.open),
          style: { marginLeft: `${(row.level || 0) * INDENT}px`, visibility: row.more ? "visible" : "hidden" },
          onclick: (e) => (e.stopPropagation(), this.#unroll(row, this.table.rows.indexOf(row), !row.open)),
        }, icon("M6 4l5 4-5 4"))
      : null;
    if (!p) return h("div.place", twist, h("span.fn", "(no call stack)"));
    const advice = this.#advice(p), apart = row.apart ? h("span.apart.mono", `<${shortenTo(row.apart, APART)}>`) : null;
    return h(`div.place${narrow ? ".two" : ""}`, { title: `${p.function}\n${p.file}${p.line ? `:${p.line}` : ""}` }, twist, nameAndWhere(p.function || "?", whereOf(p.file, p.line), room - (twist ? TWIST + (row.level || 0) * INDENT : 0) - (advice ? TAG : 0) - (apart ? GAP + textWidth(apart.textContent) : 0), [apart, advice], narrow));
  }

  // A tag on places with advice; the panel shows the advice.
  #advice(place) {
    const advice = this.advised?.get(keyOf(place));
    if (!advice) return null;
    return h("button.tag", {
      type: "button", title: `${advice.title}\nclick: shows the advice`,
      onclick: () => this.app.store.replace({ details: "shown" }), // the click also selects the row
    }, "advice");
  }

  // Marks rows with advice, if it has been computed; that takes a while, so it is done on demand only.
  markAdvised(s = this.app.store.state) {
    if (!["hotspots", "functions", "leaks"].includes(this.kind)) return;
    const a = this.app.source.peek("advice", common(s));
    this.advised = a && new Map(readAdvice(a).reverse().flatMap((x) => x.places.map((p) => [keyOf(p), x]))); // the largest last, so that it wins
    if (this.advised?.size) this.table.refresh();
  }

  #callersCell(row, room) {
    const first = row.callers?.[0];
    if (!first?.place) return h("span.faint", "–");
    const more = row.n_callers - 1;
    return h("div.place", { title: row.callers.map((c) => `${percent(c.share * 100)} ${c.place?.function || "?"}`).join("\n") }, nameOf(first.place.function || "?", room - (more > 0 ? 2 * GAP + textWidth(`+${count(more)}`, "font") : 0)), more > 0 ? [" ", this.app.fact(`+${count(more)}`, "More callers", "How many other functions call it on the way to an allocation.")] : null);
  }

  // Shows a fragment, innermost frame first. If there is not room for all, each name is shortened.
  #fragment(row, room) {
    const full = row.frames.map((p) => p?.function || p?.file || "?");
    if (this.table.narrow) return h("div.place.two", { title: full.join("\n") }, h("span.name", nameOf(full.at(-1), room)), h("span.file.rightward", full.slice(0, -1).reverse().map((n) => `‹ ${bareName(n)} `).join("")));
    const each = (room - full.length * 2 * GAP) / Math.min(3, full.length);
    const names = textWidth(full.join(" ‹ ")) <= room ? full : full.map((n) => shorten(n, (text) => textWidth(text) <= each) || n);
    return h("span.fragment", { title: full.join("\n") }, [...names].reverse().map((n, i) => [i ? h("span.arrow", "‹") : null, i ? h("span.soft", n) : n]));
  }

  // Returns the parts of the picture to download: the visible rows.
  drawings() {
    return [elementParts(this.table.element.checkVisibility() ? this.table.element : this.empty)];
  }

  // ---- data --------------------------------------------------------------------------------

  restyle() {
    this.table.refresh();
  }

  measures() {
    return this.kind === "leaks" ? { only: Object.keys(LEFT), names: namesOf(this.head) } : null;
  }

  async update(s, changed) {
    const order = s.sort.startsWith("-") ? "asc" : "desc", sort = s.sort.replace("-", "") || this.#usual;
    this.#regroup(s);
    this.table.setSort(sort, order);
    for (const b of this.by.children) b.setAttribute("aria-pressed", String(b.dataset.by === (this.group || s.by || "line")));
    this.search.show(s.search);
    this.around?.show(s.focus);
    const mine = ["trace", "filter", "measure", "at", "wrappers", "by", "group", "focus", "sort", "search"];
    if (changed && !mine.some((k) => changed.has(k)) && this.head) return;
    this.abort?.abort();
    const { signal } = (this.abort = new AbortController());
    const kind = this.#unrolls() && !s.focus ? "functions" : this.kind;
    this.element.setAttribute("aria-busy", "true");
    this.advised = null;
    try {
      const ask = (offset, limit) => this.#ask(s, kind, { sort, order, offset, limit, signal });
      const first = await this.table.setModel({ page: ask });
      if (signal.aborted) return;
      if (this.#unrolls() && kind !== "functions") await this.#asTree(first, s);
      if (signal.aborted) return;
      this.#finish(s, kind, first);
      this.markAdvised(s);
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      this.app.trouble(error, this, () => this.#showEmpty("This cannot be shown", error.message, this.app.waysOut()));
    }
    this.element.removeAttribute("aria-busy");
  }

  // Changes rows to places, threads or scopes, and their counts to samples or, if all blocks are known, to blocks; what
  // counts blocks needs wider columns.
  #regroup(s) {
    const group = this.kind === "hotspots" && !this.app.source.offline ? s.group : "", exact = this.app.trace?.rate >= 1, blocks = s.measure === "blocks";
    if (group === this.group && exact === this.exact && blocks === this.blocks) return;
    this.group = group;
    this.exact = exact;
    this.blocks = blocks;
    this.table.setColumns(this.#columns());
  }

  async #ask(s, kind, { sort, order, offset, limit, signal, root }) {
    const measure = kind === "leaks" && !LEFT[s.measure] ? "allocated" : s.measure;
    const answer = await askTable(this.app.source, { ...s, measure }, kind, {
      sort: sort === this.#usual ? undefined : sort, order: order === "desc" ? undefined : order, offset: offset || undefined, limit,
      search: s.search ? searchPattern(s.search) : undefined, by: this.group || s.by || undefined,
      focus: kind === "callers" || kind === "callees" ? s.focus : undefined, root: root?.join("."), signal,
    });
    this.head = answer;
    const rows = this.#rows(answer);
    if (!offset && !root) this.app.takeHues(byAmount(rows.map((r) => [moduleOf(r.place), r.self ?? r.value])));
    // The scale of the whiskers: the maximum of the first page, or a larger value that follows.
    this.max = Math.max(1e-9, offset || root ? this.max : 0, ...rows.map((r) => r.high || 0));
    return { rows, count: answer.count, answer };
  }

  #rows(answer) {
    const places = readPlaces(answer.strings, answer.places);
    const n = answer.rows.value?.length ?? 0;
    const rows = Array.from({ length: n }, (_, i) => {
      const row = rowOf(answer.rows, i);
      if (answer.rows.place) row.place = places[row.place] || null;
      if (answer.rows.class) row.class = answer.strings[row.class];
      if (answer.rows.type) row.type = answer.strings[row.type];
      if (this.group && answer.rows[this.group]) row.name = answer.strings[row[this.group]];
      if (row.callers) row.callers = row.callers.map((c) => ({ ...c, place: places[c.place] || null }));
      if (row.frames) row.frames = row.frames.map((f) => places[f]);
      return row;
    });
    markInstances(rows);
    return rows;
  }

  // Callers and callees unroll: the rows are a list that grows in the middle.
  async #asTree(first, s) {
    this.table.setRows(this.#below(null, first, 0));
    for (const path of s.open.split(",").filter(Boolean)) {
      const row = this.table.rows.find((r) => r.path?.join(".") === path);
      if (row && !row.open) await this.#unroll(row, this.table.rows.indexOf(row), true, false);
    }
  }

  // Returns rows of an answer, and a last row for those that follow.
  #below(parent, { rows, count: n }, offset) {
    const level = parent ? parent.level + 1 : 0, end = offset + rows.length;
    for (const r of rows) Object.assign(r, { level, path: [...(parent?.path ?? []), r.place?.id] });
    return n > end ? [...rows, { instead: `${count(n - end)} more: Enter or double click shows ${count(Math.min(CHUNK, n - end))} of them`, level, parent, offset: end }] : rows;
  }

  #askBelow(parent, offset) {
    const s = this.app.store.state;
    return this.#ask(s, this.kind, { sort: this.#usual, order: "desc", limit: CHUNK, root: parent?.path, offset }).catch(() => ({ rows: [], count: 0 }));
  }

  async #showMore(row) {
    const rows = this.table.rows, answer = await this.#askBelow(row.parent, row.offset), at = rows.indexOf(row);
    if (at < 0 || !answer.rows.length) return;
    rows.splice(at, 1, ...this.#below(row.parent, answer, row.offset));
    this.table.setRows(rows, true);
    this.table.choose(at);
  }

  // The address has the set of unrolled rows.
  #keepOpen() {
    const open = this.table.rows.filter((r) => r.open).map((r) => r.path.join(".")).join(",");
    this.app.store.replace({ open });
  }

  async #unroll(row, i, open, keep = true) {
    if (row.instead && open) return this.#showMore(row);
    if (!open && !row.open && row.level > 0) {
      // Already rolled up: go to the parent.
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
      const inner = this.#below(row, await this.#askBelow(row, 0), 0);
      const at = rows.indexOf(row);
      if (at < 0) return;
      rows.splice(at + 1, 0, ...inner);
      row.open = true;
    }
    this.table.setRows(rows, true);
    this.table.choose(rows.indexOf(row), false);
    if (keep) this.#keepOpen();
  }

  #finish(s, kind, { answer, rows }) {
    this.app.report(answer.leaks ? { ...leftOf(answer), total: answer.leaks } : answer);
    this.empty.hidden = true;
    this.table.element.hidden = false;
    const name = this.#unrolls() && s.focus ? this.app.nameOfFocus(s.focus) : "";
    fill(this.title, kind !== this.kind ? "Choose a function (Enter)" : this.group ? GROUPS[this.group].rows : name ? `${TITLES[kind]}: ` : TITLES[kind], name ? h("b.mono", { title: name }, shortenTo(name, TITLE)) : null);
    const untyped = kind === "types" && answer.count === 1 && !rows[0].type;
    this.remark.hidden = !answer.leaks && !untyped;
    fill(this.remark, answer.leaks ? this.#window(answer.leaks) : untyped ? "The trace records no types for these blocks; traces of OCaml programs never do. Hotspots shows places." : null);
    const wrappers = answer.wrappers?.length ? `Wrappers of malloc were skipped: ${answer.wrappers.map((w) => readPlaces(answer.strings, answer.places)[w.place]?.function || "?").join(", ")}. ` : "";
    fill(this.table.foot, this.app.fact(count(answer.count), "Rows", "The number of rows with at least one sample."), answer.count === 1 ? " row. " : " rows. ", answer.left_out ? `${count(answer.left_out)} smaller ones are not in this file. ` : "", wrappers, this.#invisible());
    if (answer.count === 0) {
      const why = answer.total?.blocks ? ["Nothing here", this.#whyNone(s)] : this.app.whyEmpty(answer);
      return this.#showEmpty(...why);
    }
    const wanted = s.pick.length ? s.pick[s.pick.length - 1] : null;
    const at = wanted === null ? -1 : rows.findIndex((r) => r.place?.id === wanted);
    if (at >= 0) this.table.choose(at, true);
    this.element.dataset.ready = String((+this.element.dataset.ready || 0) + 1);
  }

  // Describes the time span of leaks, as the command does.
  #window({ from, to, cleaned_up }) {
    const moment = (time, title, definition) => this.app.fact(duration(time), title, definition);
    const end = () => moment(to, cleaned_up ? "The program cleaned up" : "End", cleaned_up ? "From then on, it freed memory and allocated hardly anything." : "The time of the last event of the trace. Memory live then was never freed.");
    return [
      cleaned_up ? ["The program cleaned up from ", end(), " on; leaks are measured just before that. "] : null,
      "Growth is measured from ", moment(from, "Start-up", "The first quarter of the recording: a program may keep what it allocates at startup."), " to ", end(), "; earlier allocations count as startup.",
    ];
  }

  #whyNone(s) {
    if (s.search) return `No row matches “${s.search}”.`;
    if (this.kind === "types") return "The trace does not record the types of its blocks.";
    if (this.kind === "callees") return "It calls nothing that allocates; it allocates everything itself.";
    if (this.kind === "callers") return "It has no callers: its stacks begin here.";
    return "No row remains.";
  }

  #invisible() {
    const t = this.app.trace;
    return t?.invisible ? ["Sites below about ", this.app.fact(amount(t.invisible, "B"), "Invisible", "A site that allocated less than this may have no samples (with a probability of at least 5%), and is then missing. This depends only on the rate."), " may be invisible at this rate."] : "";
  }

  // ---- choosing ----------------------------------------------------------------------------

  #pick(row) {
    if (row.instead) return;
    const place = row.place || row.frames?.at(-1) || null;
    this.app.select({ place, counts: COUNTS[this.kind], name: place ? place.function || place.file : row.type || row.name || "(no call stack)", figure: row, self: row.self, selfFigure: row.self === undefined ? null : figureOf(row, "self"), path: row.frames, head: this.head, shown: this.head.total.value });
    if (place) this.app.store.replace({ pick: [place.id] });
  }

  // Clears the search, which matched the row, and would match nothing in the next table.
  #open(row) {
    const { store } = this.app;
    if (this.kind === "types") return store.set({ filter: `${store.state.filter} type:"${(row.type || "").replaceAll('"', '\\"')}"`.trim(), view: "hotspots", search: "" });
    if (row.name !== undefined) return store.set({ filter: `${store.state.filter} ${termOf(this.group, row.name)}`.trim(), group: "", search: "" });
    if (row.instead) return this.#showMore(row);
    if (row.frames) return store.set({ view: "flame", mode: "sandwich", focus: focusOn(row.frames), zoom: [], pick: [] });
    if (!row.place) return;
    if (this.#unrolls() && store.state.focus) return row.more && !row.open ? this.#unroll(row, this.table.rows.indexOf(row), true) : store.set({ focus: focusStep(row.place), search: "" });
    if (this.#unrolls()) return store.set({ focus: focusStep(row.place), search: "" });
    store.set({ view: "flame", mode: "sandwich", focus: focusStep(row.place), zoom: [], pick: [] });
  }

  focusSearch() {
    this.search.focus();
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

const NAN = null; // how an answer writes infinity and NaN

export class DiffTable {
  constructor(app, { moments = false } = {}) {
    this.app = app;
    this.moments = moments;
    this.max = 1;
    const side = (key, title) => ({
      key, title, width: "92px", right: true, sort: key,
      cell: (row) => app.number(figureOf(row, key), { ...this.heads?.[key], unit: this.unit, name: key }),
    });
    const moved = (key, title, help) => ({ key, title, help, spare: 2, width: "88px", right: true, cell: (row) => app.number(figureOf(row, key), { ...this.heads?.[key], unit: this.unit, name: key, measure: "allocated" }) });
    this.table = new Table({
      label: "What changed",
      columns: [
        { key: "place", title: "Place", width: "minmax(200px,2.6fr)", cell: (row, i, room) => h(`div.place${this.table.narrow ? ".two" : ""}`, { title: `${row.name}\n${row.where}` }, nameAndWhere(row.name, row.where, room, null, this.table.narrow)) },
        side("before", moments ? "From" : "Before"),
        side("after", moments ? "To" : "After"),
        moments ? moved("went", "Went", "live at “from”, and not at “to”") : null,
        moments ? moved("came", "Came", "live at “to”, and not at “from”") : null,
        { key: "change", title: "Change", near: 1, width: "106px", right: true, sort: "change", cell: (row) => app.following("change", { value: row.change, low: row.change_low, high: row.change_high, q: row.q }, { unit: this.unit }, { alone: true }) },
        { key: "whisker", title: "95% interval", help: "of the change", spare: 1, width: "minmax(96px,1.2fr)", cell: (row) => changeWhisker(row.change, row.change_low, row.change_high, row.sure, this.max) },
        { key: "sure", title: "Verdict", near: 2, width: "118px", narrow: "120px", cell: (row) => h(`span${row.sure ? "" : ".faint"}`, { title: `${changeText(changeOf(row), this.unit)}${row.decided ? `; q = ${row.q}` : ""}` }, row.sure ? (row.change > 0 ? "▲ more" : "▼ less") : isSame(row, moments) ? "the same" : row.decided ? "not significant" : "undecided") },
      ].filter(Boolean),
      onPick: (row) => app.select({ place: row.place, name: row.name, change: changeOf(row), head: this.heads.after, ofDiff: true }),
      onOpen: (row) => row.place && app.store.set({ view: "flame", mode: "sandwich", focus: focusStep(row.place), zoom: [], pick: [] }),
      onMenu: (row, x, y) => row.place && openMenu(app, row.place, x, y),
      onSort: (sort, order) => app.store.set({ sort: `${order === "asc" ? "-" : ""}${sort}` }),
    });
    this.by = h("div.segments", { role: "group", "aria-label": "What counts as one place" }, ["line", "function", "type"].map((b) =>
      h("button", { type: "button", dataset: { by: b }, onclick: () => app.store.set({ by: b === "type" ? "" : b, difftypes: b === "type" }) }, { line: "Lines", function: "Functions", type: "Types" }[b])));
    this.search = searchField(app, { label: "Search in what changed", done: () => this.table.body.focus() });
    this.summary = h("div.tools.soft");
    this.element = h("div.grid", this.summary, this.table.element);
  }

  async load(s, signal) {
    const order = s.sort.startsWith("-") ? "asc" : "desc", sort = ["change", "before", "after"].find((k) => k === s.sort.replace("-", ""));
    const by = s.difftypes ? "type" : s.by || "line";
    const first = await this.table.setModel({ page: (offset, limit) => this.#page(s, { by, sort, order: sort ? order : undefined, offset, limit }, signal) });
    const { app } = this, { total, n_sure } = first.answer;
    this.table.setSort(sort || "", order);
    for (const b of this.by.children) b.setAttribute("aria-pressed", String(b.dataset.by === by));
    this.app.report(this.moments ? { ...this.heads.after, note: noteOf(s) } : this.heads[s.trace === s.before ? "before" : "after"]);
    const t = { sure: total.sure, decided: first.answer.decided, change: total.change.value, low: total.change.low, high: total.change.high };
    const whole = (key) => this.app.number({ ...this.heads[key].total, ...total[key] }, { ...this.heads[key], unit: this.unit, name: `total-${key}` });
    this.search.show(s.search);
    fill(this.summary, this.by, this.search.element,
      this.moments ? h("span", "Went: ", this.#moved(first.answer, "went"), ", came: ", this.#moved(first.answer, "came"), ". ") : null,
      h("span", t.decided ? [app.fact(`${n_sure ? count(n_sure) : "None"} of ${count(first.count)}`, "Significant changes", "The number of rows that changed significantly, and the number of rows; on average, at most the false discovery rate of the significant changes is due to chance."), " places changed significantly."] : null));
    fill(this.table.foot, "Only changes significant at a false discovery rate of ", app.fact(percent(100 * first.answer.false_discovery_rate), "False discovery rate", "The share of significant changes that may be due to chance (Benjamini and Hochberg's procedure)."), " are coloured and marked.");
    return { ...first, head: [whole("before"), whole("after"), t, this.unit] };
  }

  #moved(answer, key) {
    return this.app.number(answer[key], { ...this.heads.after, unit: this.unit, measure: "allocated", name: `total-${key}` });
  }

  // Returns the parameters for the two sides.
  #sides(s) {
    const m = this.moments && momentsOf(s, this.app);
    return m ? { trace: s.trace || undefined, measure: undefined, at: undefined, ...m } : { before: s.before, after: s.after, normalise: s.normalise === "none" ? undefined : s.normalise };
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
    row.decided = answer.decided;
    row.name = type || fn || (file ? "?" : "(no call stack)");
    row.where = whereOf(file, row.line);
    return row;
  }
}

const isSame = (row, moments) => (moments ? row.went === 0 && row.came === 0 : row.decided && row.change === 0 && row.change_low === 0 && row.change_high === 0);
const changeOf = (row) => ({ before: row.before, after: row.after, change: row.change, low: row.change_low, high: row.change_high, sure: row.sure, decided: row.decided });
