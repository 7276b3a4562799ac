// transforms.js: what call stacks can be made to look like, as terms of the filter: so each is a chip, stands in the
// address, can be undone, and is an option of the commands. The menu offers these with their keys.
import { exactly } from "./filterline.js";
import { LIBRARIES, moduleOf } from "./palette.js";

const escaped = (text) => exactly(text).slice(2, -2);

// The functions of a place's module: the filter's name for what they have in common, a function's name or a file's, and a pattern.
export function moduleTerm(place) {
  const name = moduleOf(place);
  if (!name) return null;
  const file = place.file || "", bare = file.replace(/\[[^\]]*\]$/, ""), base = bare.slice(bare.lastIndexOf("/") + 1);
  const library = LIBRARIES.find(([, known]) => known === name);
  if (library) return { name, of: "file", pattern: `/${library[0].source}/` };
  if (name !== base) return bare.includes("/") ? { name, of: "file", pattern: `/(^|\\/)${escaped(name)}\\/[^\\/]*$/` } : { name, of: "fn", pattern: `/^${escaped(name)}(__|_[a-z]|\\.)/` };
  return { name, of: "file", pattern: `/${bare === base ? "^" : "(^|\\/)"}${escaped(name)}(\\[|$)/` };
}

// What a pattern of these reads as: the module's name.
const MODULES = [/^\/\(\^\|\\\/\)(.+)\\\/\[\^\\\/\]\*\$\/$/, /^\/(?:\^|\(\^\|\\\/\))(.+)\(\\\[\|\$\)\/$/, /^\/\^(.+)\(__\|_\[a-z\]\|\\\.\)\/$/];
export function moduleIn(pattern) {
  const library = LIBRARIES.find(([known]) => `/${known.source}/` === pattern);
  if (library) return library[1];
  const found = MODULES.map((m) => m.exec(pattern)).find(Boolean);
  return found ? found[1].replace(/\\(.)/g, "$1") : null;
}

const hideOf = { file: "hide-file", fn: "hide" };

// A function by name; places without one are named by their file.
const termOf = (place) => (place.function ? `fn:${exactly(place.function)}` : `file:${exactly(place.file)}`);

// Each: what the menu says, and a button, where it is not rare; its key there, and the terms; none, where it does not apply. `path`: of a tree that begins where
// stacks do, the places down to this one; `collapsed`: without recursion.
export function transformsOf(place, { path, collapsed } = {}) {
  const f = place?.function && exactly(place.function), m = place && moduleTerm(place), named = place?.function || place?.file;
  const steps = path?.map((p) => p.function && exactly(p.function));
  const subtree = steps?.every(Boolean) && steps.length > 1 ? [...(collapsed ? ["recursion:/./"] : []), `path:${steps.join(",")}`] : null;
  return [
    { text: "Only stacks with it", short: "Only with it", key: "o", terms: named && [termOf(place)] },
    { text: "Drop stacks with it", short: "Drop", key: "d", terms: named && [`-${termOf(place)}`] },
    { text: "Merge it into its callers", short: "Merge", key: "m", terms: f && [`hide:${f}`] },
    { text: "Begin stacks with it", short: "Begin with it", key: "f", terms: f && [`below:${f}`] },
    { text: "End stacks with it", short: "End with it", key: "F", terms: f && [`above:${f}`] },
    path && { text: "Only what is below this frame", key: "s", terms: subtree },
    { text: "Collapse its recursion", key: "r", rare: true, terms: f && [`recursion:${f}`] },
    { text: "Collapse its calls of itself", key: "R", rare: true, terms: f && [`repeats:${f}`] },
    m && { text: `Drop stacks with ${m.name}`, key: "D", rare: true, terms: [`-${m.of}:${m.pattern}`] },
    m && { text: `Merge ${m.name} into its callers`, key: "M", rare: true, terms: [`${hideOf[m.of]}:${m.pattern}`] },
  ].filter(Boolean);
}
