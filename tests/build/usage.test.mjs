// The arguments of `npm run NAME` are checked before anything is installed or built.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { REPO } from "../pi/harness/pi.mjs";
import { SCRIPTS } from "../../scripts/usage.mjs";
import { LONG } from "../pi/harness/extent.mjs";

test("wrong arguments and --help are answered in a fresh clone", LONG, (t) => {
  const copy = mkdtempSync(join(tmpdir(), "pi-workflows-usage-"));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  for (const file of ["scripts", "package.json"]) cpSync(join(REPO, file), join(copy, file), { recursive: true });
  const npmRun = (/** @type {string[]} */ ...words) => {
    const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", ...words], { cwd: copy, encoding: "utf8" });
    return { status, stdout, stderr };
  };
  const demo = "usage: npm run demo [-- --model PROVIDER/ID]\n";
  assert.deepEqual(npmRun("demo", "--", "--help"), { status: 0, stdout: demo, stderr: "" });
  for (const words of [["--frob"], ["quick"], ["--model"], ["--model", ""], ["--model", "--help=x"]]) {
    assert.deepEqual(npmRun("demo", "--", ...words), { status: 2, stdout: "", stderr: demo }, words.join(" "));
  }
  const bench =
    "usage: npm run bench [-- start|loading|hooks|sessions|context|instructions|commands|runs|branches [NUMBER]]\n";
  for (const words of [
    ["strat"],
    ["__proto__"],
    ["context", "much"],
    ["context", "0"],
    ["context", "1", "2"],
    ["--all"],
  ]) {
    assert.deepEqual(npmRun("bench", "--", ...words), { status: 2, stdout: "", stderr: bench }, words.join(" "));
  }
  for (const [name, word] of [
    ["test", "rsut"],
    ["test:all", "--all"],
    ["build", "--quikc"],
    ["release", "--force"],
  ]) {
    const { status, stdout, stderr } = npmRun(name, "--", word);
    assert.deepEqual([status, stdout, stderr.startsWith(`usage: npm run ${name} `)], [2, "", true], name);
  }
  assert.deepEqual(readdirSync(copy).sort(), ["package.json", "scripts"]);
});

test("the commands of the documentation are accepted", () => {
  for (const [name, ...words] of [
    ...[
      ["demo"],
      ["demo", "--model", "a/b"],
      ["demo", "--model=a/b"],
      ["bench"],
      ["bench", "context"],
      ["bench", "context", "2000"],
    ],
    ...[
      ["bench", "instructions", "update"],
      ["test"],
      ["test", "clippy", "rust"],
      ["test:all"],
      ["test:all", "pi"],
      ["test:model"],
      ["test:model", "--seed", "1234"],
      ["test:model", "--seeds=20"],
      ["build"],
      ["build", "--quick"],
      ["release"],
      ["release", "v1"],
    ],
  ]) {
    assert.ok(SCRIPTS[name].fits(words), [name, ...words].join(" "));
  }
  const { scripts } = JSON.parse(readFileSync(join(REPO, "package.json"), "utf8"));
  for (const [name, { file = name }] of Object.entries(SCRIPTS)) {
    assert.ok(existsSync(join(REPO, `scripts/${file}.mjs`)), name);
    assert.equal(scripts[name], `node scripts/run.mjs ${name}`);
  }
});
