// highlight.js: splits source text into pieces with classes. The file name determines the language. It recognizes
// comments, strings, numbers and words of the language, but no grammar. Runs without a browser.

const words = (text) => new Set(text.split(" "));

const C = words("alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern false float for goto if inline int long NULL nullptr register restrict return short signed sizeof static static_assert struct switch true typedef typeof union unsigned void volatile while");
const CPP = new Set([...C, ...words("and catch class concept co_await co_return co_yield decltype delete explicit export final friend mutable namespace new noexcept not operator or override private protected public requires template this throw try typename using virtual wchar_t")]);

// `block`: start and end of a comment, `nested`: whether comments nest; `line`: starts a comment up to the end of the
// line; `texts`: delimiters of strings; `long`: delimiters of strings that may span lines; `char`: whether a character
// is written in '.
const LANGUAGES = {
  c: { words: C, line: "//", block: ["/*", "*/"], texts: ['"'], char: true, directive: /^\s*#\s*\w+/ },
  cpp: { words: CPP, line: "//", block: ["/*", "*/"], texts: ['"'], char: true, directive: /^\s*#\s*\w+/ },
  rust: { words: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type union unsafe use where while"), line: "//", block: ["/*", "*/"], nested: true, texts: ['"'], char: true, directive: /^\s*#!?\[.*\]/ },
  ocaml: { words: words("and as assert begin class constraint do done downto else end exception external false for fun function functor if in include inherit initializer lazy let match method module mutable new nonrec object of open or private rec sig struct then to true try type val virtual when while with"), block: ["(*", "*)"], nested: true, texts: ['"'], long: ['"'], char: true },
  python: { words: words("and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield"), line: "#", texts: ['"', "'"], long: ['"""', "'''"], directive: /^\s*@[\w.]+/ },
  go: { words: words("break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var"), line: "//", block: ["/*", "*/"], texts: ['"', "'"], long: ["`"] },
  js: { words: words("async await break case catch class const continue default delete do else export extends false finally for from function get if import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while yield"), line: "//", block: ["/*", "*/"], texts: ['"', "'"], long: ["`"] },
  lox: { words: words("and class else false for fun if nil or print return super this true var while"), line: "//", texts: ['"'], long: ['"'] },
};

const ENDINGS = {
  c: "c h", cpp: "cc cpp cxx c++ hh hpp hxx h++ tcc ipp", rust: "rs", ocaml: "ml mli mll mly", python: "py pyi pyx", go: "go", js: "js mjs cjs ts tsx jsx", lox: "lox",
};
const OF_ENDING = new Map(Object.entries(ENDINGS).flatMap(([language, all]) => all.split(" ").map((e) => [e, language])));

export const languageOf = (file) => OF_ENDING.get(/\.([^./]+)(\[[^\]]*\])?$/.exec(file || "")?.[1]?.toLowerCase()) ?? null;

const NUMBER = /(?:0[xob][\w']+|\d[\w.']*(?:(?<=[eEpP])[+-]\w+)?)/y, WORD = /[\p{L}_$][\p{L}\p{N}_$']*/uy, WORD_PLAIN = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const CHAR = /'(?:\\(?:x[0-9a-fA-F]+|u\{?[0-9a-fA-F]+\}?|\d+|.)|[^'\\])'/uy;

const matchAt = (pattern, text, at) => ((pattern.lastIndex = at), pattern.exec(text)?.[0]);

// Returns the end of a string that began before `at`; -1 if it does not end in this line.
function endOfText(text, at, quote) {
  for (; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text.startsWith(quote, at)) return at + quote.length;
  }
  return -1;
}

// Returns the end of a comment at nesting `depth`, and the depth that remains at the end of the line.
function endOfComment(text, at, { block: [open, close], nested }, depth) {
  while (at < text.length) {
    if (text.startsWith(close, at)) {
      at += close.length;
      if (--depth === 0) break;
    } else if (nested && text.startsWith(open, at)) {
      depth++;
      at += open.length;
    } else at++;
  }
  return { at, depth };
}

// Splits a line. Returns its pieces, and the state in which the next line begins.
function paint(text, of, before) {
  const pieces = [];
  let at = 0, state = before;
  const put = (kind, to) => {
    if (to <= at) return;
    const last = pieces.at(-1);
    if (last && last.kind === kind) last.text += text.slice(at, to);
    else pieces.push({ kind, text: text.slice(at, to) });
    at = to;
  };
  const comment = (from, depth) => {
    const end = endOfComment(text, from, of, depth);
    put("comment", end.at);
    state = end.depth ? { depth: end.depth } : {};
  };
  const string = (from, quote) => {
    const end = endOfText(text, from, quote);
    put("text", end < 0 ? text.length : end);
    state = end < 0 && of.long?.includes(quote) ? { quote } : {};
  };
  if (state.depth) comment(0, state.depth);
  else if (state.quote) string(0, state.quote);
  const directive = at === 0 && of.directive?.exec(text);
  if (directive) put("directive", directive[0].length);
  while (at < text.length) {
    const opens = [...(of.long ?? []), ...of.texts].find((q) => text.startsWith(q, at));
    const character = of.char && text[at] === "'" ? matchAt(CHAR, text, at) : null;
    if (of.line && text.startsWith(of.line, at)) put("comment", text.length);
    else if (of.block && text.startsWith(of.block[0], at)) comment(at + of.block[0].length, 1);
    else if (character) put("text", at + character.length);
    else if (opens) string(at + opens.length, opens);
    else {
      const number = matchAt(NUMBER, text, at), word = number ? null : matchAt(of === LANGUAGES.ocaml ? WORD : WORD_PLAIN, text, at);
      if (number) put("number", at + number.length);
      else if (word) put(of.words.has(word) ? "word" : /^\p{Lu}/u.test(word) ? "name" : "", at + word.length);
      else put("", at + 1);
    }
  }
  return { pieces, state };
}

// Whether the first line is inside a comment that began earlier: the end of a comment comes before any start.
function beginsInComment(lines, { block }) {
  if (!block) return false;
  const text = lines.join("\n"), close = text.indexOf(block[1]), open = text.indexOf(block[0]);
  return close >= 0 && (open < 0 || close < open);
}

// Splits each line into pieces { kind, text }, where kind is "comment", "text", "number", "word", "name", "directive"
// or "". In an unknown language, each line is one piece.
export function highlight(lines, file) {
  const of = LANGUAGES[languageOf(file)];
  if (!of) return lines.map((text) => [{ kind: "", text }]);
  let state = beginsInComment(lines, of) ? { depth: 1 } : {};
  return lines.map((text) => {
    const painted = paint(text, of, state);
    state = painted.state;
    return painted.pieces;
  });
}
