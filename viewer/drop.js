// drop.js: sends a trace that is dropped on the page, or chosen in a file dialog, to the server, which opens it beside
// the others.
import { fill, h } from "./dom.js";

const MOST = 2 * 2 ** 30; // bytes; the limit of the server

export class Drop {
  constructor(app) {
    this.app = app;
    this.box = h("div.drop", { hidden: true, "aria-hidden": "true" }, h("b", app.source.offline ? "This page is a file; use `allotrace view` to open traces" : "Drop a trace to open it beside the others"));
    this.said = h("div.banner.opening", { role: "status", hidden: true });
    this.input = h("input", { type: "file", hidden: true, tabindex: "-1", "aria-label": "A trace to open", onchange: () => this.#openAll([...this.input.files]) });
    document.body.append(this.box, this.input);
    const has = (e) => e.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (e) => has(e) && (e.preventDefault(), (this.box.hidden = false)));
    addEventListener("dragleave", (e) => !e.relatedTarget && (this.box.hidden = true));
    addEventListener("drop", (e) => {
      if (!has(e)) return;
      e.preventDefault();
      this.box.hidden = true;
      this.#openAll([...e.dataTransfer.files]);
    });
  }

  choose() {
    this.input.value = "";
    this.input.click();
  }

  async #openAll(files) {
    if (this.app.source.offline || !files.length) return;
    for (const file of files) if (!(await this.#open(file))) return;
  }

  async #open(file) {
    this.#say(`Opening ${file.name} …`);
    try {
      if (file.size > MOST) throw new Error("the file is larger than 2 GB; open it with `allotrace view`");
      const { trace } = await this.app.source.open(file);
      this.app.source.forget();
      await this.app.readInfo();
      this.said.hidden = true;
      this.app.store.set({ trace, zoom: [], pick: [], filter: "", stretch: "", focus: "", line: "", a: "", b: "" });
      return true;
    } catch (error) {
      this.#say(`${file.name} could not be opened: ${error.message}. `, h("button.button", { type: "button", onclick: () => (this.said.hidden = true) }, "Close"));
      return false;
    }
  }

  #say(...what) {
    fill(this.said, ...what);
    this.said.hidden = false;
  }
}
