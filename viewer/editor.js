// editor.js: opens a line of the source in an editor, through a link with the editor's own scheme or a command to copy,
// since a page cannot start a program. The choice of the editor is kept in the browser. It belongs to the user rather
// than to what is looked at, so it is not in the address.
import { h } from "./dom.js";

const KEPT = "allotrace-editor";
const TERMINAL = "$EDITOR";
const TERMINAL_COMMAND = "${EDITOR:-vi} +{line} {file}";
const EXAMPLES = "as in vscode://file{file}:{line} or hx {file}:{line}";

export const EDITORS = [
  ["VS Code", "vscode://file{file}:{line}"],
  ["VSCodium", "vscodium://file{file}:{line}"],
  ["Cursor", "cursor://file{file}:{line}"],
  ["Zed", "zed://file{file}:{line}"],
  ["JetBrains", "idea://open?file={file}&line={line}"],
  ["Sublime Text", "subl://open?url=file://{file}&line={line}"],
  ["TextMate", "txmt://open?url=file://{file}&line={line}"],
  ["Emacs", "emacs://open?url=file://{file}&line={line}"],
  ["$EDITOR, in a terminal", TERMINAL],
];

// {path} is the former name of {file}.
const FILE = /\{(?:file|path)\}/g;
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
const REFUSED = /^(javascript|data|vbscript|blob|filesystem|view-source)$/i; // schemes that run code or show something in the browser

// Returns why a text is neither an address nor a command that opens a file; null if it is one.
export function problemOf(text) {
  if (text === TERMINAL) return null;
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme && REFUSED.test(scheme)) return `${scheme}: opens no editor; give an address or a command, ${EXAMPLES}`;
  if (scheme && !text.startsWith("//", scheme.length + 1)) return `Behind “${scheme}:” stands no “//”; give an address or a command, ${EXAMPLES}`;
  if (!text.match(FILE)) return `{file} is missing, ${EXAMPLES}`;
  return /^[^\s{]\S*/.test(text) ? null : `The command has no name, ${EXAMPLES}`;
}

const store = () => {
  try {
    return localStorage;
  } catch {
    return null; // the browser may forbid storage; then the choice lasts until the page is closed
  }
};

let chosen = null;
export function editorOf(storage = store()) {
  const kept = storage?.getItem(KEPT) ?? chosen;
  return kept && !problemOf(kept) ? kept.replaceAll(FILE, "{file}") : EDITORS[0][1];
}

function keep(template) {
  chosen = template;
  try {
    store()?.setItem(KEPT, template);
  } catch {
    // The browser may forbid storage.
  }
}

// Quotes a path as one shell word. Control characters are escaped, as they could act on the terminal into which the
// word is pasted.
function quoted(path) {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path;
  if (!/[\x00-\x1f\x7f-\x9f]/.test(path)) return `'${path.replaceAll("'", "'\\''")}'`;
  const bytes = (c) => [...new TextEncoder().encode(c)].map((b) => `\\x${b.toString(16).padStart(2, "0")}`).join("");
  return `$'${path.replaceAll(/[\\']/g, "\\$&").replaceAll(/[\x00-\x1f\x7f-\x9f]/g, bytes)}'`;
}

// Returns what opens a line: { address } or { command }.
export function opener(template, path, line) {
  const isAddress = SCHEME.test(template), text = template === TERMINAL ? TERMINAL_COMMAND : template;
  const file = isAddress ? path.split("/").map(encodeURIComponent).join("/") : quoted(path);
  const filled = text.replaceAll(/\{(file|path|line)\}/g, (_, what) => (what === "line" ? String(line) : file));
  return isAddress ? { address: filled } : { command: filled };
}

// A line number that opens the line.
export function lineLink(app, path, line) {
  if (!path) return String(line);
  const { address, command } = opener(editorOf(), path, line);
  const title = command ? `Copy the command that opens line ${line}:\n${command}` : `Open line ${line} in the editor`;
  return address ? h("a", { href: address, title, "aria-label": title }, String(line)) : h("button", { type: "button", title, "aria-label": title, onclick: () => app.copy(command) }, String(line));
}

// The choice of the editor, and a button that opens the place itself. `changed` is called when the choice changes.
export function editorTools(app, path, line, changed) {
  const now = editorOf(), own = !EDITORS.some(([, t]) => t === now);
  const { address, command } = opener(now, path, line);
  const choose = (template) => {
    keep(template);
    changed();
    if (document.activeElement === document.body) document.querySelector("[data-open=editor]")?.focus();
  };
  const wrong = h("span.problem", { role: "alert", hidden: true });
  // Also runs when the field loses focus, so that the template that was typed applies to the next click on a line.
  const take = () => {
    const text = field.value.trim(), problem = text ? problemOf(text) : null;
    wrong.textContent = problem ?? "";
    wrong.hidden = !problem;
    field.ariaInvalid = String(!!problem);
    if (text && !problem) choose(text);
  };
  const field = h("input", {
    type: "text", value: own ? now : "", placeholder: "scheme://…{file}…{line}", "aria-label": "Address or command of an editor, with {file} and {line}", spellcheck: "false", autocapitalize: "off", hidden: !own,
    title: "What opens a line: an address (zed://file{file}:{line}), or a command that is copied (hx {file}:{line})",
    onchange: take,
    onkeydown: (e) => e.stopPropagation(),
  });
  const select = h("select", { "aria-label": "Editor", title: "The editor that opens lines; stored in this browser", onchange: () => (select.value ? choose(select.value) : ((field.hidden = false), field.focus())) },
    EDITORS.map(([name, template]) => h("option", { value: template, selected: template === now }, name)), h("option", { value: "", selected: own }, "other …"));
  const open = address
    ? h("a.button", { href: address, dataset: { open: "editor" }, title: `${address}\nIf nothing opens, no program of this machine is registered for such addresses: choose another editor, or $EDITOR` }, "Open in editor")
    : h("button.button", { type: "button", dataset: { open: "editor" }, title: command, onclick: () => app.copy(command) }, "Copy command");
  return [select, field, wrong, open];
}
