// Follows the tutorial: writes its files, runs its commands, and compares their output with the page.
//
//   UPDATE_TUTORIAL=1 node --test tests/cli/tutorial.test.mjs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { NODE, REPO } from "../pi/harness/pi.mjs";

const TUTORIAL = join(REPO, "docs/tutorial.md");

test("every command of the tutorial has the output on the page", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-tutorial-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "pi-workflows"), `#!/bin/sh\nexec "${NODE}" "${join(REPO, "cli/pi-workflows.js")}" "$@"\n`, {
    mode: 0o755,
  });
  const env = { HOME: folder, PATH: `${bin}:${process.env.PATH}` };
  const run = (/** @type {string} */ line) => {
    const { stdout, stderr } = spawnSync("sh", ["-c", line], { cwd: folder, env, encoding: "utf8" });
    return `$ ${line}\n${stdout}${stderr}`;
  };
  const text = readFileSync(TUTORIAL, "utf8");
  let steps = 0;
  const played = text.replace(/(?:^`(\S+)`:\n\n)?^```(\w+)\n([^]*?)^```\n/gm, (block, path, kind, content) => {
    if (path) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    if (kind !== "console") return block;
    steps += 1;
    const lines = [...content.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line);
    return `\`\`\`console\n${lines.map(run).join("").trimEnd()}\n\`\`\`\n`;
  });
  if (process.env.UPDATE_TUTORIAL) return writeFileSync(TUTORIAL, played);
  assert.equal(text, played, "run UPDATE_TUTORIAL=1 node --test tests/cli/tutorial.test.mjs");
  assert.ok(steps >= 6);
  assert.match(played, /^gate:\n {2}- run: /m, "a gate is among the steps");
});
