// browser.mjs: what the end-to-end tests stand on: a server, a browser, TAP, and waiting for states instead of times.
import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export const { ALLOTRACE, CHROMIUM, FIREFOX, ARTEFACTS, PATTERN = "" } = process.env;
export const TRACES = new URL("../../traces/", import.meta.url).pathname;
const { chromium, firefox } = createRequire(path.join(ARTEFACTS, "index.js"))("playwright-core");

// On a busy machine: long enough that only what never happens fails.
const PATIENCE = 90000;

export const cli = (...args) => execFileSync(ALLOTRACE, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
export const cliJson = (...args) => JSON.parse(cli(...args));

// A server of its own port; `url` is what it printed.
export const serve = (args, cwd) => start(["view", "--no-open", ...args], cwd);

// A program that is recorded, and shown meanwhile: the arguments of `run`. No browser is opened where there is no display.
export const runAndView = (args) => start(["run", "--view", ...args]);

async function start(args, cwd) {
  const { DISPLAY, WAYLAND_DISPLAY, ...env } = process.env;
  const child = spawn(ALLOTRACE, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  const url = await new Promise((done, fail) => {
    const look = (stream) => (d) => {
      said[stream] += d;
      const m = /http:\/\/\S+(?=\s)/.exec(said[stream]);
      if (m) done(m[0]);
    };
    child.stdout.on("data", look("out"));
    child.stderr.on("data", look("err"));
    child.on("exit", (code) => fail(new Error(`allotrace ${args[0]} ended (${code}): ${said.err}`)));
  });
  return {
    url,
    stdin: child.stdin,
    says: (pattern) => new Promise((done) => {
      const look = () => pattern.test(said.err) && done();
      child.stderr.on("data", look);
      look();
    }),
    stop: () => new Promise((done) => {
      child.removeAllListeners("exit");
      child.on("exit", done);
      child.kill("SIGINT");
    }),
  };
}

export async function launch() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "allotrace-page-"));
  // Firefox as it is installed, by WebDriver BiDi.
  const browser = FIREFOX ? await firefox.launch({ channel: "moz-firefox", executablePath: FIREFOX, headless: true, env: { ...process.env, HOME: folder }, timeout: PATIENCE }) : await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder },
    timeout: PATIENCE,
  });
  return { browser, close: async () => (await browser.close(), fs.rmSync(folder, { recursive: true, force: true })) };
}

// Firefox knows no permissions by WebDriver: the clipboard is a text of the page, or refuses.
function clipboardOf(allowed) {
  let text = "";
  const refused = () => Promise.reject(new DOMException("refused", "NotAllowedError"));
  const fake = allowed ? { writeText: async (t) => void (text = String(t)), readText: async () => text } : { writeText: refused, readText: refused };
  Object.defineProperty(navigator, "clipboard", { value: fake, configurable: true });
}

// Nor does it take over what the system's theme is.
function darkOr(dark) {
  const real = window.matchMedia.bind(window);
  window.matchMedia = (query) => (/prefers-color-scheme: dark/.test(query) ? { matches: dark, addEventListener() {} } : real(query));
}

// One user: an own context, so no shared cookies, and what the console says is kept.
export class Client {
  static async open(browser, url, { size = [1440, 900], theme = "light", offline = false, permissions = [], touch = false } = {}) {
    const c = new Client();
    c.context = await browser.newContext({ viewport: { width: size[0], height: size[1] }, colorScheme: theme, offline, permissions: FIREFOX ? [] : permissions, hasTouch: touch });
    if (FIREFOX) await c.context.addInitScript(clipboardOf, permissions.length > 0);
    if (FIREFOX) await c.context.addInitScript(darkOr, theme === "dark");
    c.page = await c.context.newPage();
    c.page.setDefaultTimeout(PATIENCE);
    c.trouble = [];
    c.requests = [];
    // In Firefox, the style with which Playwright makes pictures is refused, as it should be.
    const told = (text) => !(FIREFOX && /style-src-elem/.test(text)) && c.trouble.push(text);
    c.page.on("console", (m) => m.type() === "error" && told(m.text()));
    c.page.on("pageerror", (e) => told(e.stack));
    c.page.on("request", (r) => c.requests.push(r.url()));
    await c.page.goto(url);
    await c.quiet();
    return c;
  }

  close() {
    return this.context.close();
  }

  // Until nothing is asked for and nothing moves.
  async quiet() {
    await this.page.waitForFunction(() => window.allotrace?.shown && !window.allotrace.busy);
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await this.page.waitForFunction(() => !window.allotrace.busy);
  }

  // Does something, then waits until the state has `wanted` and all is quiet.
  async until(wanted, action) {
    await action();
    await this.page.waitForFunction((w) => Object.entries(w).every(([k, v]) => JSON.stringify(window.allotrace.store.state[k]) === JSON.stringify(v)), wanted);
    await this.quiet();
  }

  state() {
    return this.page.evaluate(() => window.allotrace.store.state);
  }
  hash() {
    return this.page.evaluate(() => location.hash);
  }
  async go(patch) {
    await this.page.evaluate((p) => window.allotrace.store.set(p), patch);
    await this.quiet();
  }
  async press(...keys) {
    for (const k of keys) await this.page.keyboard.press(k);
    await this.quiet();
  }
  text(selector) {
    return this.page.locator(selector).first().innerText();
  }
  async total() {
    return (await this.text(".total")).replace(/\s+/g, " ").trim();
  }

  // Frames drawn in a layer of the flame, as { node, name, value, samples, x, y, width, direction }, in page pixels.
  frames(layer = 0) {
    return this.page.evaluate((n) => {
      const top = window.allotrace.view, view = top.flame.flame ? top.flame : top; // of a diff: the flame within
      const flame = view.flame, l = flame.layers[n], box = flame.canvas.getBoundingClientRect();
      const out = [];
      for (let i = 0; i < l.l.tree.parent.length; i++) {
        const r = flame.rectangle({ layer: n, node: i });
        out.push({ node: i, name: view.label(l.l.tree, i), value: l.l.tree.value[i], samples: l.l.tree.samples[i], x: box.left + r.x, y: box.top + r.y, width: r.width, height: r.height, inView: r.y >= 0 && r.y + r.height <= box.height && r.x >= -1 && r.x + r.width <= box.width + 2 });
      }
      return out;
    }, layer);
  }

  async frame(name, layer = 0) {
    const all = (await this.frames(layer)).filter((f) => f.node > 0 && f.name === name && f.width >= 3 && f.inView);
    if (!all.length) throw new Error(`no frame ${name} in view`);
    return all[0];
  }

  async clickFrame(name, { button = "left", times = 1, layer = 0 } = {}) {
    const f = await this.frame(name, layer);
    const x = f.x + Math.min(20, f.width / 2), y = f.y + f.height / 2;
    await this.page.mouse.click(x, y, { button, clickCount: times });
    // WebDriver makes no double click of two clicks in Firefox.
    if (FIREFOX && times === 2) await this.page.evaluate(([x, y]) => document.elementFromPoint(x, y).dispatchEvent(new MouseEvent("dblclick", { clientX: x, clientY: y, bubbles: true })), [x, y]);
    return f;
  }

  rows() {
    return this.page.evaluate(() => [...document.querySelectorAll(".main .gridrow")].sort((a, b) => a.getAttribute("aria-rowindex") - b.getAttribute("aria-rowindex")).map((r) => Object.fromEntries([...r.querySelectorAll("[data-column]")].map((c) => [c.dataset.column, c.innerText.replace(/\s+/g, " ").replace(/\u200e/g, "").trim()]))));
  }

  async shot(name) {
    await this.page.screenshot({ path: path.join(ARTEFACTS, `${name}.png`) });
  }
}

// ---- TAP -----------------------------------------------------------------------------------------

const tests = [];
export const test = (name, run) => tests.push({ name, run });

export async function runAll(context) {
  const chosen = tests.filter((t) => PATTERN.split("|").some((p) => t.name.includes(p)));
  console.log(`1..${chosen.length}`);
  let failed = 0;
  for (const [i, t] of chosen.entries()) {
    try {
      const skip = await t.run(context);
      console.log(`ok ${i + 1} - ${t.name}${skip ? ` # SKIP ${skip}` : ""}`);
    } catch (error) {
      failed++;
      console.log(`not ok ${i + 1} - ${t.name}`);
      console.log(String(error.stack).split("\n").slice(0, 14).map((l) => `# ${l}`).join("\n"));
    }
  }
  return failed;
}
