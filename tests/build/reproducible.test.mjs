// The same sources in another folder give the same component, byte for byte.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { NODE, REPO } from "../pi/harness/pi.mjs";

const GLUE = "host-shim/component";

test("two builds in two folders are the same, and name neither", { timeout: 600_000 }, (t) => {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "another-folder-")));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: REPO, encoding: "utf8" });
  const sources = /^(src|wit|scripts|host-shim|tests\/guests|Cargo|package|\.cargo|rust-toolchain)/;
  for (const file of listed.split("\0").filter((name) => sources.test(name))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(REPO, file), join(copy, file));
  }
  symlinkSync(join(REPO, "node_modules"), join(copy, "node_modules"));
  const env = { ...process.env, CARGO_TARGET_DIR: join(copy, "target") };
  execFileSync(NODE, ["scripts/build.mjs"], { cwd: copy, env, stdio: ["ignore", "pipe", "inherit"] });

  const files = readdirSync(join(REPO, GLUE)).sort();
  assert.deepEqual(readdirSync(join(copy, GLUE)).sort(), files);
  for (const path of ["target/component/pi_workflows.wasm", ...files.map((file) => join(GLUE, file))]) {
    const [here, there] = [REPO, copy].map((folder) => readFileSync(join(folder, path)));
    assert.ok(here.equals(there), `${path} differs: ${here.length} and ${there.length} bytes (is this one built?)`);
    for (const folder of [REPO, copy, homedir(), tmpdir()]) assert.equal(there.includes(`${folder}/`), false, `${path} names ${folder}`);
  }
});
