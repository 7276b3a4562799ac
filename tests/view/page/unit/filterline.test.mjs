import assert from "node:assert/strict";
import { test } from "node:test";
import { add, complete, exactly, focusOn, join, legible, put, remove, spelled, split, stepsOf, toggle, withBrush } from "../../../../viewer/filterline.js";

const texts = (line) => split(line).map((t) => t.text);

test("terms are split at blanks, not within quotes and expressions", () => {
  assert.deepEqual(texts('  fn:"operator new"  size:>=1K  -fn:/a b\\/ c/,d '), ['fn:"operator new"', "size:>=1K", "-fn:/a b\\/ c/,d"]);
  assert.deepEqual(texts("file:src/main.c fn:x"), ["file:src/main.c", "fn:x"]); // a slash within a word
  assert.deepEqual(texts('fn:"no end here'), ['fn:"no end here']);
  assert.deepEqual(texts(""), []);
});

test("a term knows its name, value, sign and place", () => {
  assert.deepEqual(split("x -heap:major,external")[1], { text: "-heap:major,external", start: 2, end: 22, negated: true, name: "heap", value: "major,external" });
  assert.equal(split("survived")[0].value, "");
});

test("terms are added once, put, removed and turned round", () => {
  assert.equal(add("fn:a", "fn:b"), "fn:a fn:b");
  assert.equal(add("fn:a", "fn:a"), "fn:a");
  assert.equal(put("size:1K fn:a -size:2K", "size:4K"), "fn:a -size:2K size:4K");
  assert.equal(remove("fn:a fn:b fn:c", 1), "fn:a fn:c");
  assert.equal(toggle("fn:a -fn:b hide:c", 0), "-fn:a -fn:b hide:c");
  assert.equal(toggle("fn:a -fn:b hide:c", 1), "fn:a fn:b hide:c");
  for (const term of ["hide:c", "below:c", "path:a,b", "hide-file:c"]) assert.equal(toggle(term, 0), term); // how stacks look cannot be turned round
});

test("an exact name survives any character, and reads as the name", () => {
  for (const name of ["Stdlib.Map.(fun)", "operator new[](unsigned long)", "a/b", "x^$|{}*+?\\y", "plain"]) {
    const term = `fn:${exactly(name)}`;
    assert.deepEqual(texts(`${term} z`), [term, "z"]);
    const shown = legible(split(term)[0]);
    assert.equal(shown.value, name);
    assert.equal(shown.exact, true);
    const source = term.slice(4, -1).replaceAll("\\/", "/"); // as the C parser takes it out
    assert.ok(new RegExp(source).test(name));
    assert.ok(!new RegExp(source).test(`${name}x`));
  }
  assert.equal(legible(split("fn:/^a.*b$/")[0]).exact, false);
});

test("what was freed is spelled as filters have it", () => {
  assert.equal(spelled("freed:1s..2s"), "live:1s..2s -live:2s");
  assert.equal(spelled("freed:1s.."), "live:1s..@end -live:@end");
  assert.equal(spelled("fn:freed:1s..2s"), "fn:freed:1s..2s");
  assert.deepEqual(complete("fre").map((c) => c.text), ["freed:"]);
});

test("a brush replaces what was said about time, and nothing else", () => {
  assert.equal(withBrush("fn:a alloc:1s live:2s life:>1s", "alloc", "3s", "4s"), "fn:a life:>1s alloc:3s..4s");
  assert.equal(withBrush("fn:a", "freed", "3s", "4s"), "fn:a live:3s..4s -live:4s");
});

test("completion offers names, then values, with the sign kept", () => {
  assert.deepEqual(complete("-li").map((c) => c.text), ["-live:", "-life:"]);
  assert.ok(!complete("-").some((c) => c.text === "-hide:"));
  assert.deepEqual(complete("heap:ma").map((c) => c.text), ["heap:major"]);
  assert.deepEqual(complete("hide:@").map((c) => c.text), ["hide:@library"]);
  assert.deepEqual(complete("fn:MA", { fn: ["main", "other"] }).map((c) => c.shown), ["main"]);
  assert.deepEqual(complete("nothing:"), []);
});

test("join is the opposite of split", () => {
  const line = 'fn:"a b" -size:1K survived';
  assert.equal(join(split(line)), line);
});

test("a focus is a sequence of names, or of what means exactly them", () => {
  const p = (fn, id = 1) => ({ function: fn, id });
  assert.equal(focusOn([p("main"), p("List.map")]), "main > List.map");
  assert.equal(focusOn([p("a > b"), p("/x")]), "/^a > b$/ > /^\\/x$/");
  assert.equal(focusOn([p("", 7)]), "7");
});

test("a sequence is taken apart where its steps meet, not within a pattern", () => {
  const names = ["std::map<int, std::vector<int> > >::at", "plain", "operator/ > x"];
  const steps = names.map((n) => focusOn([{ function: n, id: 1 }]));
  assert.deepEqual(stepsOf(focusOn(names.map((n) => ({ function: n, id: 1 })))), steps);
  assert.deepEqual(steps.map((value) => legible({ value }).value), names);
  assert.deepEqual(stepsOf("a > b"), ["a", "b"]);
  assert.deepEqual(stepsOf("/a > b"), ["/a > b"]); // without an end
  assert.deepEqual(stepsOf("a > "), ["a", ""]);
  assert.deepEqual(stepsOf(""), [""]);
});
