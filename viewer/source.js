// source.js: the source of the numbers: a server (docs/viewer-api.md), or summaries embedded in the page. Both have
// `get`, so views need not know which it is. Answers are cached by request until the trace grows.
import { fromAnswer, readPlaces } from "./tree.js";

export { readPlaces };

export class SourceError extends Error {
  constructor(error, status) {
    super(error?.reason || `the server answered ${status}`);
    this.parameter = error?.parameter;
    this.column = error?.column;
    this.status = status;
  }
}

const KEPT_ANSWERS = 60;
const SILENCE_MS = 300; // the first events of all traces arrive at once
const LOOK_IN_MS = 5000; // between checks of traces that have ended, and of whether the server still runs

const queryOf = (params) =>
  Object.entries(params)
    .filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false)
    .map(([k, v]) => `${k}=${encodeURIComponent(v === true ? "1" : v)}`)
    .sort()
    .join("&");

// Restricts a request to what a growing trace was when it was paused.
function stopAt(endpoint, params, until) {
  if (!["tree", "graph", "timepaths", "table", "lifetimes", "advice", "source", "timeline", "peaks"].includes(endpoint)) return params;
  if (endpoint === "timeline") return { ...params, to: params.to ?? until };
  const at = params.measure === "live" && !params.at ? { at: until } : {};
  return { ...params, ...at, filter: [params.filter, `alloc:..${until}us`].filter(Boolean).join(" ") };
}

// ---- a server ----------------------------------------------------------------------------------

async function jsonOf(response) {
  const answer = await response.json().catch(() => null);
  if (!response.ok || !answer) throw new SourceError(answer?.error, response.status);
  return answer;
}

export class HttpSource {
  offline = false;
  #answers = new Map();
  constructor(window) {
    this.window = window;
    this.onState = () => {};
    this.pending = 0;
    this.until = null; // microseconds, while paused; else null
  }

  async get(endpoint, params = {}, signal) {
    const key = this.#keyOf(endpoint, params), query = key.slice(endpoint.length + 1);
    if (this.#answers.has(key)) {
      const answer = this.#answers.get(key);
      this.#answers.delete(key);
      this.#answers.set(key, answer);
      return answer;
    }
    this.onState(++this.pending, null);
    try {
      const answer = await jsonOf(await fetch(`/api/${endpoint}${query ? `?${query}` : ""}`, { signal, credentials: "same-origin" }));
      this.#answers.set(key, answer);
      if (this.#answers.size > KEPT_ANSWERS) this.#answers.delete(this.#answers.keys().next().value);
      this.onState(--this.pending, null);
      return answer;
    } catch (error) {
      const known = error instanceof SourceError || error.name === "AbortError";
      this.onState(--this.pending, known ? null : error);
      throw known ? error : new SourceError({ reason: "the server cannot be reached" }, 0);
    }
  }

  // Returns a file for other tools, as a blob.
  download(params) {
    return this.#once(`/api/export?${queryOf(params)}`, {}, (response) => (response.ok ? response.blob() : jsonOf(response)));
  }

  // Sends a file, which becomes a trace. Returns { trace }, its number.
  open(file) {
    return this.#once(`/api/open?name=${encodeURIComponent(file.name)}`, { method: "POST", headers: { "X-Allotrace": "open", "Content-Type": "application/octet-stream" }, body: file }, jsonOf);
  }

  // Makes a request whose answer, which `read` takes from the response, is not cached.
  async #once(url, options, read) {
    this.onState(++this.pending, null);
    try {
      return await read(await fetch(url, { credentials: "same-origin", ...options }));
    } catch (error) {
      throw error instanceof SourceError ? error : new SourceError({ reason: "the server cannot be reached" }, 0);
    } finally {
      this.onState(--this.pending, null);
    }
  }

  // Returns an answer if it is cached; else null.
  peek(endpoint, params = {}) {
    return this.#answers.get(this.#keyOf(endpoint, params)) ?? null;
  }

  #keyOf(endpoint, params) {
    return `${endpoint}?${queryOf(this.until ? stopAt(endpoint, params, this.until) : params)}`;
  }

  forget() {
    this.#answers.clear();
  }

  // Calls back with events about traces that grow. Returns a function that ends this. Browsers allow six connections
  // per server, so a hidden page closes its connection, and a page whose traces are `settled` connects only now and
  // then. The first event of a new connection is what was missed.
  follow(news, settled = () => false) {
    let events = null, timer = null;
    const close = () => {
      clearTimeout(timer);
      events?.close();
      events = null;
    };
    const rest = () => {
      if (!settled()) return;
      close();
      timer = setTimeout(open, LOOK_IN_MS);
    };
    const open = () => {
      const mine = (events = new EventSource("/api/live"));
      mine.addEventListener("trace", (e) => {
        news(JSON.parse(e.data));
        clearTimeout(timer);
        timer = setTimeout(rest, SILENCE_MS);
      });
      // If no request is made, only this tells that the server has ended. The browser retries until another server
      // refuses.
      mine.addEventListener("open", () => this.onState(this.pending, null));
      mine.addEventListener("error", () => this.onState(this.pending, mine.readyState === EventSource.CLOSED ? new SourceError({ reason: "it was started anew" }, 403) : new Error("the connection has ended")));
    };
    const change = () => {
      if (document.hidden) return close();
      clearTimeout(timer);
      if (!events) open();
    };
    document.addEventListener("visibilitychange", change);
    change();
    return () => {
      document.removeEventListener("visibilitychange", change);
      close();
    };
  }
}

// ---- summaries in the page -----------------------------------------------------------------------

// Parameters of zooming, drawing and paging, which work on the embedded data here.
const LOCAL = ["nodes", "root", "width", "min", "share", "rows", "search", "offset", "limit", "sort", "order", "buckets", "n", "value", "low", "high", "samples", "blocks"];

// `data`: { filter, answers: [{ endpoint, parameters, answer }] }, as written by `allotrace export --to html`. Requests
// that need the trace are refused with a reason.
export class EmbeddedSource {
  offline = true;
  constructor(data) {
    this.filter = data.filter;
    this.answers = new Map(data.answers.map((a) => [EmbeddedSource.#key(a.endpoint, a.parameters), a.answer]));
    this.onState = () => {};
    this.pending = 0;
  }

  static #key(endpoint, params) {
    const asked = { ...params };
    for (const k of LOCAL) delete asked[k];
    if (!asked.trace) delete asked.trace;
    if (asked.measure === "allocated") delete asked.measure;
    return `${endpoint}?${queryOf(asked)}`;
  }

  async get(endpoint, params = {}) {
    if (params.filter) throw new SourceError({ reason: `this file contains summaries; to filter further, open the trace with \`allotrace view\`` });
    if (params.root && endpoint === "table") throw new SourceError({ reason: "this file holds only the first step" });
    const answer = this.answers.get(EmbeddedSource.#key(endpoint, params));
    if (!answer) throw new SourceError({ reason: "this file contains no summary of it; open the trace with `allotrace view`" });
    return endpoint === "table" ? sortedPage(answer, params) : answer;
  }

  // All answers are there from the beginning.
  peek(endpoint, params = {}) {
    return (!params.filter && this.answers.get(EmbeddedSource.#key(endpoint, params))) || null;
  }

  forget() {}
  follow() {
    return () => {};
  }
}

// Without `sort`, the order is that of the answer, which is the usual one.
function sortedPage(answer, { sort, order = "desc", offset = 0, limit = 100, search = "" }) {
  const rows = answer.rows, n = answer.rows.value?.length ?? answer.count;
  const places = readPlaces(answer.strings, answer.places);
  const textOf = (i) => {
    const p = places[(rows.place || rows.frames?.map((f) => f.at(-1)) || [])[i]];
    return rows.type ? answer.strings[rows.type[i]] || "" : p ? p[sort === "file" ? "file" : "function"] : "";
  };
  const numeric = Array.isArray(rows[sort]) && sort !== "type";
  const keys = Array.from({ length: n }, (_, i) => (!sort ? -i : numeric ? rows[sort][i] : textOf(i)));
  let order_ = Array.from({ length: n }, (_, i) => i);
  if (search) {
    const matches = matcher(search);
    order_ = order_.filter((i) => matches(textOf(i)));
  }
  const sign = order === "asc" ? 1 : -1;
  order_.sort((a, b) => sign * (keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0) || a - b);
  const chosen = order_.slice(offset, offset + limit);
  const picked = Object.fromEntries(Object.entries(rows).map(([k, column]) => [k, Array.isArray(column) ? chosen.map((i) => column[i]) : column]));
  return { ...answer, rows: picked, offset, count: order_.length, left_out: answer.count - n };
}

// A pattern in the syntax of filters, as far as a browser supports it: a substring, a wild*card or a /regex/.
export function matcher(pattern) {
  const m = /^\/(.*)\/$/s.exec(pattern);
  try {
    if (m) {
      const r = new RegExp(m[1], "u");
      return (s) => r.test(s);
    }
    if (/[*?]/.test(pattern)) {
      const r = new RegExp(`^${pattern.replace(/[.\\+^$()[\]{}|]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")}$`, "u");
      return (s) => r.test(s);
    }
  } catch {
    return () => false;
  }
  return (s) => s.includes(pattern);
}

// What is typed into the search is a regular expression; a plain word matches itself.
export const searchPattern = (typed) => (/^\/.*\/$/s.test(typed) ? typed : `/${typed.replaceAll("/", "\\/")}/`);

// ---- questions -----------------------------------------------------------------------------------

// The parameters that all views share.
export const common = (s) => ({
  trace: s.trace || undefined,
  filter: s.filter,
  measure: s.measure === "allocated" ? undefined : s.measure,
  at: s.measure === "live" ? s.at : undefined,
  wrappers: s.wrappers ? "show" : undefined,
});

const TREE_ROWS = 256, OUTWARD_ROWS = 96; // of callers, each row has nearly all stacks

const isIds = (focus) => /^\d+(\.\d+)*$/.test(focus || "");
export const focusOf = (focus) => (isIds(focus) ? { focus_ids: focus } : { focus: focus || undefined });

export async function askTree(source, s, mode, { width, focus, root, signal, diff } = {}) {
  const endpoint = diff ? "difftree" : "tree";
  const asked = {
    ...common(s),
    ...(diff || {}),
    mode: mode === "down" ? undefined : mode,
    by: s.by || undefined,
    collapse: s.recursion ? "1" : undefined,
    ...(focus ? focusOf(focus) : {}),
    root: root?.join("."),
    width: Math.max(600, Math.ceil(width / 200) * 200),
    min: "1",
    rows: mode === "inverted" || mode === "callers" ? OUTWARD_ROWS : TREE_ROWS,
    search: s.search ? searchPattern(s.search) : undefined,
  };
  return source.get(endpoint, asked, signal);
}

// `stretch`: the range that the timeline shows, from..to.
export const askTimePaths = (source, s, { width, signal }) => {
  const [from, to] = s.stretch ? s.stretch.split("..") : [];
  return source.get("timepaths", { ...common(s), by: s.by || undefined, from, to, width: Math.max(600, Math.ceil(width / 200) * 200) }, signal);
};

export function readTree(answer, trail = []) {
  const places = readPlaces(answer.strings, answer.places);
  const extra = trail.map((t) => ({ ...t, place: t.at ? places.push(t.at) - 1 : -1 }));
  const tree = fromAnswer(answer.nodes, places, extra);
  tree.unit = answer.unit;
  return tree;
}

export async function askTable(source, s, kind, { focus, signal, ...rest } = {}) {
  return source.get("table", { ...common(s), kind, ...rest, ...(focus ? focusOf(focus) : {}) }, signal);
}

// Returns row `i` of columns as an object.
export const rowOf = (rows, i) => Object.fromEntries(Object.entries(rows).map(([k, c]) => [k, Array.isArray(c) ? c[i] : c]));

// Returns the pieces of advice with their texts and places. If many functions share a reason, `places` are the largest
// of them.
export function readAdvice({ strings, places: columns, advice }) {
  const places = readPlaces(strings, columns);
  const words = ["rule", "title", "head", "where", "what", "why", "do", "certainty", "gain", "sure", "filter"];
  return advice.place.map((_, i) => {
    const a = rowOf(advice, i);
    for (const k of words) a[k] = strings[a[k]];
    a.place = places[a.place];
    a.from = places[a.from];
    a.functions = a.functions.map((f) => ({ ...f, place: places[f.place] }));
    a.places = [a.place, ...a.functions.map((f) => f.place)].filter(Boolean);
    a.check = a.check.map((n) => strings[n]);
    return a;
  });
}
