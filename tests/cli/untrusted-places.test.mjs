// The places where an agent can write and that the shim and the command line open: whatever an agent puts there, nothing
// waits, grows or leads elsewhere. untrusted-places.mjs lists them. Nothing else opens files by itself.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { variants } from "../pi/harness/extent.mjs";
import { REPO } from "../pi/harness/pi.mjs";
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

/** The modules that open files themselves, and why they may. */
const OPEN = {
  "cli/compare/trial.js": "writes what a trial gets into folders that it has just made",
  "cli/headless/output.js": "writes into a pipe or device of the user, without waiting",
  "cli/headless/run.js": "reads the file that the user names with --task-file, which may be a pipe, up to a size",
  "cli/new.js": "reads this package, and creates files that are not there in a new folder",
  "cli/pi-workflows.js": "reads this package",
  "cli/runs/html/page.js": "reads this package",
  "cli/runs/process.js": "reads /proc",
  "host-shim/files.js": "reads folders",
  "host-shim/folders.js": "creates files that are not there in a folder that it holds open",
  "host-shim/manifest.js": "reads this package",
  "host-shim/store.js": "creates files that are not there in pi's agent folder",
  "sandbox/bubblewrap.js": "writes into a folder of its own",
  "sandbox/copies.js": "copies between folders that it holds open, without following links",
  "sandbox/exec.js": "makes a pipe in a folder of its own",
  "sandbox/file-operations.js": "opens for the tools of an agent",
  "sandbox/hidden-paths.js": "reads /proc",
  "sandbox/project-state.js": "writes into a folder of its own",
  "sandbox/session-folder.js": "creates empty files that are not there",
  "sandbox/sockets.js": "reads /proc",
  "sandbox/untrusted-files.js": "the module for such places",
};

/** The functions of `node:fs` that open by a name. */
const OPENS =
  /\b(?:openSync|readFileSync|createWriteStream|createReadStream|copyFileSync|cpSync|appendFileSync|opendirSync|openAsBlob|truncateSync|writeFileSync\((?!descriptor,))\b|node:fs\/promises|import \* as \w+ from "node:fs"/;

test("no other module opens files by itself", () => {
  const modules = ["cli", "host-shim", "sandbox"].flatMap((folder) =>
    readdirSync(join(REPO, folder), { recursive: true, encoding: "utf8" })
      .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)
      .filter((path) => /\.c?js$/.test(path) && !path.startsWith("host-shim/component/")),
  );
  const opening = modules.filter((path) => OPENS.test(readFileSync(join(REPO, path), "utf8")));
  assert.deepEqual(opening.sort(), Object.keys(OPEN).sort());
});
