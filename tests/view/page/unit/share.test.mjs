import assert from "node:assert/strict";
import { test } from "node:test";
import { allRows, commandOf, csvOf, plainRow } from "../../../../viewer/share.js";

test("rows become CSV: quoted where they must be, and no formulas", () => {
  const rows = [{ place: { function: 'a,"b"', file: "x.c", line: 3 }, value: -1.5, callers: [] }, { place: null, value: 2, callers: [] }, { place: { function: "=cmd()", file: "", line: 0 }, value: 3 }];
  assert.equal(csvOf(rows.map(plainRow)), 'function,file,line,value\r\n"a,""b""",x.c,3,-1.5\r\n,,,2\r\n\'=cmd(),,,3\r\n');
  assert.equal(csvOf([]), "");
});

test("all pages of a table are asked for", async () => {
  const asked = [];
  const page = async (offset, limit) => (asked.push([offset, limit]), { rows: Array.from({ length: Math.min(limit, 2300 - offset) }, (_, i) => offset + i), count: 2300 });
  assert.equal((await allRows({ model: { page } })).length, 2300);
  assert.deepEqual(asked, [[0, 1000], [1000, 1000], [2000, 1000]]);
  assert.deepEqual(await allRows({ model: { page: async () => ({ rows: [], count: 5 }) } }), [], "a server that gives none ends it");
  assert.deepEqual((await allRows({ rows: [{ place: null, level: 0, open: true, more: 1, value: 2 }, { instead: "5 more" }] })).map(plainRow), [{ function: "", file: "", line: "", level: 0, value: 2 }], "of one that unrolls, what is seen");
});

test("the command to export says the same", () => {
  assert.equal(commandOf("html", { name: "t.ctf", file: "my trace.ctf" }, { filter: "fn:it's", measure: "live" }), "allotrace export --to html -o t.html --filter 'fn:it'\\''s' 'my trace.ctf'");
  assert.equal(commandOf("pprof", { name: "a.ctf", file: "a.ctf" }, { filter: "", measure: "allocated" }), "allotrace export --to pprof -o a.pb.gz a.ctf");
});
