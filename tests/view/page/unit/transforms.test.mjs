import assert from "node:assert/strict";
import { test } from "node:test";
import { legible, split } from "../../../../viewer/filterline.js";
import { moduleOf } from "../../../../viewer/palette.js";
import { moduleIn, moduleTerm, transformsOf } from "../../../../viewer/transforms.js";

const PLACES = [
  { function: "Ctype.unify", file: "typing/ctype.ml" }, { function: "Typecore.f", file: "typing/typecore.ml" },
  { function: "Stdlib__list.iter", file: "list.ml" }, { function: "Stdlib.(^)", file: "stdlib.ml" }, { function: "Main", file: "main.ml" },
  { function: "f", file: "/home/me/my.typing/x.c" }, { function: "malloc", file: "./malloc/malloc.c" }, { function: "start", file: "../sysdeps/x86/start.S" },
  { function: "std::vector<int>::push_back", file: "/usr/include/c++/12/bits/stl_vector.h" },
  { function: "libfoo.so.6+0x10", file: "/usr/lib/libfoo.so.6[ab12]" }, { function: "prog+0x10", file: "/opt/a+b/prog[ff]" }, { function: "g", file: "x.c" },
];

test("a module's pattern matches the places of that module, and no others; its chip says its name", () => {
  for (const p of PLACES) {
    const m = moduleTerm(p), pattern = new RegExp(m.pattern.slice(1, -1));
    assert.equal(m.name, moduleOf(p));
    for (const other of PLACES) assert.equal(pattern.test(m.of === "fn" ? other.function : other.file), moduleOf(other) === m.name, `${m.pattern} of ${p.file} and ${other.file}`);
    const [term] = split(`-${m.of}:${m.pattern}`);
    assert.equal(term.value, m.pattern, "it is one term");
    assert.equal(legible(term, moduleIn).value, m.name);
  }
  assert.equal(moduleTerm({ function: "", file: "" }), null);
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
  assert.equal(new Set(transformsOf(f, { path: [f, g] }).map((t) => t.key)).size, 10, "each has a key of its own");
});
