import assert from "node:assert/strict";
import { test } from "node:test";
import { ticks } from "../../../../viewer/timeline.js";

test("ticks are round times, no more than there is room for, and each has its own text", () => {
  for (const to of [50, 999, 12345, 778000, 3.4e6, 61e6, 35879437, 7.2e9, 9e11]) {
    const { times, text } = ticks(0, to, 10);
    assert.ok(times.length >= 2 && times.length <= 11, `${to}: ${times.length}`);
    assert.equal(new Set(text).size, text.length, `${to}: ${text}`);
  }
});
