// menu.js: the actions on a place, for the menus of flame graphs and tables, and for the details.
import { h, Popover } from "./dom.js";
import { add, focusStep } from "./filterline.js";
import { shortenTo } from "./names.js";
import { transformsOf } from "./transforms.js";

const TITLE = 48; // characters

let popover = null;

export function actionsFor(app, place, { path, zoom, sequence, subtree } = {}) {
  const { store } = app, s = store.state;
  const filterBy = (terms) => store.set({ filter: terms.reduce(add, s.filter), zoom: [] });
  const nameless = !place || (!place.function && !place.file);
  const blocked = nameless || app.source.offline;
  return [
    zoom && { text: "Zoom in", key: "Enter", run: zoom },
    ...transformsOf(place, { path: subtree, collapsed: s.recursion }).map((t) => ({ ...t, off: blocked || !t.terms, run: () => filterBy(t.terms) })),
    // Clears the search, which led to the place and would match none of its callers.
    { text: "Callers", key: "c", off: nameless, run: () => store.set({ view: "callers", focus: focusStep(place), search: "" }) },
    { text: "Callees", key: "C", off: nameless, run: () => store.set({ view: "callees", focus: focusStep(place), search: "" }) },
    { text: "Sandwich around it", key: "w", off: nameless, run: () => store.set({ view: "flame", mode: "sandwich", focus: focusStep(place), zoom: [] }) },
    sequence && { text: "Sandwich around the sequence up to it", run: () => store.set({ focus: sequence, zoom: [], pick: [] }) },
    { text: "Source", key: "S", off: nameless || !place.file || s.view === "diff", run: () => store.set({ view: "source", line: String(place.id) }) },
    { text: "Copy name", off: nameless, run: () => app.copy(place.function || place.file) },
    path && { text: "Copy stack", run: () => app.copy(path.map((p) => p.function || p.file || "?").join("\n")) },
  ].filter(Boolean);
}

export function openMenu(app, place, x, y, more) {
  popover ??= new Popover("menu", "menu");
  const actions = actionsFor(app, place, more);
  popover.open(x, y, [
    h("div.title", { title: place?.function }, shortenTo(place?.function || place?.file || "all", TITLE)),
    actions.map((a) =>
      h("button", { role: "menuitem", type: "button", disabled: a.off, dataset: { action: a.text }, onclick: () => (popover.close(), a.run()) }, a.text, a.key ? h("kbd", a.key) : null)),
  ]);
  popover.box.onkeydown = (e) => {
    const chosen = !e.ctrlKey && !e.metaKey && !e.altKey && actions.find((a) => a.key === e.key && !a.off);
    if (chosen && e.key !== "Enter") {
      e.preventDefault();
      e.stopPropagation();
      popover.close();
      return chosen.run();
    }
    const items = [...popover.box.querySelectorAll("button:not(:disabled)")];
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
    if (!step) return;
    e.preventDefault();
    e.stopPropagation();
    items[(items.indexOf(document.activeElement) + step + items.length) % items.length]?.focus();
  };
}
