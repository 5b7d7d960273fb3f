// The claim of a session: of all processes one has it.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { SHARED_CLAIM, changeClaim, claim, claimStep, holderOf, noteOf, sessionRead } from "../../host-shim/claims.js";
import { processes } from "../../sandbox/index.js";
import { NODE, REPO } from "../pi/harness/pi.mjs";

const MODULE = join(REPO, "host-shim/claims.js");

/** @param {import("node:test").TestContext} t */
function sessionFile(t) {
  const folder = mkdtempSync(join(tmpdir(), "claims-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "s.jsonl");
}

/** A session of pi. @param {string | undefined} file @returns {any} */
const inPi = (file) => ({ getSessionFile: () => file });

/**
 * Starts a process that claims a session at a time, writes what it gets, and lives until it is ended.
 * @param {import("node:test").TestContext} t
 * @param {string} file
 * @param {{ at?: number, env?: Record<string, string>, wrapper?: string[], pi?: boolean }} [options]
 */
async function other(t, file, { at = 0, env = {}, wrapper = [], pi = false } = {}) {
  const line = pi ? `claimStep({ getSessionFile: () => file }, "take")` : "claim(file)";
  const script = `
    import { claim, claimStep } from ${JSON.stringify(MODULE)};
    const file = ${JSON.stringify(file)};
    while (Date.now() < ${at});
    console.log(JSON.stringify(${line} ?? null));
    setInterval(() => {}, 1000);`;
  const [program, ...args] = [...wrapper, NODE, "--input-type=module", "-e", script];
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [line1] = await once(child.stdout, "data");
  const end = async () => {
    const closed = once(child, "exit");
    child.kill("SIGKILL");
    await closed;
  };
  return { got: JSON.parse(String(line1)) ?? undefined, pid: child.pid, end };
}

/** A note of a process that has ended. */
function deadNote() {
  const { pid } = spawnSync("true");
  return JSON.stringify({ ...processes.self(), pid, start: "1" });
}

test("who finds a living process does not get the claim, and takes it over when that has ended", async (t) => {
  const file = sessionFile(t);
  const first = await other(t, file);
  assert.equal(first.got, undefined);
  assert.deepEqual(claim(file), { tag: "living", val: first.pid });
  assert.deepEqual(claim(file, { takesOver: true }), { tag: "living", val: first.pid }, "it lives");
  changeClaim(file, undefined);
  assert.ok(noteOf(file), "the note of another process stays");
  await first.end();
  assert.equal(claim(file), undefined);
  assert.equal(noteOf(file)?.pid, process.pid);
  assert.equal(claim(file), undefined, "its own");
  assert.deepEqual((await other(t, file)).got, { tag: "living", val: process.pid });
  changeClaim(file, { ended: 1 });
  assert.equal((await other(t, file)).got, undefined, "given back");
});

for (const [left, what] of /** @type {[string, string][]} */ ([
  ["", "nothing"],
  [".process", "the note of a dead process"],
  [".process.lock", "the lock of a process that was killed meanwhile"],
])) {
  test(`of several at once one gets the claim: ${what} is there`, async (t) => {
    for (let round = 0; round < 4; round += 1) {
      const file = sessionFile(t);
      if (left !== "") writeFileSync(`${file}.process`, deadNote());
      if (left !== "") writeFileSync(`${file}${left}`, deadNote());
      const all = await Promise.all(Array.from({ length: 4 }, () => other(t, file, { at: Date.now() + 1500 })));
      const winners = all.filter(({ got }) => got === undefined);
      assert.equal(winners.length, 1, JSON.stringify(all));
      for (const { got, pid } of all)
        if (pid !== winners[0].pid) assert.deepEqual(got, { tag: "living", val: winners[0].pid });
      assert.deepEqual(readdirSync(join(file, "..")), ["s.jsonl.process"]);
      await Promise.all(all.map(({ end }) => end()));
    }
  });
}

test("a process of another host or namespace, and a note that cannot be read, are neither living nor dead", async (t) => {
  const file = sessionFile(t);
  const { namespace, ...self } = processes.self();
  for (const [note, val] of /** @type {[string, number][]} */ ([
    [JSON.stringify({ ...self, namespace: `${namespace} of another` }), process.pid],
    [JSON.stringify(self), process.pid],
    [JSON.stringify({ pid: -1 }), 0],
    ["", 0],
    ["null", 0],
    ["[1]", 0],
    ['"x"', 0],
    ["{", 0],
    [`{"pid":${"9".repeat(10_001)}}`, 0],
  ])) {
    writeFileSync(`${file}.process`, note);
    assert.deepEqual(claim(file), { tag: "unknown", val }, note.slice(0, 80));
    assert.equal(claim(file, { takesOver: true }), undefined);
    assert.equal(claim(file), undefined);
  }
  rmSync(`${file}.process`);
  mkdirSync(`${file}.process`);
  assert.deepEqual(claim(file), { tag: "unknown", val: 0 });
  assert.equal(claim(file, { takesOver: true }), undefined);
});

test("process 1 of a namespace counts there, and is unknown outside", async (t) => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return t.skip("needs root on Linux");
  const file = sessionFile(t);
  const line = (/** @type {string} */ then) =>
    `import { claim, holderOf, noteOf } from ${JSON.stringify(MODULE)};
     const got = claim(${JSON.stringify(file)}); console.log(JSON.stringify([process.pid, got ?? null])); ${then}`;
  const inner = `${NODE} --input-type=module -e '${line("")}'`;
  const script = `const { execSync } = await import("node:child_process"); process.stdout.write(execSync(process.env.INNER));`;
  const { stdout, stderr } = spawnSync(
    "unshare",
    ["--pid", "--fork", "--mount-proc", NODE, "--input-type=module", "-e", line(script)],
    { encoding: "utf8", env: { ...process.env, INNER: inner } },
  );
  const [first, second] = stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text));
  assert.deepEqual(first, [1, null], stderr);
  assert.deepEqual(second[1], { tag: "living", val: 1 });
  assert.deepEqual(claim(file), { tag: "unknown", val: 1 });
  assert.equal(claim(file, { takesOver: true }), undefined);
});

test("in pi, what another process had since the session was read is out of date", async (t) => {
  const file = sessionFile(t);
  const session = inPi(file);
  sessionRead(session);
  const first = await other(t, file);
  assert.deepEqual(claimStep(session, "take"), { tag: "living", val: first.pid });
  await first.end();
  for (const step of /** @type {const} */ (["take", "take-over"]))
    assert.deepEqual(claimStep(session, step), { tag: "changed" });
  // A reload of the extensions does not read the session again.
  sessionRead(session);
  assert.equal(claimStep(session, "release"), undefined);
  assert.deepEqual(claimStep(session, "take"), { tag: "changed" });
  const again = inPi(file);
  sessionRead(again);
  assert.equal(claimStep(again, "take"), undefined, "opened again");
  assert.equal(claimStep(again, "release"), undefined);
  assert.equal(holderOf(noteOf(file)), undefined);
  assert.equal(claimStep(again, "take"), undefined, "nobody had it meanwhile");
  claimStep(again, "finish");
  assert.ok(!existsSync(`${file}.process`));
  const early = await other(t, file);
  const late = inPi(file);
  sessionRead(late);
  await early.end();
  assert.deepEqual(claimStep(late, "take"), { tag: "changed" }, "it worked after the session was read");
  assert.equal(claimStep(inPi(undefined), "take"), undefined, "no file");
});

test("in pi, a session to which a process that nobody sees has written is out of date", (t) => {
  const file = sessionFile(t);
  const unknown = () => writeFileSync(`${file}.process`, JSON.stringify({ ...processes.self(), namespace: "another" }));
  unknown();
  writeFileSync(file, "{}\n");
  const session = inPi(file);
  sessionRead(session);
  assert.deepEqual(claimStep(session, "take"), { tag: "unknown", val: process.pid });
  appendFileSync(file, "{}\n");
  assert.deepEqual(claimStep(session, "take-over"), { tag: "changed" });
  const again = inPi(file);
  sessionRead(again);
  assert.equal(claimStep(again, "take-over"), undefined, "opened again");
  appendFileSync(file, "{}\n");
  assert.equal(claimStep(again, "release"), undefined);
  assert.equal(claimStep(again, "take"), undefined, "it has written itself");
  claimStep(again, "finish");
  unknown();
  rmSync(file);
  const early = inPi(file);
  sessionRead(early);
  assert.equal(claimStep(early, "take-over"), undefined, "no file yet");
});

test("a process is the same in another language and time zone", { skip: process.platform === "win32" }, () => {
  const url = join(REPO, "sandbox/index.js");
  // As where the system has no /proc.
  const script = `
    Object.defineProperty(process, "platform", { value: "darwin" });
    const { processes } = await import(${JSON.stringify(url)});
    console.log(JSON.stringify(processes.noteOf(${process.pid})));`;
  const [here, there] = ["UTC", "Asia/Tokyo"].map((TZ) => {
    const env = { ...process.env, TZ, LC_ALL: "C.UTF-8" };
    return spawnSync(NODE, ["--input-type=module", "-e", script], { encoding: "utf8", env }).stdout;
  });
  assert.match(here, /"start":"\w/);
  assert.equal(here, there);
});

test("the pi of a process shares its claim, and what that pi starts does not", async (t) => {
  const file = sessionFile(t);
  assert.equal(claim(file), undefined);
  const { pid, start, namespace } = processes.self();
  const env = { [SHARED_CLAIM]: JSON.stringify([pid, start, namespace]) };
  const text = readFileSync(`${file}.process`, "utf8");
  const pi = await other(t, file, { env, pi: true });
  assert.deepEqual([pi.got, readFileSync(`${file}.process`, "utf8")], [undefined, text]);
  assert.deepEqual((await other(t, file, { env })).got, { tag: "living", val: pid }, "it is no pi");
  assert.deepEqual((await other(t, file, { pi: true })).got, { tag: "living", val: pid });
  // The pi of a process that was killed works on.
  const left = { ...JSON.parse(deadNote()), pi: processes.noteOf(/** @type {number} */ (pi.pid)) };
  writeFileSync(`${file}.process`, JSON.stringify(left));
  assert.deepEqual(claim(file), { tag: "living", val: pi.pid });
  await pi.end();
  assert.equal(claim(file), undefined);
});
