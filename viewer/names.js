// names.js: names of functions where there is little room. What stands in brackets gives way first, then what is around
// the name itself; of an address in a module, the module does. No drawing: runs without a browser.

const CLOSES = { "(": ")", "<": ">", "[": "]", "{": "}" };
const OPERATOR = /operator(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?|\/=?)/y; // no brackets, no path
const AFTER_DOT = "(?=[\\p{L}_(<{])(?!(?:isra|part|constprop|cold|lto_priv|localalias|llvm|clone|so)\\b)"; // no number, no mark of a compiler
const SEPARATOR = new RegExp(`(?<=::)|(?<=\\.)${AFTER_DOT}`, "u");
const IN_PATH = /(?<=\/)/;
const TAILS = 12; // qualifiers that are tried, of very many
const MODULE_KEPT = 40;
const KEPT_NAMES = 50000;

// Text outside of brackets, and what is in those: { open, inside, close }; a bracket without its other half, too, may be a part of a name.
function parse(name) {
  const parts = [], open = [], waiting = { ")": 0, ">": 0, "]": 0, "}": 0 };
  let from = 0;
  const take = (to) => (to > from && parts.push(name.slice(from, to)), (from = to));
  for (let i = 0; i < name.length; i++) {
    const c = name[i];
    OPERATOR.lastIndex = i;
    if (c === "o" && !/\w/.test(name[i - 1] ?? "") && OPERATOR.test(name)) {
      i = OPERATOR.lastIndex - 1;
    } else if (CLOSES[c]) {
      if (!open.length) take(i);
      open.push(CLOSES[c]);
      waiting[CLOSES[c]]++;
    } else if (waiting[c] && !(c === ">" && name[i - 1] === "-")) {
      for (let closed = ""; closed !== c; ) waiting[(closed = open.pop())]--;
      if (open.length) continue;
      parts.push({ open: name[from], inside: name.slice(from + 1, i), close: c });
      from = i + 1;
    }
  }
  if (open.length) parts.push({ open: name[from], inside: name.slice(from + 1), close: "" });
  else take(name.length);
  return parts;
}

const isGroup = (part) => typeof part === "object";
const whole = (part) => (isGroup(part) ? part.open + part.inside + part.close : part);
const emptied = (part) => (isGroup(part) && part.inside.length > 1 ? `${part.open}…${part.close}` : whole(part));

// Brackets at the beginning are a name of their own, `(anonymous namespace)`, `<lambda(…)>`; behind one, they are arguments.
const isName = (parts, i) => i === 0 || (!isGroup(parts[i - 1]) && /(::|\.)$/.test(parts[i - 1]));
const named = (part) => (isGroup(part) ? part.open + parse(part.inside).map(emptied).join("") + part.close : part);
const collapsed = (parts) => parts.map((p, i) => (isName(parts, i) ? named(p) : emptied(p))).join("");
const bare = (parts) => parts.filter((p, i) => !isGroup(p) || isName(parts, i)).map(named).join("").trimEnd();

// Where arguments and what follows them begin; the number of parts without them.
function argumentsAt(parts) {
  for (let i = parts.length - 1; i > 0; i--) {
    if (isGroup(parts[i]) && parts[i].open === "(") return isName(parts, i) ? parts.length : i;
    if (isGroup(parts[i]) ? parts[i].open !== "[" : !/^\s[\s\w&.]*$/.test(parts[i])) break;
  }
  return parts.length;
}

// Without the type of what a function returns, which ends with a blank; those in `operator new` are of the name.
function withoutResult(parts) {
  for (let i = parts.length - 1; i >= 0; i--) {
    if (isGroup(parts[i])) continue;
    const operator = /(?<!\w)operator\W*\s/.exec(parts[i]);
    const at = /^.*\s(?=\S)/s.exec(operator ? parts[i].slice(0, operator.index + 1) : parts[i]);
    if (at) return [parts[i].slice(at[0].length), ...parts.slice(i + 1)];
  }
  return parts;
}

// Qualifiers and the name itself, each with its brackets.
function segmentsOf(parts) {
  const path = parts.some((p) => !isGroup(p) && p.includes("/") && !/operator\/=?$/.test(p));
  const segments = [[]];
  for (const piece of parts.flatMap((p) => (isGroup(p) ? [p] : p.split(path ? IN_PATH : SEPARATOR)))) {
    segments.at(-1).push(piece);
    if (!isGroup(piece) && (path ? /\/$/ : /(::|\.)$/).test(piece)) segments.push([]);
  }
  // OCaml's `f.(fun)` is told apart by the f.
  if (segments.length > 1 && isGroup(segments.at(-1)[0]) && /\.$/.test(segments.at(-2).at(-1))) segments.push(segments.splice(-2).flat());
  if (!segments.at(-1).length) segments.pop();
  return segments;
}

function formsOfAddress(name, [, folder, module, address]) {
  const forms = [name];
  if (folder) forms.push(`…${module}${address}`);
  for (let keep = Math.min(MODULE_KEPT, module.length - 1); keep > 1; keep--) forms.push(`${module.slice(0, keep)}…${address}`);
  return { forms: [...forms, `…${address}`], last: address };
}

// From the longest to the shortest; `last` is what cannot become shorter but by being cut off.
function formsOf(name) {
  const address = /^(.*\/)?([^/]+)(\+0x[0-9a-f]+)$/.exec(name);
  if (address) return formsOfAddress(name, address);
  const parts = parse(name), end = argumentsAt(parts), called = end < parts.length;
  const segments = segmentsOf(called ? withoutResult(parts.slice(0, end)) : parts);
  if (!segments.length) return { forms: [name], last: name };
  const around = segments.slice(0, -1), itself = segments.at(-1), brackets = called ? emptied(parts[end]) : "";
  const last = bare(itself), qualifiers = around.map(collapsed);
  const forms = [name];
  if (called) forms.push(segments.flat().map(whole).join("") + brackets);
  forms.push(qualifiers.join("") + collapsed(itself) + brackets, qualifiers.join("") + last);
  for (let i = Math.max(1, around.length - TAILS); i <= around.length; i++) if (around.length) forms.push(`…${qualifiers.slice(i).join("")}${last}`);
  return { forms: forms.filter((f, i) => f !== forms[i - 1]), last };
}

const known = new Map();

// The longest form of a name that fits; "" if not even two of its characters do.
export function shorten(name, fits) {
  if (fits(name)) return name;
  let f = known.get(name);
  if (!f) {
    if (known.size > KEPT_NAMES) known.clear();
    known.set(name, (f = formsOf(name)));
  }
  const form = f.forms.find(fits);
  if (form !== undefined) return form;
  // While a picture moves, the same cuts are tried again and again: few, so that all are measured once.
  const cut = (keep) => `${f.last.slice(0, keep)}…`;
  let least = 1, most = f.last.length - 1;
  while (least < most) {
    const keep = (least + most + 1) >> 1;
    if (fits(cut(keep))) least = keep;
    else most = keep - 1;
  }
  return least >= 2 && fits(cut(least)) ? cut(least) : "";
}

// A name without what is around it and what stands in brackets.
export const bareName = (name) => formsOf(name).last;

// What tells names apart of which that is the same: of each, what stands where they first differ. Empty where that is the same, too.
export function tellApart(names) {
  const [first] = names;
  let same = 0;
  while (same < first.length && names.every((n) => n[same] === first[same])) same++;
  const from = Math.max(...[..."<(, "].map((c) => first.lastIndexOf(c, same - 1))) + 1;
  const found = names.map((n) => /^[^<>(),]*/.exec(n.slice(from))[0].trim().replace(/^.*::(?=\w)/, ""));
  return found.every((f) => f === found[0]) ? names.map(() => "") : found;
}

// To a number of characters.
export const shortenTo = (name, room) => shorten(name, (text) => text.length <= room);
