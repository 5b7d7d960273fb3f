// Notes of processes: which process they name, and the state of that process.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

import { processes } from "#sandbox";

const { noteOf, self, state } = processes;
const LINUX = { skip: process.platform === "linux" ? false : "namespaces are Linux's" };
const SHOW = `import("#sandbox").then(({ processes: { self, state } }) => console.log(JSON.stringify([self(), state(self())])))`;
const INSIDE = ["--dev-bind", "/", "/", "--unshare-pid", "--as-pid-1"];

/** A note that went through a file. @param {unknown} note */
const stored = (note) => JSON.parse(JSON.stringify(note));

test("a note names a process that lives, until it ends", async () => {
  assert.equal(self().pid, process.pid);
  assert.equal(state(stored(self())), "living");
  const child = spawn("sleep", ["60"]);
  const note = stored(noteOf(/** @type {number} */ (child.pid)));
  assert.equal(state(note), "living");
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal(state(note), "dead");
});

test("another process with the number of a note is not the process of the note", () => {
  assert.equal(state({ ...self(), start: "before" }), "dead");
});

test("what is no note, and a note of another host, tell nothing", () => {
  for (const note of [undefined, null, 1, "x", [], {}, { pid: 1 }, { ...self(), namespace: "elsewhere pid:[1]" }])
    assert.equal(state(note), "unknown", JSON.stringify(note));
  for (const pid of [0, -1, 1.5, 2 ** 40, "1", null]) assert.notEqual(state({ ...self(), pid }), "living", String(pid));
});

test("a process that has ended and whose parent does not look is dead", LINUX, async () => {
  const parent = spawn("sh", ["-c", "sleep 0.2 & echo $!; exec sleep 60"]);
  try {
    const [id] = await once(parent.stdout, "data");
    const look = ["-o", "stat=", "-p", String(id).trim()];
    while (!String(execFileSync("ps", look)).startsWith("Z"));
    assert.equal(state(noteOf(Number(id))), "dead");
  } finally {
    parent.kill("SIGKILL");
  }
});

test("process 1 of another namespace lives there, and is unknown here, also under the /proc of here", LINUX, () => {
  for (const proc of [["--proc", "/proc"], []]) {
    const shown = execFileSync("bwrap", [...INSIDE, ...proc, process.execPath, "-e", SHOW], { encoding: "utf8" });
    const [note, inside] = JSON.parse(shown);
    assert.deepEqual([note.pid, inside], [1, "living"]);
    assert.equal(state(note), "unknown");
  }
});
