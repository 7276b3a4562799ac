// filterline.js: the text of the filter as terms, which the page shows as chips, and the completion of terms. It does
// not validate: the server says whether a filter is valid, and at which column it is not.

export const TERMS = [
  { name: "fn", kind: "pattern", help: "a function anywhere in the call stack" },
  { name: "file", kind: "pattern", help: "a source file anywhere in the call stack" },
  { name: "module", kind: "pattern", help: "allocated by this module: a library, a program, a folder of sources" },
  { name: "type", kind: "pattern", help: "blocks of this type" },
  { name: "alloc", kind: "time", help: "allocated in a time range", examples: ["..1s", "1s..2s", "@peak..", "..@peak"] },
  { name: "live", kind: "time", help: "live at a moment, or at some moment in a range", examples: ["@peak", "@end", "1s", "1s..2s"] },
  { name: "freed", kind: "time", help: "freed in a time range: live in it, but not at its end", examples: ["..1s", "1s..2s", "@peak.."] },
  { name: "life", kind: "time", help: "how long the block lived", examples: ["<1ms", ">1s", "1ms..1s"] },
  { name: "size", kind: "size", help: "the size of the block", examples: [">=1K", "<=64", "1K..1M", ">=1M"] },
  { name: "heap", kind: "choice", help: "the heap it was allocated in", examples: ["minor", "major", "external"] },
  { name: "survived", kind: "none", help: "never freed" },
  { name: "promoted", kind: "none", help: "promoted from the minor heap" },
  { name: "thread", kind: "pattern", help: "name of the allocating thread" },
  { name: "scope", kind: "pattern", help: "what the program called what it was doing" },
  { name: "trace", kind: "pattern", help: "a distributed trace whose id begins with these digits", examples: ["*"] },
  { name: "span", kind: "pattern", help: "a span of one whose id begins with these digits", examples: ["*"] },
  { name: "domain", kind: "number", help: "allocating domain or thread", examples: ["0", "1.."] },
  { name: "hide", kind: "pattern", looks: true, help: "removes matching functions, or those of libraries, from call stacks", examples: ["@library"] },
  { name: "hide-file", kind: "pattern", looks: true, help: "removes the functions of matching files from call stacks" },
  { name: "hide-module", kind: "pattern", looks: true, help: "removes the functions of a module from call stacks" },
  { name: "below", kind: "pattern", looks: true, help: "stacks with a matching function, starting at it" },
  { name: "above", kind: "pattern", looks: true, help: "stacks with a matching function, ending at it" },
  { name: "path", kind: "pattern", looks: true, help: "what is below these calls, outermost first: path:main,f,g" },
  { name: "recursion", kind: "pattern", looks: true, help: "shows a recursive function once per stack" },
  { name: "repeats", kind: "pattern", looks: true, help: "shows direct recursion as one call" },
];

// Whether a term changes how stacks look; such a term cannot be negated.
const looks = (name) => TERMS.some((t) => t.looks && t.name === name);

// Splits the text into terms, at blanks outside "…" and /…/, which begin a value.
export function split(line) {
  const terms = [];
  let at = 0;
  while (at < line.length) {
    if (/\s/.test(line[at])) {
      at++;
      continue;
    }
    const start = at;
    let valueStarts = false;
    while (at < line.length && !/\s/.test(line[at])) {
      const c = line[at];
      if (valueStarts && (c === "/" || c === '"')) {
        const end = delimited(line, at);
        at = end;
        valueStarts = false;
        continue;
      }
      valueStarts = c === "," || (c === ":" && !line.slice(start, at).includes(":"));
      at++;
    }
    terms.push({ text: line.slice(start, at), start, end: at });
  }
  return terms.map(describe);
}

function delimited(line, at) {
  const quote = line[at++];
  while (at < line.length && line[at] !== quote) at += line[at] === "\\" && line[at + 1] === quote ? 2 : 1;
  return Math.min(line.length, at + 1);
}

function describe(term) {
  const negated = term.text.startsWith("-");
  const body = negated ? term.text.slice(1) : term.text;
  const colon = body.indexOf(":");
  return { ...term, negated, name: colon < 0 ? body : body.slice(0, colon), value: colon < 0 ? "" : body.slice(colon + 1) };
}

export const join = (terms) => terms.map((t) => t.text ?? t).join(" ");

export const add = (line, term) => {
  const terms = split(line);
  return terms.some((t) => t.text === term) ? join(terms) : join([...terms, term]);
};

// Replaces all terms with the same name and sign, so that brushing again moves the range.
export const put = (line, term) => {
  const { name, negated } = describe({ text: term });
  return join([...split(line).filter((t) => t.name !== name || t.negated !== negated), term]);
};

export const remove = (line, i) => join(split(line).filter((_, at) => at !== i));

export const toggle = (line, i) =>
  join(split(line).map((t, at) => (at === i && !looks(t.name) ? (t.negated ? t.text.slice(1) : `-${t.text}`) : t.text)));

const REGEX_SPECIAL = /[\\^$.[\]|()*+?{}/]/g;

// Returns a pattern for exactly this name.
export const exactly = (name) => `/^${name.replace(REGEX_SPECIAL, "\\$&")}$/`;

// Returns a function, or a sequence of functions that call each other, in the syntax of `allotrace callers`. A name is
// used as it is, unless it could be read as something else.
export const focusStep = (place) => (/^[^/\s]/.test(place.function) && !place.function.includes(" > ") && !/^\d+(\.\d+)*$/.test(place.function) ? place.function : place.function ? exactly(place.function) : String(place.id));
export const focusOn = (places) => places.map(focusStep).join(" > ");

// Splits a sequence into steps, at each ` > ` outside /…/, which begins a step.
export function stepsOf(focus) {
  const steps = [];
  let from = 0;
  while (from <= focus.length) {
    const after = focus[from] === "/" ? delimited(focus, from) : from;
    const found = focus.indexOf(" > ", after), end = found < 0 ? focus.length : found;
    steps.push(focus.slice(from, end));
    from = end + 3;
  }
  return steps;
}

// Splits the value of a term at commas outside "…" and /…/.
function valuesOf(value) {
  const all = [];
  for (let from = 0, at = 0; from <= value.length; from = at + 1) {
    at = value[from] === "/" || value[from] === '"' ? delimited(value, from) : from;
    while (at < value.length && value[at] !== ",") at++;
    all.push(value.slice(from, at));
  }
  return all;
}

// Returns the name that a pattern matches exactly; undefined if it is of another form.
const nameIn = (value) => /^\/\^((?:\\.|[^\\^$.[\]|()*+?{}])*)\$\/$/.exec(value)?.[1].replace(/\\(.)/g, "$1");

// Returns a term as a chip shows it, with names in place of patterns that match exactly one name.
export function legible(term) {
  const all = valuesOf(term.value), names = all.map(nameIn);
  return { ...term, value: all.map((v, i) => names[i] ?? v).join(term.name === "path" ? " › " : ","), exact: names.every((n) => n != null) };
}

// The terms for a range of time that was brushed.
export const brushed = {
  alloc: (a, b) => [`alloc:${a}..${b}`],
  live: (a, b) => [`live:${a}..${b}`],
  // Live at some moment in the range, and not at its end.
  freed: (a, b) => [`live:${a}..${b}`, `-live:${b}`],
};

// Turns a term as typed into filter terms: what was freed in a range is what was live in it and not at its end.
export function spelled(text) {
  const m = /^freed:(.*?)\.\.(.*)$/.exec(text);
  return m ? brushed.freed(m[1], m[2] || "@end").join(" ") : text;
}

export function withBrush(line, how, a, b) {
  const rest = split(line).filter((t) => t.name !== "alloc" && t.name !== "live");
  return join([...rest, ...brushed[how](a, b)]);
}

// Returns completions for `word`; `names` are the functions, files and types that exist.
export function complete(word, names = {}) {
  const negated = word.startsWith("-");
  const body = negated ? word.slice(1) : word;
  const sign = negated ? "-" : "";
  const colon = body.indexOf(":");
  if (colon < 0)
    return TERMS.filter((t) => t.name.startsWith(body) && !(negated && t.looks)).map((t) => ({
      text: `${sign}${t.name}${t.kind === "none" ? "" : ":"}`,
      help: t.help,
      open: t.kind !== "none",
    }));
  const term = TERMS.find((t) => t.name === body.slice(0, colon));
  const value = body.slice(colon + 1);
  if (!term) return [];
  const words = term.examples || [];
  const candidates = term.kind === "pattern" ? [...words, ...(names[term.looks ? "fn" : term.name] || [])] : words;
  const lower = value.toLowerCase();
  return candidates
    .filter((c) => c.toLowerCase().includes(lower))
    .slice(0, 12)
    .map((c) => ({ text: `${sign}${term.name}:${words.includes(c) ? c : exactly(c)}`, shown: c, help: term.help, open: false }));
}
