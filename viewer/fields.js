// fields.js: input fields that several views share: the search, and the focus of sandwich, callers and callees.
import { h, icon, ICONS } from "./dom.js";
import { focusStep, stepsOf } from "./filterline.js";

const TYPING_MS = 180;

// Searches during typing. `done` is called when a key leaves the field, unless `entered` returns true for Enter.
export function searchField(app, { label, placeholder = "Search", done, entered = (search) => void app.store.replace({ search }) }) {
  let typing = null;
  const input = h("input", {
    type: "text", placeholder, "aria-label": label, spellcheck: "false",
    oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(() => app.store.replace({ search: input.value }), TYPING_MS);
    },
    onkeydown: (e) => {
      if (!["Enter", "Escape", "ArrowDown"].includes(e.key)) return;
      e.stopPropagation();
      e.preventDefault();
      clearTimeout(typing);
      if (e.key === "Escape") input.value = "";
      if (e.key === "Enter" && entered(input.value, e.shiftKey)) return;
      if (e.key !== "Enter") app.store.replace({ search: input.value });
      done();
    },
  });
  return {
    element: h("span.field.search", icon(ICONS.search), input),
    show: (search) => document.activeElement !== input && (input.value = search),
    focus: () => (input.focus(), input.select()),
  };
}

let fields = 0;

// The focus: a function, or a sequence of functions that call each other, `f > g`. Completes the last name of the
// sequence.
export function focusField(app, done) {
  const list = h("datalist", { id: `focus-names-${++fields}` });
  let call = 0;
  const suggest = async () => {
    const step = stepsOf(input.value).at(-1), before = input.value.slice(0, input.value.length - step.length);
    const mine = ++call;
    const answer = step && !app.source.offline ? await app.source.get("filter", { text: `fn:${/\s/.test(step) ? JSON.stringify(step) : step}`, trace: app.store.state.trace || undefined }).catch(() => null) : null;
    if (mine !== call) return;
    const names = (answer?.completion?.items ?? []).map((i) => (i.text.startsWith('"') ? i.text.slice(1, -1).replaceAll('\\"', '"') : i.text));
    list.replaceChildren(...names.map((n) => h("option", { value: before + focusStep({ function: n }) })));
  };
  const input = h("input", {
    type: "text", placeholder: "f > g > h", "aria-label": "The function or call sequence in the middle", spellcheck: "false", list: list.id, autocomplete: "off",
    title: "A function, or a sequence of which each calls the next: f > g. Enter shows it",
    oninput: suggest,
    onkeydown: (e) => {
      if (e.key !== "Enter" && e.key !== "Escape") return;
      e.stopPropagation();
      if (e.key === "Enter") app.store.set({ focus: input.value.trim(), zoom: [], pick: [] });
      input.value = app.store.state.focus;
      done();
    },
  });
  return { element: h("label.around", "Around", h("span.field", input), list), show: (focus) => document.activeElement !== input && (input.value = focus) };
}
