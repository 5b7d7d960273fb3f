// Checks the workflows of this package, and goes through review-branch without a model.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const cwd = fileURLToPath(new URL("..", import.meta.url));

/** Runs the command pi-workflows in the package, and returns its output. */
function piWorkflows(...parameters) {
  const options = { cwd, encoding: "utf8", shell: process.platform === "win32" };
  const { error, status, stdout, stderr } = spawnSync("pi-workflows", [...parameters, "--dir", "."], options);
  assert.equal(error, undefined, "The command pi-workflows is not installed.");
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test("the workflow files have no errors and no warnings", () => {
  piWorkflows("check", "--strict");
});

test("review-branch goes from its first phase to its end", () => {
  assert.match(piWorkflows("run-through", "review-branch"), /DONE/);
});
