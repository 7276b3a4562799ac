// drawing.js: pictures of the page, for download. A canvas is painted once more on an object that records SVG; elements
// are written as markup with their computed styles.

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.codePointAt(0)};`).replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
const short = (x) => String(+(+x).toFixed(2));

// The part of a canvas context that the page's views use.
export class SvgDrawing {
  fillStyle = "#000";
  strokeStyle = "#000";
  globalAlpha = 1;
  lineWidth = 1;
  font = "12px sans-serif";
  textAlign = "left";
  textBaseline = "middle";
  #parts = [];
  #defs = [];
  #path = "";
  #dash = "";
  #matrix = [];
  #saved = [];
  #patterns = new Map();

  constructor(width, height, name = "p") {
    Object.assign(this, { width, height, name });
    this.real = document.createElement("canvas").getContext("2d");
  }

  get parts() {
    return (this.#defs.length ? `<defs>${this.#defs.join("")}</defs>` : "") + this.#parts.join("");
  }

  setTransform() {
    this.#matrix = [];
  }
  save() {
    this.#saved.push([...this.#matrix]);
  }
  restore() {
    this.#matrix = this.#saved.pop() ?? [];
  }
  translate(x, y) {
    this.#matrix.push(`translate(${short(x)} ${short(y)})`);
  }
  rotate(angle) {
    this.#matrix.push(`rotate(${short((angle * 180) / Math.PI)})`);
  }
  setLineDash(dash) {
    this.#dash = dash.join(" ");
  }
  measureText(text) {
    this.real.font = this.font;
    return this.real.measureText(text);
  }
  clearRect() {}

  createPattern(tile) {
    const pattern = { tile, scale: 1, setTransform: (m) => (pattern.scale = m.a) };
    return pattern;
  }

  // Returns a color, or a reference to a pattern, which is defined once.
  #paint(style) {
    if (typeof style === "string") return escape(style);
    const { tile, scale } = style, key = `${tile.toDataURL()} ${scale}`;
    if (!this.#patterns.has(key)) {
      const id = `${this.name}${this.#patterns.size}`, w = short(tile.width * scale), h = short(tile.height * scale);
      this.#patterns.set(key, id);
      this.#defs.push(`<pattern id="${id}" width="${w}" height="${h}" patternUnits="userSpaceOnUse"><image href="${tile.toDataURL()}" width="${w}" height="${h}"/></pattern>`);
    }
    return `url(#${this.#patterns.get(key)})`;
  }

  #put(tag, attributes, text) {
    const common = `${this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : ""}${this.#matrix.length ? ` transform="${this.#matrix.join(" ")}"` : ""}`;
    this.#parts.push(text === undefined ? `<${tag}${attributes}${common}/>` : `<${tag}${attributes}${common}>${escape(text)}</${tag}>`);
  }
  get #stroking() {
    return ` fill="none" stroke="${this.#paint(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${this.#dash ? ` stroke-dasharray="${this.#dash}"` : ""}`;
  }
  #box(x, y, w, h) {
    return ` x="${short(Math.min(x, x + w))}" y="${short(Math.min(y, y + h))}" width="${short(Math.abs(w))}" height="${short(Math.abs(h))}"`;
  }

  fillRect(x, y, w, h) {
    this.#put("rect", `${this.#box(x, y, w, h)} fill="${this.#paint(this.fillStyle)}"`);
  }
  strokeRect(x, y, w, h) {
    this.#put("rect", this.#box(x, y, w, h) + this.#stroking);
  }
  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end", end: "end" }[this.textAlign];
    const [, weight = "", size, family] = /^(?:(\w+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [null, "", 12, "sans-serif"];
    this.#put("text", ` x="${short(x)}" y="${short(y)}" font-size="${size}" font-family="${escape(family)}"${weight ? ` font-weight="${weight}"` : ""} fill="${this.#paint(this.fillStyle)}"${anchor ? ` text-anchor="${anchor}"` : ""}${this.textBaseline === "middle" ? ' dominant-baseline="central"' : ""} xml:space="preserve"`, text);
  }
  beginPath() {
    this.#path = "";
  }
  moveTo(x, y) {
    this.#path += `M${short(x)} ${short(y)}`;
  }
  lineTo(x, y) {
    this.#path += `${this.#path ? "L" : "M"}${short(x)} ${short(y)}`;
  }
  rect(x, y, w, h) {
    this.#path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`;
  }
  closePath() {
    this.#path += "z";
  }
  fill() {
    if (this.#path) this.#put("path", ` d="${this.#path}" fill="${this.#paint(this.fillStyle)}"`);
  }
  stroke() {
    if (this.#path) this.#put("path", ` d="${this.#path}"${this.#stroking}`);
  }
}

// ---- elements --------------------------------------------------------------------------------------

// The properties that determine how an element looks, including those that it inherits.
const STYLES = ["display", "position", "left", "top", "right", "bottom", "width", "height", "min-width", "max-width", "margin", "padding", "border-top", "border-right", "border-bottom", "border-left", "border-radius",
  "background-color", "background-image", "box-sizing", "flex", "flex-flow", "align-items", "align-content", "justify-content", "place-items", "gap", "grid-template-columns", "grid-template-rows", "grid-column", "overflow", "opacity", "transform",
  "text-align", "text-overflow", "white-space", "vertical-align", "text-decoration-line", "unicode-bidi", "stroke", "fill", "stroke-width", "stroke-dasharray"];
const INHERITED = ["color", "font-family", "font-size", "font-weight", "font-style", "line-height", "letter-spacing", "font-variant-numeric", "direction", "list-style-type"];
const XHTML = "http://www.w3.org/1999/xhtml", SVG = "http://www.w3.org/2000/svg";

function written(node, root) {
  if (node.nodeType === Node.TEXT_NODE) return escape(node.textContent);
  if (node.nodeType !== Node.ELEMENT_NODE || (node !== root && !node.checkVisibility())) return "";
  const tag = node.localName, style = getComputedStyle(node), isSvg = node.namespaceURI === SVG;
  const css = [...STYLES, ...INHERITED].map((k) => [k, k === "overflow" ? style.getPropertyValue(k).replace(/auto|scroll/g, "hidden") : style.getPropertyValue(k)]).filter(([, v]) => v && v !== "none" && v !== "normal" && v !== "auto").map(([k, v]) => `${k}:${v}`).join(";");
  if (tag === "canvas") return `<img src="${node.toDataURL()}" style="${escape(css)}"/>`;
  if (["input", "select", "script", "style"].includes(tag)) return tag === "select" ? `<span style="${escape(css)}">${escape(node.selectedOptions[0]?.textContent ?? "")}</span>` : tag === "input" && node.type !== "range" ? `<span style="${escape(css)}">${escape(node.value || node.placeholder)}</span>` : "";
  const attributes = isSvg ? [...node.attributes].filter((a) => !["style", "class", "tabindex"].includes(a.name)).map((a) => ` ${a.name}="${escape(a.value)}"`).join("") : "";
  const space = node === root || (tag === "svg" && isSvg) ? ` xmlns="${node.namespaceURI}"` : "";
  return `<${isSvg ? tag : tag === "button" ? "span" : tag}${space}${attributes} style="${escape(css)}">${[...node.childNodes].map((n) => written(n, root)).join("")}</${isSvg ? tag : tag === "button" ? "span" : tag}>`;
}

// Returns an element as it is seen.
export function elementParts(element) {
  const { width, height } = element.getBoundingClientRect();
  return { width: Math.ceil(width), height: Math.ceil(height), parts: `<foreignObject width="${Math.ceil(width)}" height="${Math.ceil(height)}"><div xmlns="${XHTML}">${written(element, element)}</div></foreignObject>` };
}

// Puts drawings, { width, height, parts }, one below the other on a background.
export function sheetOf(drawings, ground) {
  const width = Math.max(...drawings.map((d) => d.width)), height = drawings.reduce((sum, d) => sum + d.height, 0);
  let y = 0;
  const parts = drawings.map((d) => {
    const part = `<svg y="${y}" width="${d.width}" height="${d.height}">${d.parts}</svg>`;
    y += d.height;
    return part;
  });
  return `<svg xmlns="${SVG}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="${width}" height="${height}" fill="${escape(ground)}"/>${parts.join("")}</svg>\n`;
}

// Returns an SVG picture as a PNG.
export async function pngOf(svg, scale) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const sheet = document.createElement("canvas");
  sheet.width = Math.round(image.width * scale);
  sheet.height = Math.round(image.height * scale);
  sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
  return new Promise((done) => sheet.toBlob(done, "image/png"));
}
