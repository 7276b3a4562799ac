// client.mjs: `allotrace mcp` through the protocol's own client library. Prints TAP.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const { ALLOTRACE, ARTEFACTS } = process.env;
const library = async (name) => import(pathToFileURL(createRequire(path.join(ARTEFACTS, "index.js")).resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await library("client/index.js");
const { StdioClientTransport } = await library("client/stdio.js");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "allotrace-mcp-"));
fs.copyFileSync(new URL("../../traces/ocamlopt.ctf", import.meta.url), path.join(folder, "a.ctf"));

const client = new Client({ name: "test", version: "1" });
const text = async (name, args, options) => {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  return { text: result.content[0].text, failed: result.isError };
};

const tests = {
  "it connects": async () => {
    await client.connect(new StdioClientTransport({ command: ALLOTRACE, args: ["mcp", "--folder", folder, "--allow-run"] }));
    assert.equal(client.getServerVersion().name, "allotrace");
    assert.match(client.getInstructions(), /diff/);
  },
  "it lists tools whose schemas hold": async () => {
    const { tools } = await client.listTools();
    const names = tools.map((t) => t.name);
    for (const name of ["record", "hotspots", "peak", "leaks", "lifetimes", "diff", "advise", "source", "explain", "more"]) assert.ok(names.includes(name), name);
  },
  "it answers as the command does": async () => {
    const said = await text("hotspots", { trace: "a.ctf", top: 2 });
    assert.equal(said.failed, false);
    assert.equal(said.text, execFileSync(ALLOTRACE, ["hotspots", "--top", "2", path.join(folder, "a.ctf")], { encoding: "utf8" }));
  },
  "it says what is wrong": async () => {
    const said = await text("hotspots", { trace: "/etc/passwd" });
    assert.equal(said.failed, true);
    assert.match(said.text, /outside/);
  },
  "it records, and shows what changed": async () => {
    for (const [name, n] of [["before", 3000], ["after", 10]]) {
      const said = await text("record", { output: `${name}.ctf`, rate: 1, command: ["sh", "-c", `seq ${n} | sort -R >/dev/null`] });
      assert.equal(said.failed, false, said.text);
    }
    const said = await text("diff", { before: "before.ctf", after: "after.ctf" });
    assert.match(said.text, /before/);
  },
  "a call can be cancelled": async () => {
    const control = new AbortController();
    setTimeout(() => control.abort(), 300);
    await assert.rejects(text("record", { output: "slow.ctf", command: ["sleep", "1000"] }, { signal: control.signal }));
    assert.equal((await text("explain", { topic: "filter" })).failed, false);
  },
};

let count = 0, failed = 0;
console.log(`1..${Object.keys(tests).length}`);
for (const [name, test] of Object.entries(tests)) {
  count++;
  try {
    await test();
    console.log(`ok ${count} - ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${count} - ${name}\n# ${String(error.stack).replaceAll("\n", "\n# ")}`);
  }
}
await client.close();
fs.rmSync(folder, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
