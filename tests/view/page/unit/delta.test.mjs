import assert from "node:assert/strict";
import { test } from "node:test";
import { changeColor, signed } from "../../../../viewer/delta.js";
import { amount } from "../../../../viewer/format.js";
import { THEMES } from "../../../../viewer/palette.js";

const distance = (a, b) => [1, 3, 5].reduce((sum, i) => sum + Math.abs(parseInt(a.slice(i, i + 2), 16) - parseInt(b.slice(i, i + 2), 16)), 0);

test("changes are coloured by how much they are and whether they are sure", () => {
  for (const theme of Object.values(THEMES)) {
    const strength = (change, sure) => distance(changeColor(theme, change, sure, 100), theme.still);
    assert.equal(changeColor(theme, 100, true, 100), theme.up);
    assert.equal(changeColor(theme, -100, true, 100), theme.down);
    assert.equal(changeColor(theme, 0, false, 100), theme.still);
    assert.ok(strength(100, true) > strength(10, true) && strength(10, true) > strength(1, true));
    assert.ok(strength(1, true) > strength(100, false), "what is not sure is paler than anything sure");
    assert.ok(strength(100, false) > strength(1, false));
  }
});

test("a change has a sign", () => {
  assert.deepEqual([2e6, -2e6, 0].map((v) => signed(v, "B")), [`+${amount(2e6, "B")}`, `-${amount(2e6, "B")}`, `±${amount(0, "B")}`]);
});
