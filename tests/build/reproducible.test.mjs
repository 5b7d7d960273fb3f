// Builds are reproducible: the same sources in another folder give the same component, byte for byte.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { LONG } from "../pi/harness/extent.mjs";
import { NODE, REPO } from "../pi/harness/pi.mjs";

const GLUE = "host-shim/component";

test("two builds in two folders are the same, and name neither", { timeout: 600_000, ...LONG }, (t) => {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "another-folder-")));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: REPO,
    encoding: "utf8",
  });
  const sources = /^(src|wit|scripts|host-shim|sandbox|tests\/guests|Cargo|package|\.cargo|rust-toolchain)/;
  for (const file of listed.split("\0").filter((name) => sources.test(name))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(REPO, file), join(copy, file));
  }
  symlinkSync(join(REPO, "node_modules"), join(copy, "node_modules"));
  const env = { ...process.env, CARGO_TARGET_DIR: join(copy, "target") };
  const build = () =>
    execFileSync(NODE, ["scripts/build.mjs"], {
      cwd: copy,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
  const first = build().split("\n");
  assert.equal(first[0], "build: cargo builds the component; the first time this takes minutes");
  assert.match(first.at(-2) ?? "", /^build: built the component/);
  // An unchanged component is not rebuilt.
  const component = join(copy, "target/component/pi_workflows.wasm");
  const { mtimeMs } = statSync(component);
  assert.match(build(), /^build: built; the component has the same bytes as before \(\d+ KB\), bundled the shim\n$/);
  assert.equal(statSync(component).mtimeMs, mtimeMs);

  const files = readdirSync(join(REPO, GLUE)).sort();
  assert.deepEqual(readdirSync(join(copy, GLUE)).sort(), files);
  for (const path of ["target/component/pi_workflows.wasm", ...files.map((file) => join(GLUE, file))]) {
    const [here, there] = [REPO, copy].map((folder) => readFileSync(join(folder, path)));
    assert.ok(here.equals(there), `${path} differs: ${here.length} and ${there.length} bytes (is this one built?)`);
    for (const folder of [REPO, copy, homedir(), tmpdir()])
      assert.equal(there.includes(`${folder}/`), false, `${path} names ${folder}`);
  }
});
