// delta.js: the two sides of a comparison and their difference on one line: Before → After, Δ. Also the color of a
// change, which shows its size relative to the largest one, and whether it is significant.
import { h } from "./dom.js";
import { amount } from "./format.js";

// "+78.4 GB", "-1.2 MB", "±0 B", in the format of the commands.
export const signed = (value, unit) => (value === 0 ? "±" : value > 0 ? "+" : "") + amount(value, unit);

// At rate 1, numbers are exact, so there is no significance.
const isExact = (c) => c.decided !== false && c.low === c.high && c.low === c.change;
const exactText = (c) => (c.change === 0 ? "the same, exact" : `${c.change > 0 ? "more" : "less"}, exact`);

export const unsureText = (c) => (c.decided === false ? "undecided: a trace is incomplete, or one run per side cannot show run-to-run variation" : "no significant change");

export const changeText = (c, unit) => (isExact(c) ? exactText(c) : c.sure ? `significantly ${c.change > 0 ? "more" : "less"}, ${amount(c.low, unit)} … ${amount(c.high, unit)}` : unsureText(c));

// Like changeText, with numbers that explain themselves.
export const changeShown = (app, c, unit) =>
  isExact(c) ? exactText(c) : c.sure ? [`significantly ${c.change > 0 ? "more" : "less"}, `, app.following("change", { value: c.change, low: c.low, high: c.high }, { unit }, { alone: true, text: `${amount(c.low, unit)} … ${amount(c.high, unit)}` })] : unsureText(c);

// names: [first side, second side]; before, after: elements; change: { change, low, high, sure, decided }.
export const deltaHead = (app, names, before, after, change, unit) =>
  h("div.delta", { role: "group", "aria-label": `${names[0]}, ${names[1]} and the change` },
    h("span", h("span.soft.name", `${names[0]} `), before), h("span.arrow", { "aria-hidden": "true" }, "→"),
    h("span", h("span.soft.name", `${names[1]} `), after),
    h("span", h("span.soft", "Δ "), app.following("change", { value: change.change, low: change.low, high: change.high }, { unit }, { alone: true, text: signed(change.change, unit) }), " ", h("span.soft", changeShown(app, change, unit))));

const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const mix = (from, to, share) => `#${channels(from).map((c, i) => Math.round(c + (channels(to)[i] - c) * share).toString(16).padStart(2, "0")).join("")}`;

const LEAST = 0.35; // of the hue: a significant change is never as pale as another one
const UNSURE = 0.25; // at most

// Returns the color of a change: gray if there is none, and stronger the larger it is relative to the largest change.
export function changeColor(theme, change, sure, largest) {
  const share = largest > 0 ? Math.sqrt(Math.min(1, Math.abs(change) / largest)) : 0;
  const hue = change > 0 ? theme.up : theme.down;
  return mix(theme.still, hue, sure ? LEAST + (1 - LEAST) * share : UNSURE * share);
}
