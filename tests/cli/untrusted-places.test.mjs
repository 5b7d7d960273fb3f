// The places where an agent can write and that the shim and the command line open: whatever an agent puts there, nothing
// waits, grows or leads elsewhere. untrusted-places.mjs lists them. tests/tidy lists what else
// opens files by itself.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { suite, test } from "node:test";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { variants } from "../pi/harness/extent.mjs";
import { KINDS, PLACES } from "./untrusted-places.mjs";

/** The users as whom the places are opened: of `root` and an ordinary user, the first is this one. */
const USERS = variants([undefined, ...(process.getuid?.() === 0 ? [65534] : [])]);

/** The time in which a place with each of the kinds is opened, in milliseconds. */
const PATIENCE = 60_000;

suite("a place where an agent can write", { skip: process.platform !== "linux", concurrency: 2 }, () => {
  const cases = USERS.flatMap((uid) => Object.entries(PLACES).map(([name, spot]) => ({ uid, name, ...spot })));
  for (const { uid, name, content, may = [] } of cases)
    test(`${name}${uid === undefined ? "" : ", as another user"}`, { timeout: PATIENCE + 5000 }, async () => {
      const script = fileURLToPath(new URL("untrusted-places.mjs", import.meta.url));
      const child = spawn(process.execPath, [script, name], { uid, gid: uid, stdio: ["ignore", "pipe", "inherit"] });
      const end = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
      const lines = (await text(child.stdout)).trim().split("\n").filter(Boolean);
      clearTimeout(end);
      const found = Object.fromEntries(lines.map((line) => JSON.parse(line)));
      assert.deepEqual(Object.keys(found), ["nothing odd", ...Object.keys(KINDS)], "it hangs with the next one");
      for (const [kind, { read, result, ms, kb, isTouched }] of Object.entries(found)) {
        const told = `${kind}: ${result}`;
        if (kind === "nothing odd") assert.equal(read, String(content ?? "").includes("VICTIM"), told);
        else assert.ok(!read || may.includes(kind), told);
        assert.ok(!isTouched || may.includes(kind), `${told}: the file elsewhere was changed`);
        assert.ok(ms < 10_000, `${told}: ${ms} ms`);
        assert.ok(kb < 300_000, `${told}: ${kb} KB`);
      }
    });
});
