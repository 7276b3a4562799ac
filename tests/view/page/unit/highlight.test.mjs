import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { EDITORS, opener, problemOf } from "../../../../viewer/editor.js";
import { highlight, languageOf } from "../../../../viewer/highlight.js";

// Pieces that have a kind, as kind:text.
const painted = (file, ...lines) => highlight(lines, file).map((pieces) => pieces.filter((p) => p.kind).map((p) => `${p.kind}:${p.text}`));

test("nothing of the text is lost, whatever it is and in whatever language", () => {
  const lines = ['let x = "a\\"b" (* c (* d *) *) \'e\' 0x1f', "/* open", "still */ int x; // rest", "'''doc", "'''", "#include <x>", "", "λ = ☃ \\", '"no end', "'"];
  for (const file of ["x.c", "x.cpp", "x.rs", "x.ml", "x.py", "x.go", "x.js", "x.lox", "x.txt", "Makefile", ""])
    assert.deepEqual(highlight(lines, file).map((pieces) => pieces.map((p) => p.text).join("")), lines, file);
});

test("words, names, texts, numbers and comments are told apart by language", () => {
  assert.deepEqual(painted("src/a.c", '#define N 3', 'static int n = 0x1F + 1e-3; // "no"', "char c = '\\n'; /* a", 'b */ Foo *p = "/*";'), [
    ["directive:#define", "number:3"], ["word:static", "word:int", "number:0x1F", "number:1e-3", 'comment:// "no"'], ["word:char", "text:'\\n'", "comment:/* a"], ["comment:b */", "name:Foo", 'text:"/*"']].map((x, i) => (i === 0 ? ["directive:#define", "name:N", "number:3"] : x)));
  assert.deepEqual(painted("m.ml", "let f' (x : 'a) = 'c' (* (* n *) in *) Map.add", 'let s = "one', 'two" in 1_000'), [
    ["word:let", "text:'c'", "comment:(* (* n *) in *)", "name:Map"], ["word:let", 'text:"one'], ['text:two"', "word:in", "number:1_000"]]);
  assert.deepEqual(painted("m.rs", "fn f<'a>(x: &'a str) {}", "let c = 'x';"), [["word:fn"], ["word:let", "text:'x'"]]);
  assert.deepEqual(painted("m.py", "x = '''a", "b''' + 'c' # d", "@decorated"), [["text:'''a"], ["text:b'''", "text:'c'", "comment:# d"], ["directive:@decorated"]]);
  assert.deepEqual(painted("notes.txt", "int x = 3"), [[]]);
  assert.equal(languageOf("/usr/lib/x.so.6[ab12]"), null);
  assert.equal(languageOf("a/b.CPP"), "cpp");
});

test("lines that begin within a comment are of it, up to its end", () => {
  assert.deepEqual(painted("a.c", " * of a comment", " */ int x; /* y */"), [["comment: * of a comment"], ["comment: */", "word:int", "comment:/* y */"]]);
  assert.deepEqual(painted("a.c", "int x; /* y */"), [["word:int", "comment:/* y */"]]);
});

test("a line opens in an editor; no path and no template becomes anything else", () => {
  assert.deepEqual(opener("vscode://file{path}:{line}", "/a b/{line}?#%.c", 7), { address: "vscode://file/a%20b/%7Bline%7D%3F%23%25.c:7" });
  assert.deepEqual(opener("$EDITOR", "/a b/it's.c", 7), { command: "${EDITOR:-vi} +7 '/a b/it'\\''s.c'" });
  assert.deepEqual(opener("$EDITOR", "/a/\x03;\n\u009b\\'.c", 7), { command: "${EDITOR:-vi} +7 $'/a/\\x03;\\x0a\\xc2\\x9b\\\\\\'.c'" });
  assert.deepEqual(opener("code --goto {file}:{line}", "/a b/{line}.c", 7), { command: "code --goto '/a b/{line}.c':7" });
  for (const bad of ["javascript://{file}", "JavaScript://%0aalert(1){file}", "javascript:alert(1)//{file}", "data://{file}", "blob://{file}", "mailto:{file}", "{file}", "vscode://file", "hx", ""]) assert.ok(problemOf(bad), bad);
  for (const good of ["vscode://file{file}:{line}", "my-ed+x://{path}", "$EDITOR", "hx {file}:{line}", ...EDITORS.map(([, t]) => t)]) assert.equal(problemOf(good), null, good);
  // What no browser takes for a scheme is text to copy, and never an address.
  assert.deepEqual(Object.keys(opener("\x01javascript://{file}", "/a.c", 1)), ["command"]);
});

test("the colours of source text can be read in both themes", () => {
  const [, light, dark] = /:root \{(.*?)\n\}.*?theme="dark"\] \{(.*?)\n\}/s.exec(fs.readFileSync(new URL("../../../../viewer/style.css", import.meta.url), "utf8"));
  const luminance = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  for (const theme of [light, dark]) {
    const of = (name) => luminance(new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(theme)[1]);
    for (const name of ["code-text", "code-number", "code-word", "code-name", "faint", "warn"]) {
      const [a, b] = [of(name), of("surface")].sort((x, y) => y - x);
      assert.ok((a + 0.05) / (b + 0.05) >= 4.5, name);
    }
  }
});
