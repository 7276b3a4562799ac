// table.js: a table of any length, of which only the visible rows exist as elements. Rows come in pages from a model,
// keys move a cursor, and headers sort. The owner decides what a row means and what Enter does.
import { fill, h, icon, ICONS, svg } from "./dom.js";

let numbered = 0; // counter for the ids of heads

const ROW = 28, PAGE = 200, SPARE = 6, CELL_PAD = 16, SIDES = 28;
// On a phone, for which the CSS has the same width, a row has two lines and the height of a finger.
const NARROW = 600, TALL_ROW = 44, NARROW_SIDES = 8, NAME_LEAST = 120; // pixels

const widthOf = (c) => +/\d+/.exec(c.width)[0];
const leastOf = (columns, sides = SIDES) => columns.reduce((sum, c) => sum + widthOf(c), sides);

// columns: { key, title, width (CSS grid), right, sort, help, spare, cell(row, index, room in pixels) }. Columns with
// `spare` are dropped if there is not room for all, 1 first, then 2 and so on. On a phone, `wide` columns are dropped,
// and `narrow` is the width. Columns with `near` fill the screen together with the first one, 1 before 2; the others
// are reached by scrolling. `below` is the key of a column in whose cells this one is the second line.
// model: { page(offset, limit) → Promise<{ rows, count }> }; for a list of rows, see `setRows`.
export class Table {
  constructor({ columns, label, onPick, onOpen, onUnroll, onMenu, onSort }) {
    Object.assign(this, { all: columns, onPick, onOpen, onUnroll, onMenu, onSort });
    this.rows = [];
    this.count = 0;
    this.cursor = -1;
    this.live = new Map(); // index → element
    this.loading = new Set();
    this.model = null;
    // The head is outside the scrolling element, but belongs to it.
    this.head = h("div.gridhead", { role: "row", id: `gridhead${++numbered}`, "aria-rowindex": "1" });
    this.body = h("div.gridbody", {
      role: onUnroll ? "treegrid" : "grid", tabindex: "0", "aria-label": label, "aria-owns": this.head.id,
      onscroll: () => this.#schedule(),
      onkeydown: (e) => {
        if (e.target === this.body && !e.ctrlKey && !e.metaKey && !e.altKey && this.key(e.key)) {
          e.preventDefault();
          e.stopPropagation();
        }
      },
      onfocus: () => this.cursor < 0 && this.count && this.choose(0, false),
    });
    this.space = h("div", { role: "presentation", style: { position: "relative" } });
    this.body.append(this.space);
    this.foot = h("div.foot", { role: "status" });
    this.element = h("div.grid", this.head, this.body, this.foot);
    this.widths = null; // of columns; null after the size has changed
    new ResizeObserver(() => {
      this.widths = null;
      if (this.#shape() !== this.shape) this.#drawHead();
      this.#schedule();
    }).observe(this.body);
    this.sort = "";
    this.order = "desc";
    this.#drawHead();
  }

  setSort(sort, order) {
    this.sort = sort;
    this.order = order;
    this.#drawHead();
  }

  // Sets the columns for the rows of the next model.
  setColumns(columns) {
    this.all = columns;
    this.widths = null;
    this.#drawHead();
  }

  // Starts over with a model. Resolves when the first page has arrived.
  async setModel(model) {
    this.model = model;
    this.rows = [];
    this.loading.clear();
    const answer = await model.page(0, PAGE);
    if (this.model !== model) return answer;
    this.#take(0, answer);
    this.body.scrollTop = 0;
    this.#reset();
    return answer;
  }

  setRows(rows, keepCursor = false) {
    this.model = null;
    this.rows = rows;
    this.count = rows.length;
    this.#reset(keepCursor);
  }

  // Redraws the visible rows.
  refresh() {
    for (const e of this.live.values()) e.remove();
    this.live.clear();
    this.#draw();
  }

  #reset(keepCursor = false) {
    for (const e of this.live.values()) e.remove();
    this.live.clear();
    if (!keepCursor) this.cursor = -1;
    this.space.style.height = `${this.count * this.rowHeight}px`;
    this.body.setAttribute("aria-rowcount", String(this.count + 1));
    this.#draw();
  }

  #take(offset, { rows, count }) {
    this.count = count;
    rows.forEach((r, i) => (this.rows[offset + i] = r));
    this.onScale?.(rows);
  }

  // Chooses the columns that fit; amounts take precedence over details.
  #chosenColumns() {
    const room = Math.max(0, this.element.clientWidth - this.gutter);
    if (this.narrow) return this.#narrowColumns(room || innerWidth);
    let columns = this.all;
    for (const rank of [1, 2, 3, 4, 5]) if (room && leastOf(columns) > room) columns = columns.filter((c) => c.spare !== rank);
    const [first, ...others] = columns, over = room ? leastOf(columns) - room : 0;
    return over > 0 ? [{ ...first, width: `minmax(${Math.max(NAME_LEAST, widthOf(first) - over)}px,1fr)` }, ...others] : columns;
  }

  // The width of the rows' scrollbar, which the head leaves free.
  get gutter() {
    return this.head.offsetWidth - this.head.clientWidth;
  }

  // The name and the near columns fill the screen; the others are reached by scrolling.
  #narrowColumns(room) {
    const second = new Map(this.all.filter((c) => c.below).map((c) => [c.below, c]));
    const columns = this.all.filter((c) => !c.wide && !c.below).map((c) => ({ ...c, width: c.narrow ?? c.width, second: second.get(c.key) }));
    const [first, ...others] = columns, near = others.filter((c) => c.near);
    const name = { ...first, width: `minmax(${Math.max(NAME_LEAST, room - leastOf(near, NARROW_SIDES))}px,1fr)` };
    return [name, ...near.toSorted((a, b) => a.near - b.near), ...others.filter((c) => !c.near)];
  }

  get narrow() {
    return innerWidth <= NARROW;
  }

  get rowHeight() {
    return this.narrow ? TALL_ROW : ROW;
  }

  // Identifies what the head was drawn for.
  #shape() {
    return this.#chosenColumns().map((c) => `${c.key} ${c.width}`).join();
  }

  #drawHead() {
    this.columns = this.#chosenColumns();
    this.shape = this.#shape();
    this.space.style.height = `${this.count * this.rowHeight}px`;
    const template = this.columns.map((c) => c.width).join(" ");
    // If the table is narrower than that, it scrolls sideways, so that no column is cut off.
    this.element.style.setProperty("--least", `${leastOf(this.columns, this.narrow ? NARROW_SIDES : SIDES) + this.gutter}px`);
    this.head.style.gridTemplateColumns = template;
    fill(this.head, this.columns.map((c) => {
      if (!c.sort) return h(`span${c.right ? ".right" : ""}`, { role: "columnheader", title: c.help }, c.title);
      const sorted = this.sort === c.sort;
      return h("span.sorts", { role: "columnheader", "aria-sort": sorted ? (this.order === "asc" ? "ascending" : "descending") : undefined }, h(`button${c.right ? ".right" : ""}`, {
        type: "button", title: c.help,
        dataset: { sort: c.sort },
        onclick: () => this.onSort?.(c.sort, sorted && this.order === "desc" ? "asc" : sorted ? "desc" : c.text ? "asc" : "desc"),
      }, c.title, sorted ? icon(ICONS[this.order === "asc" ? "up" : "down"]) : null));
    }));
  }

  #schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.#draw();
    });
  }

  // What a cell contains depends on its width.
  #measure() {
    if (this.widths || !this.body.clientHeight) return;
    this.widths = [...this.head.children].map((e) => e.getBoundingClientRect().width);
    if (this.drawnFor === String(this.widths)) return;
    this.drawnFor = String(this.widths);
    for (const e of this.live.values()) e.remove();
    this.live.clear();
  }

  #draw() {
    this.#measure();
    const first = Math.max(0, Math.floor(this.body.scrollTop / this.rowHeight) - SPARE);
    const last = Math.min(this.count, Math.ceil((this.body.scrollTop + this.body.clientHeight) / this.rowHeight) + SPARE);
    for (const [i, e] of this.live)
      if (i < first || i >= last) {
        e.remove();
        this.live.delete(i);
      }
    for (let i = first; i < last; i++) {
      if (this.rows[i] === undefined) this.#load(i);
      if (!this.live.has(i)) this.#add(i);
    }
  }

  #add(i) {
    const row = this.rows[i];
    const e = h(`div.gridrow${i === this.cursor ? ".chosen" : ""}`, {
      role: "row", id: `row${i}`, "aria-rowindex": String(i + 2), "aria-selected": String(i === this.cursor),
      onclick: () => this.choose(i),
      ondblclick: () => this.onOpen?.(this.rows[i], i),
      oncontextmenu: (ev) => {
        if (!this.onMenu) return;
        ev.preventDefault();
        this.choose(i);
        this.onMenu(this.rows[i], ev.clientX, ev.clientY);
      },
    });
    e.style.transform = `translateY(${i * this.rowHeight}px)`;
    e.style.gridTemplateColumns = this.columns.map((c) => c.width).join(" ");
    if (row === undefined) e.append(h("div.waiting", "…"));
    else if (row.instead) {
      e.setAttribute("aria-level", String(row.level + 1));
      e.append(h("div.instead", { role: "gridcell", style: { marginLeft: `${row.level * 16}px` } }, row.instead));
    } else {
      if (row.level !== undefined) e.setAttribute("aria-level", String(row.level + 1));
      if (row.more && this.onUnroll) e.setAttribute("aria-expanded", String(!!row.open));
      this.columns.forEach((c, k) => e.append(h(`div${c.right ? ".right" : ""}`, { role: "gridcell", dataset: { column: c.key } }, this.#lines(c, row, i, (this.widths?.[k] ?? Infinity) - CELL_PAD))));
    }
    e.addEventListener("click", (ev) => this.#selectFirst(ev, i), true);
    this.space.append(e);
    this.live.set(i, e);
    this.#reachable(e, i === this.cursor);
  }

  #lines(c, row, i, room) {
    const cell = c.cell(row, i, room);
    return c.second ? [h("div", cell), h("div.second", { dataset: { column: c.second.key } }, c.second.cell(row, i, room))] : cell;
  }

  // A row consists mostly of numbers. A mouse click on a number selects the row; it explains the number only if the row
  // was selected before.
  #selectFirst(e, i) {
    if (i === this.cursor || !e.detail || !e.target.closest(".num")) return;
    e.stopPropagation();
    this.body.focus({ preventScroll: true });
    this.choose(i);
  }

  // The Tab key visits the numbers of the selected row only.
  #reachable(e, chosen) {
    for (const b of e.querySelectorAll("button:not(.twist)")) b.tabIndex = chosen ? 0 : -1;
  }

  async #load(i) {
    if (!this.model) return;
    const model = this.model, page = Math.floor(i / PAGE);
    if (this.loading.has(page)) return;
    this.loading.add(page);
    const answer = await model.page(page * PAGE, PAGE).catch(() => null);
    if (this.model !== model || !answer) return;
    this.#take(page * PAGE, answer);
    for (const [at, e] of this.live)
      if (Math.floor(at / PAGE) === page) {
        e.remove();
        this.live.delete(at);
      }
    this.#draw();
  }

  choose(i, report = true) {
    i = Math.max(0, Math.min(this.count - 1, i));
    if (this.count === 0) return;
    const old = this.live.get(this.cursor);
    old?.classList.remove("chosen");
    old?.setAttribute("aria-selected", "false");
    if (old) this.#reachable(old, false);
    this.cursor = i;
    const top = i * this.rowHeight;
    if (top < this.body.scrollTop) this.body.scrollTop = top;
    else if (top + this.rowHeight > this.body.scrollTop + this.body.clientHeight) this.body.scrollTop = top + this.rowHeight - this.body.clientHeight;
    this.#draw();
    const now = this.live.get(i);
    now?.classList.add("chosen");
    now?.setAttribute("aria-selected", "true");
    if (now) this.#reachable(now, true);
    this.body.setAttribute("aria-activedescendant", `row${i}`);
    if (report && this.rows[i]) this.onPick?.(this.rows[i], i);
  }

  // Returns true if the key was used.
  key(key) {
    const page = Math.max(1, Math.floor(this.body.clientHeight / this.rowHeight) - 1);
    const names = { j: "ArrowDown", k: "ArrowUp", h: "ArrowLeft", l: "ArrowRight" };
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const k = names[key] || key;
    const row = this.rows[this.cursor];
    if (k in moves) {
      const to = this.cursor + moves[k];
      this.choose(Number.isFinite(to) ? to : moves[k] < 0 ? 0 : this.count - 1);
    } else if (k === "Enter" && row) this.onOpen?.(row, this.cursor);
    else if ((k === "ArrowRight" || k === "ArrowLeft") && row && this.onUnroll) this.onUnroll(row, this.cursor, k === "ArrowRight");
    else if (k === "ContextMenu" && row && this.onMenu) {
      const box = this.live.get(this.cursor).getBoundingClientRect();
      this.onMenu(row, box.left + 40, box.bottom);
    } else if (k === "e" && row) this.live.get(this.cursor)?.querySelector(".num")?.click();
    else return false;
    return true;
  }
}

// A bar for the value and a whisker for its interval; `max` is the right end.
export function whisker(figure, max) {
  const x = (v) => (max > 0 ? Math.max(0, Math.min(100, (100 * v) / max)) : 0);
  const e = svg("svg", { class: "whisker", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  e.append(svg("rect", { class: "bar", x: 0, y: 3, width: x(figure.value), height: 14 }));
  if (figure.high > figure.low) e.append(svg("path", { class: "range", "vector-effect": "non-scaling-stroke", d: `M${x(figure.low)} 10H${x(figure.high)}M${x(figure.low)} 6.5v7M${x(figure.high)} 6.5v7` }));
  return e;
}

// Like `whisker`, for a change, with zero in the middle. A change that is not significant has no color.
export function changeWhisker(change, low, high, sure, max) {
  const x = (v) => 50 + (max > 0 ? Math.max(-50, Math.min(50, (50 * v) / max)) : 0);
  const e = svg("svg", { class: "whisker", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  const from = Math.min(x(0), x(change)), to = Math.max(x(0), x(change));
  e.append(svg("rect", { class: sure ? (change > 0 ? "up" : "down") : "still", x: from, y: 3, width: Math.max(0.5, to - from), height: 14 }));
  e.append(svg("path", { class: "zero", "vector-effect": "non-scaling-stroke", d: "M50 0v20" }));
  if (high > low) e.append(svg("path", { class: "range", "vector-effect": "non-scaling-stroke", d: `M${x(low)} 10H${x(high)}M${x(low)} 6.5v7M${x(high)} 6.5v7` }));
  return e;
}

// Draws amounts at equal steps of time, from 0 up.
export function sparkline(values) {
  const e = svg("svg", { class: "whisker", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  const most = Math.max(1e-9, ...values), x = (i) => (100 * i) / Math.max(1, values.length - 1), y = (v) => 18 - (16 * v) / most;
  e.append(svg("path", { class: "bar", d: `M0 18${values.map((v, i) => `L${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("")}L100 18Z` }));
  return e;
}
