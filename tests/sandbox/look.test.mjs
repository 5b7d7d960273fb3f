// Looks at the file system before a command line: how long they take, and where they find what they need.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chownSync, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const HOST = fileURLToPath(new URL("confined-host.mjs", import.meta.url));

/** A folder with the folder `project`. @param {import("node:test").TestContext} t */
function folder(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "look-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "project"));
  return { root, project: join(root, "project") };
}

/**
 * Runs command lines confined, and returns their results.
 * @param {string} project
 * @param {object} limits
 * @param {string[]} lines
 * @param {NodeJS.ProcessEnv} [env]
 */
function results(project, limits, lines, env) {
  const { stdout, stderr } = spawnSync(process.execPath, [HOST, project, JSON.stringify(limits), ...lines], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

suite("looks before a command line", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  test("take a time that grows with the number of hard links, not with its square", (t) => {
    const { root, project } = folder(t);
    for (let at = 0; at < 4000; at += 1) {
      const folder = join(project, `package${at % 200}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(root, String(at)), "");
      linkSync(join(root, String(at)), join(folder, String(at)));
    }
    const start = performance.now();
    const [{ status, stderr }] = results(project, { writable: [`${project}/`] }, ["touch new; echo x > package7/7"]);
    assert.deepEqual([status, /read-only/i.test(stderr)], [1, true], stderr);
    // A comparison of each link with each other one takes half a minute.
    assert.ok(performance.now() - start < 10_000);
  });

  test("use the system's folder for temporary files where TMPDIR cannot be used", (t) => {
    const { root, project } = folder(t);
    writeFileSync(join(root, "file"), "");
    mkdirSync(join(root, "of-another"), { mode: 0o777 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(join(root, "of-another"), 12345, 12345);
    for (const name of ["none", "file", "/proc", ...(isRoot ? ["of-another"] : [])]) {
      const limits = { writable: [`${project}/`] };
      const [{ refused, status, stdout }] = results(project, limits, ["echo $TMPDIR; touch $TMPDIR/x"], {
        TMPDIR: join(root, name),
      });
      assert.deepEqual([name, refused, status, stdout], [name, undefined, 0, "/tmp\n"]);
    }
  });
});
