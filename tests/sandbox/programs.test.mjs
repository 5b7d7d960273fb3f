// Programs, libraries and start-up files that run outside of the sandbox: no command of the agent can change one.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { findProgram, projectOfSearch } from "../../sandbox/programs.js";
import { known } from "../../sandbox/known.js";
import { LONG } from "../pi/harness/extent.mjs";

const HOST = new URL("confined-host.mjs", import.meta.url).pathname;
/** As `root` also an ordinary user: `root` can write everything. */
const USERS = process.getuid?.() === 0 ? [undefined, 12345] : [undefined];
/** An ordinary PATH, with folders of the user before those of the system. */
const PATH = "HOME/.local/bin:HOME/none/bin:/usr/local/bin:/usr/bin:/bin";

/**
 * Lines of an agent that write what is read or run outside of the sandbox with the next one, with `EVIL` for a line that
 * writes a file outside of the paths that may be written. `there` are files that are there before.
 * @type {Record<string, { lines: string[], env?: Record<string, string>, shell?: string, prefix?: string, there?: Record<string, string>, writable?: string[], cwd?: string, needs?: string }>}
 */
const WAYS = {
  "`cat`, for the test of the sandbox": {
    there: { "home/.local/bin/cat": '#!/bin/sh\necho x > /proc/self/fd/7ROOT/outside/cat\nexec /bin/cat "$@"\n' },
    lines: [":"],
  },
  "`cat`, for a shell other than bash": {
    shell: "/bin/sh",
    there: { "home/.local/bin/cat": '#!/bin/sh\necho x > /proc/self/fd/7ROOT/outside/cat\nexec /bin/cat "$@"\n' },
    lines: [":"],
  },
  "the start-up file of bash": { env: { BASH_ENV: "HOME/.env" }, lines: ["echo 'EVIL' > ~/.env"] },
  "the start-up file of bash, through a link": {
    env: { BASH_ENV: "HOME/link/env" },
    there: { "home/real/env": ":" },
    lines: [
      "rm ~/link; mkdir ~/link; echo 'EVIL' > ~/link/env",
      "echo 'EVIL' > ~/real/env",
      "mv ~/real ~/other; mkdir ~/real; echo 'EVIL' > ~/real/env",
    ],
  },
  "the start-up file of bash, beside the project": {
    env: { BASH_ENV: "project/env" },
    writable: ["home/project/"],
    cwd: "home",
    lines: ["echo 'EVIL' > ~/project/env"],
  },
  "the start-up file of bash, by another name": {
    env: { BASH_ENV: "HOME/named" },
    lines: ["echo 'EVIL' > ~/named-too", "echo 'EVIL' > ~/named"],
  },
  "the start-up file of zsh": { shell: "/usr/bin/zsh", lines: ["echo 'EVIL' > ~/.zshenv"] },
  "the start-up file of zsh in a folder that is not there": {
    shell: "/usr/bin/zsh",
    env: { ZDOTDIR: "HOME/a/b" },
    lines: ["mkdir -p ~/a/b; echo 'EVIL' > ~/a/b/.zshenv"],
  },
  "a file that the command prefix reads": {
    prefix: "[ -f ~/.aliases ] && . ~/.aliases; . $HOME/.rc",
    there: { "home/.aliases": ":", "home/.rc": ":" },
    lines: ["echo 'EVIL' > ~/.aliases", "echo 'EVIL' > ~/.rc"],
  },
  "a library": {
    env: { LD_PRELOAD: "HOME/lib/p.so" },
    lines: ["mkdir -p ~/lib; cp ~/p.so ~/lib/p.so"],
    needs: "cc",
  },
  "a library in its own folder for temporary files": {
    env: { LD_PRELOAD: "/tmp/p.so" },
    lines: ["cp ~/first.so /tmp/p.so", ":"],
    needs: "cc",
  },
  "the start-up file of a bash below ssh": { env: { SSH_CLIENT: "x", SHLVL: "0" }, lines: ["echo 'EVIL' > ~/.bashrc"] },
  "a library without a folder": {
    env: { LD_PRELOAD: "p2.so", LD_LIBRARY_PATH: "/none:HOME/lib/" },
    lines: ["mkdir -p ~/lib; cp ~/p.so ~/lib/p2.so"],
    needs: "cc",
  },
  "a library in the working directory": {
    env: { LD_PRELOAD: "p2.so", LD_LIBRARY_PATH: "/none:" },
    cwd: "home",
    lines: ["cp ~/p.so ~/p2.so"],
    needs: "cc",
  },
};

suite("outside of the sandbox", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  for (const user of USERS)
    for (const [
      name,
      { lines, env = {}, shell, prefix, there = {}, writable = ["home/"], cwd = "home/project", needs = shell },
    ] of Object.entries(WAYS))
      test(`the agent does not write ${name}${user ? ", of an ordinary user" : ""}`, user ? LONG : {}, (t) => {
        if (needs && spawnSync("sh", ["-c", `command -v ${needs}`]).status !== 0) return t.skip(`needs ${needs}`);
        const { root, home, run } = place(t, user, there);
        symlinkSync("real", join(home, "link"));
        writeFileSync(join(home, "named"), "");
        linkSync(join(home, "named"), join(home, "named-too"));
        if (needs === "cc") {
          // `first` writes by the descriptor that the first process of the sandbox has.
          for (const [name, at] of Object.entries({ p: "", first: "/proc/self/fd/7" })) {
            const opens = `open("${at}${root}/outside/library", O_CREAT | O_WRONLY, 0644);`;
            const input = `#include <fcntl.h>\n__attribute__((constructor)) static void f(void) { ${opens} }\n`;
            execFileSync("cc", ["-shared", "-fPIC", "-xc", "-", "-o", join(home, `${name}.so`)], { input });
          }
        }
        const before = readdirSync(home);
        const given = { writable: writable.map((path) => join(root, path)), shell, prefix };
        const results = run(join(root, cwd), given, env, ...lines, "echo the end");
        assert.deepEqual(readdirSync(join(root, "outside")), [], JSON.stringify(results));
        assert.deepEqual(readdirSync(home), before, "nothing is left");
        assert.match(results.at(-1).stdout, /^the end/m, JSON.stringify(results));
      });

  for (const user of USERS)
    for (const writable of ["home/", "/"])
      test(
        `no command puts a program before that of the system: ${writable}${user ? ", of an ordinary user" : ""}`,
        user ? LONG : {},
        (t) => {
          const { root, home, run } = place(t, user, {
            "home/.local/bin/rg": "#!/bin/sh\n",
            "home/.local/bin/other": "",
          });
          const names = ["rg", "fd", "fdfind", "git"].flatMap((name) => [`~/.local/bin/${name}`, `~/none/bin/${name}`]);
          const lines = names.flatMap((path) => [
            `mkdir -p $(dirname ${path}); echo x > ${path}`,
            `rm -f ${path}; cp /bin/true ${path}`,
          ]);
          const moves = [
            "mv ~/.local ~/.moved",
            "mv ~/.local/bin ~/.local/moved",
            "mkdir ~/agent; mkdir ~/agent/bin; echo x > ~/agent/bin/rg",
          ];
          const given = {
            writable: [writable === "/" ? "/" : join(root, writable)],
            programs: join(home, "agent/bin"),
          };
          const results = run(join(home, "project"), given, {}, ...lines, ...moves, "echo x > ~/.local/bin/other");
          assert.deepEqual(
            results.map(({ status }) => status === 0),
            [...results.slice(1).map(() => false), true],
            JSON.stringify(results),
          );
          assert.match(results[0].notice, /Read-only, because programs outside of the sandbox start from it/);
          assert.deepEqual(
            [existsSync(join(home, "none")), readdirSync(join(home, ".local/bin"))],
            [false, ["other", "rg"]],
          );
          assert.equal(existsSync(join(home, "agent/bin/rg")), false);
        },
      );

  test("a shell that cannot begin a command, and a variable that only a shell can expand, are refused with the way out", (t) => {
    const { root, home, run } = place(t);
    const fish = join(home, "fish");
    writeFileSync(fish, "#!/bin/sh\n");
    chmodSync(fish, 0o755);
    const [of] = [
      (/** @type {object} */ more, env = {}) =>
        run(join(home, "project"), { writable: [join(root, "home/")], ...more }, env, ":")[0].refused,
    ];
    assert.match(of({ shell: fish }), /fish does not read the lines of sh.*: set shellPath to bash, zsh or sh$/);
    assert.match(of({ shell: join(home, "project/sh") }), /project\/sh lies in the project.* settings$/);
    assert.match(
      of({}, { BASH_ENV: "$OTHER/.env" }),
      /^BASH_ENV is \$OTHER\/.env, which only a shell can expand. Set it to a path$/,
    );
  });

  test("a program of the project is not run, and one of PATH only if no command can have written it", (t) => {
    const { home } = place(t, undefined, {
      "home/project/bin/rg": "#!/bin/sh\n",
      "home/project/bin/bwrap": "",
      "home/.local/bin/mine": "",
    });
    const before = { ...process.env };
    t.after(() => (Object.assign(process.env, before), known.projects.clear(), known.programs.clear()));
    const project = join(home, "project");
    process.env.HOME = home;
    process.env.PATH = `${project}/bin:${home}/.local/bin:/usr/bin:/bin`;
    known.projects.add(project);
    assert.equal(findProgram("bwrap"), "/usr/bin/bwrap");
    assert.equal(findProgram("mine", true), join(home, ".local/bin/mine"));
    assert.equal(findProgram("not-there"), undefined);
    assert.throws(() => findProgram(join(project, "bin/rg"), true), /project\/bin\/rg lies in the project/);
    assert.throws(
      () => projectOfSearch("grep", "/none"),
      /project\/bin\/rg lies in the project.*Take its folder out of PATH/,
    );
    assert.equal(projectOfSearch("find", "/none"), project, "a command could put it there");
    assert.equal(projectOfSearch("grep", join(project, "bin")), undefined, "the host takes its own");
    rmSync(join(project, "bin/rg"));
    symlinkSync(join(project, "bin/bwrap"), join(home, ".local/bin/rg"));
    assert.throws(() => projectOfSearch("grep", "/none"), /\.local\/bin\/rg lies in the project/);
    known.projects.add(home);
    known.projects.delete(project);
    assert.equal(projectOfSearch("grep", "/none"), undefined, "a session at home");
  });
});

/**
 * A home with a project, and a folder beside it.
 * @param {import("node:test").TestContext} t
 * @param {number} [user]
 * @param {Record<string, string>} [files]
 */
function place(t, user, files = {}) {
  const root = mkdtempSync("/var/tmp/programs-");
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, "home");
  for (const folder of ["outside", "home/project", "home/.local/bin", "home/.ssh"])
    mkdirSync(join(root, folder), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text.replaceAll("ROOT", root), { mode: 0o755 });
  }
  const filled = (/** @type {string} */ text) =>
    text.replaceAll("HOME", home).replaceAll("EVIL", `echo x > ${root}/outside/file`);
  /** @param {string} cwd @param {object} limits @param {Record<string, string>} env @param {...string} lines @returns {any[]} */
  const run = (cwd, limits, env, ...lines) => {
    execFileSync("chown", ["-Rh", `${user ?? process.getuid?.()}`, root]);
    const wrapper = user ? ["setpriv", "--reuid", `${user}`, "--regid", `${user}`, "--clear-groups", "--"] : [];
    // A library of the test is not for the host itself.
    const more = Object.entries({ PATH, ...env }).map(([name, value]) => `${name}=${filled(value)}`);
    const words = [
      ...wrapper,
      "env",
      `HOME=${home}`,
      `TMPDIR=/tmp`,
      ...more,
      process.execPath,
      HOST,
      cwd,
      JSON.stringify(limits),
    ];
    const { stdout, stderr } = spawnSync(words[0], [...words.slice(1), ...lines.map(filled)], {
      encoding: "utf8",
      cwd,
    });
    assert.notEqual(stdout, "", stderr);
    return JSON.parse(stdout);
  };
  return { root, home, run };
}
