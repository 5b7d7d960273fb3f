// The private folder for temporary files, which all sandboxes of a user share, and folders that are mounted twice.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";

const HOST = new URL("confined-host.mjs", import.meta.url).pathname;
const isRoot = process.getuid?.() === 0;
const USERS = isRoot ? [0, 12345] : [undefined];
const MOUNTS = { skip: isRoot ? false : "needs root" };

/** A folder with `project/docs`, `outside` and `tmp`. @param {import("node:test").TestContext} t @param {number} [user] */
function folder(t, user = process.getuid?.()) {
  const root = realpathSync(mkdtempSync("/var/tmp/private-folder-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const path of ["", "project", "project/docs", "project/twice", "outside", "tmp"]) {
    mkdirSync(join(root, path), { recursive: true });
    if (user) chownSync(join(root, path), user, user);
  }
  const write = (/** @type {string} */ path, text = "untouched\n") => {
    writeFileSync(join(root, path), text);
    if (user) chownSync(join(root, path), user, user);
  };
  return { root, project: join(root, "project"), at: (/** @type {string} */ path) => join(root, path), write };
}

/**
 * Runs lines confined, as a user, after other lines of `root` in a namespace of mounts.
 *
 * @param {string} project
 * @param {number | undefined} user
 * @param {object} limits
 * @param {string[]} lines
 * @param {NodeJS.ProcessEnv} [env]
 * @param {string} [mounts]
 * @returns {{ refused?: string, status: number, stdout: string, stderr: string }[]}
 */
function run(project, user, limits, lines, env, mounts) {
  const as = user ? ["setpriv", "--reuid", `${user}`, "--regid", `${user}`, "--clear-groups", "--"] : [];
  const within = mounts ? ["unshare", "--mount", "sh", "-c", `${mounts}; exec "$@"`, "sh"] : [];
  const [program, ...args] = [...within, ...as, process.execPath, HOST, project, JSON.stringify(limits), ...lines];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env: { ...process.env, ...env } });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

suite("the private folder", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  for (const user of USERS) {
    test(`is one, whatever TMPDIR is, and in no sandbox${user ? ", of an ordinary user" : ""}`, (t) => {
      const { project, at } = folder(t, user);
      const TMPDIR = at("tmp");
      const look = `cat $(find ${TMPDIR} /tmp/pi-confined* -name kept-secret 2>/dev/null) </dev/null; echo looked`;
      const [kept] = run(project, user, { writable: [] }, ["echo SECRET > $TMPDIR/kept-secret; cat /tmp/kept-secret"], {
        TMPDIR,
      });
      assert.equal(kept.stdout, "SECRET\n");
      assert.deepEqual(readdirSync(TMPDIR), []);
      const other = folder(t, user).project;
      for (const [writable, env] of /** @type {[string[], NodeJS.ProcessEnv][]} */ ([
        [[], {}],
        [[`${TMPDIR}/`], { TMPDIR }],
        [["/"], {}],
      ])) {
        const [{ stdout, refused }] = run(other, user, { writable }, [look], env);
        assert.deepEqual([refused, stdout], [undefined, "looked\n"]);
      }
    });

    test(`is covered by its other names${user ? ", for an ordinary user" : ""}`, MOUNTS, (t) => {
      const { root, project } = folder(t, user);
      const again = `mkdir ${root}/again; mount --bind /tmp ${root}/again`;
      const kept = `echo SECRET > $TMPDIR/kept-secret; ls ${root}/again/pi-confined-${user}`;
      const [{ stdout }] = run(project, user, { writable: [] }, [kept], {}, again);
      assert.equal(stdout, "");
      const other = folder(t, user).project;
      const look = `cat $(find ${root}/again/pi-confined-${user} -name kept-secret) </dev/null; echo looked`;
      assert.equal(
        run(other, user, { writable: [] }, [look], {}, again.replace("mkdir", "mkdir -p"))[0].stdout,
        "looked\n",
      );
    });

    test(`is covered where none can be made in /tmp${user ? ", for an ordinary user" : ""}`, MOUNTS, (t) => {
      const { project, at } = folder(t, user);
      const begin = (/** @type {string} */ path, /** @type {string} */ line) =>
        run(path, user, { writable: [] }, [line], { TMPDIR: at("tmp") }, "mount -t tmpfs -o ro none /tmp")[0];
      assert.equal(begin(project, "echo SECRET > $TMPDIR/kept-secret; cat /tmp/kept-secret").stdout, "SECRET\n");
      assert.equal(readdirSync(at("tmp")).length, 1);
      const { stdout } = begin(
        folder(t, user).project,
        `cat $(find ${at("tmp")} -name kept-secret 2>/dev/null) </dev/null; echo looked`,
      );
      assert.equal(stdout, "looked\n");
    });
  }
});

suite("a folder that is mounted twice", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  for (const user of USERS) {
    const of = user ? ", for an ordinary user" : "";

    test(`has each name of a file once, and another name elsewhere keeps it read-only${of}`, MOUNTS, (t) => {
      const { root, project, at, write } = folder(t, user);
      write("outside/file");
      write("project/docs/own");
      linkSync(at("outside/file"), at("project/docs/linked"));
      linkSync(at("project/docs/own"), at("project/docs/again"));
      const mounts = `mount --bind ${root}/project/docs ${root}/project/twice`;
      const writable = [`${project}/docs/`, `${project}/twice/`];
      const line = "for f in docs/linked twice/linked docs/own twice/again; do echo changed >> $f; done";
      const [{ refused }] = run(project, user, { writable }, [line], {}, mounts);
      assert.equal(refused, undefined);
      assert.equal(readFileSync(at("outside/file"), "utf8"), "untouched\n");
      assert.equal(readFileSync(at("project/docs/own"), "utf8"), "untouched\nchanged\nchanged\n");
    });

    test(
      `has each name of a hidden file once, and another name elsewhere keeps a command from running${of}`,
      MOUNTS,
      (t) => {
        const { root, project, at, write } = folder(t, user);
        write("project/docs/secret", "SECRET\n");
        linkSync(at("project/docs/secret"), at("outside/file"));
        const mounts = `mount --bind ${root}/project/docs ${root}/project/twice`;
        for (const hidden of [
          ["docs/", "twice/"],
          ["docs/secret", "twice/secret"],
        ]) {
          const [{ refused, stdout }] = run(
            project,
            user,
            { writable: [], hidden },
            [`cat ${root}/outside/file`],
            {},
            mounts,
          );
          assert.match(refused ?? "", /has another name \(hard link\) outside/, stdout);
        }
        rmSync(at("outside/file"));
        linkSync(at("project/docs/secret"), at("project/docs/other"));
        const [{ stdout }] = run(project, user, { writable: [], hidden: ["docs/secret"] }, ["cat */*"], {}, mounts);
        assert.doesNotMatch(stdout, /SECRET/);
        assert.equal(lstatSync(at("project/docs/secret")).nlink, 2);
      },
    );
  }
});
