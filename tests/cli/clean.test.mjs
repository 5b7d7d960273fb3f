// `pi-workflows runs --clean`: which folders it removes, run as a process.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";

import { NODE, REPO } from "../pi/harness/pi.mjs";
import { LONG } from "../pi/harness/extent.mjs";

const CLI = join(REPO, "cli/pi-workflows.js");
const DAY = 86_400_000;
const name = (/** @type {string} */ digit) => digit.repeat(20);

/** Creates a project with folders of runs. @param {import("node:test").TestContext} t */
function place(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-workflows-clean-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const project = join(root, "project");
  const runs = join(project, ".pi/workflow-runs");
  mkdirSync(runs, { recursive: true });
  /** Sets the times of all that is in a path, and of it. @param {string} path @param {number} days */
  const age = (path, days) => {
    const at = new Date(Date.now() - days * DAY);
    execFileSync("find", [path, "-depth", "-exec", "touch", "-h", "-d", at.toISOString(), "{}", "+"]);
  };
  /** @param {string} of @param {number} days @param {Record<string, string>} [files] */
  const folder = (of, days, files = { "report.md": "R" }) => {
    const path = join(runs, of);
    mkdirSync(path);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    age(path, days);
    return path;
  };
  /** @param {string} input @param {string[]} parameters */
  const clean = (input, ...parameters) => {
    const { status, stdout, stderr } = spawnSync(NODE, [CLI, "runs", "--clean", ...parameters], {
      cwd: project,
      input,
      env: { PATH: process.env.PATH, HOME: root, TZ: "UTC" },
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  return { root, project, runs, age, folder, clean, left: () => readdirSync(runs).sort() };
}

suite("pi-workflows runs --clean", { concurrency: 2 }, () => {
  test("removes the old folders after a yes, and names them before", (t) => {
    const { folder, clean, left } = place(t);
    folder(name("a"), 31, { "report.md": "R", more: "M" });
    folder(name("b"), 29);
    folder(name("c"), 400, {});
    const { status, stdout, stderr } = clean("yes\n", "30d");
    assert.deepEqual([status, stdout], [0, "2 folders are removed.\n"]);
    assert.match(
      stderr,
      /^In \.pi\/workflow-runs, with the day of the newest change:\n {2}a{20} {2}\d{4}-\d\d-\d\d {2}2 files\n {2}c{20} {2}\d{4}-\d\d-\d\d {2}0 files\nRemove these 2 folders\? \[y\/N\] /,
    );
    assert.deepEqual(left(), [name("b")]);
    assert.deepEqual(clean("y\n", "30d"), {
      status: 0,
      stdout: "No folder of a run in .pi/workflow-runs is that old.\n",
      stderr: "",
    });
  });

  for (const answer of ["", "\n", "n\n", "no\n", "yess\n", "x\ny\n"]) {
    test(`removes nothing after ${JSON.stringify(answer)}`, (t) => {
      const { folder, clean, left } = place(t);
      folder(name("a"), 31);
      const { status, stdout } = clean(answer, "30d");
      assert.deepEqual([status, stdout], [0, "Nothing is removed.\n"]);
      assert.deepEqual(left(), [name("a")]);
    });
  }

  test("a new file anywhere in a folder keeps it", (t) => {
    const { folder, clean, left, age } = place(t);
    const path = folder(name("a"), 90);
    mkdirSync(join(path, "deep/er"), { recursive: true });
    writeFileSync(join(path, "deep/er/new"), "");
    const times = [path, join(path, "deep"), join(path, "deep/er")];
    for (const time of times) utimesSync(time, 1_000_000, 1_000_000);
    assert.match(clean("y\n", "30d").stdout, /is that old/);
    assert.deepEqual(left(), [name("a")]);
    age(path, 90);
    assert.match(clean("y\n", "30d").stdout, /1 folder is removed/);
  });

  test("removes nothing else: other names, files, links, and what links lead to", (t) => {
    const { root, project, runs, folder, clean, left, age } = place(t);
    const outside = join(root, "outside");
    mkdirSync(join(outside, "sub"), { recursive: true });
    writeFileSync(join(outside, "precious"), "P");
    writeFileSync(join(outside, "sub/precious"), "P");
    age(outside, 90);
    const others = [
      "mine",
      "A".repeat(20),
      "a".repeat(19),
      "a".repeat(21),
      `.${name("a")}`,
      "0123456789abcdef012g",
      "..a".padEnd(20, "a"),
    ];
    for (const other of others) folder(other, 90);
    writeFileSync(join(runs, name("f")), "a file in the place of a folder");
    writeFileSync(join(runs, ".gitignore"), "*\n");
    symlinkSync(outside, join(runs, name("1")));
    symlinkSync(join(project, "nowhere"), join(runs, name("2")));
    const old = folder(name("e"), 90);
    symlinkSync(outside, join(old, "link"));
    symlinkSync(join(outside, "precious"), join(old, "file"));
    execFileSync("mkfifo", [join(old, "pipe")]);
    age(runs, 90);
    const { status, stdout, stderr } = clean("y\n", "1d");
    assert.deepEqual([status, stdout], [0, "1 folder is removed.\n"], stderr);
    assert.deepEqual(left(), [...others, ".gitignore", name("1"), name("2"), name("f")].sort());
    assert.deepEqual(readdirSync(outside, { recursive: true }).sort(), ["precious", "sub", "sub/precious"]);
  });

  for (const [where, makePlace] of /** @type {[string, (project: string, elsewhere: string) => void][]} */ ([
    [".pi", (project, elsewhere) => symlinkSync(join(elsewhere, ".pi"), join(project, ".pi"))],
    [
      ".pi/workflow-runs",
      (project, elsewhere) => {
        mkdirSync(join(project, ".pi"));
        symlinkSync(join(elsewhere, ".pi/workflow-runs"), join(project, ".pi/workflow-runs"));
      },
    ],
  ])) {
    test(`refuses a link at ${where}`, (t) => {
      const { root, project, folder, clean } = place(t);
      folder(name("a"), 90);
      const elsewhere = join(root, "elsewhere");
      execFileSync("mv", [project, elsewhere]);
      mkdirSync(project);
      makePlace(project, elsewhere);
      assert.deepEqual(clean("y\n", "30d"), { status: 2, stdout: "", stderr: `${where}: it is a link\n` });
      assert.ok(existsSync(join(elsewhere, ".pi/workflow-runs", name("a"), "report.md")));
    });
  }

  test("a project without such folders has nothing to remove", LONG, (t) => {
    const { project, clean } = place(t);
    rmSync(join(project, ".pi"), { recursive: true });
    assert.deepEqual(clean("y\n", "30d"), {
      status: 0,
      stdout: "No folder of a run in .pi/workflow-runs is that old.\n",
      stderr: "",
    });
    writeFileSync(join(project, ".pi"), "");
    assert.deepEqual(clean("y\n", "30d"), { status: 2, stdout: "", stderr: ".pi: it is not a folder\n" });
  });

  test("takes a length of time or a day, and no other option", LONG, (t) => {
    const { folder, clean, left } = place(t);
    folder(name("a"), 90);
    for (const time of ["30", "d", "-1d", "30d ", "../..", "2026-02-30", ""])
      assert.equal(clean("y\n", time).status, 2, time);
    for (const option of [
      ["--all"],
      ["--sessions", "."],
      ["--since", "3d"],
      ["--workflow", "w"],
      ["--format", "json"],
    ]) {
      assert.deepEqual(clean("y\n", "30d", ...option), {
        status: 2,
        stdout: "",
        stderr: `--clean and ${option[0]} exclude each other.\n`,
      });
    }
    assert.deepEqual(left(), [name("a")]);
  });

  test("names what it cannot remove", { skip: process.getuid?.() === 0 ? "root can" : false }, (t) => {
    const { runs, folder, clean, left } = place(t);
    const path = folder(name("a"), 90);
    chmodSync(path, 0o500);
    t.after(() => chmodSync(path, 0o700));
    folder(name("b"), 90);
    const { status, stdout, stderr } = clean("y\n", "30d");
    assert.deepEqual([status, stdout], [2, "1 folder is removed.\n"]);
    assert.match(stderr, /a{20} is not removed: .*permission denied/);
    assert.deepEqual(left(), [name("a")], runs);
  });
});
