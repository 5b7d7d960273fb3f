// The file that pi loads: it uses the bundled shim if there is one, and passes on the errors of either.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { REPO } from "../pi/harness/pi.mjs";

/**
 * Loads index.ts beside these files, with empty modules in place of pi's packages.
 *
 * @param {import("node:test").TestContext} t
 * @param {Record<string, string>} files
 */
async function loadBeside(t, files) {
  const folder = mkdtempSync(join(tmpdir(), "index-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(join(REPO, "host-shim/index.ts"), join(folder, "index.ts"));
  const packages = ["pi-coding-agent", "pi-tui"].map((name) => [`node_modules/@earendil-works/${name}/index.js`, ""]);
  for (const [name, content] of [...packages, ...Object.entries(files)]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const loaded = await import(pathToFileURL(join(folder, "index.ts")).href);
  return loaded.default;
}

const LOAD = "module.exports = { load: () => 'ID' };";

test("the bundled shim is loaded; without it, load.js", async (t) => {
  const [bundled, single] = ["bundled", "single"].map((id) => LOAD.replace("ID", id));
  assert.equal(await loadBeside(t, { "component/shim.cjs": bundled, "load.js": single }), "bundled");
  assert.equal(await loadBeside(t, { "load.js": single }), "single");
});

test("an error of the bundled shim is passed on, also that of a missing module", async (t) => {
  const files = { "component/shim.cjs": 'require("no-such-module");', "load.js": LOAD };
  await assert.rejects(loadBeside(t, files), /Cannot find module 'no-such-module'/);
});
