// share.js: what can be taken from the page: a link, a table as CSV, pictures as PNG and SVG, and the trace as a file
// for other tools, which the server writes; or the command that writes it.
import { h, Popover } from "./dom.js";
import { elementParts, pngOf, sheetOf, SvgDrawing } from "./drawing.js";

const ROWS_MOST = 1000; // per request

// A CSV field as in RFC 4180. A field that a spreadsheet would take for a formula is made a text.
const field = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

// rows: objects with the same keys.
export function csvOf(rows) {
  if (!rows.length) return "";
  const keys = Object.keys(rows[0]);
  return [keys, ...rows.map((r) => keys.map((k) => r[k]))].map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
}

// Returns a table row as plain values; a place becomes function, file and line.
export function plainRow(row) {
  const out = {};
  for (const [key, value] of Object.entries(row)) {
    if (key === "place") Object.assign(out, { function: value?.function ?? "", file: value?.file ?? "", line: value?.line || "" });
    else if (["open", "more", "apart"].includes(key)) continue; // state of a row that unrolls
    else if (key === "frames") out.stack = value.map((p) => p?.function || p?.file || "?").join(" > ");
    else if (typeof value !== "object" || value === null) out[key] = value;
  }
  return out;
}

// Returns all rows of a table: page by page if it has a model (table.js); only the visible ones if its rows unroll.
export async function allRows({ model, rows: seen }) {
  if (!model) return seen.filter((r) => !r.instead);
  const rows = [];
  for (let count = 1; rows.length < count;) {
    const answer = await model.page(rows.length, ROWS_MOST);
    count = answer.rows.length ? answer.count : 0;
    rows.push(...answer.rows);
  }
  return rows;
}

// Returns the timeline and the view below it, as SVG.
export function pictureOf(app) {
  const { timeline, view, theme } = app, drawings = view.drawings?.() ?? [elementParts(view.element)];
  if (timeline.canvas.checkVisibility() && timeline.answer) {
    const d = new SvgDrawing(timeline.whole, timeline.height, "time");
    timeline.paintOn(d, 1);
    drawings.unshift(d);
  }
  return sheetOf(drawings.filter((d) => d.width && d.height), theme.background);
}

function save(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const quoted = (path) => (/^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

const ENDINGS = { html: "html", speedscope: "speedscope.json", pprof: "pb.gz" };

// Returns the command that makes the same file: with the filter and, for formats with one weight, the measure.
export function commandOf(format, trace, s) {
  const weights = format === "speedscope" && s.measure !== "allocated";
  return ["allotrace export --to", format, "-o", quoted(`${trace.name.replace(/\.ctf$/, "")}.${ENDINGS[format]}`), weights && `--measure ${s.measure}`, weights && s.measure === "live" && s.at && `--at ${s.at}`,
    s.filter && `--filter ${quoted(s.filter)}`, quoted(trace.file || trace.name)].filter(Boolean).join(" ");
}

export class ShareMenu {
  constructor(app) {
    this.app = app;
    this.menu = new Popover("menu.share", "menu");
  }

  // Returns the table of a view: the view itself, or one that it contains.
  #tableOf(view) {
    const table = view?.table?.table ?? view?.table ?? view;
    return (table?.model || table?.rows?.length) && table.element.checkVisibility() ? table : null;
  }

  open(button) {
    const { app } = this, { view, trace } = app, s = app.store.state, box = button.getBoundingClientRect();
    const name = `${trace?.name ?? "allotrace"}-${s.view}`;
    const table = this.#tableOf(view);
    const item = (what, text, run) => h("button", { type: "button", role: "menuitem", dataset: { share: what }, onclick: () => (this.menu.close(), run()) }, text);
    const offered = (format) => app.info?.downloads?.includes(format) && !(format === "html" && app.info.traces.length > 1);
    const file = (format, save, copy) =>
      app.source.offline || !trace ? null
        : offered(format) ? item(format, save, () => this.#saveFile(format, trace, s))
          : trace.file ? item(format, copy, () => app.copy(commandOf(format, trace, s))) : null;
    this.menu.open(box.left, box.bottom + 4, [
      h("div.title", "Share and export"),
      item("link", app.source.offline ? "Copy the address of this view" : "Copy a link: opens in this browser, while this server runs", () => app.copy(location.href)),
      table ? item("csv", "Save this table as CSV", () => this.#saveTable(table, name)) : null,
      item("png", "Save the picture as PNG", () => this.#try(async () => save(await pngOf(pictureOf(app), Math.max(2, devicePixelRatio)), `${name}.png`))),
      item("svg", "Save the picture as SVG", () => this.#try(() => save(new Blob([pictureOf(app)], { type: "image/svg+xml" }), `${name}.svg`))),
      file("html", "Save as one HTML file: colleagues open it without allotrace", "Copy the command for one HTML file: colleagues open it without allotrace"),
      file("speedscope", "Save for speedscope", "Copy the command for speedscope"),
      file("pprof", "Save for pprof", "Copy the command for pprof"),
      app.source.offline ? null : item("open", "Open another trace … (or drop its file on the page)", () => app.drop.choose()),
    ]);
    this.menu.box.onkeydown = (e) => {
      const items = [...this.menu.box.querySelectorAll("button")], step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      e.stopPropagation();
      items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
    };
  }

  // Applies the filter, and the measure if the format has one weight per stack.
  #saveFile(to, trace, s) {
    const weighted = to === "speedscope" ? { measure: s.measure, at: s.measure === "live" ? s.at : "" } : {};
    return this.#try(async () => save(await this.app.source.download({ to, trace: trace.trace, filter: s.filter, ...weighted }), `${trace.name.replace(/\.ctf$/, "")}.${ENDINGS[to]}`));
  }

  #saveTable(table, name) {
    return this.#try(async () => save(new Blob([csvOf((await allRows(table)).map(plainRow))], { type: "text/csv" }), `${name}.csv`));
  }

  async #try(run) {
    try {
      await run();
    } catch (error) {
      this.app.toast(error.message);
    }
  }
}
