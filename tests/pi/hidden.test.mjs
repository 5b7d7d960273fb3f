// The paths that `hide` of a phase names: the agent cannot read it in any way. The same ways read it without `hide`, so
// that these tests can fail.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS, some, variants } from "./harness/extent.mjs";
import { bash, limited } from "./harness/limited.mjs";
import { piCli, REPO } from "./harness/pi.mjs";
import { TO_READ } from "./harness/ways-to-read.mjs";
import { asUser } from "./harness/world.mjs";

const SECRET = "echo The-secret-of-the-tests";
const MARK = /The-secret-of-the-tests/;
const D = "tests/acceptance";
const F = `${D}/a.txt`;
const FILES = {
  [F]: `${SECRET}\n`,
  "src/x": "visible\n",
  "docs/y": "visible\n",
  ".env": "KEY=The-secret-of-the-tests\n",
};
const HIDE = { hide: [`${D}/`, ".env"] };
const TOOLS = { tools: { whitelist: ["read", "edit", "write", "bash", "grep", "find", "ls"] } };
const WAYS = some(TO_READ);
/** The number of ways that are tried after one prompt. */
const BATCH = 10;
const ORDINARY_USER = 12345;
const readable = [piCli()[1], REPO].every(
  (file) => spawnSync("setpriv", [...asUser(ORDINARY_USER), "test", "-r", file]).status === 0,
);
const IS_ROOT = process.getuid?.() === 0;
/** The reason why pi cannot run as that user. */
const WITHOUT_ORDINARY_USER = !IS_ROOT
  ? "the tests run as one"
  : readable
    ? false
    : `the user ${ORDINARY_USER} cannot read ${REPO}`;

/** @typedef {import("./harness/sandbox.mjs").Sandbox} Sandbox */

/** @param {string} name @param {object} parameters */
const call = (name, parameters) => ({ name, arguments: parameters });

/** Runs a program with two more mounts of a project. @param {Sandbox} sandbox */
function withMounts({ project, root }) {
  const [whole, folder] = [join(root, "mount"), join(root, "mount-of-folder")];
  for (const path of [whole, folder]) mkdirSync(path, { recursive: true });
  const line = `mount --bind ${project} ${whole} && mount --bind ${project}/${D} ${folder} && exec "$@"`;
  return { env: { M: whole, I: folder }, wrapper: IS_ROOT ? ["unshare", "--mount", "sh", "-c", line, "sh"] : [] };
}

/**
 * Lets an agent try all ways in a phase with these fields; returns the outputs by the names of the ways.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {object} limits
 * @param {number} [user]
 */
async function tryToRead(t, version, limits, user) {
  /** @type {Record<string, string>} */
  const env = { D, F };
  /** @type {string[]} */
  const wrapper = [];
  const before = (/** @type {Sandbox} */ sandbox) => {
    const { project } = sandbox;
    execFileSync("git", ["init", "-q"], { cwd: project });
    linkSync(join(project, F), join(project, "src/other-name.txt"));
    const opened = openSync(join(project, F), "r");
    const outside = spawn("sleep", ["600"], { cwd: project, stdio: ["ignore", "ignore", "ignore", opened] });
    closeSync(opened);
    t.after(() => void outside.kill("SIGKILL"));
    const mounts = withMounts(sandbox);
    Object.assign(env, mounts.env, { A: project, V: String(outside.pid), OPENED: "3" });
    wrapper.push(...mounts.wrapper);
    if (user === undefined) return;
    execFileSync("chown", ["--recursive", "--no-dereference", `${user}:${user}`, sandbox.root]);
    wrapper.push("setpriv", ...asUser(user));
  };
  const prepare = WAYS.flatMap((way) => way.prepare ?? []).join("\n");
  const agent = await limited(
    t,
    version,
    { ...limits, ...TOOLS },
    { files: FILES, prepare, before, pi: { env, wrapper } },
  );
  const setUp = `export PI=${agent.rpc.pid} GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*';`;
  /** @type {string[]} */
  const results = [];
  for (let first = 0; first < WAYS.length; first += BATCH) {
    const ways = WAYS.slice(first, first + BATCH);
    results.push(...(await agent.play(...ways.map(({ run }) => [bash(`${setUp} ${run}`, { timeout: 30 })]))));
  }
  return { agent, results: WAYS.map(({ name }, index) => /** @type {const} */ ([name, results[index]])) };
}

for (const version of VERSIONS) {
  suite(
    `pi ${version}: hidden files`,
    { skip: process.platform === "linux" ? false : "needs Linux", concurrency: 2 },
    () => {
      for (const user of [undefined, ORDINARY_USER]) {
        const who = user === undefined ? "" : ", of an ordinary user";
        const skip = user !== undefined && WITHOUT_ORDINARY_USER;
        for (const more of [{}, { write: ["docs/", "tests/"] }]) {
          test(
            `${WAYS.length} ways of commands do not read them with ${JSON.stringify(more)}${who}`,
            "write" in more && user === undefined ? { skip } : { skip: skip || LONG.skip },
            async (t) => {
              const { agent, results } = await tryToRead(t, version, { ...HIDE, ...more }, user);
              assert.deepEqual(
                results.filter(([, output]) => MARK.test(output)),
                [],
              );
              const ran = results.filter(([, output]) => !/cannot be confined|refused/.test(output));
              assert.ok(
                ran.length > WAYS.length - 4,
                JSON.stringify(
                  results.filter((result) => !ran.includes(result)),
                  null,
                  1,
                ),
              );
              assert.equal(agent.text(F), `${SECRET}\n`);
            },
          );
        }

        test(`the same ways read what is not hidden${who}`, { skip: skip || LONG.skip }, async (t) => {
          const { results } = await tryToRead(t, version, {}, user);
          const control = new Set(WAYS.filter((way) => way.control !== false).map(({ name }) => name));
          const missed = results.filter(([name, output]) => control.has(name) && !MARK.test(output));
          assert.deepEqual(missed, []);
          assert.ok(control.size >= 70, `${control.size}`);
        });
      }

      for (const [what, limits] of variants(
        /** @type {const} */ ([
          ["", HIDE],
          ["not ", {}],
        ]),
      )) {
        test(`file tools do ${what === "" ? "not read" : "read"} what is ${what}hidden, and names are no secret`, async (t) => {
          const before = (/** @type {Sandbox} */ { project }) => {
            linkSync(join(project, F), join(project, "src/other-name.txt"));
            symlinkSync(`../${F}`, join(project, "src/link"));
            symlinkSync(`../${D}`, join(project, "src/folder"));
            symlinkSync(project, join(project, "docs/all"));
          };
          const { play, text, sandbox } = await limited(t, version, { ...limits, ...TOOLS }, { files: FILES, before });
          const { project } = sandbox;
          const paths = [
            F,
            `./src/../${F}`,
            `@${F}`,
            `${project}/${F}`,
            "src/link",
            "src/folder/a.txt",
            `docs/all/${F}`,
            "src/other-name.txt",
            `/proc/self/cwd/${F}`,
            `/proc/self/root${project}/${F}`,
            ".env",
            `file://${project}/.env`,
          ];
          const read = await play(...paths.map((path) => [call("read", { path })]));
          const secret = read.map((output, index) => [paths[index], MARK.test(output), output]);
          assert.deepEqual(
            secret.filter(([, found]) => found === (what === "")),
            [],
          );
          if (what === "")
            for (const [path, , output] of secret) assert.match(String(output), /is hidden/, String(path));
          const changes = await play(
            ...paths.map((path) => [call("write", { path, content: "echo changed\n" })]),
            ...paths.map((path) => [call("edit", { path, edits: [{ oldText: "The-secret", newText: "A-secret" }] })]),
            [call("write", { path: `${D}/new.txt`, content: "new" })],
            [call("write", { path: "src/folder/new.txt", content: "new" })],
          );
          if (what === "") {
            for (const output of changes) assert.match(output, /is hidden/);
            assert.equal(text(F), `${SECRET}\n`);
            assert.ok(!existsSync(join(project, D, "new.txt")));
            const searches = await play(
              ...[".", "tests", D, "src/folder", "src", F, "src/link", "docs/all", undefined].map((path) => [
                call("grep", { pattern: "secret", path }),
              ]),
              [call("ls", { path: D })],
              [call("find", { pattern: "*", path: D })],
              [call("find", { pattern: "*", path: "src/folder" })],
            );
            for (const output of searches) assert.match(output, /hidden/);
            assert.match(searches[0], /Search with `bash`/);
            const [names, other, written] = await play(
              [call("ls", { path: "tests" })],
              [call("read", { path: "docs/y" })],
              [call("write", { path: "docs/y", content: "written" })],
            );
            assert.match(names, /acceptance/);
            assert.match(other, /visible/);
            assert.match(written, /Successfully wrote/);
          }
        });
      }

      test("images and long files are read as by pi alone", LONG, async (t) => {
        const png = Buffer.from(
          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
          "base64",
        );
        const before = (/** @type {Sandbox} */ { project }) => {
          writeFileSync(join(project, "image.png"), png);
          writeFileSync(join(project, "long"), "line é\n".repeat(5000));
          writeFileSync(join(project, "image.txt"), png.subarray(0, 20));
        };
        const paths = ["image.png", "image.txt", "long", "none", "src", "docs/y"];
        const results = [];
        for (const limits of [HIDE, {}]) {
          const { play, sandbox } = await limited(t, version, { ...limits, ...TOOLS }, { files: FILES, before });
          const outputs = await play(...paths.map((path) => [call("read", { path })]), [
            call("read", { path: "long", offset: 4990, limit: 5 }),
          ]);
          results.push(
            outputs.map((output) => output.replaceAll(sandbox.root, "ROOT").replace(", access '", ", open '")),
          );
        }
        assert.deepEqual(results[0], results[1]);
      });

      test("what does not exist is hidden when it comes, and nothing is left behind", async (t) => {
        const hide = { hide: ["later.txt", "later/", "src/none/deep.txt"] };
        const { play, exists, sandbox } = await limited(t, version, hide, { files: FILES });
        const { project } = sandbox;
        const reading =
          "touch docs/begun; until [ -e docs/come ]; do sleep 0.05; done; cat later.txt later/* src/none/deep.txt; true";
        const come = async () => {
          while (!exists("docs/begun")) await sleep(20);
          writeFileSync(join(project, "later.txt"), SECRET);
          writeFileSync(join(project, "later/x"), SECRET);
          writeFileSync(join(project, "docs/come"), "");
        };
        const [output] = await Promise.all([play([bash(reading)]), come()]);
        assert.doesNotMatch(output.join(), MARK);
        assert.match(output.join(), /later\.txt: Permission denied/);
        assert.deepEqual([exists("later.txt"), exists("later/x"), exists("src/none")], [true, true, false]);
        const again = await play(
          [
            bash(
              "cat later.txt later/*; echo mine > src/none || mkdir src/none; echo mine > src/none/deep.txt; cat src/none/deep.txt",
            ),
          ],
          [call("write", { path: "src/none/deep.txt", content: "x" })],
        );
        assert.doesNotMatch(again.join(), MARK);
        assert.match(again[1], /is hidden/);
        assert.equal(exists("src/none/deep.txt"), false);
      });

      test("a link that is removed does not uncover what it led to", async (t) => {
        const before = (/** @type {Sandbox} */ { project }) => {
          writeFileSync(join(project, "docs/shared.env"), SECRET);
          rmSync(join(project, ".env"));
          symlinkSync("docs/shared.env", join(project, ".env"));
        };
        const { play } = await limited(t, version, { hide: [".env"] }, { files: FILES, before });
        const results = await play(
          [bash("cat .env docs/shared.env; rm .env; echo mine > .env; cat .env docs/shared.env")],
          [bash("cat docs/shared.env; cat .env")],
          [call("read", { path: "docs/shared.env" })],
        );
        assert.doesNotMatch(results.join(), MARK);
        assert.match(results[2], /is hidden/);
      });

      test("a file with another name elsewhere keeps commands from running", async (t) => {
        const before = (/** @type {Sandbox} */ { project, root }) =>
          linkSync(join(project, F), join(root, "elsewhere"));
        const { play } = await limited(t, version, HIDE, { files: FILES, before });
        const [refused] = await play([bash("cat ../elsewhere")]);
        assert.match(refused, /has another name \(hard link\) outside of the working directory/);
      });

      test("while something tracked is hidden, commands do not commit; objects of git show it", LONG, async (t) => {
        const git =
          "git config user.name x; git config user.email x@x; git config safe.directory '*'; git add tests src; git commit -qm first";
        const prepare = `git init -q; ${git}`;
        const tracked = await limited(t, version, { hide: [`${D}/`] }, { files: FILES, prepare });
        const [commit, show] = await tracked.play(
          [bash("git commit -qam 'without tests'; git rm -rq --cached tests; git log --oneline")],
          [bash(`git show HEAD:${F}`)],
        );
        assert.match(
          commit,
          /Read-only file system[^]*first\n[^]*Read-only, because something hidden is tracked in it/,
        );
        assert.doesNotMatch(commit, /without tests/);
        assert.match(show, MARK, "as the documentation says");
        const untracked = await limited(t, version, { hide: [".env"] }, { files: FILES, prepare });
        const [done] = await untracked.play([bash("echo more > src/x; git commit -qam second; git log --oneline")]);
        assert.match(done, /second/);
      });

      test("a search and a command do not run at the same time", async (t) => {
        const { play } = await limited(t, version, { ...HIDE, ...TOOLS }, { files: FILES });
        const [first, second] = await play([
          bash("sleep 0.5; echo ran"),
          call("grep", { pattern: "visible", path: "src" }),
        ]);
        assert.match(first, /ran/);
        assert.match(second, /A command is running/);
      });

      test("without a sandbox, commands are refused, whatever the phase says of it", async (t) => {
        const folder = mkdtempSync("/var/tmp/no-bwrap-");
        t.after(() => rmSync(folder, { recursive: true }));
        const broken = join(folder, "bwrap");
        writeFileSync(broken, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
        const wrapper = [
          "unshare",
          ...(IS_ROOT ? [] : ["--user", "--map-root-user"]),
          "--mount",
          "sh",
          "-c",
          'for f in $(which -a bwrap); do mount --bind "$0" "$(readlink -f $f)"; done; exec "$@"',
          broken,
        ];
        for (const sandbox of variants(["preferred", "off"])) {
          const { play } = await limited(t, version, { ...HIDE, sandbox }, { files: FILES, pi: { wrapper } });
          const [refused] = await play([bash(`cat ${F}`)]);
          assert.match(refused, /^\[workflow\] Commands are refused in this phase/, sandbox);
        }
      });
    },
  );
}
