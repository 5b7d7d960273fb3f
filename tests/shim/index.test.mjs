// The file that pi loads: it uses the bundled shim if there is one, and passes on the errors of either.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { REPO } from "../pi/harness/pi.mjs";

/**
 * Loads index.cjs beside these files, with empty modules in place of pi's packages.
 *
 * @param {import("node:test").TestContext} t
 * @param {Record<string, string>} files
 */
function loadBeside(t, files) {
  const folder = mkdtempSync(join(tmpdir(), "index-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(join(REPO, "host-shim/index.cjs"), join(folder, "index.cjs"));
  const packages = ["pi-coding-agent", "pi-tui"].map((name) => [`node_modules/@earendil-works/${name}/index.js`, ""]);
  for (const [name, content] of [...packages, ...Object.entries(files)]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return createRequire(import.meta.url)(join(folder, "index.cjs"));
}

const LOAD = "module.exports = { load: () => 'ID' };";

test("the bundled shim is loaded; without it, load.js", (t) => {
  const [bundled, single] = ["bundled", "single"].map((id) => LOAD.replace("ID", id));
  assert.equal(loadBeside(t, { "component/shim.cjs": bundled, "load.js": single }), "bundled");
  assert.equal(loadBeside(t, { "load.js": single }), "single");
});

test("an error of the bundled shim is passed on, also that of a missing module", (t) => {
  const files = { "component/shim.cjs": 'require("no-such-module");', "load.js": LOAD };
  assert.throws(() => loadBeside(t, files), /Cannot find module 'no-such-module'/);
});
