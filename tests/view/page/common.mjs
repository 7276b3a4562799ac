// common.mjs: what end-to-end tests of the page share: the traces, what the commands print, and a user with a silent console.
import assert from "node:assert/strict";
import path from "node:path";
import { cli, Client, TRACES } from "./browser.mjs";

export const IRMIN = path.join(TRACES, "irmin-replay.ctf"), OCAMLOPT = path.join(TRACES, "ocamlopt.ctf");

// The first line of a report: "79.0 GB total allocations (± 1.5 GB, 10,607 samples at rate 1e-6)".
export function headline(...args) {
  const [, value, margin, samples] = /^(\S+ \S+?) .*?\((± \S+ \S+?|exact|\S+ \S+ … \S+ \S+?), ([\d,]+ samples?)/.exec(cli("hotspots", ...args));
  return `${value} ${margin} ${samples}`;
}
export const shownTotal = async (c) => (await c.total()).replace(/ (at [^,]*, )?([\d,]+ samples?) at rate.*/, " $2");

export const withPage = (url, run, options) => async (context) => {
  const c = await Client.open(context.browser, typeof url === "function" ? url(context) : url, options);
  try {
    await run(c, context);
    assert.deepEqual(c.trouble, [], "the console is silent");
  } finally {
    await c.close();
  }
};
export const one = (x) => x.one.url, two = (x) => x.two.url;
export const at = (url, hash) => (x) => `${url(x)}#${hash}`;
