// The links and folders on the way to what must not change: none of them is led elsewhere by a command.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { unlessFails } from "#sandbox";
import { variants } from "../pi/harness/extent.mjs";

const USERS = process.getuid?.() === 0 ? [12345, 0] : [undefined];
/** The tree of work in `project`, which is linked to the repository in `main`. The file `secret` is tracked. */
const WORK_TREE = `git init -q ../main; cd ../main; echo x >secret; git add .; git -c user.name=x -c user.email=x@x commit -qm first
git worktree add -q ../project/tree; cd ../home`;
const COMMIT = "git rm -q --cached secret; git -c user.name=x -c user.email=x@x commit -qm absent";

/**
 * A way to what must not change. The lines run in `home`: `make` before the session, `attack` confined, `outside` not
 * confined, after each confined line was made.
 * @typedef {{ name: string, make: string, attack: string[], outside?: string, kept: string, is?: RegExp, refused?: RegExp, everybody?: boolean, limits?: object }} Way
 * `kept` is a file that must not be `theirs` afterwards.
 */
/** @type {Way[]} */
const WAYS = [
  {
    name: "a second link to the folder of keys",
    make: "mkdir -p dots real/ssh; ln -s dots/ssh .ssh; ln -s ../real/ssh dots/ssh",
    attack: ["rm dots/ssh; mkdir dots/ssh; echo theirs >dots/ssh/authorized_keys"],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "a linked folder on the way to the folder of keys",
    make: "mkdir -p dots/ssh; ln -s dots by; ln -s by/ssh .ssh",
    attack: [
      "rm by; mkdir -p by/ssh; echo theirs >by/ssh/authorized_keys",
      "mv dots gone; mkdir -p dots/ssh; echo theirs >dots/ssh/authorized_keys",
    ],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "a second link that leads upwards",
    make: "mkdir -p dots/in real/ssh; ln -s dots/in/../ssh .ssh; ln -s ../real/ssh dots/ssh; ln -s .. real/up; ln -s real/up/.ssh2 dots/in/x",
    attack: ["rm dots/ssh; mkdir dots/ssh; echo theirs >dots/ssh/authorized_keys"],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "links to the folder of keys in folders in each other",
    make: "mkdir -p dots/deep real/ssh; ln -s dots/deep/ssh .ssh; ln -s ../ssh dots/deep/ssh; ln -s ../real/ssh dots/ssh",
    attack: [
      "rm dots/deep/ssh dots/ssh; mkdir dots/deep/ssh dots/ssh; echo theirs | tee dots/ssh/authorized_keys dots/deep/ssh/authorized_keys",
    ],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "a loop",
    make: "mkdir dots; ln -s dots/a .ssh; ln -s ../.ssh dots/a",
    attack: ["rm dots/a; mkdir dots/a; echo theirs >dots/a/authorized_keys"],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "a link to nothing",
    make: "mkdir dots; ln -s dots/ssh .ssh; ln -s none/ssh dots/ssh",
    attack: [
      "mkdir -p dots/none/ssh; echo theirs >dots/none/ssh/authorized_keys",
      "rm dots/ssh; mkdir dots/ssh; echo theirs >dots/ssh/authorized_keys",
    ],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "a folder of keys that is not there, in a closed folder",
    make: "chmod 555 .",
    attack: ["chmod 755 .; mkdir .ssh; echo theirs >.ssh/authorized_keys"],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "a second link in a closed folder",
    make: "mkdir -p dots real/ssh; ln -s dots/ssh .ssh; ln -s ../real/ssh dots/ssh; chmod 555 dots",
    attack: ["chmod 755 dots; rm dots/ssh; mkdir dots/ssh; echo theirs >dots/ssh/authorized_keys"],
    kept: ".ssh/authorized_keys",
  },
  {
    name: "a linked folder in the agent's folder",
    make: "mkdir -p dots/wf .agent; echo mine >dots/wf/settings.yaml; ln -s ../dots/wf .agent/workflows",
    attack: [
      "echo theirs >dots/wf/settings.yaml",
      "echo theirs >new; mv new dots/wf/settings.yaml",
      "mv dots gone; mkdir -p dots/wf; echo theirs >dots/wf/settings.yaml",
    ],
    kept: ".agent/workflows/settings.yaml",
    is: /^mine/,
  },
  {
    name: "links in a linked folder in the agent's folder",
    make: "mkdir -p dots/wf by/x .agent; echo mine >by/x/settings; ln -s ../../by/settings dots/wf/settings.yaml; ln -s x/settings by/settings; ln -s ../dots/wf .agent/workflows",
    attack: [
      "echo theirs >by/x/settings",
      "rm by/settings; echo theirs >by/settings",
      "mv by/x by/y; mkdir by/x; echo theirs >by/x/settings",
    ],
    kept: ".agent/workflows/settings.yaml",
    is: /^mine/,
  },
  {
    name: "a linked file in the agent's folder",
    make: "mkdir -p dots .agent; echo mine >dots/settings.json; ln -s ../dots/settings.json .agent/settings.json",
    attack: ["echo theirs >dots/settings.json", "echo theirs >new; mv new dots/settings.json; rm dots/settings.json"],
    kept: ".agent/settings.json",
    is: /^mine/,
  },
  {
    name: "a linked file in the agent's folder that has another name",
    make: "mkdir -p dots .agent; echo mine >dots/settings.json; ln dots/settings.json other; ln -s ../dots/settings.json .agent/settings.json",
    attack: ["echo theirs >other"],
    limits: { writable: ["home/"] },
    kept: ".agent/settings.json",
    is: /^mine/,
  },
  {
    name: "a link to a name that is not UTF-8",
    make: "mkdir dots real; ln -s dots/ssh .ssh; ln -s \"$(printf '../real/\\377')\" dots/ssh",
    attack: ["mkdir \"$(printf 'real/\\377')\"; echo theirs >.ssh/authorized_keys"],
    kept: ".ssh/authorized_keys",
    refused: /dots\/ssh leads to a name that is not UTF-8/,
    everybody: true,
  },
  {
    name: "a link to nothing in the agent's folder",
    make: "mkdir -p dots .agent/extensions; ln -s ../dots/none/models.json .agent/models.json; ln -s ../../dots/x.js .agent/extensions/x.js",
    attack: ["mkdir -p dots/none; echo theirs >dots/none/models.json", "echo theirs >dots/x.js"],
    kept: ".agent/models.json .agent/extensions/x.js",
  },
  {
    name: "a link of an extension in the agent's folder",
    make: "mkdir -p dots/e .agent/extensions/e; echo mine >dots/e/i.js; ln -s ../../../dots/e/i.js .agent/extensions/e/index.js",
    attack: ["echo theirs >dots/e/i.js"],
    kept: ".agent/extensions/e/index.js",
    is: /^mine/,
  },
  ...[
    ["that is moved away", "mv tree/.git git", "mv git tree/.git"],
    ["that is emptied", "cp tree/.git git; echo nothing >tree/.git", "cp git tree/.git"],
    ["that is closed", "chmod 000 tree/.git", "chmod 644 tree/.git"],
  ].map(([name, away, back]) => ({
    name: `a file of git ${name}`,
    make: WORK_TREE,
    attack: [
      `cd ../project; ${away}`,
      `cd ../project; ${back}; cd tree; ${COMMIT}; git log --format=%s >../../home/log; grep absent ../../home/log && echo theirs >../../home/log`,
    ],
    limits: { writable: ["project/", "main/.git/", "home/"], hidden: ["project/tree/secret"] },
    kept: "log",
    refused: name.includes("closed") ? /\/tree\/\.git: permission denied/ : undefined,
  })),
  {
    name: "a folder of git that is closed",
    make: "cd ../project; git init -q; echo x >secret; git add .; git -c user.name=x -c user.email=x@x commit -qm first; chmod 000 .git",
    attack: [`cd ../project; chmod 755 .git; ${COMMIT}; git log --format=%s | grep absent && echo theirs >../home/log`],
    limits: { writable: ["project/", "home/"], hidden: ["project/secret"] },
    kept: "log",
    refused: /Open it: chmod/,
  },
  {
    name: "objects of git in a closed folder",
    make: "git init -q shut/o; echo theirs >shut/o/x; git -C shut/o add .; rm -r ../project; git clone -qs shut/o ../project 2>&1; chmod 000 shut",
    attack: ["git --git-dir=shut/o/.git cat-file -p :x >../project/seen"],
    outside: "chmod 755 shut",
    limits: { writable: ["project/"], hidden: [".git/"] },
    kept: "../project/seen",
    refused: /Open it: chmod/,
  },
  {
    name: "a hidden name in a closed folder",
    make: "mkdir ../project/shut; chmod 555 ../project/shut",
    attack: ["chmod 755 ../project/shut; echo theirs >../project/shut/secret"],
    limits: { writable: ["project/"], hidden: ["shut/secret"] },
    kept: "../project/shut/secret",
    refused: /Open it: chmod/,
  },
];

/**
 * A folder with `home` and `project`, and confined lines in it.
 * @param {import("node:test").TestContext} t
 * @param {number | undefined} user
 */
function folder(t, user) {
  const root = realpathSync(mkdtempSync("/var/tmp/ways-test-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const as = user ? ["setpriv", "--reuid", String(user), "--regid", String(user), "--clear-groups", "--"] : [];
  execFileSync("sh", ["-c", `mkdir home project; ${user ? `chown -R ${user}:${user} .` : ""}`], { cwd: root });
  const env = {
    ...process.env,
    HOME: join(root, "home"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: "/var/tmp",
  };
  const spawn = (/** @type {string[]} */ command) => {
    const [program, ...args] = [...as, ...command];
    return spawnSync(program, args, { cwd: join(root, "home"), encoding: "utf8", env });
  };
  const host = new URL("confined-host.mjs", import.meta.url).pathname;
  return {
    root,
    shell: (/** @type {string} */ line) => assert.equal(spawn(["sh", "-ec", line]).stderr, ""),
    run(/** @type {object} */ limits, /** @type {string[]} */ lines) {
      const { stdout, stderr } = spawn([
        process.execPath,
        host,
        join(root, "project"),
        JSON.stringify(limits),
        ...lines,
      ]);
      assert.notEqual(stdout, "", stderr);
      return JSON.parse(stdout);
    },
  };
}

suite("the way to what must not change", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  for (const user of variants(USERS))
    for (const { name, make, attack, outside, limits, kept, is = /^$/, refused, everybody } of WAYS)
      for (const everything of limits ? [false] : [false, true])
        test(`by ${name} stays as it is${everything ? ", where everything is writable" : ""}${user ? ", as an ordinary user" : ""}`, (t) => {
          const { root, shell, run } = folder(t, user);
          shell(make);
          const { writable = ["home/"], ...other } = /** @type {{ writable?: string[] }} */ (limits ?? {});
          const agent = join(root, "home/.agent");
          const all = { keepsAgentFolder: true, agent, meanwhile: outside && `cd ${root}/home; ${outside}`, ...other };
          const paths = everything ? ["/"] : writable.map((path) => join(root, path));
          const given = /** @type {any} */ (all);
          if (given.hidden)
            given.hidden = given.hidden.map((/** @type {string} */ path) =>
              path.startsWith("project/") ? join(root, path) : path,
            );
          const results = run(
            { ...all, writable: paths },
            attack.map((line) => `cd ${root}/home; ${line}`),
          );
          for (const path of kept.split(" "))
            assert.match(unlessFails(() => readFileSync(join(root, "home", path), "utf8")) ?? "", is);
          // As root nothing is closed.
          if (refused && (everybody || user !== 0)) assert.match(results.at(-1).refused, refused);
          else for (const result of results) assert.equal(result.refused, undefined);
        });
});
