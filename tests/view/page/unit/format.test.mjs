// Numbers read on the page as the commands print them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { amount, bytes, count, damageOf, duration, filterTime, margin, marginText, percent, perSecond, rate } from "../../../../viewer/format.js";

test("bytes change their unit where the rounded number would", () => {
  for (const [n, text] of [[0, "0 B"], [1023, "1023 B"], [1024, "1.0 KB"], [1047500, "1022.9 KB"], [1048524, "1023.9 KB"], [1048575, "1.0 MB"], [1024 ** 2, "1.0 MB"], [84856000000, "79.0 GB"], [-2048, "-2.0 KB"], [1e30, "8.67e+11 EB"]])
    assert.equal(bytes(n), text);
});

test("an exact tie goes to the even digit, as in C", () => {
  assert.equal(bytes(1280), "1.2 KB"); // 1.25
  assert.equal(bytes(1792), "1.8 KB"); // 1.75
  assert.equal(bytes(2.5), "2 B");
  assert.equal(bytes(3.5), "4 B");
  assert.equal(percent(12.25), "12.2%");
});

test("counts, durations, rates", () => {
  assert.equal(count(1234567), "1,234,567");
  assert.equal(count(999), "999");
  for (const [us, text] of [[0, "0 µs"], [999, "999 µs"], [1500, "1.5 ms"], [999499, "999 ms"], [999500, "1.00 s"], [59994999, "59.99 s"], [59995000, "1 min 0 s"], [3600e6, "1 h 0 min"], [200e6, "3 min 20 s"]])
    assert.equal(duration(us), text);
  for (const [r, text] of [[1e-4, "1e-4"], [2e-5, "2e-5"], [0.001, "0.001"], [1, "1"], [1.5e-6, "1.5e-6"]]) assert.equal(rate(r), text);
});

test("a time in a filter is exact to a microsecond", () => {
  for (const [us, text] of [[0, "0"], [1, "1us"], [999, "999us"], [1500, "1.5ms"], [225700, "225.7ms"], [1001, "1001us"], [4035, "4.035ms"], [2000, "2ms"], [1e6, "1s"], [1234567, "1.234567s"], [3600e6, "3600s"], [8209760, "8209760us"]]) assert.equal(filterTime(us), text);
});

test("a slope of less than a byte a second is not 0", () => {
  assert.equal(perSecond(0.0213), "+0.021 B/s");
  assert.equal(perSecond(-3.04), "-3 B/s");
  assert.equal(perSecond(2048), "+2.0 KB/s");
  assert.equal(perSecond(0.25, "blocks"), "+0.25 blocks/s");
  assert.equal(perSecond(1234, "blocks"), "+1,234 blocks/s");
});

test("± of bytes is 1.96 standard errors, of others half the interval", () => {
  const f = { value: 670400000, low: 638684955, high: 703282309, samples: 1676 };
  assert.equal(marginText(f, "B", 2e-5), "± 30.6 MB"); // what `hotspots` prints for this trace
  assert.equal(marginText({ value: 100, low: 80, high: 124, samples: 9 }, "blocks", 0.1), "± 22");
  assert.equal(marginText({ value: 8e6, low: 202547, high: 44573000, samples: 1 }, "B", 1e-6), "197.8 KB … 42.5 MB");
  assert.equal(marginText({ value: 5, low: 5, high: 5, samples: 5 }, "B", 1), "exact");
  assert.equal(marginText({ value: 44592, low: 24096, high: 44816, samples: 5574 }, "B", 1), "23.5 KB … 43.8 KB"); // a peak of several threads
  assert.equal(margin({ value: 0, low: 0, high: 8, samples: 0 }, "B", 0.1), 4);
});

test("amounts name their unit", () => {
  assert.equal(amount(1, "blocks"), "1 block");
  assert.equal(amount(2, "blocks"), "2 blocks");
  assert.equal(amount(2048, "B·s"), "2.0 KB·s");
});

test("how much is missing stands before why", () => {
  assert.deepEqual(damageOf({ warnings: [{ text: "spoilt" }], missing: { places: 1, from: 5000, duration: 1500, bytes: 2048, of: 1048576 } }),
    ["Missing: 1.5 ms at 5 ms (2.0 KB of 1.0 MB cannot be read).", "spoilt"]);
  assert.deepEqual(damageOf({ missing: { places: 2, from: 5000, duration: 0, bytes: 0, of: 1048576 } }),
    ["Missing: events in 2 places, the first at 5 ms (packets are gone)."]);
});

test("that a trace ends early stands before what else is wrong with it", () => {
  assert.deepEqual(damageOf(null), []);
  assert.deepEqual(damageOf({ warnings: [] }), []);
  assert.deepEqual(damageOf({ warnings: [{ text: "cut" }] }), ["cut"]);
  assert.deepEqual(damageOf({ warnings: [{ text: "cut" }], ends_early: { time: 1500, reason: "File too large" } }),
    ["The trace ends early, at 1.5 ms: File too large. Everything after that is missing.", "cut"]);
});
