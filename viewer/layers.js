// layers.js: what live memory of the timeline is made of: heaps, or the groups that the source answers (sites, threads,
// lifetimes) and the rest of it. Numbers and names alone; timeline.js draws them.

export const HEAPS = ["minor", "major", "external"];
export const HEAP_NAMES = { minor: "minor heap", major: "major heap", external: "malloc and other memory" };

// By what it can be stacked: `by` of the source, but for heaps, which it always tells; and how people call it.
export const STACKS = { heap: "heap", line: "site", function: "function", thread: "thread", scope: "scope", life: "lifetime" };

// A layer: { key, name, values, heap } or { key, name, values, hue, place, filter }. The lowest first.
export function layersOf(answer, places) {
  const curves = answer.filtered || answer.all;
  if (!answer.layers) return heapsOf(curves);
  const strings = answer.strings;
  const layers = answer.layers.live.map((values, i) => {
    const place = answer.layers.place ? places[answer.layers.place[i]] ?? null : undefined;
    const name = place === undefined ? strings[answer.layers.name[i]] : nameOf(place);
    return { key: String(i), name, values, hue: i, place, filter: place === undefined ? strings[answer.layers.filter[i]] : undefined };
  });
  const rest = curves.live.map((v, i) => Math.max(0, v - layers.reduce((sum, l) => sum + l.values[i], 0)));
  return rest.some((v) => v > 0) ? [...layers, { key: "rest", name: "the rest", values: rest, hue: -1 }] : layers;
}

// One without a heap stands for all, where the source does not tell heaps apart.
function heapsOf(curves) {
  const there = HEAPS.filter((k) => curves[`live_${k}`]);
  if (!there.length) return [{ key: "external", name: HEAP_NAMES.external, values: curves.live, heap: "external" }];
  return there.map((k) => ({ key: k, name: HEAP_NAMES[k], values: curves[`live_${k}`], heap: k }));
}

const nameOf = (place) => (!place ? "(no call stack)" : `${place.function || place.file || "?"}${place.line ? `:${place.line}` : ""}`);

export const isEmpty = (layer) => !layer.values.some((v) => v > 0);

// Its colour and, beyond the number of hues, a texture.
export function fillOf(theme, layer) {
  if (layer.heap) return { color: theme.heaps[layer.heap], texture: layer.heap === "minor" ? null : layer.heap };
  if (layer.hue < 0) return { color: theme.rest, texture: null };
  return { color: theme.groups[layer.hue % theme.groups.length], texture: layer.hue >= theme.groups.length ? "major" : null };
}

// The layer at an amount above the ground in a step; null: above all.
export function layerAt(layers, i, amount) {
  let sum = 0;
  for (const l of layers) {
    sum += l.values[i];
    if (amount <= sum) return l;
  }
  return null;
}
