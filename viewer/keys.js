// keys.js: the list of keys, from which both their actions and the help (`?`) are made.
import { h } from "./dom.js";

// [keys, text of the help, action]; action null: handled by the view.
export const KEYS = [
  ["Move", [
    [["←", "↓", "↑", "→"], "move in flames, tables and the timeline", null],
    [["h", "j", "k", "l"], "the same", null],
    [["Enter"], "zoom in; open the row", null],
    [["Backspace"], "zoom out", "zoomOut"],
    [["0"], "zoom out to all", "zoomAll"],
    [["["], "back", "back"],
    [["]"], "forward", "forward"],
    [["→", "←"], "in callers and callees: unroll, roll up", null],
  ]],
  ["Ask", [
    [["/"], "search; Enter: next match; ↓ leads to the picture", "search"],
    [["n"], "next match in a flame", "nextMatch"],
    [["N"], "previous match", "previousMatch"],
    [["f"], "filter", "filter"],
    [["u"], "undo the last filter change", "undo"],
    [["m"], "next measure", "measure"],
    [["M"], "previous measure", "measureBack"],
    [["t"], "go to the timeline", "timeline"],
    [["p"], "next peak", "peak"],
    [["x"], "menu of the selected place; then", "menu"],
    [["o", "d", "m"], "… only stacks with it, drop these, merge it", null],
    [["f", "F", "s"], "… begin, end stacks with it; only this frame", null],
    [["r", "R"], "… collapse its recursion, its calls of itself", null],
    [["D", "M"], "… drop, merge its module", null],
    [["c", "C"], "… its callers, its callees", null],
    [["w", "S"], "… a sandwich around it, its source", null],
    [["e"], "explain the selected number", "explain"],
  ]],
  ["Look", [
    [["1"], "… 9: the views from left to right", "tab"],
    [[",", "."], "previous, next view", "viewStep"],
    [["v"], "icicle, flame, inverted, sandwich", "mode"],
    [["r"], "collapse recursion", "recursion"],
    [["d"], "details on, off", "details"],
    [["T"], "dark, light", "theme"],
    [["c"], "copy a link to what is shown", "copyLink"],
    [["s"], "share and export", "share"],
    [["Space"], "pause, resume (live)", "pause"],
    [["?"], "show these keys", "help"],
    [["Esc"], "close; leave a field; drop the search; undo the wheel’s zoom", "escape"],
  ]],
];

const ACTIONS = new Map();
for (const [, rows] of KEYS)
  for (const [keys, , action] of rows) if (action) for (const k of keys) ACTIONS.set(k === "Esc" ? "Escape" : k === "Space" ? " " : k, action);
for (let i = 2; i <= 9; i++) ACTIONS.set(String(i), "tab");

const typing = (e) => e.target.matches?.("input:not([type=range]):not([type=checkbox]), textarea, select") || e.target.isContentEditable;

export function listen(actions) {
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    if (typing(e) && e.key !== "Escape") return;
    // These keys activate a button.
    if ((e.key === " " || e.key === "Enter") && e.target.closest?.("button, summary, a")) return;
    if (document.querySelector("dialog[open]")) return;
    const action = actions[ACTIONS.get(e.key) ?? "arrows"];
    if (action && action(e) !== false) e.preventDefault();
  });
}

let dialog = null;

export function showHelp() {
  if (!dialog) {
    dialog = h("dialog", { "aria-label": "Keys", onclick: (e) => e.target === dialog && dialog.close() },
      h("h2", "Keys"),
      h("div.keys", KEYS.map(([title, rows]) =>
        h("section", h("h3", title), rows.map(([keys, what]) => h("div", h("dt", keys.map((k) => [h("kbd", k), " "])), h("dd", { style: { margin: 0 } }, what)))))),
      h("p.faint", "Click a number to explain it, in a table one of the selected row. The address contains everything you see, so you can reload or bookmark it. It works in this browser while this server runs; later or elsewhere, append the part after # to the address that the server prints. Mouse: click selects, double click zooms, right click has more; the wheel scrolls, with Ctrl it zooms."),
      h("form", { method: "dialog" }, h("button.button", { autofocus: true }, "Close")));
    document.body.append(dialog);
  }
  if (dialog.open) return;
  dialog.showModal();
  dialog.scrollTop = 0; // the focused button is at the end
}
