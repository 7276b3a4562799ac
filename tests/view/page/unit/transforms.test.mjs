import assert from "node:assert/strict";
import { test } from "node:test";
import { legible, split } from "../../../../viewer/filterline.js";
import { transformsOf } from "../../../../viewer/transforms.js";

test("a module is dropped by who allocates, and merged by name; its chip says it", () => {
  const all = transformsOf({ function: "f", file: "src/a.b/x.c", module: "a.b" });
  const of = (key) => all.find((t) => t.key === key);
  assert.deepEqual([of("D").terms, of("M").terms], [["-module:/^a\\.b$/"], ["hide-module:/^a\\.b$/"]]);
  assert.deepEqual([of("D").text, of("M").text], ["Drop what a.b allocates", "Merge a.b into its callers"]);
  assert.equal(legible(split(of("M").terms[0])[0]).value, "a.b");
  assert.equal(transformsOf({ function: "f", file: "", module: "" }).some((t) => t.key === "D"), false);
});

const termsOf = (place, more) => Object.fromEntries(transformsOf(place, more).map((t) => [t.key, t.terms]));

test("a transform is a term, or says that it does not apply", () => {
  const [f, g, h] = ["main", "operator new[](int)", "a/b"].map((name) => ({ function: name, file: "x.c" }));
  const path = "path:/^main$/,/^operator new\\[\\]\\(int\\)$/,/^a\\/b$/";
  const all = termsOf(h, { path: [f, g, h], collapsed: true });
  assert.deepEqual(all.s, ["recursion:/./", path]);
  assert.deepEqual(termsOf(h, { path: [f, g, h] }).s, [path]);
  assert.deepEqual([all.o, all.d, all.m, all.f, all.F, all.r, all.R].flat(), ["fn", "-fn", "hide", "below", "above", "recursion", "repeats"].map((name) => `${name}:/^a\\/b$/`));
  assert.equal(legible(split(path)[0]).value, "main › operator new[](int) › a/b");
  const nameless = termsOf({ function: "", file: "x.c" }, { path: [f, { function: "", file: "x.c" }] });
  assert.deepEqual([nameless.o, nameless.m, nameless.s].map(Boolean), [true, false, false]);
  assert.equal(new Set(transformsOf({ ...f, module: "m" }, { path: [f, g] }).map((t) => t.key)).size, 10, "each has a key of its own");
});
