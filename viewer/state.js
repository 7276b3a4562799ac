// state.js: what the user looks at. It is kept in the URL's fragment and nowhere else, so that it survives a reload and
// can be sent. KEYS documents the keys; a value that is the default is left out.

export const MEASURES = ["allocated", "blocks", "live", "peak", "promoted", "survived", "temporary", "byteseconds"];
export const MODES = ["icicle", "flame", "inverted", "sandwich", "time"];
export const VIEWS = [
  "flame", "hotspots", "functions", "callers", "callees", "types", "paths", "graph", "leaks", "lifetimes", "diff", "advice", "source",
];

const text = { read: (s) => s, write: (v) => v };
const flag = { read: (s) => s === "1", write: (v) => (v ? "1" : "0") };
const number = { read: (s) => (Number.isFinite(+s) ? Math.max(0, +s) : 0), write: (v) => String(v) };
const upTo = (most) => ({ ...number, read: (s) => Math.min(most, number.read(s)) });
const countUpTo = (most, otherwise) => ({ ...number, read: (s) => Math.round(Math.min(most, number.read(s))) || otherwise });
const oneOf = (values) => ({ read: (s) => (values.includes(s) ? s : values[0]), write: (v) => v });

// Ids of places, from the root of a tree inward. A leading `^` means the tree of callers in a sandwich.
const path = {
  read: (s) => (/^\^?\d+(\.\d+)*$/.test(s) ? s.replace("^", "^.").split(".").map((x) => (x === "^" ? x : +x)) : []),
  write: (v) => v.join(".").replace("^.", "^"),
};

const span = {
  read: (s) => (/^[\d.]+,[\d.]+,-?\d+$/.test(s) ? s.split(",").map(Number) : []),
  write: (v) => v.join(","),
};

export const KEYS = {
  trace: { kind: number, start: 0 }, // index on the command line
  view: { kind: oneOf(VIEWS), start: "flame" },
  filter: { kind: text, start: "" }, // in the syntax of the commands
  measure: { kind: oneOf(MEASURES), start: "allocated" },
  at: { kind: text, start: "" }, // for the measure `live`; empty: the end
  wrappers: { kind: flag, start: false }, // functions that only wrap malloc are shown as sites
  mode: { kind: oneOf(MODES), start: "icicle" },
  by: { kind: oneOf(["", "function", "line"]), start: "" }, // what counts as one place; empty: as in the commands
  group: { kind: oneOf(["", "thread", "scope"]), start: "" }, // rows of the hotspots are these instead of places
  recursion: { kind: flag, start: false }, // recursion is collapsed
  share: { kind: upTo(20), start: 0 }, // percent of the whole; smaller frames are merged
  focus: { kind: text, start: "" }, // of sandwich, callers and callees: a sequence such as `f > g`
  zoom: { kind: path, start: [] }, // path to the frame that fills the width
  search: { kind: text, start: "" },
  sort: { kind: text, start: "" }, // a column of the table; a leading `-` reverses the order
  pick: { kind: path, start: [] }, // the selected frame, or the place of the selected row
  nodes: { kind: countUpTo(300, 80), start: 80 }, // most functions in the graph
  line: { kind: text, start: "" }, // source view: the id of a place
  lines: { kind: text, start: "" }, // source view: the lines shown, such as `20-420`; empty: those around the place
  lit: { kind: text, start: "" }, // the only module that is colored in a flame graph
  stack: { kind: oneOf(["heap", "line", "function", "thread", "scope", "life"]), start: "heap" }, // what live memory in the timeline is stacked by
  stretch: { kind: text, start: "" }, // range that the timeline shows, such as `1s..2s`; empty: all
  gauges: { kind: text, start: "rss" }, // readings of the system that the timeline shows, comma-separated
  a: { kind: text, start: "" }, // two moments (snapshots)
  b: { kind: text, start: "" },
  before: { kind: number, start: 0 }, // diff: numbers of the two traces
  after: { kind: number, start: 1 },
  moments: { kind: flag, start: false }, // diff: compares a and b of one trace instead of two traces
  normalise: { kind: oneOf(["none", "total", "time"]), start: "none" },
  of: { kind: oneOf(["live", "allocated"]), start: "live" }, // diff of moments: what was live at them, or allocated up to them
  difftypes: { kind: flag, start: false }, // diff: rows are types
  diffas: { kind: oneOf(["table", "flame"]), start: "table" },
  until: { kind: number, start: 0 }, // microseconds at which a growing trace is paused; 0: it is not
  theme: { kind: oneOf(["", "light", "dark"]), start: "" }, // empty: the last choice, or the system's setting
  details: { kind: oneOf(["", "shown", "hidden"]), start: "" }, // empty: shown if there is room
  open: { kind: text, start: "" }, // unrolled rows of callers and callees: paths of ids, comma-separated
  span: { kind: span, start: [] }, // visible range of a flame graph after the wheel: from and to as fractions of the zoomed frame, and pixels scrolled
};

// Changing these keys does not move a flame graph.
const ASIDE = ["pick", "search", "share", "gauges", "stack", "stretch", "lit", "a", "b", "until", "details", "open", "span", "lines", "theme"];
const UNDOABLE = 100; // filters that can be undone

const same = (a, b) => (Array.isArray(a) ? a.length === b.length && a.every((x, i) => x === b[i]) : a === b);

export function startState() {
  return Object.fromEntries(Object.entries(KEYS).map(([k, d]) => [k, d.start]));
}

// Returns the text after the `#`. It stays legible: only what would break it is escaped.
export function encode(state) {
  const escape = (s) => encodeURIComponent(s).replace(/%(3A|2F|2C|3E|40|3C|3D|5E)/g, decodeURIComponent).replaceAll("%20", "+");
  return Object.entries(KEYS)
    .filter(([k, d]) => !same(state[k], d.start))
    .map(([k, d]) => `${k}=${escape(d.kind.write(state[k]))}`)
    .join("&");
}

export function decode(fragment) {
  const state = startState();
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const key = KEYS[part.slice(0, at)];
    if (at < 1 || !key) continue;
    try {
      state[part.slice(0, at)] = key.kind.read(decodeURIComponent(part.slice(at + 1).replaceAll("+", " ")));
    } catch {
      // A damaged link: the rest of it still applies.
    }
  }
  return state;
}

// The only place that changes the state. `set` adds an entry to the browser's history, `replace` does not. Listeners
// get the state and the set of keys that changed.
export class Store {
  #listeners = [];
  constructor(window) {
    this.window = window;
    this.state = decode(window.location.hash);
    // Earlier filters, latest last. They are stored in the history entry, which survives a reload.
    this.undoable = window.history.state?.undo ?? [];
    const turn = () => {
      this.undoable = window.history.state?.undo ?? this.undoable;
      this.#take(decode(window.location.hash));
    };
    window.addEventListener("popstate", turn);
    window.addEventListener("hashchange", turn);
  }

  listen(f) {
    this.#listeners.push(f);
  }

  url(patch = {}) {
    return `#${encode({ ...this.state, ...patch })}`;
  }

  set(patch, replace = false) {
    const next = { ...this.state, ...patch };
    if (!patch.span && Object.keys(KEYS).some((k) => !ASIDE.includes(k) && !same(next[k], this.state[k]))) next.span = [];
    if (patch.open === undefined && next.focus !== this.state.focus) next.open = "";
    if (patch.lines === undefined && next.line !== this.state.line) next.lines = "";
    if (encode(next) === encode(this.state)) return;
    if (next.filter !== this.state.filter && !replace) this.undoable = [...this.undoable, this.state.filter].slice(-UNDOABLE);
    const url = `${this.window.location.pathname}${this.window.location.search}#${encode(next)}`;
    this.window.history[replace ? "replaceState" : "pushState"]({ undo: this.undoable }, "", url);
    this.#take(next);
  }

  replace(patch) {
    this.set(patch, true);
  }

  undo() {
    const filter = this.undoable.at(-1);
    if (filter === undefined) return false;
    this.undoable = this.undoable.slice(0, -1);
    this.set({ filter }, true);
    return true;
  }

  #take(next) {
    const changed = new Set(Object.keys(KEYS).filter((k) => !same(next[k], this.state[k])));
    this.state = next;
    if (changed.size) for (const f of this.#listeners) f(next, changed);
  }
}
