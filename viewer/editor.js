// editor.js: a line of the source in an editor: a link of the editor's own kind, or the command for a terminal. Which one is a
// setting that the browser keeps; it is of who looks, not of what is looked at, so it is not in the address.
import { h } from "./dom.js";

const KEPT = "allotrace-editor";
const TERMINAL = "$EDITOR";

export const EDITORS = [
  ["VS Code", "vscode://file{path}:{line}"],
  ["VSCodium", "vscodium://file{path}:{line}"],
  ["Cursor", "cursor://file{path}:{line}"],
  ["Zed", "zed://file{path}:{line}"],
  ["JetBrains", "idea://open?file={path}&line={line}"],
  ["Sublime Text, TextMate", "subl://open?url=file://{path}&line={line}"],
  ["$EDITOR, in a terminal", TERMINAL],
];

// No scheme that runs something in the page.
export const isTemplate = (text) => text === TERMINAL || (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !/^(javascript|data|vbscript|blob):/i.test(text) && text.includes("{path}"));

export function editorOf(storage = localStorage) {
  const kept = storage.getItem(KEPT);
  return kept && isTemplate(kept) ? kept : EDITORS[0][1];
}

const quoted = (path) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

// What opens a line: an address, or a command to copy.
export function opener(template, path, line) {
  if (template === TERMINAL) return { command: `\${EDITOR:-vi} +${line} ${quoted(path)}` };
  const address = path.split("/").map(encodeURIComponent).join("/");
  return { address: template.replaceAll("{path}", () => address).replaceAll("{line}", String(line)) };
}

// A number of a line that opens it.
export function lineLink(app, path, line) {
  if (!path) return String(line);
  const { address, command } = opener(editorOf(), path, line);
  const title = command ? `Copy the command that opens line ${line} in $EDITOR` : `Open line ${line} in the editor`;
  return address ? h("a", { href: address, title, "aria-label": title }, String(line)) : h("button", { type: "button", title, "aria-label": title, onclick: () => app.copy(command) }, String(line));
}

// Which editor, and what opens the place itself in it. `changed` is called when another one was chosen.
export function editorTools(app, path, line, changed) {
  const now = editorOf(), own = !EDITORS.some(([, t]) => t === now);
  const { address, command } = opener(now, path, line);
  const choose = (template) => {
    localStorage.setItem(KEPT, template);
    changed();
  };
  const field = h("input", {
    type: "text", value: own ? now : "", placeholder: "scheme://…{path}…{line}", "aria-label": "URL of an editor, with {path} and {line}", spellcheck: "false", hidden: !own,
    onkeydown: (e) => {
      e.stopPropagation();
      if (e.key === "Enter" && isTemplate(field.value.trim())) choose(field.value.trim());
      else if (e.key === "Enter") app.toast("It needs a scheme and {path}, as in vscode://file{path}:{line}");
    },
  });
  const select = h("select", { "aria-label": "Editor", title: "The editor that opens lines; stored in this browser", onchange: () => (select.value ? choose(select.value) : ((field.hidden = false), field.focus())) },
    EDITORS.map(([name, template]) => h("option", { value: template, selected: template === now }, name)), h("option", { value: "", selected: own }, "other …"));
  const open = address ? h("a.button", { href: address, dataset: { open: "editor" } }, "Open in editor") : h("button.button", { type: "button", dataset: { open: "editor" }, onclick: () => app.copy(command) }, "Copy command");
  return [select, field, open];
}
