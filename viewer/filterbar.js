// filterbar.js: the filter as chips and a field. Each chip is a term; a click edits its text. The source provides
// completions and the position of errors.
import { fill, h, icon, ICONS } from "./dom.js";
import { complete, join, legible, remove, spelled, split, toggle } from "./filterline.js";
import { count } from "./format.js";

export class FilterBar {
  constructor(app) {
    this.app = app;
    this.editing = -1; // index of the chip that the field replaces; -1: the field is after the last chip
    this.items = [];
    this.chosen = -1;
    this.problem = null;
    this.entry = h("input.entry", {
      type: "text", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
      role: "combobox", "aria-label": "Add to the filter", "aria-expanded": "false", "aria-controls": "completion", "aria-autocomplete": "list",
      placeholder: "Filter: fn:name, size:>=1K, live:@peak …",
      oninput: () => this.#suggest(),
      onfocus: () => this.#suggest(),
      onblur: () => setTimeout(() => this.#closeList(), 120),
      onkeydown: (e) => this.#key(e),
    });
    this.list = h("div.completion", { role: "listbox", id: "completion", hidden: true });
    document.body.append(this.list);
    this.element = h("div.filterbar", { role: "search", "aria-label": "Filter" });
    // On a phone, the filter takes room only when it is in use, or somebody opens it.
    this.opener = h("button.button.plain.square.narrow", { type: "button", title: "Filter (/)", "aria-label": "Filter (/)", onclick: () => this.#toggle() }, icon(ICONS.filter));
    this.kept = h("span.kept", { role: "status" });
    this.undo = h("button.button.plain.square", { type: "button", title: "Undo the last filter change (u)", "aria-label": "Undo the last filter change", onclick: () => app.undo() }, icon(ICONS.undo));
    this.trouble = h("div.problem", { role: "alert", hidden: true });
    this.draw();
  }

  draw() {
    const terms = split(this.app.store.state.filter);
    if (this.editing >= terms.length) this.editing = -1;
    const chips = terms.map((t, i) => (i === this.editing ? null : this.#chip(legible(t), i)));
    const at = this.editing < 0 ? chips.length : this.editing;
    // An answer may come during typing. The field must stay in the document: moving it would lose keystrokes.
    if (this.entry.parentNode !== this.element) this.element.append(this.entry);
    for (const other of [...this.element.childNodes]) if (other !== this.entry) other.remove();
    this.entry.before(icon(ICONS.filter), ...chips.slice(0, at));
    this.entry.after(...chips.slice(this.editing < 0 ? at : at + 1), this.kept, this.undo, this.trouble);
    this.undo.disabled = this.app.store.undoable.length === 0;
    this.entry.disabled = this.app.source.offline;
    if (this.app.source.offline) this.entry.placeholder = this.app.source.filter ? `This file shows what “${this.app.source.filter}” keeps.` : "This file contains summaries of the whole trace. Use `allotrace view` to filter.";
    else this.entry.placeholder = terms.length ? "and …" : "Filter: fn:name, size:>=1K, live:@peak …";
  }

  #chip(term, i) {
    const wrong = this.problem && this.problem.column > term.start && this.problem.column <= term.end + 1;
    const inWords = term.name === "survived" || term.name === "promoted" ? "" : term.value;
    return h(`span.chip${term.negated ? ".negated" : ""}${wrong ? ".wrong" : ""}`, { dataset: { term: term.text } },
      h("button.text", {
        type: "button", title: `${term.text}\nclick: edit · Alt+click: negate`,
        onclick: (e) => (e.altKey ? this.app.store.set({ filter: toggle(this.app.store.state.filter, i) }) : this.edit(i)),
        onkeydown: (e) => {
          if (e.key === "Delete" || e.key === "Backspace") {
            e.preventDefault();
            e.stopPropagation();
            this.app.store.set({ filter: remove(this.app.store.state.filter, i), zoom: [] });
            this.entry.focus();
          } else if (e.key === "-") {
            e.stopPropagation();
            this.app.store.set({ filter: toggle(this.app.store.state.filter, i) });
          }
        },
      }, h("span.name", term.negated ? `not ${term.name}` : term.name), inWords ? h("span", inWords) : null),
      h("button.x", { type: "button", "aria-label": `Remove ${term.text}`, title: "Remove", onclick: () => this.app.store.set({ filter: remove(this.app.store.state.filter, i), zoom: [] }) }, icon(ICONS.close)));
  }

  edit(i) {
    this.editing = i;
    this.entry.value = split(this.app.store.state.filter)[i].text;
    this.draw();
    this.entry.focus();
    this.entry.select();
    this.#suggest();
  }

  focus() {
    this.element.classList.add("open");
    this.entry.focus();
  }

  #toggle() {
    if (this.element.classList.contains("open")) this.element.classList.remove("open");
    else this.focus();
  }

  // Shows what the answer says about the filter.
  report(head) {
    this.problem = null;
    this.trouble.hidden = true;
    fill(this.kept, head?.of_blocks !== undefined && head.kept_blocks !== head.of_blocks ? ["keeps ", this.app.fact(`${count(head.kept_blocks)} of ${count(head.of_blocks)}`, "Kept", "The number of sampled blocks that match the filter: an exact count, from which all amounts here are estimated."), " sampled blocks"] : "");
    this.draw();
  }

  refuse(error) {
    this.problem = error;
    const line = this.app.store.state.filter;
    this.trouble.hidden = false;
    const at = error.column > 0 ? ` (character ${error.column}: ${[...line].slice(Math.max(0, error.column - 1), error.column + 11).join("") || "the end"})` : "";
    fill(this.trouble, `Invalid filter: ${error.message}${at}. ${this.app.shown?.head || this.app.shown?.layers ? "The page still shows the previous one." : "Nothing is shown until it is corrected."}`);
    this.draw();
  }

  #commit() {
    const text = split(this.entry.value).map((t) => spelled(t.text)).join(" ");
    const terms = split(this.app.store.state.filter).map((t) => t.text);
    if (this.editing >= 0) terms.splice(this.editing, 1, ...(text ? [text] : []));
    else if (text) terms.push(text);
    this.editing = -1;
    this.entry.value = "";
    this.#closeList();
    this.app.store.set({ filter: join(terms), zoom: [] });
    this.draw();
    this.entry.focus();
  }

  // Narrows the completions of the previous text, until those of this one arrive.
  #narrow(typed) {
    this.items = this.items.filter((item) => item.text.startsWith(typed));
    this.chosen = -1;
    if (!this.list.hidden) this.#drawList();
  }

  async #suggest() {
    const typed = this.entry.value;
    this.#narrow(typed);
    const cursor = this.entry.selectionStart ?? typed.length;
    const call = (this.call = (this.call || 0) + 1);
    let items;
    const word = typed.slice(0, cursor);
    if (word.includes(":")) {
      const answer = await this.app.source.get("filter", { text: typed, cursor, trace: this.app.store.state.trace || undefined }).catch(() => null);
      if (call !== this.call) return;
      const c = answer?.completion;
      items = c?.items?.map((i) => ({ text: typed.slice(0, c.start) + i.text + typed.slice(c.end), shown: i.text, help: i.detail, open: false })) ?? [];
      if (!items.length) items = complete(word);
    } else items = complete(word);
    if (document.activeElement !== this.entry) return;
    this.items = items;
    this.chosen = -1;
    this.#drawList();
  }

  #drawList() {
    const box = this.entry.getBoundingClientRect();
    this.list.hidden = this.items.length === 0;
    this.entry.setAttribute("aria-expanded", String(!this.list.hidden));
    this.list.style.left = `${Math.min(box.left - 8, innerWidth - 300)}px`;
    this.list.style.top = `${box.bottom + 4}px`;
    fill(this.list, this.items.map((item, i) =>
      h("div", {
        role: "option", id: `option${i}`, "aria-selected": String(i === this.chosen),
        onpointerdown: (e) => (e.preventDefault(), this.#take(i)),
      }, h("span.mono.cut", item.shown ?? item.text), item.help ? h("span.help", item.help) : null)));
    this.entry.setAttribute("aria-activedescendant", this.chosen >= 0 ? `option${this.chosen}` : "");
    this.list.children[this.chosen]?.scrollIntoView({ block: "nearest" });
  }

  #closeList() {
    this.call = (this.call || 0) + 1; // otherwise an answer that is still to come would reopen the list
    this.list.hidden = true;
    this.entry.setAttribute("aria-expanded", "false");
  }

  #take(i) {
    const item = this.items[i];
    this.entry.value = item.text;
    this.entry.setSelectionRange(item.text.length, item.text.length);
    if (item.open) this.#suggest();
    else if (!/(\.\.|:)$/.test(item.text)) this.#commit();
  }

  #key(e) {
    const n = this.items.length, open = !this.list.hidden;
    if (e.key === "ArrowDown" && open) this.chosen = (this.chosen + 1) % n;
    else if (e.key === "ArrowUp" && open) this.chosen = (this.chosen + n) % (n + 1) === n ? -1 : (this.chosen - 1 + n) % n;
    else if ((e.key === "Tab" && open && n && this.entry.value) || (e.key === "Enter" && open && this.chosen >= 0)) {
      e.preventDefault();
      return this.#take(Math.max(0, this.chosen));
    } else if (e.key === "Enter") {
      e.preventDefault();
      return this.#commit();
    } else if (e.key === "Backspace" && this.entry.value === "" && this.editing < 0) {
      const terms = split(this.app.store.state.filter);
      if (terms.length) {
        e.preventDefault();
        this.edit(terms.length - 1);
      }
      return;
    } else if (e.key === "Escape") {
      e.preventDefault();
      e.stopPropagation();
      if (open) return this.#closeList();
      this.entry.value = "";
      this.editing = -1;
      this.draw();
      this.entry.blur();
      this.element.classList.remove("open");
      return;
    } else return;
    e.preventDefault();
    this.#drawList();
  }
}
