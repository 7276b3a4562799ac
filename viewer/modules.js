// modules.js: the modules of places, as named by the source: their hues, and the legend, in which a module can be
// highlighted, chosen, excluded and hidden.
import { h, Popover } from "./dom.js";
import { add, exactly } from "./filterline.js";
import { shortenTo } from "./names.js";

const LISTED = 60, NAME = 24; // characters

export const moduleOf = (place) => place?.module ?? "";

// FNV-1a of the name, so that a module has the same hue in every trace. A version at the end of the name is ignored, so
// that the next version keeps the hue.
function hashOf(module) {
  let hash = 0x811c9dc5;
  for (const c of module.replace(/[-_.]?v?\d[\d.]*$/, "") || module) {
    hash ^= c.codePointAt(0);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}

export const hueOf = (module, n) => hashOf(module) % n;

// The hues of modules. The hue follows from the name, unless two of the largest modules in a picture would share it.
// Then the one whose name sorts later gets the next free hue, and keeps it. Names decide rather than amounts, so that
// two runs of a program, or two filters, have the same colors if their largest modules are the same.
export class Hues {
  #taken = new Map();
  constructor(n) {
    this.n = n;
  }

  of(module) {
    return this.#taken.get(module) ?? hueOf(module, this.n);
  }

  // modules: those of a picture, largest first. Returns true if the hue of one of them has changed.
  take(modules) {
    const largest = modules.slice(0, this.n), before = largest.map((m) => this.of(m)), used = new Set();
    const known = largest.filter((m) => this.#taken.has(m)), others = largest.filter((m) => !this.#taken.has(m)).sort();
    for (const m of [...known, ...others]) {
      this.#taken.set(m, this.#free(m, used));
      used.add(this.of(m));
    }
    return largest.some((m, i) => this.of(m) !== before[i]);
  }

  #free(module, used) {
    let hue = this.of(module);
    while (used.has(hue)) hue = (hue + 1) % this.n;
    return hue;
  }
}

export const colorOf = (app, module) => (module ? app.theme.groups[app.hues.of(module)] : app.theme.rest);

// parts: [module, amount]. Returns each module once, largest first.
export function byAmount(parts) {
  const sums = new Map();
  for (const [m, amount] of parts) if (m) sums.set(m, (sums.get(m) || 0) + amount);
  return [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([m]) => m);
}

// Returns the modules in trees, by the amount that each allocates itself.
export const modulesIn = (trees) =>
  byAmount(trees.flatMap((tree) => Array.from(tree.parent, (_, i) => (i ? [moduleOf(tree.places[tree.place[i]]), Math.max(tree.self[i], 0) + tree.total[i] / 64] : [""]))));

let popover = null;

function arrows(e) {
  const all = [...popover.box.querySelectorAll("button:not(:disabled)")], step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
  if (!step) return;
  e.preventDefault();
  e.stopPropagation();
  all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
}

// Opens the menu of a module.
function openModule(app, module, button) {
  popover ??= new Popover("menu", "menu");
  const { store } = app, s = store.state, box = button.getBoundingClientRect(), named = exactly(module);
  const filterBy = (term) => store.set({ filter: add(s.filter, term), zoom: [] });
  const items = [
    ["light", s.lit === module ? "Colour everything again" : "Highlight: colour only this", () => store.set({ lit: s.lit === module ? "" : module }, true)],
    ["only", "Only what it allocates", () => filterBy(`module:${named}`)],
    ["exclude", "Exclude what it allocates", () => filterBy(`-module:${named}`)],
    ["hide", "Hide: merge it into its callers", () => filterBy(`hide-module:${named}`)],
  ];
  popover.open(box.left, box.bottom + 4, [
    h("div.title", { title: module }, shortenTo(module, 48)),
    items.map(([what, text, run]) => h("button", { type: "button", role: "menuitem", disabled: app.source.offline && what !== "light", dataset: { module: what }, onclick: () => (popover.close(), run()) }, text)),
  ]);
  popover.box.onkeydown = arrows;
}

function listModules(app, modules, button) {
  popover ??= new Popover("menu", "menu");
  const box = button.getBoundingClientRect();
  popover.open(box.left, box.bottom + 4, [
    h("div.title", "Modules with less"),
    h("div.long", modules.map((m) => h("button", { type: "button", role: "menuitem", onclick: () => openModule(app, m, button) }, h("i.swatch", { style: { background: colorOf(app, m) } }), shortenTo(m, 40)))),
  ]);
  popover.box.onkeydown = arrows;
}

// `modules`: as returned by modulesIn.
export function moduleLegend(app, modules) {
  const { lit } = app.store.state, rest = modules.length - app.hues.n;
  const button = (m) => h("button.module", { type: "button", dataset: { module: m }, "aria-pressed": String(lit === m), "aria-haspopup": "menu", title: `${m}: highlight, exclude, hide`, onclick: (e) => openModule(app, m, e.currentTarget) }, h("i.swatch", { style: { background: colorOf(app, m) } }), shortenTo(m, NAME));
  const shown = modules.slice(0, app.hues.n);
  if (lit && !shown.includes(lit) && modules.includes(lit)) shown.push(lit);
  return [shown.map(button), rest > 0 ? h("button.module", { type: "button", dataset: { modules: "more" }, "aria-haspopup": "menu", onclick: (e) => listModules(app, modules.slice(app.hues.n, app.hues.n + LISTED), e.currentTarget) }, `${rest} more ▾`) : null];
}
