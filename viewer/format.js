// format.js: formats numbers exactly as the commands print them (src/query/figure.c).

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];

// C's %.Nf: an exact tie rounds to the even digit, while toFixed rounds up. A tie is a number whose binary fraction
// ends right after the decimal digits.
function fixed(x, digits) {
  const scaled = x * 2 ** (digits + 1);
  if (!Number.isInteger(scaled) || scaled % 2 === 0) return x.toFixed(digits);
  const power = 10 ** digits, below = Math.floor(x * power);
  return ((below % 2 === 0 ? below : below + 1) / power).toFixed(digits);
}

// C's %.Ng.
function general(x, digits) {
  if (x === 0) return "0";
  const e = Math.floor(Math.log10(Math.abs(+x.toPrecision(digits))) + 1e-12);
  if (e < -4 || e >= digits) return x.toExponential(digits - 1).replace(/\.?0+e/, "e").replace(/e([+-])(\d)$/, "e$10$2");
  const s = fixed(x, Math.max(0, digits - 1 - e));
  return s.includes(".") ? s.replace(/\.?0+$/, "") : s;
}

export function bytes(n) {
  const sign = n < 0 ? "-" : "";
  let x = Math.abs(n), unit = 0;
  while (unit < UNITS.length - 1 && x >= (unit === 0 ? 1023.5 : 1023.95)) {
    x /= 1024;
    unit++;
  }
  return `${sign}${x < 1e6 ? fixed(x, unit > 0 ? 1 : 0) : general(x, 3)} ${UNITS[unit]}`;
}

export const count = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");

// A slope; a leak of a few bytes an hour has one that is not 0.
export function perSecond(v, measure) {
  const unit = measure === "blocks" ? " blocks" : " B";
  const text = Math.abs(v) < 10 ? +v.toPrecision(2) + unit : measure === "blocks" ? count(v) + unit : bytes(v);
  return `${v > 0 ? "+" : ""}${text}/s`;
}

export function duration(micros) {
  const seconds = micros / 1e6, whole = Math.floor((micros + 500000) / 1e6);
  if (micros < 1000) return `${Math.round(micros)} µs`;
  if (seconds < 0.9995) return `${general(seconds * 1e3, 3)} ms`;
  if (seconds < 59.995) return `${fixed(seconds, 2)} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
}

// Formats a time for a filter: the shortest text that is exact to the microsecond.
export function filterTime(micros) {
  const n = Math.max(0, Math.round(micros));
  if (n === 0) return "0";
  const [unit, scale] = n < 1000 ? ["us", 1] : n < 1e6 ? ["ms", 1e3] : ["s", 1e6], text = general(n / scale, 15);
  return Math.floor(text * scale) === n ? `${text}${unit}` : `${n}us`; // in floating point, 8.20976 * 1e6 is less than 8209760
}

export function rate(r) {
  if (r >= 0.001) return general(r, 6);
  const [digits, e] = r.toExponential(5).split("e");
  return `${general(+digits, 6)}e${+e}`;
}

export const percent = (x) => `${fixed(x, 1)}%`;

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

// Formats an amount in an answer's unit: B, blocks, B·s.
export function amount(x, unit) {
  if (unit === "blocks") return `${count(x)} ${x < 1.5 ? "block" : "blocks"}`;
  return unit === "B·s" ? `${bytes(x)}·s` : bytes(x);
}

const NORMAL = 1.959963984540054; // quantile of the 95% interval

// Returns the ± for a figure: 1.96 standard errors of bytes, computed from the samples, or else half of the interval.
export function margin(figure, unit, rate) {
  if (unit !== "B" || !rate || figure.samples === undefined || figure.value <= 0) return (figure.high - figure.low) / 2;
  return (NORMAL * Math.sqrt(figure.samples * (1 - rate)) * figure.value) / figure.samples;
}

// At rate 1, what is unknown is the order of events, and the truth is anywhere between the bounds.
export const isOrder = (figure, rate) => rate >= 1 && figure.high > figure.low;

// Whether both bounds are shown: with few samples, the interval reaches much further up than down.
export const twoEnded = (figure, rate) => isOrder(figure, rate) || figure.high - figure.value > 1.64 * (figure.value - figure.low);

export function marginText(figure, unit, rate) {
  if (!(figure.high > figure.low)) return "exact";
  const text = (x) => (unit === "blocks" ? count(x) : amount(x, unit));
  if (twoEnded(figure, rate)) return `${text(figure.low)} … ${text(figure.high)}`;
  return `± ${text(margin(figure, unit, rate))}`;
}

function lossOf(missing) {
  if (!missing) return [];
  const where = `${missing.places > 1 ? `in ${count(missing.places)} places, the first ` : ""}at ${duration(missing.from)}`,
    share = missing.bytes ? `${amount(missing.bytes, "B")} of ${amount(missing.of, "B")} cannot be read` : "packets are gone";
  return [`Missing: ${missing.duration ? duration(missing.duration) : "events"} ${where} (${share}).`];
}

// Returns what to know about a damaged trace, the worst first; empty if it is not damaged.
export function damageOf(trace) {
  const end = trace?.ends_early;
  const lines = [...lossOf(trace?.missing), ...(trace?.warnings ?? []).map((w) => w.text)];
  if (!end) return lines;
  return [`The trace ends early, at ${duration(end.time)}${end.reason ? `: ${end.reason}` : ""}. Everything after that is missing.`, ...lines];
}
