// A module has the same colour in every trace, which is that of its name, unless it would be another's of the same picture.
import assert from "node:assert/strict";
import { test } from "node:test";
import { colorOf, hueOf, Hues, modulesIn } from "../../../../viewer/modules.js";
import { THEMES } from "../../../../viewer/palette.js";

const NAMES = ["Stdlib", "irmin", "irmin-pack", "core", "lib", "Cmdliner", "repr", "libc", "perl", "alloc", "std", "typing", "asmcomp", "utils", "parsing", "lwt"];

test("the hue of a module follows from its name alone, and a new version has it, too", () => {
  assert.deepEqual(NAMES.map((m) => hueOf(m, 7)), [1, 0, 0, 0, 4, 0, 2, 5, 5, 2, 3, 6, 6, 4, 2, 4]);
  assert.equal(hueOf("serde-1.0.1", 7), hueOf("serde-1.0.217", 7));
  assert.equal(hueOf("python3.11", 7), hueOf("python3.13", 7));
  for (const name of ["12", "λ", "x"]) assert.ok(hueOf(name, 7) >= 0 && hueOf(name, 7) < 7, name);
  const n = new Map();
  for (let i = 0; i < 7000; i++) n.set(hueOf(`module${String.fromCharCode(97 + (i % 26))}${i.toString(36)}x`, 7), (n.get(hueOf(`module${String.fromCharCode(97 + (i % 26))}${i.toString(36)}x`, 7)) || 0) + 1);
  assert.ok(n.size === 7 && Math.min(...n.values()) > 800, `all hues are used alike: ${[...n.values()]}`);
});

test("what has no module is grey", () => {
  for (const theme of Object.values(THEMES)) {
    const app = { theme, hues: new Hues(theme.groups.length) };
    assert.equal(colorOf(app, ""), theme.rest);
    assert.equal(colorOf(app, "lwt"), theme.groups[hueOf("lwt", theme.groups.length)]);
  }
});

const huesOf = (hues, modules) => modules.map((m) => hues.of(m));

test("the largest modules of a picture have hues of their own, as far as there are hues", () => {
  const alike = ["irmin", "irmin-pack", "core", "Cmdliner", "libc", "perl", "typing", "asmcomp"], hues = new Hues(7);
  assert.ok(hues.take(alike));
  assert.equal(new Set(huesOf(hues, alike.slice(0, 7))).size, 7);
  assert.equal(hues.of("asmcomp"), hueOf("asmcomp", 7), "a smaller one has that of its name");
});

test("hues stay: whatever order modules come in, whatever is filtered, and in later pictures", () => {
  const [one, other, later] = [new Hues(7), new Hues(7), new Hues(7)], largest = ["irmin", "core", "libc", "lwt", "repr"];
  one.take(largest);
  other.take([...largest].reverse());
  assert.deepEqual(huesOf(one, largest), huesOf(other, largest));
  later.take(largest);
  const before = huesOf(later, largest);
  assert.equal(later.take(["core", "irmin-pack", "Cmdliner", "irmin"]), true, "others have come");
  assert.deepEqual(huesOf(later, largest), before);
  assert.equal(new Set(huesOf(later, ["core", "irmin-pack", "Cmdliner", "irmin"])).size, 4);
  assert.equal(later.take(largest), false);
});

test("modules that share no hue have that of their name", () => {
  const apart = ["Stdlib", "irmin", "lib", "repr", "libc", "std", "typing"], hues = new Hues(7);
  assert.equal(hues.take(apart), false);
  assert.deepEqual(huesOf(hues, apart), apart.map((m) => hueOf(m, 7)));
});

test("modules of a tree stand by what is allocated in them", () => {
  const place = (module) => ({ function: "f", file: "", module });
  const tree = { parent: [0, 0, 1, 1, 3], place: [-1, 0, 1, 2, 3], self: [0, 0, 40, 10, 50], total: [100, 100, 40, 60, 50], places: ["main", "a", "b", "b"].map(place) };
  assert.deepEqual(modulesIn([tree]), ["b", "a", "main"]);
});
