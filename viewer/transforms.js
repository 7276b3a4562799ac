// transforms.js: transformations of call stacks, as filter terms. So each is a chip, is in the address, can be undone,
// and has the same meaning as in the commands. The menu offers them with their keys.
import { exactly } from "./filterline.js";
import { moduleOf } from "./modules.js";

// Matches a function by name; a place without one by its file.
const termOf = (place) => (place.function ? `fn:${exactly(place.function)}` : `file:${exactly(place.file)}`);

// Returns transformations: { text of the menu, short: text of a button, rare: it gets no button, key, terms: null if it
// does not apply }. `path`: the places from the root to this one, if the tree begins where stacks do; `collapsed`:
// recursion is collapsed.
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
