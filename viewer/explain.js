// explain.js: numbers that say what they are. A figure on the page is a button; behind it stand its definition,
// the formula with this figure's own values, its samples and its interval, in the server's words.
import { h, Popover } from "./dom.js";
import { amount, count, marginText, percent, rate as rateText } from "./format.js";

// figure: { value, low, high, samples, blocks }; unit and rate as the answer has them.
export function number(app, figure, { unit = "B", rate, measure, label, share, text, name } = {}) {
  if (!figure || Number.isNaN(figure.value)) return h("span.faint", "–");
  const shown = text ?? amount(figure.value, unit);
  return h("button.num", {
    type: "button",
    title: `${marginText(figure, unit, rate)} · click for what this number is`,
    "aria-label": `${label ? `${label}: ` : ""}${shown}, ${marginText(figure, unit, rate)}. Explain`,
    dataset: { number: name || "" },
    onclick: (e) => {
      e.stopPropagation();
      explain(app, e.currentTarget, figure, { unit, rate, measure, share });
    },
  }, shown);
}

export const marginOf = (figure, { unit = "B", rate }) => h("span.margin", marginText(figure, unit, rate));

let popover = null;

export async function explain(app, at, figure, { unit, rate, measure, share }) {
  popover ??= new Popover("explain");
  const box = at.getBoundingClientRect();
  const head = [
    h("h2", `${amount(figure.value, unit)} `, h("span.margin", marginText(figure, unit, rate))),
    h("dl.facts", facts(figure, unit, rate, share)),
  ];
  const asked = measure || app.store.state.measure;
  popover.open(box.left, box.bottom + 6, [head, h("p.faint", "…")]);
  popover.box.setAttribute("aria-label", "What this number is");
  const call = ++explain.calls;
  try {
    const e = await app.source.get("explain", {
      trace: app.store.state.trace || undefined,
      measure: asked,
      value: Math.round(figure.value), low: Math.round(figure.low), high: Math.round(figure.high),
      samples: figure.samples, blocks: figure.blocks,
    });
    if (call !== explain.calls || !popover.isOpen) return;
    popover.open(box.left, box.bottom + 6, [
      head,
      h("h3.faint", e.title),
      h("p", e.definition),
      h("div.formula", [e.formula, app.source.offline ? "" : e.worked].filter(Boolean).join("\n")),
      app.source.offline ? null : h("p", e.interval),
      e.caveats?.length ? h("ul", e.caveats.map((c) => h("li", c))) : null,
    ]);
  } catch (error) {
    if (call === explain.calls && popover.isOpen) popover.open(box.left, box.bottom + 6, [head, h("p", error.message)]);
  }
}
explain.calls = 0;

function facts(figure, unit, rate, share) {
  const rows = [];
  const row = (name, value) => rows.push(h("dt", name), h("dd", value));
  row("95 % interval", figure.high > figure.low ? `${amount(figure.low, unit)} … ${amount(figure.high, unit)}` : "exact");
  if (share !== undefined) row("share", percent(share));
  if (figure.samples !== undefined) row("samples", count(figure.samples));
  if (figure.blocks !== undefined) row("sampled blocks", count(figure.blocks));
  if (rate) row("rate", `${rateText(rate)} of all words`);
  return rows;
}
