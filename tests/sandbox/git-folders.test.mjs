// The places at which the folder of git of a project can lie: what `.git/` stands for in `hide` and in `write`.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { some, variants } from "../pi/harness/extent.mjs";

const SECRET = /The-secret-of-the-tests/;
const F = "tests/acceptance/a.txt";
const USERS = process.getuid?.() === 0 ? [12345, 0] : [undefined];

/** Makes a repository with the secret in a folder. */
const HEAD = `set -e
export HOME=$PWD/home GIT_CONFIG_NOSYSTEM=1 GIT_CEILING_DIRECTORIES=\${PWD%/*}; mkdir home
git config --global user.name x; git config --global user.email x@x; git config --global protocol.file.allow always
git config --global init.defaultBranch main; git config --global safe.directory '*'
repository() {
  mkdir -p "$1/src" "$1/tests/acceptance" "$1/packages/a"
  echo The-secret-of-the-tests > "$1/${F}"; echo x > "$1/src/x"; echo p > "$1/packages/a/p"
  git -C "$1" init -q $2; git -C "$1" add .; git -C "$1" commit -qm first
}
`;

/**
 * A place of a folder of git. `cwd` is the project, `secret` the folder of the repository with the secret if it is
 * another one, relative to it; `dirs` are folders of git with the secret, relative to the root.
 * @typedef {{ name: string, make: string, cwd: string, secret?: string, dirs: string[], writable?: boolean }} At
 */
/** @type {At[]} */
const PLACES = [
  { name: "at the top", make: "repository p", cwd: "p", dirs: ["p/.git"] },
  { name: "above the project", make: "repository p", cwd: "p/packages/a", secret: "../..", dirs: ["p/.git"] },
  { name: "of SHA-256", make: "repository p --object-format=sha256", cwd: "p", dirs: ["p/.git"] },
  { name: "of a linked work tree", make: "repository m; git -C m worktree add -q ../p", cwd: "p", dirs: ["m/.git"] },
  {
    name: "of a linked work tree, above the project",
    make: "repository m; git -C m worktree add -q ../p",
    cwd: "p/packages/a",
    secret: "../..",
    dirs: ["m/.git"],
  },
  {
    name: "of a linked work tree with relative paths",
    make: "repository m; git -C m worktree add -q ../p; echo gitdir: ../m/.git/worktrees/p > p/.git; echo ../../../../p/.git > m/.git/worktrees/p/gitdir",
    cwd: "p",
    dirs: ["m/.git"],
  },
  {
    name: "of a linked work tree of a repository without one",
    make: "repository m; git clone -q --bare m b.git; git -C b.git worktree add -q ../p",
    cwd: "p",
    dirs: ["b.git"],
  },
  {
    name: "of a submodule that is the project",
    make: "repository m; mkdir s; git -C s init -q; git -C s submodule --quiet add ../m p; git -C s commit -qm s",
    cwd: "s/p",
    dirs: ["s/.git/modules/p"],
  },
  {
    name: "of a submodule of the project",
    make: "repository m; mkdir p; git -C p init -q; git -C p submodule --quiet add ../m sub; git -C p commit -qm s; mkdir p/src; echo x > p/src/x; git -C p add .",
    cwd: "p",
    secret: "sub",
    dirs: ["p/.git/modules/sub"],
  },
  {
    name: "in a submodule of the project",
    make: "mkdir -p p/src; git -C p init -q; echo x > p/src/x; repository p/sub; git -C p -c advice.addEmbeddedRepo=false add .; git -C p commit -qm s; git -C p update-index --index-version 4",
    cwd: "p",
    secret: "sub",
    dirs: ["p/sub/.git"],
  },
  {
    name: "of a submodule in a linked work tree, with a split index",
    make: "repository m; mkdir -p s/src; echo x > s/src/x; git -C s init -q; git -C s add src; git -C s submodule --quiet add ../m sub; git -C s commit -qm s; git -C s worktree add -q ../p; git -C p submodule --quiet update --init; git -C p update-index --split-index",
    cwd: "p",
    secret: "sub",
    dirs: ["s/.git/worktrees/p/modules/sub", "s/.git/modules/sub"],
  },
  {
    name: "of a local clone, with its objects in hard links",
    make: "repository m; git clone -q m p",
    cwd: "p",
    dirs: ["p/.git"],
  },
  {
    name: "that takes objects from another one",
    make: "repository m; git clone -q --shared m p",
    cwd: "p",
    dirs: ["p/.git"],
  },
  {
    name: "behind a link",
    make: "repository p; mv p/.git g; ln -s ../g p/.git",
    cwd: "p",
    dirs: ["g"],
    writable: false,
  },
  {
    name: "elsewhere, without the name of the work tree",
    make: "repository p; mv p/.git g; echo gitdir: ../g > p/.git",
    cwd: "p",
    dirs: ["g"],
    writable: false,
  },
  {
    name: "elsewhere, with the name of the work tree",
    make: "repository p; mv p/.git g; echo gitdir: ../g > p/.git; git -C g config core.worktree ../p",
    cwd: "p",
    dirs: ["g"],
  },
];

/**
 * @param {import("node:test").TestContext} t
 * @param {string} make a script
 * @param {number | undefined} user
 */
function made(t, make, user) {
  const root = realpathSync(mkdtempSync("/var/tmp/git-folders-test-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  execFileSync("bash", ["-c", `${HEAD}${make}`], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (user !== undefined) execFileSync("chown", ["-Rh", `${user}:${user}`, root]);
  return root;
}

/**
 * Runs command lines confined in a folder, as a user.
 *
 * @param {string} root
 * @param {string} cwd
 * @param {number | undefined} user
 * @param {{ writable: string[], hidden?: string[] }} limits
 * @param {string[]} lines
 * @returns {{ refused?: string, status: number, stdout: string, stderr: string, notice?: string }[]}
 */
function run(root, cwd, user, limits, lines) {
  const as = user
    ? ["setpriv", "--reuid", String(user), "--regid", String(user), "--clear-groups", "--", process.execPath]
    : [process.execPath];
  const [program, ...args] = as;
  const host = new URL("confined-host.mjs", import.meta.url).pathname;
  const { stdout, stderr } = spawnSync(program, [...args, host, cwd, JSON.stringify(limits), ...lines], {
    encoding: "utf8",
    env: { ...process.env, HOME: join(root, "home"), GIT_CONFIG_NOSYSTEM: "1", GIT_CEILING_DIRECTORIES: "/var/tmp" },
  });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

suite("a folder of git", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  for (const user of variants(USERS)) {
    const who = user ? ", as an ordinary user" : "";
    for (const { name, make, cwd: at, secret = ".", dirs, writable = true } of some(PLACES)) {
      test(`${name} is hidden by \`.git/\`${who}`, (t) => {
        const root = made(t, make, user);
        const cwd = join(root, at);
        const file = `${secret === "." ? "" : `${secret}/`}${F}`;
        const lines = [
          `rm -rf /tmp/out; git -C ${secret} show HEAD:${F}; git -C ${secret} checkout-index --prefix=/tmp/out/ -a; cat /tmp/out/${F}`,
          ...dirs.map(
            (dir) => `git --git-dir=${root}/${dir} show HEAD:${F}; git --git-dir=${root}/${dir} log -p --all`,
          ),
        ];
        const shown = run(root, cwd, user, { writable: [], hidden: [file] }, lines);
        for (const { stdout, stderr } of shown) assert.match(stdout, SECRET, stderr);
        const hidden = run(root, cwd, user, { writable: [`${cwd}/`], hidden: [file, ".git/"] }, lines);
        for (const { refused, stdout, stderr } of hidden) {
          assert.equal(refused, undefined);
          assert.doesNotMatch(stdout + stderr, SECRET);
        }
      });

      test(`${name} ${writable ? "takes commits" : "is read-only, and named"} with \`.git/\` in the list${who}`, (t) => {
        const root = made(t, make, user);
        const cwd = join(root, at);
        const top = secret.startsWith("..") ? join(cwd, secret) : cwd;
        const before = existsSync(join(cwd, ".git"));
        const [done, other] = run(root, cwd, user, { writable: [`${top}/src/`, `${cwd}/.git/`] }, [
          `[ -e .git ] || echo none; cd ${top}; echo more >> src/x; git add src && git commit -qm second && git log --oneline -n 1`,
          `echo x > ${top}/new; echo x > ${root}/m/new; echo x > .git`,
        ]);
        assert.equal(done.refused, undefined);
        assert.match(other.stderr, /Read-only file system|Is a directory/);
        for (const path of [join(top, "new"), join(root, "m/new")]) assert.equal(existsSync(path), false);
        if (!writable) {
          assert.match(done.stderr, /Read-only file system/);
          if (name.startsWith("elsewhere"))
            assert.match(done.notice ?? "", /Read-only, because .*\/g, which .* does not name it/);
          return;
        }
        assert.match(done.stdout, before ? /^\w+ second\n$/ : /^none\n\w+ second\n$/, done.stderr);
        assert.equal(existsSync(join(cwd, ".git")), before);
      });
    }
  }
});

const ATTACKS = /** @type {const} */ ([
  [
    "a link to the processes of the system",
    "mkdir src/.git; echo /proc > src/.git/commondir; echo x > src/.git/HEAD",
    "ls /proc | grep -c '^[0-9]'",
    /^[1-9]\n$/,
  ],
  [
    "the system's folder for temporary files",
    "mkdir src/.git; echo /tmp > src/.git/commondir; echo x > src/.git/HEAD",
    "ls /tmp",
    /^$/,
  ],
  ["a pipe", "mkfifo src/.git", "echo ran", /^ran\n$/],
  ["a file without an end", "ln -s /dev/zero src/.git", "echo ran", /^ran\n$/],
  ["a pipe for the index", "git init -q src; mkfifo src/.git/index", "echo ran", /^ran\n$/],
  ["a pipe for what is shared", "git init -q src; mkfifo src/.git/commondir", "echo ran", /^ran\n$/],
  ["an endless index", "git init -q src; truncate -s 10G src/.git/index", "echo ran", /^ran\n$/],
  ["itself", "echo gitdir: .git > src/.git", "echo ran", /^ran\n$/],
  [
    "the root",
    "mkdir src/.git; echo / > src/.git/commondir; echo x > src/.git/HEAD",
    "ls /proc | grep -c '^[0-9]'",
    /^[1-9]\n$/,
  ],
]);

suite(
  "what an agent writes in place of a folder of git",
  { skip: process.platform === "linux" ? false : "needs Linux" },
  () => {
    for (const user of variants(USERS)) {
      const who = user ? ", as an ordinary user" : "";

      test(`leads no later command elsewhere${who}`, (t) => {
        for (const [name, attack, look, right] of some(ATTACKS)) {
          const root = made(t, "repository p; echo x > p/src/secret", user);
          for (const writable of [[`${root}/p/src/`], ["/"]]) {
            if (writable[0] === "/" && name.includes("temporary")) continue;
            const limits = { writable, hidden: ["src/secret"] };
            rmSync(join(root, "p/src/.git"), { recursive: true, force: true });
            const [made, after] = run(root, join(root, "p"), user, limits, [attack, look]);
            assert.equal(made.status, 0, `${name}: ${made.refused ?? made.stderr}`);
            assert.match(after.refused ?? after.stdout, right, `${name}, ${writable}`);
          }
        }
      });

      test(`opens none to writing${who}`, (t) => {
        const root = made(t, "repository p; repository o; repository m; git -C m worktree add -q ../w", user);
        const write = (/** @type {string} */ cwd, /** @type {string[]} */ paths) =>
          run(root, join(root, cwd), user, { writable: paths.map((path) => join(root, path)) }, [
            `echo x > ${root}/o/.git/x; echo x > ${root}/m/.git/x; echo x > ${root}/home/x`,
          ]);
        execFileSync("bash", [
          "-c",
          `cd ${root}/p; rm -rf .git; mkdir f; echo gitdir: ../o/.git > .git; echo ref: x > f/HEAD
         mkdir ../q; echo gitdir: f > ../q/.git; mkdir ../q/f; echo ${root}/q/.git > ../q/f/gitdir; echo ${root}/home > ../q/f/commondir; touch ../home/HEAD
         mkdir ../r; echo gitdir: ../m/.git/worktrees/w > ../r/.git`,
        ]);
        for (const cwd of ["p", "q", "r"]) {
          const [{ stderr, refused }] = write(cwd, [`${cwd}/src/`, `${cwd}/.git/`]);
          assert.equal(refused, undefined);
          assert.equal(stderr.match(/Read-only file system/g)?.length, 3, `${cwd}: ${stderr}`);
        }
      });

      test(`does not lift the protection of the one around it${who}`, (t) => {
        const root = made(t, "repository p", user);
        const limits = { writable: [`${root}/p/`], hidden: [F] };
        const [, after] = run(root, join(root, "p"), user, limits, [
          "git init -q tests",
          "git commit -qam 'without tests'; git log --oneline",
        ]);
        assert.match(after.stdout, /^\w+ first\n$/);
        assert.match(after.notice ?? "", /Read-only, because something hidden is tracked in it.*\/p\/\.git/);
      });

      test(`does not uncover the one that there was before${who}`, (t) => {
        const root = made(t, "repository m; git -C m worktree add -q ../p; mkdir p/other; repository other", user);
        const limits = { writable: [`${root}/p/`], hidden: [".git/"] };
        const [first, second] = run(root, join(root, "p"), user, limits, [
          "rm -f .git; mv .git x; echo gitdir: ../other/.git > .git; true",
          `git --git-dir=${root}/m/.git show HEAD:${F}`,
        ]);
        assert.equal(first.status, 0);
        assert.doesNotMatch(second.stdout, SECRET);
      });

      test(`and many files with hard links elsewhere leave the rest writable, and are named${who}`, (t) => {
        const root = made(
          t,
          `repository m; for n in {1..450}; do echo $n > m/src/$n; done; git -C m add .; git -C m commit -qm more; git clone -q m p
         mkdir -p store p/packages/{a,b}/node_modules/x; for n in {1..150}; do for p in a b; do echo $n > store/$p$n; ln store/$p$n p/packages/$p/node_modules/x/$n; done; done`,
          user,
        );
        const [done] = run(root, join(root, "p"), user, { writable: [`${root}/p/`] }, [
          "echo more >> src/x; git add src && git commit -qm second && git log --oneline -n 1; echo x > packages/a/new; echo x > packages/a/node_modules/x/1",
        ]);
        assert.match(done.stdout, /second/, done.stderr);
        assert.equal(existsSync(join(root, "p/packages/a/new")), true);
        assert.equal(readFileSync(join(root, "store/a1"), "utf8"), "1\n");
        assert.match(done.notice ?? "", /Read-only, because files there have other names \(hard links\).*node_modules/);
      });
    }
  },
);
