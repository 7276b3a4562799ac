// Colours are told apart by people with each kind of colour blindness, and text on them can be read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { THEMES } from "../../../../viewer/palette.js";

const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const luminance = (hex) => channels(hex).map(linear).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);

// Machado, Oliveira, Fernandes 2009, severity 1.
const KINDS = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};
const seen = (hex, m) => {
  const [r, g, b] = channels(hex).map(linear);
  return [0, 3, 6].map((i) => Math.min(1, Math.max(0, m[i] * r + m[i + 1] * g + m[i + 2] * b)));
};
// Oklab, where distances are about as large as they look.
const oklab = ([r, g, b]) => {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b), m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b), s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
};
const distance = (a, b, kind) => Math.hypot(...oklab(seen(a, KINDS[kind])).map((v, i) => v - oklab(seen(b, KINDS[kind]))[i]));

for (const [name, t] of Object.entries(THEMES)) {
  test(`${name}: text can be read on every colour`, () => {
    for (const c of [...t.groups, t.rest, t.up, t.down, t.still]) assert.ok(contrast(t.text, c) >= 4.5, `${c}: ${contrast(t.text, c).toFixed(2)}`);
    assert.ok(contrast(t.dim, t.background) >= 4.5);
    assert.ok(contrast(t.dim, t.hatchGround) >= 4.5);
  });

  for (const kind of Object.keys(KINDS)) {
    test(`${name}, ${kind}: what must be told apart, is`, () => {
      assert.ok(distance(t.up, t.down, kind) >= 0.1, "up and down");
      for (const c of [t.up, t.down]) assert.ok(distance(c, t.still, kind) >= 0.08, "a change and none");
      const heaps = Object.values(t.heaps);
      heaps.forEach((a, i) => heaps.slice(i + 1).forEach((b) => assert.ok(distance(a, b, kind) >= 0.06, `${a} ${b}: ${distance(a, b, kind).toFixed(3)}`)));
      t.groups.forEach((a, i) => t.groups.slice(i + 1).forEach((b) => assert.ok(distance(a, b, kind) >= 0.04, `${a} ${b}: ${distance(a, b, kind).toFixed(3)}`)));
    });
  }
}
