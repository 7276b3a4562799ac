// delta.js: what two sides amount to, in one line: Before → After, Δ. And how a change is coloured: by how much it is
// of the largest, and whether it is sure.
import { h } from "./dom.js";
import { amount } from "./format.js";
import { changeShown } from "./view-flame.js";

// "+78.4 GB", "-1.2 MB", "±0 B", as the commands print them.
export const signed = (value, unit) => (value === 0 ? "±" : value > 0 ? "+" : "") + amount(value, unit);

// names: [of the first side, of the second]; before, after: elements; change: { change, low, high, sure, decided }.
export const deltaHead = (app, names, before, after, change, unit) =>
  h("div.delta", { role: "group", "aria-label": `${names[0]}, ${names[1]} and the change` },
    h("span", h("span.soft.name", `${names[0]} `), before), h("span.arrow", { "aria-hidden": "true" }, "→"),
    h("span", h("span.soft.name", `${names[1]} `), after),
    h("span", h("span.soft", "Δ "), app.following("change", { value: change.change, low: change.low, high: change.high }, { unit }, { alone: true, text: signed(change.change, unit) }), " ", h("span.soft", changeShown(app, change, unit))));

const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const mix = (from, to, share) => `#${channels(from).map((c, i) => Math.round(c + (channels(to)[i] - c) * share).toString(16).padStart(2, "0")).join("")}`;

const LEAST = 0.35; // of the hue: what is sure is never as pale as what is not
const UNSURE = 0.25; // at most

// The colour of a change: grey where there is none; the more of the largest change, the stronger.
export function changeColor(theme, change, sure, largest) {
  const share = largest > 0 ? Math.sqrt(Math.min(1, Math.abs(change) / largest)) : 0;
  const hue = change > 0 ? theme.up : theme.down;
  return mix(theme.still, hue, sure ? LEAST + (1 - LEAST) * share : UNSURE * share);
}
