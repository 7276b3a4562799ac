// palette.js: the colours of data. Hues are told apart with each kind of colour blindness, and text on them can
// be read: test/palette.test.js judges both. A colour only repeats what a label, a pattern or a shape says.

// Up to seven modules have a hue; the rest is grey. Derived from Okabe and Ito's set.
export const THEMES = {
  light: {
    groups: ["#99c7e9", "#f3bd63", "#61dabd", "#d697bc", "#f0e27a", "#b1a3e9", "#ee9475"],
    rest: "#d6d9de",
    text: "#16191d",
    dim: "#5d6570",
    line: "#ffffff",
    background: "#ffffff",
    grid: "#e6e8ec",
    hatch: "#9aa2ad",
    hatchGround: "#eef0f3",
    match: "#c2185b",
    select: "#10131a",
    curve: "#5d6570",
    heaps: { minor: "#8fc7ee", major: "#e8a33d", external: "#4fb894" },
    texture: "rgba(16,19,26,.22)",
    up: "#e58a35",
    down: "#6aaee0",
    still: "#dfe2e6",
    accent: "#1f6fb5",
    brush: "rgba(31,111,181,.14)",
  },
  dark: {
    groups: ["#3c74a2", "#a65a4a", "#3a6d6c", "#975887", "#557126", "#7361c1", "#b4490e"],
    rest: "#4a515c",
    text: "#f4f6f8",
    dim: "#9aa4b1",
    line: "#15181d",
    background: "#15181d",
    grid: "#2a2f37",
    hatch: "#5d6673",
    hatchGround: "#23272e",
    match: "#ff7ab0",
    select: "#ffffff",
    curve: "#9aa4b1",
    heaps: { minor: "#3c74a2", major: "#c98a2b", external: "#6fc3a5" },
    texture: "rgba(10,12,16,.34)",
    up: "#b0590f",
    down: "#2c6ca6",
    still: "#3a414b",
    accent: "#6cb2ee",
    brush: "rgba(108,178,238,.2)",
  },
};

// Folders inside of libraries that are known by another name.
export const LIBRARIES = [
  [/^(\.{1,2}\/)*(csu|nptl|sysdeps)\/|^\.\/(elf|malloc|stdlib|libio|string|posix|io|locale|time)\/.*\.[chS]$/, "libc"],
  [/\/include\/c\+\+\/|libstdc\+\+-v3\//, "libstdc++"],
];

// The library, folder or module a place belongs to: what its colour stands for.
export function moduleOf(place) {
  if (!place) return "";
  const file = (place.file || "").replace(/\[[^\]]*\]$/, "");
  const parts = file.split("/").filter((p) => p && p !== "." && p !== "..");
  const base = parts[parts.length - 1] || "";
  if (base && (!/\.[a-z+]{1,4}$/i.test(base) || /\.so(\.|$)/.test(base))) return base; // a module of machine code
  const library = LIBRARIES.find(([pattern]) => pattern.test(file));
  if (library) return library[1];
  if (parts.length > 1) return parts[parts.length - 2];
  // A file without a folder: OCaml's names begin with the library, `Stdlib__Map.Make.bal`.
  const ocaml = /^([A-Z][A-Za-z0-9']*?)(__|_[a-z]|\.)/.exec(place.function || "");
  return ocaml ? ocaml[1] : base;
}

// From a module to the index of its hue, by weight. Who has one keeps it, so that a colour means the same
// whatever else is looked at; free ones go to the heaviest newcomers.
export function assignGroups(trees, groups = new Map()) {
  const weight = new Map();
  for (const tree of trees)
    for (let i = 1; i < tree.parent.length; i++) {
      const m = moduleOf(tree.places[tree.place[i]]);
      weight.set(m, (weight.get(m) || 0) + Math.max(tree.self[i], 0) + tree.total[i] / 64);
    }
  const order = [...weight].filter(([m]) => m !== "" && !groups.has(m)).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  for (const [m] of order) {
    if (groups.size >= THEMES.light.groups.length) break;
    groups.set(m, groups.size);
  }
  return groups;
}
