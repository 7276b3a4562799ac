// palette.js: the colors of data. Hues are distinguishable with each kind of color blindness, and text on them is
// legible; tests/view/page/unit/palette.test.mjs checks both. Color is never the only sign: a label, pattern or shape
// says the same.

// A module has one of seven hues, chosen by its name if that hue is free (modules.js). The hues are derived from Okabe
// and Ito's set.
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
