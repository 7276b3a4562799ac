// layers.js: the layers of live memory in the timeline: heaps, or the groups in the answer (sites, threads, lifetimes)
// and the rest. Numbers and names only; timeline.js draws them.

export const HEAPS = ["minor", "major", "external"];
export const HEAP_NAMES = { minor: "minor heap", major: "major heap", external: "malloc and other memory" };

// What live memory can be stacked by: the parameter `by`, except for heaps, which are in every answer; and its name.
export const STACKS = { heap: "heap", line: "site", function: "function", thread: "thread", scope: "scope", life: "lifetime" };

// Returns the layers, lowest first: { key, name, values, heap } or { key, name, values, hue, place, filter }.
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

// If the answer does not tell heaps apart, one layer stands for all memory.
function heapsOf(curves) {
  const there = HEAPS.filter((k) => curves[`live_${k}`]);
  if (!there.length) return [{ key: "external", name: HEAP_NAMES.external, values: curves.live, heap: "external" }];
  return there.map((k) => ({ key: k, name: HEAP_NAMES[k], values: curves[`live_${k}`], heap: k }));
}

const nameOf = (place) => (!place ? "(no call stack)" : `${place.function || place.file || "?"}${place.line ? `:${place.line}` : ""}`);

export const isEmpty = (layer) => !layer.values.some((v) => v > 0);

// Returns the layer's color and, if there are more layers than hues, a texture.
export function fillOf(theme, layer) {
  if (layer.heap) return { color: theme.heaps[layer.heap], texture: layer.heap === "minor" ? null : layer.heap };
  if (layer.hue < 0) return { color: theme.rest, texture: null };
  return { color: theme.groups[layer.hue % theme.groups.length], texture: layer.hue >= theme.groups.length ? "major" : null };
}

// Returns the layer at an amount in step `i`; null if the amount is above all layers.
export function layerAt(layers, i, amount) {
  let sum = 0;
  for (const l of layers) {
    sum += l.values[i];
    if (amount <= sum) return l;
  }
  return null;
}
