// explain.js: numbers that explain themselves. Each number on the page is a button. For an estimate, it shows the
// definition, the formula with the actual values, the samples and the interval, in the server's words. For a number
// derived from estimates (shares, errors, counts), it shows how it is derived.
import { h, Popover } from "./dom.js";
import { amount, bytes, count, isOrder, margin, marginText, perSecond, percent, plural, rate as rateText, twoEnded } from "./format.js";

// figure: { value, low, high, samples, blocks }; unit and rate are those of the answer.
export function number(app, figure, { unit = "B", rate, measure, label, share, text, name } = {}) {
  if (!figure || Number.isNaN(figure.value)) return h("span.faint", "–");
  const shown = text ?? amount(figure.value, unit);
  return button(app, shown, {
    name, label: `${label ? `${label}: ` : ""}${shown}, ${marginText(figure, unit, rate)}. Explain`,
    title: `${marginText(figure, unit, rate)} · click to explain this number`,
    about: { figure, unit, rate, measure, share },
  });
}

// A number derived from a figure; `kind` is the derivation, a key of FOLLOWS. `head`: unit and rate, as in `number`.
export function following(app, kind, figure, head, more = {}) {
  const lead = FOLLOWS[kind](figure, { unit: "B", ...head }, more);
  if (lead.text === "") return null;
  return button(app, lead.text, {
    name: kind, className: more.className, label: `${lead.title}: ${lead.text}. Explain`, title: `${lead.title} · click to explain this number`,
    about: { lead, figure: more.alone ? null : figure, unit: head.unit ?? "B", rate: head.rate, measure: head.measure },
  });
}

// A number that is not an estimate, defined in a sentence.
export function fact(app, text, title, definition, worked = "") {
  return button(app, text, { name: "fact", label: `${title}: ${text}. Explain`, title: `${title} · click to explain this number`, about: { lead: { text, title, definition, worked }, figure: null } });
}

const button = (app, text, { name, className, label, title, about }) =>
  h(`button.num${className ? `.${className}` : ""}`, {
    type: "button", title, "aria-label": label, dataset: { number: name || "" },
    onclick: (e) => {
      e.stopPropagation();
      explain(app, e.currentTarget.getBoundingClientRect(), about);
    },
  }, text);

// ---- derived numbers -----------------------------------------------------------------------------

const FEW = "With few samples, the interval reaches much further up than down, so both bounds are shown.";
const ORDER = "Every block is known, but not the order of events that are close together in different threads. The true value is anywhere between the bounds.";
const INTERVAL = "The 95% confidence interval of the estimate.";
const intervalTitle = (f, rate) => (isOrder(f, rate) ? "Bounds" : "95% interval");
const part = (x) => (Number.isFinite(x) ? percent(100 * x) : "–");

// At rate 1 every block is known, and the number of blocks says more than the number of words.
export const tellsBlocks = (figure, rate) => rate >= 1 && figure.blocks !== undefined;

const FOLLOWS = {
  share: (f, { unit }, { whole, share = f.value / whole, of = "all" }) => ({
    text: part(share), title: "Share",
    definition: `How much of ${of} this is: a ratio of two estimates.`,
    worked: whole > 0 ? `${amount(f.value, unit)} / ${amount(whole, unit)} = ${part(share)}` : "",
  }),
  samples: (f, { rate }, { long = false }) => tellsBlocks(f, rate) ? ({
    text: long ? plural(f.blocks, "block") : count(f.blocks), title: "Blocks",
    definition: "The number of blocks. Each was recorded, so that it is exact.",
  }) : ({
    text: long ? plural(f.samples, "sample") : count(f.samples), title: "Samples",
    definition: "The number of sampled words behind the estimate. Each allocated word is sampled with the same probability, the rate, so a large block may have several samples. The relative standard error falls with the square root of their number.",
    worked: f.samples > 0 && rate < 1 ? `1 / √${count(f.samples)} = ${part(Math.sqrt((1 - rate) / f.samples))} relative standard error of an amount of bytes` : "",
  }),
  margin: (f, { unit, rate }) => ({
    text: marginText(f, unit, rate), title: intervalTitle(f, rate),
    definition: isOrder(f, rate) ? ORDER : `${INTERVAL} ${FEW}`,
    worked: marginWorked(f, unit, rate),
  }),
  interval: (f, { unit, rate }) => ({
    text: f.high > f.low ? `${amount(f.low, unit)} … ${amount(f.high, unit)}` : "exact", title: intervalTitle(f, rate),
    definition: isOrder(f, rate) ? ORDER : INTERVAL,
    worked: marginWorked(f, unit, rate),
  }),
  rate: (f, { rate }) => ({
    text: rateText(rate), title: "Rate",
    definition: "The probability that an allocated word is sampled, whatever block it is in. One sample represents 1 / rate words.",
    worked: rate < 1 ? `1 / ${rateText(rate)} = ${count(1 / rate)} words a sample` : "Every word is sampled: numbers are exact.",
  }),
  self: (f, { unit }) => ({
    text: amount(f.value, unit), title: "Itself",
    definition: "What this frame allocates itself, as the innermost frame, without what the frames that it calls allocate.",
  }),
  explained: (f, { unit }, { share, row }) => ({
    text: percent(100 * share), title: "Explained",
    definition: "The share of this row and all larger ones. Call fragments do not overlap, so their shares add up.",
    worked: `rows 1 to ${count(row + 1)} together`,
  }),
  slope: (f, { measure }) => ({
    text: perSecond(f.slope, measure), title: "Slope",
    definition: `By how many ${measure === "blocks" ? "blocks" : "bytes"} per second the live memory of this place grows after startup: the slope of a least-squares line.`,
    worked: `95% interval: ${perSecond(f.slope_low, measure)} … ${perSecond(f.slope_high, measure)}\nq = ${part(f.q)}: the false discovery rate at which it would count as growth`,
  }),
  change: (f, { unit }, { text }) => ({
    text: text ?? `${f.value > 0 ? "+" : ""}${amount(f.value, unit)}`, title: "Change",
    definition: "After minus before. It is significant if such a difference in samples is unlikely to be due to chance; the interval is the 95% confidence interval.",
    worked: Number.isFinite(f.low) && Number.isFinite(f.high) ? `95% interval: ${amount(f.low, unit)} … ${amount(f.high, unit)}${Number.isFinite(f.q) ? `\nq = ${part(f.q)}` : ""}` : "",
  }),
  reading: (f) => ({ text: bytes(f.value), title: f.title, definition: `As the system counted it for the process: ${f.what}. Not an estimate.` }),
};

function marginWorked(f, unit, rate) {
  if (!(f.high > f.low)) return "every word was sampled: exact";
  const ends = `${amount(f.low, unit)} … ${amount(f.high, unit)}`;
  if (f.samples === undefined || isOrder(f, rate)) return ends;
  if (twoEnded(f, rate) || unit !== "B" || !rate) return `the exact limits for ${plural(f.samples, "sample")}: ${ends}`;
  return `1.96 × √(${count(f.samples)} × (1 - rate)) / ${count(f.samples)} × ${amount(f.value, unit)} = ${amount(margin(f, unit, rate), unit)}`;
}

// ---- the box -------------------------------------------------------------------------------------

let popover = null, calls = 0;

// `at`: the rectangle of the number. `lead`: explains the number itself, if it is derived from `figure`.
export async function explain(app, at, { lead, figure, unit = "B", rate, measure, share }) {
  popover ??= new Popover("explain");
  const call = ++calls;
  const say = (...rest) => popover.open(at.left, at.bottom + 6, [lead ? leading(lead) : null, figure ? heading(figure, { unit, rate, share, below: !!lead }) : null, rest]);
  say(figure ? h("p.faint", "…") : null);
  popover.box.setAttribute("aria-label", "What this number is");
  if (!figure) return;
  try {
    const e = await app.source.get("explain", asked(app, figure, measure));
    if (call === calls && popover.isOpen) say(told(app, e, figure));
  } catch (error) {
    if (call === calls && popover.isOpen) say(h("p", error.message));
  }
}

const asked = (app, figure, measure) => ({
  trace: app.store.state.trace || undefined,
  measure: measure || app.store.state.measure,
  value: Math.round(figure.value), low: Math.round(figure.low), high: Math.round(figure.high),
  samples: figure.samples, blocks: figure.blocks,
});

const leading = (lead) => [
  h("h2", lead.text),
  h("h3.faint", lead.title),
  h("p", lead.definition),
  lead.worked ? h("div.formula", lead.worked) : null,
];

const heading = (figure, { unit, rate, share, below }) => [
  h(below ? "h3" : "h2", below ? "Of the estimate " : null, `${amount(figure.value, unit)} `, h("span.margin", marginText(figure, unit, rate))),
  h("dl.facts", facts(figure, unit, rate, share)),
];

// If the samples of a figure are not known here, leaves out what refers to them.
function told(app, e, figure) {
  const own = !app.source.offline && figure.samples !== undefined;
  return [
    h("h3.faint", e.title),
    h("p", e.definition),
    h("div.formula", [e.formula, own ? e.worked : ""].filter(Boolean).join("\n")),
    own ? h("p", e.interval) : null,
    own && e.caveats?.length ? h("ul", e.caveats.map((c) => h("li", c))) : null,
  ];
}

function facts(figure, unit, rate, share) {
  const rows = [];
  const row = (name, value) => rows.push(h("dt", name), h("dd", value));
  row(intervalTitle(figure, rate), figure.high > figure.low ? `${amount(figure.low, unit)} … ${amount(figure.high, unit)}` : "exact");
  if (share !== undefined) row("share", percent(share));
  const whole = tellsBlocks(figure, rate);
  if (!whole && figure.samples !== undefined) row("samples", count(figure.samples));
  if (figure.blocks !== undefined) row(whole ? "blocks" : "sampled blocks", count(figure.blocks));
  if (rate) row("rate", `${rateText(rate)} of all words`);
  return rows;
}
