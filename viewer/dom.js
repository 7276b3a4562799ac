// dom.js: makes elements without markup in strings, so that no name from a trace is ever parsed as HTML.

// h("div.card#id", { onclick, title, dataset: {…} }, ...children). Children: nodes, text, null, arrays.
export function h(what, ...rest) {
  const [, tag, more] = /^([a-z0-9-]*)(.*)$/i.exec(what);
  const e = document.createElement(tag || "div");
  for (const [, kind, name] of more.matchAll(/([.#])([^.#]+)/g))
    if (kind === ".") e.classList.add(name);
    else e.id = name;
  for (const part of rest) {
    if (part && typeof part === "object" && !(part instanceof Node) && !Array.isArray(part)) set(e, part);
    else append(e, part);
  }
  return e;
}

function set(e, props) {
  for (const [k, v] of Object.entries(props)) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "dataset") Object.assign(e.dataset, Object.fromEntries(Object.entries(v).filter(([, x]) => x !== undefined)));
    else if (k === "style") Object.assign(e.style, v);
    else if (k in e && typeof v !== "string") e[k] = v;
    else e.setAttribute(k, v === true ? "" : v);
  }
}

export function append(e, part) {
  if (Array.isArray(part)) part.forEach((p) => append(e, p));
  else if (part !== null && part !== undefined && part !== false) e.append(part);
  return e;
}

export function fill(e, ...parts) {
  e.replaceChildren();
  return append(e, parts);
}

const SVG = "http://www.w3.org/2000/svg";
export function svg(tag, attributes = {}, ...parts) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  for (const p of parts) if (p) e.append(p);
  return e;
}

// Returns the width of a text in pixels, in small type. `font` is "mono" for names, "font" for other text.
let context = null, fonts = null;
export function textWidth(text, font = "mono") {
  context ??= document.createElement("canvas").getContext("2d");
  if (!fonts) {
    const root = getComputedStyle(document.documentElement);
    fonts = Object.fromEntries(["mono", "font"].map((f) => [f, `12px ${root.getPropertyValue(`--${f}`)}`]));
  }
  context.font = fonts[font];
  return context.measureText(text).width;
}

// An icon of 16 × 16 pixels, made of one path.
export const icon = (d, title) =>
  svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": title ? "false" : "true" }, svg("path", { d }));

export const ICONS = {
  close: "M4 4l8 8M12 4l-8 8",
  undo: "M6 4L3 7l3 3M3.5 7H10a3 3 0 010 6H7",
  theme: "M8 2a6 6 0 100 12V2z",
  help: "M5.6 6a2.4 2.4 0 114 1.8c-.9.7-1.6 1-1.6 2.2M8 12.6v.1",
  filter: "M2.5 3.5h11L9.5 8.5v4l-3 1.5v-5.5z",
  search: "M7 2.5a4.5 4.5 0 110 9 4.5 4.5 0 010-9zM10.4 10.4L14 14",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.5v9l7-4.5z",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a3 3 0 014.3 4.3L11 9M9 11.5l-1.2 1.2a3 3 0 01-4.3-4.3L5 7",
  panel: "M2.5 3.5h11v9h-11zM10 3.500v9",
  up: "M4 10l4-5 4 5",
  down: "M4 6l4 5 4-5",
};

// A floating box near a point, kept inside the window. It closes when the user does something else.
export class Popover {
  constructor(className, role = "dialog") {
    this.box = h(`div.popover.${className}`, { role, tabindex: "-1", hidden: true });
    document.body.append(this.box);
    this.opener = null;
    addEventListener("pointerdown", (e) => !this.box.hidden && !this.box.contains(e.target) && this.close(false), true);
    addEventListener("resize", () => this.close(false));
    this.box.addEventListener("keydown", (e) => {
      if (e.key === "Escape") {
        e.stopPropagation();
        e.preventDefault();
        this.close();
      }
    });
    this.box.addEventListener("focusout", (e) => {
      if (e.relatedTarget && !this.box.contains(e.relatedTarget)) this.close(false);
    });
  }

  open(x, y, content, { focus = true } = {}) {
    if (this.box.hidden) this.opener = document.activeElement;
    fill(this.box, content);
    this.box.hidden = false;
    this.place(x, y);
    if (focus) (this.box.querySelector("[autofocus],button,input") || this.box).focus({ preventScroll: true });
  }

  place(x, y) {
    const { width, height } = this.box.getBoundingClientRect(), gap = 8;
    this.box.style.left = `${Math.max(gap, Math.min(x, innerWidth - width - gap))}px`;
    this.box.style.top = `${Math.max(gap, y + height + gap > innerHeight ? Math.max(gap, Math.min(y - height - 12, innerHeight - height - gap)) : y)}px`;
  }

  get isOpen() {
    return !this.box.hidden;
  }

  close(giveFocusBack = true) {
    if (this.box.hidden) return;
    this.box.hidden = true;
    if (giveFocusBack && this.opener?.isConnected) this.opener.focus({ preventScroll: true });
  }
}
