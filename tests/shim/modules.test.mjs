// load.js draws the modules of the loader.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const REPO = fileURLToPath(new URL("../..", import.meta.url));

test("the head of load.js draws every module of the loader", () => {
  const head = readFileSync(join(REPO, "host-shim/load.js"), "utf8").split("import ")[0];
  const modules = readdirSync(join(REPO, "host-shim")).filter((file) => /\.c?js$/.test(file));
  assert.deepEqual(
    modules.filter((file) => !head.includes(file)),
    [],
  );
});
