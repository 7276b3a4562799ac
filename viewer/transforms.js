// transforms.js: what call stacks can be made to look like, as terms of the filter: so each is a chip, stands in the
// address, can be undone, and is an option of the commands. The menu offers these with their keys.
import { exactly } from "./filterline.js";
import { moduleOf } from "./modules.js";

// A function by name; places without one are named by their file.
const termOf = (place) => (place.function ? `fn:${exactly(place.function)}` : `file:${exactly(place.file)}`);

// Each: what the menu says, and a button, where it is not rare; its key there, and the terms; none, where it does not apply. `path`: of a tree that begins where
// stacks do, the places down to this one; `collapsed`: without recursion.
export function transformsOf(place, { path, collapsed } = {}) {
  const f = place?.function && exactly(place.function), m = place && moduleOf(place), named = place?.function || place?.file;
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
    m && { text: `Drop what ${m} allocates`, key: "D", rare: true, terms: [`-module:${exactly(m)}`] },
    m && { text: `Merge ${m} into its callers`, key: "M", rare: true, terms: [`hide-module:${exactly(m)}`] },
  ].filter(Boolean);
}
