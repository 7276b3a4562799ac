// names.js: shortens names of functions. The contents of brackets are dropped first, then what surrounds the name
// itself; an address in a module loses the module's name. Runs without a browser.

const CLOSES = { "(": ")", "<": ">", "[": "]", "{": "}" };
const OPERATOR = /operator(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|[<>]=?|\/=?)/y; // neither brackets nor a path
const AFTER_DOT = "(?=[\\p{L}_(<{])(?!(?:isra|part|constprop|cold|lto_priv|localalias|llvm|clone|so)\\b)"; // not before a number or a suffix of the compiler
const SEPARATOR = new RegExp(`(?<=::)|(?<=\\.)${AFTER_DOT}`, "u");
const IN_PATH = /(?<=\/)/;
const TAILS = 12; // qualifiers that are tried, if there are very many
const MODULE_KEPT = 40;
const KEPT_NAMES = 50000;

// Splits a name into text outside brackets, and brackets: { open, inside, close }. A bracket without its counterpart
// may be part of a name.
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

// Brackets at the beginning are a name of their own, as in `(anonymous namespace)` and `<lambda(…)>`; after a name,
// they are arguments.
const isName = (parts, i) => i === 0 || (!isGroup(parts[i - 1]) && /(::|\.)$/.test(parts[i - 1]));
const named = (part) => (isGroup(part) ? part.open + parse(part.inside).map(emptied).join("") + part.close : part);
const collapsed = (parts) => parts.map((p, i) => (isName(parts, i) ? named(p) : emptied(p))).join("");
const bare = (parts) => parts.filter((p, i) => !isGroup(p) || isName(parts, i)).map(named).join("").trimEnd();

// Returns the index of the part where the arguments begin; the number of parts if there are none.
function argumentsAt(parts) {
  for (let i = parts.length - 1; i > 0; i--) {
    if (isGroup(parts[i]) && parts[i].open === "(") return isName(parts, i) ? parts.length : i;
    if (isGroup(parts[i]) ? parts[i].open !== "[" : !/^\s[\s\w&.]*$/.test(parts[i])) break;
  }
  return parts.length;
}

// Drops the return type, which ends with a blank. The blank in `operator new` belongs to the name.
function withoutResult(parts) {
  for (let i = parts.length - 1; i >= 0; i--) {
    if (isGroup(parts[i])) continue;
    const operator = /(?<!\w)operator\W*\s/.exec(parts[i]);
    const at = /^.*\s(?=\S)/s.exec(operator ? parts[i].slice(0, operator.index + 1) : parts[i]);
    if (at) return [parts[i].slice(at[0].length), ...parts.slice(i + 1)];
  }
  return parts;
}

// Splits a name into its qualifiers and the name itself, each with its brackets.
function segmentsOf(parts) {
  const path = parts.some((p) => !isGroup(p) && p.includes("/") && !/operator\/=?$/.test(p));
  const segments = [[]];
  for (const piece of parts.flatMap((p) => (isGroup(p) ? [p] : p.split(path ? IN_PATH : SEPARATOR)))) {
    segments.at(-1).push(piece);
    if (!isGroup(piece) && (path ? /\/$/ : /(::|\.)$/).test(piece)) segments.push([]);
  }
  // OCaml's `f.(fun)` is only distinguishable with the f.
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

// Returns the forms of a name, longest first. `last` is the shortest form; from there, only its end can be cut off.
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

// Returns the longest form of a name that fits; "" if not even two of its characters do.
export function shorten(name, fits) {
  if (fits(name)) return name;
  let f = known.get(name);
  if (!f) {
    if (known.size > KEPT_NAMES) known.clear();
    known.set(name, (f = formsOf(name)));
  }
  const form = f.forms.find(fits);
  if (form !== undefined) return form;
  // During animations the same cuts are tried repeatedly. Bisection keeps their number small, so that all of their
  // widths are soon cached.
  const cut = (keep) => `${f.last.slice(0, keep)}…`;
  let least = 1, most = f.last.length - 1;
  while (least < most) {
    const keep = (least + most + 1) >> 1;
    if (fits(cut(keep))) least = keep;
    else most = keep - 1;
  }
  return least >= 2 && fits(cut(least)) ? cut(least) : "";
}

// Returns a name without qualifiers and without the contents of brackets.
export const bareName = (name) => formsOf(name).last;

// Returns what distinguishes names that share a form: for each, the part where they first differ; "" for all if that
// part is the same.
export function tellApart(names) {
  const [first] = names;
  let same = 0;
  while (same < first.length && names.every((n) => n[same] === first[same])) same++;
  const from = Math.max(...[..."<(, "].map((c) => first.lastIndexOf(c, same - 1))) + 1;
  const found = names.map((n) => /^[^<>(),]*/.exec(n.slice(from))[0].trim().replace(/^.*::(?=\w)/, ""));
  return found.every((f) => f === found[0]) ? names.map(() => "") : found;
}

// Shortens a name to a number of characters.
export const shortenTo = (name, room) => shorten(name, (text) => text.length <= room);
