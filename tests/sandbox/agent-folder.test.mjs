// The agent's own folder, which stays as it is although it lies in a writable folder.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkKept } from "../../sandbox/agent-folder.js";
import { fileOperations } from "../../sandbox/file-operations.js";

const HOST = fileURLToPath(new URL("confined-host.mjs", import.meta.url));

/**
 * A home with a project and the folder `.pi/agent`, which may be behind a link.
 *
 * @param {import("node:test").TestContext} t
 * @param {boolean} [linked]
 */
function home(t, linked = false) {
  const root = mkdtempSync("/var/tmp/agent-folder-");
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const at = (/** @type {string} */ path) => join(root, path);
  for (const folder of ["project", "elsewhere/agent/workflows", "other"]) mkdirSync(at(folder), { recursive: true });
  if (linked) symlinkSync("elsewhere", at(".pi"));
  else execFileSync("mv", [at("elsewhere"), at(".pi")]);
  const agent = at(".pi/agent");
  const limits = join(agent, "workflows/settings.yaml");
  writeFileSync(limits, "mine\n");
  writeFileSync(at("other/x"), "mine\n");
  /** Runs these lines confined. @param {string[]} writable @param {...string} lines */
  const run = (writable, ...lines) =>
    JSON.parse(
      execFileSync(
        process.execPath,
        [HOST, at("project"), JSON.stringify({ writable, agent, keepsAgentFolder: true }), ...lines],
        { encoding: "utf8" },
      ),
    );
  return { root, at, agent, limits, run };
}

suite("the agent's folder", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  for (const linked of [false, true]) {
    for (const everything of [false, true]) {
      test(`${linked ? "behind a link" : "itself"}, where ${everything ? "everything" : "the home"} is writable, is not changed by commands`, (t) => {
        const { root, agent, limits, run, at } = home(t, linked);
        const ways = [
          `echo theirs > ${limits}`,
          `rm ${limits}`,
          `mv ${limits} ${limits}2`,
          `touch ${agent}/workflows/limits2`,
          `mv ${agent} ${agent}2`,
          `mv ${root}/.pi ${root}/.pi2`,
          `rm ${root}/.pi; mkdir -p ${agent}/workflows; echo theirs > ${limits}`,
          `mv ${root}/elsewhere ${root}/elsewhere2; mkdir -p ${root}/elsewhere/agent/workflows; echo theirs > ${root}/elsewhere/agent/workflows/settings.yaml`,
          `ln ${limits} ${root}/project/hard; echo theirs > ${root}/project/hard`,
          `ln -s ${agent} ${root}/project/soft; echo theirs > ${root}/project/soft/workflows/settings.yaml`,
          `cd ${agent} && echo theirs > workflows/settings.yaml`,
          `chmod 777 ${limits}; echo theirs > ${limits}`,
          `truncate -s 0 ${limits}`,
          `mkdir ${root}/o; mount --bind ${root}/o ${agent}; unshare -Um mount --bind ${root}/o ${agent}`,
        ];
        run(everything ? ["/"] : [`${root}/`], ...ways);
        assert.equal(readFileSync(limits, "utf8"), "mine\n");
        assert.deepEqual(
          [existsSync(`${agent}2`), existsSync(at(".pi2")), existsSync(join(agent, "workflows/limits2"))],
          [false, false, false],
        );
        const [free] = run(everything ? ["/"] : [`${root}/`], `echo free > ${root}/other/x`);
        assert.equal(free.status, 0);
        assert.equal(readFileSync(at("other/x"), "utf8"), "free\n");
      });
    }
  }

  test("and other folders that limits name are kept together", async (t) => {
    const { root, at, agent, limits } = home(t);
    const kept = [at("other"), at("missing")];
    const run = (/** @type {string[]} */ writable, /** @type {string} */ line) =>
      JSON.parse(
        execFileSync(process.execPath, [HOST, at("project"), JSON.stringify({ writable, agent, kept }), line], {
          encoding: "utf8",
        }),
      )[0];
    for (const writable of [["/"], [`${root}/`], [`${at("other")}/`]]) {
      run(
        writable,
        `cd ${root}; echo theirs > other/x; rm other/x; mv other gone; touch other/new; echo theirs > ${limits}`,
      );
      assert.equal(readFileSync(at("other/x"), "utf8"), "mine\n");
      assert.equal(existsSync(at("other/new")), false);
    }
    assert.equal(readFileSync(limits, "utf8"), "theirs\n", "only what the limits name is kept");
    const folders = [
      { path: agent, name: "the agent's folder" },
      { path: at("other"), name: "the other folder" },
    ];
    const { writeFile } = fileOperations(["/"], async (place, stat) => checkKept(folders, place, stat));
    await assert.rejects(writeFile(at("other/x"), "theirs\n"), /is in the other folder, which may not be written/);
    await assert.rejects(writeFile(limits, "theirs\n"), /is in the agent's folder/);
    await writeFile(at("free"), "free\n");
  });

  test("is not changed through a hard link that was there before", (t) => {
    const { root, limits, run, at } = home(t);
    linkSync(limits, at("project/hard"));
    const [{ stderr }] = run([`${root}/`], `echo theirs > ${root}/project/hard`);
    assert.match(stderr, /Read-only file system/);
    assert.equal(readFileSync(limits, "utf8"), "mine\n");
  });

  test("is not writable where it is listed itself", (t) => {
    const { agent, limits, run, at } = home(t);
    run([`${agent}/workflows/`, `${agent}/new/`, `${at("project")}/`], `echo theirs > ${limits}; touch ${agent}/new/x`);
    assert.equal(readFileSync(limits, "utf8"), "mine\n");
    assert.equal(existsSync(join(agent, "new")), false);
  });

  test("is not changed by file tools, by any name", async (t) => {
    const { root, agent, limits, at } = home(t);
    linkSync(limits, at("project/hard"));
    symlinkSync(agent, at("project/soft"));
    for (const byDescriptor of [true, false]) {
      const { writeFile, mkdir, access } = fileOperations(
        ["/"],
        async (place, stat) => checkKept([{ path: agent, name: "the agent's folder" }], place, stat),
        byDescriptor,
      );
      for (const path of [
        limits,
        join(agent, "new"),
        at("project/hard"),
        at("project/soft/workflows/settings.yaml"),
        join(root, "project/../.pi/agent/x"),
      ]) {
        await assert.rejects(writeFile(path, "theirs\n"), /is in the agent's folder, which may not be written/, path);
      }
      await assert.rejects(access(limits), /is in the agent's folder/);
      await assert.rejects(mkdir(join(agent, "extensions/x")), /is in the agent's folder/);
      await writeFile(at("other/x"), "free\n");
    }
    assert.equal(readFileSync(limits, "utf8"), "mine\n");
    assert.equal(readFileSync(at("other/x"), "utf8"), "free\n");
  });
});
