// Sockets in the file system: a command line without a network uses its own, and reaches none of programs outside.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { variants } from "../pi/harness/extent.mjs";
import { PYTHON } from "../pi/harness/world.mjs";

const USERS = process.getuid?.() === 0 ? [12345, 0] : [undefined];
/** @param {number | undefined} user */
const as = (user) =>
  user ? ["setpriv", "--reuid", String(user), "--regid", String(user), "--clear-groups", "--"] : [];

/** Serves sockets, stream ones and datagram ones, and writes a line for each that was reached. */
const SERVER = `
import os, select, socket, sys
servers = []
for name in sys.argv[1:]:
    kind = socket.SOCK_DGRAM if name.endswith(".d") else socket.SOCK_STREAM
    server = socket.socket(socket.AF_UNIX, kind)
    path = name
    if path.startswith("cd "):
        folder, path = name[3:].rsplit("/", 1)
        os.chdir(folder)
    server.bind("\\0" + path[1:] if name.startswith("@") else path)
    os.chdir("/")
    if kind == socket.SOCK_STREAM: server.listen()
    elif not name.startswith("@"): os.chmod(path, 0o777)
    servers.append((name, kind, server))
print("ready", flush=True)
while True:
    for name, kind, server in servers:
        if select.select([server], [], [], 0.01)[0]:
            server.accept() if kind == socket.SOCK_STREAM else server.recv(9)
            print("reached " + name, flush=True)
`;

/**
 * Starts a server; it ends with the test.
 *
 * @param {import("node:test").TestContext} t
 * @param {string[]} wrapper
 * @param {string[]} names
 */
async function serve(t, wrapper, names) {
  const [program, ...args] = [...wrapper, PYTHON, "-c", SERVER, ...names];
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => void server.kill("SIGKILL"));
  let output = "";
  server.stdout.on("data", (text) => (output += text));
  for (let tries = 0; !output.includes("ready"); tries += 1) {
    assert.ok(tries < 200, "the server starts");
    await sleep(25);
  }
  return () => output.split("\n").filter((line) => line.startsWith("reached"));
}

/** @param {import("node:test").TestContext} t @param {number | undefined} user */
function folders(t, user) {
  const root = realpathSync(mkdtempSync("/var/tmp/sockets-test-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ["project/src/deep", "project/docs", "runtime", "outside", "home"])
    mkdirSync(join(root, name), { recursive: true });
  if (user !== undefined) execFileSync("chown", ["-R", `${user}:${user}`, root]);
  return root;
}

/**
 * Runs command lines confined.
 *
 * @param {string} root
 * @param {number | undefined} user
 * @param {object} limits
 * @param {string[]} lines
 * @param {string[]} [wrapper]
 * @param {string} [home]
 */
function run(root, user, limits, lines, wrapper = [], home = "home") {
  const host = new URL("confined-host.mjs", import.meta.url).pathname;
  const command = [...wrapper, ...as(user), process.execPath, host, join(root, "project"), JSON.stringify(limits)];
  const [program, ...args] = [...command, ...lines];
  const env = {
    ...process.env,
    HOME: join(root, home),
    XDG_RUNTIME_DIR: join(root, "runtime"),
    SSH_AUTH_SOCK: join(root, "outside/agent"),
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${root}/outside/bus,guid=1`,
    DOCKER_HOST: `unix://${root}/outside/docker`,
  };
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

/** A line that tries to reach each of these sockets. @param {string[]} names */
const reach = (names) => `${PYTHON} -c '
import socket, sys
for name in sys.argv[1:]:
    kind = socket.SOCK_DGRAM if name.endswith(".d") else socket.SOCK_STREAM
    path = "\\0" + name[1:] if name.startswith("@") else name
    try:
        s = socket.socket(socket.AF_UNIX, kind); s.settimeout(1); s.connect(path); print("REACHED", name); s.send(b"x")
    except OSError as error: print(name, error)
    try:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b"x", path); print("REACHED", name, "by a pair")
    except OSError as error: pass
' ${names.map((name) => `'${name}'`).join(" ")}`;

const OWN = `${PYTHON} -c '
import os, socket, sys
for name in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX); s.bind("\\0own" if name == "@" else name); s.listen()
    c = socket.socket(socket.AF_UNIX); c.connect(s.getsockname()); c.send(b"x"); print("works")
    if name != "@": os.remove(name)
'`;

/**
 * Sockets, the lines by which a command with a network hides that they are elsewhere, and their names afterwards. The command
 * may write `outside/`.
 *
 * @type {{ name: string, line: string, moved: string, isLate?: boolean }[]} `isLate` for one that comes while the command runs
 */
const HIDDEN_BY = [
  { name: "cd home/relative", line: "DECOY ../project/relative", moved: "home/relative" },
  { name: "cd home/@name", line: "true", moved: "home/@name" },
  { name: "cd outside/er/@name", line: "mv er/@name other/", moved: "outside/other/@name", isLate: true },
  { name: "home/link/s", line: "mv er new", moved: "outside/new/s", isLate: true },
  { name: "home/link/s", line: "mv er new; ln -s other er; DECOY er/s", moved: "outside/new/s" },
  { name: "outside/er/s", line: "mv er/s other/t", moved: "outside/other/t", isLate: true },
  { name: "outside/er/s", line: "mv er/s other/t; DECOY er/s", moved: "outside/other/t", isLate: true },
  { name: "outside/er/s", line: "mv er/s other/t; chmod 0 other", moved: "outside/other/t", isLate: true },
];

const MKNOD = `${PYTHON} -c 'import os, stat, sys; os.mknod(sys.argv[1], stat.S_IFSOCK | 0o777)'`;

suite("sockets in the file system", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  for (const user of variants(USERS)) {
    const who = user ? ", as an ordinary user" : "";

    test(`of a command line without a network work, and none of others is reached${who}`, async (t) => {
      const root = folders(t, user);
      const at = (/** @type {string} */ path) => join(root, path);
      const abstract = `@sockets-test-${process.pid}`;
      const here = [
        ...["project/top", "project/src/deep/s", "project/src/deep/s.d", "project/docs/s", "runtime/bus"].map(at),
        ...["outside/agent", "outside/bus", "outside/docker", "outside/unnamed", "home/s.d"].map(at),
        ...[abstract, `${abstract}.d`],
        ...["project/docs/relative", "outside/relative"].map((path) => `cd ${at(path)}`),
      ];
      const system = `/run/sockets-test-${process.pid}`;
      const asRoot = process.getuid?.() === 0 ? [system] : [];
      t.after(() => rmSync(system, { force: true }));
      const hits = [await serve(t, as(user), here)];
      if (asRoot.length > 0) hits.push(await serve(t, [], asRoot));
      // A container's: another network, the same files.
      const apart = ["runtime/container", "project/src/container"].map(at);
      const unshare = user === undefined || user === 0 ? ["unshare", "--net"] : ["unshare", "--net", ...as(user)];
      if (process.getuid?.() === 0) hits.push(await serve(t, unshare, apart));
      const names = [...here, ...asRoot, ...apart].map((name) => name.replace(/^cd /, ""));
      const lines = [reach(names), `${OWN} @ $TMPDIR/own`, `${OWN} ${at("project/src/own")}`];
      for (const writable of [[], [at("project/src/")], [at("project/")], ["/"]]) {
        const [tried, own, inSource] = run(root, user, { writable, network: false }, lines);
        assert.equal(tried.refused, undefined);
        assert.doesNotMatch(tried.stdout, /REACHED/, `${writable}`);
        assert.deepEqual(
          hits.flatMap((seen) => seen()),
          [],
          `${writable}`,
        );
        if (writable[0] !== "/") assert.equal(own.stdout, "works\nworks\n", own.stderr);
        if (writable.length > 0) assert.equal(inSource.stdout, "works\n", inSource.stderr);
        assert.equal(existsSync(at("project/top")), true);
      }
      // The same attempts reach them where nothing is confined.
      const [program, ...args] = [...as(user), "bash", "-c", reach(names.filter((name) => !apart.includes(name)))];
      const plain = execFileSync(program, args, { encoding: "utf8" });
      assert.equal((plain.match(/REACHED/g) ?? []).length >= here.length, true, plain);
    });

    test(`stay forbidden with a network, and where those of others cannot be told${who}`, async (t) => {
      const root = folders(t, user);
      const [line] = [`${OWN} $TMPDIR/own`];
      const [withNetwork] = run(root, user, { writable: [], network: true }, [line]);
      assert.match(withNetwork.stderr, /Operation not permitted/);
      const stop = await serve(t, as(user), [`${root}/outside/agent`, `${root}/outside/linked`]);
      const [known] = run(root, user, { writable: [], network: false }, [line]);
      assert.equal(known.stdout, "works\n", known.stderr);
      linkSync(join(root, "outside/linked"), join(root, "outside/other-name"));
      const [linked] = run(root, user, { writable: [], network: false }, [line]);
      assert.match(
        linked.notice,
        /Sockets cannot be used: the socket .*\/outside\/linked has another name \(hard link\)/,
      );
      rmSync(join(root, "outside/other-name"));
      await serve(t, as(user), [`cd ${root}/home/relative`]);
      const [unknown] = run(root, user, { writable: [], network: false }, [line]);
      assert.match(unknown.stderr, /Operation not permitted/);
      assert.match(
        unknown.notice,
        /Sockets cannot be used: the socket relative is not found at its name, and may be elsewhere/,
      );
      assert.deepEqual(stop(), []);
    });

    test(`that vanish or are replaced while a sandbox is built do not keep a command from running${who}`, async (t) => {
      const root = folders(t, user);
      const [gone, folder, replaced] = ["gone", "deep/s", "replaced"].map((path) => join(root, "outside", path));
      const [program, ...args] = [...as(user), "mkdir", join(root, "outside/deep")];
      execFileSync(program, args);
      const sockets = [gone, folder, replaced, `${replaced}-new`];
      const hits = await serve(t, as(user), sockets);
      const meanwhile = `rm -r ${gone} ${root}/outside/deep; mv ${replaced}-new ${replaced}`;
      const limits = { writable: [join(root, "project/src/")], network: false, meanwhile };
      const [tried] = run(root, user, limits, [reach(sockets)]);
      assert.equal(tried.status, 0, tried.stderr);
      assert.match(tried.stdout, /replaced .*refused/);
      assert.deepEqual(hits(), []);
    });

    test(`stay forbidden where a name has a line end${who}`, async (t) => {
      const root = folders(t, user);
      const hits = await serve(t, as(user), [`${root}/outside/of two\nlines`]);
      const [tried] = run(root, user, { writable: [], network: false }, [`${OWN} $TMPDIR/own`]);
      assert.match(tried.stderr, /Operation not permitted/);
      assert.deepEqual(hits(), []);
    });

    test(`in a folder that is closed and opened again are not reached${who}`, async (t) => {
      const root = folders(t, user);
      const [program, ...args] = as(user).concat("sh", "-c");
      const at = (/** @type {string} */ line) => execFileSync(program, [...args, line], { cwd: root });
      at("mkdir outside/shut");
      const socket = join(root, "outside/shut/s");
      const hits = await serve(t, as(user), [socket]);
      const limits = { writable: [join(root, "project/src/")], network: false };
      const [open, closed] = [`chmod 755 ${root}/outside/shut`, `chmod 0 ${root}/outside/shut`];
      for (const [before, meanwhile] of [
        [closed, open],
        [open, `${closed}; (sleep 0.3; ${open}) >/dev/null &`],
      ]) {
        at(before);
        const [tried] = run(root, user, { ...limits, meanwhile }, [`sleep 0.6; ${reach([socket])}`]);
        assert.doesNotMatch(tried.stdout, /REACHED/);
        assert.deepEqual(hits(), []);
      }
    });

    test(`that a command with a network renames, or replaces, are reached by none without${who}`, async (t) => {
      for (const replaces of [false, true]) {
        const root = folders(t, user);
        const [program, ...args] = [...as(user), "mkdir", join(root, "outside/er")];
        execFileSync(program, args);
        const hits = await serve(t, as(user), [join(root, "outside/er/s"), join(root, "outside/t")]);
        const move = `cd ${root}/outside; mv er new; mv t u`;
        const replace = `mkdir er; ${PYTHON} -c 'import os, stat; [os.mknod(p, stat.S_IFSOCK | 0o777) for p in ("er/s", "t")]'`;
        const limits = { writable: [join(root, "outside/")], network: true, then: { writable: [], network: false } };
        const lines = [replaces ? `${move}; ${replace}` : move, reach([`${root}/outside/new/s`, `${root}/outside/u`])];
        const [moved, tried] = run(root, user, limits, lines);
        assert.equal(moved.status, 0, moved.stderr);
        assert.doesNotMatch(tried.stdout, /REACHED/);
        assert.deepEqual(hits(), []);
      }
    });

    for (const { name, line, moved, isLate } of HIDDEN_BY) {
      test(`of ${name} that a command hides by "${line}" are reached by none without a network${who}`, async (t) => {
        const root = folders(t, user);
        const [program, ...args] = as(user).concat("sh", "-c");
        execFileSync(program, [...args, "mkdir outside/er outside/other; ln -s ../outside/er home/link"], {
          cwd: root,
        });
        const served = name.replace(/^(cd )?/, `$1${root}/`);
        const hits = isLate ? () => [] : await serve(t, as(user), [served]);
        // A server that begins after the line was confined.
        const [pid, server] = [`${root}/pid`, `${PYTHON} -c '${SERVER}' '${served}'`];
        const meanwhile = isLate
          ? `chmod 755 ${root}/outside/other; [ -e ${pid} ] || { ${server} >/dev/null 2>&1 & echo $! >${pid}; sleep 0.5; }`
          : undefined;
        const writable = [`${root}/outside/`, `${root}/project/`];
        const limits = { writable, network: true, meanwhile, then: { writable: [], network: false } };
        const hide = `cd ${root}/outside; ${line.replace(/DECOY (\S+)/g, `${MKNOD} $1`)}`;
        const [done, tried] = run(root, user, limits, [hide, reach([`${root}/${moved}`])]);
        if (isLate) process.kill(Number(readFileSync(pid, "utf8")), "SIGKILL");
        assert.equal(done.status, 0, done.stderr);
        assert.doesNotMatch(tried.stdout, /REACHED/);
        assert.deepEqual(hits(), []);
      });
    }

    test(`change nothing of what is read-only or fixed around them${who}`, async (t) => {
      const root = folders(t, user);
      const project = join(root, "project");
      const [program, ...args] = as(user).concat("sh", "-c");
      execFileSync(program, [
        ...args,
        `cd ${root}; mkdir -p project/agent/deep; mv home project/; mkdir dotfiles; ln -s ../../dotfiles project/home/.ssh
        cd project; git init -q; echo x >secret; git add secret; for i in $(seq 1 210); do echo $i >../outside/$i; ln ../outside/$i docs/; done`,
      ]);
      const sockets = ["agent/deep/s", ".git/s", "docs/s", "home/s"].map((path) => join(project, path));
      const hits = await serve(t, as(user), sockets);
      const limits = { network: false, hidden: ["secret"], keepsAgentFolder: true, agent: join(project, "agent") };
      const write = "for f in agent/new agent/deep/new .git/config docs/5; do echo x >>$f && echo wrote $f; done";
      for (const writable of [[`${project}/`], ["/"]]) {
        const [written, tried] = run(
          root,
          user,
          { ...limits, writable },
          [`${write}; true`, reach(sockets)],
          [],
          "project/home",
        );
        assert.equal(written.status, 0, written.stderr);
        assert.equal(written.stdout, writable[0] === "/" ? "wrote docs/5\n" : "", written.stderr);
        assert.doesNotMatch(tried.stdout, /REACHED/);
        assert.deepEqual(hits(), []);
      }
    });

    test(`are used beside hidden paths that nobody can create${who}`, async (t) => {
      const root = folders(t, user);
      mkdirSync(join(root, "closed"), { mode: 0o700 });
      const limits = {
        writable: [],
        network: false,
        hidden: ["/etc/absent/secret", `${root}/closed/absent/schlüssel`, "/proc/1/absent"],
      };
      const [ran, again] = run(root, user, limits, [`${OWN} $TMPDIR/own`, `${OWN} $TMPDIR/own`]);
      assert.deepEqual([ran.stdout, again.stdout], ["works\n", "works\n"], ran.refused ?? ran.stderr);
    });

    test(`of a command line are left to the next one, those of others from before are not${who}`, async (t) => {
      const root = folders(t, user);
      const socket = join(root, "project/src/s");
      const bind = `${PYTHON} -c 'import socket; socket.socket(socket.AF_UNIX).bind("${socket}")'`;
      const limits = { writable: [join(root, "project/src/")], network: false };
      const [made, removed] = run(root, user, limits, [bind, `rm ${socket}`]);
      assert.equal(made.status, 0, made.stderr);
      assert.equal(removed.status, 0, removed.stderr);
      run(root, user, limits, [bind]);
      const [kept] = run(root, user, limits, [`rm ${socket}`]);
      assert.match(kept.stderr, /busy/);
    });
  }

  test(
    "of programs in other mounts are not reached",
    { skip: process.getuid?.() === 0 ? false : "needs root" },
    async (t) => {
      const root = folders(t, 0);
      const at = (/** @type {string} */ path) => join(root, path);
      for (const path of ["again", "project/file", "closed", "of-a-group"]) mkdirSync(at(path));
      const hits = await serve(t, [], [at("outside/s"), at("runtime/t")]);
      const mounted = `mount --bind ${root} ${root}/again; touch ${root}/alone; mount --bind ${root}/outside/s ${root}/alone; exec "$@"`;
      const wrapper = ["unshare", "--mount", "sh", "-c", mounted, "sh"];
      const names = ["outside/s", "again/outside/s", "alone", "runtime/t", "again/runtime/t"].map(at);
      const [tried] = run(root, 0, { writable: [], network: false }, [reach(names)], wrapper);
      assert.match(tried.stdout, /refused/);
      assert.doesNotMatch(tried.stdout, /REACHED/);
      // Without capabilities root does not reach what another user has closed.
      for (const [path, mode, right] of /** @type {const} */ ([
        ["closed", 0o700, /works/],
        ["of-a-group", 0o710, /^$/],
      ])) {
        const more = await serve(t, [], [at(`${path}/s`)]);
        chownSync(at(path), 12345, 12345);
        chmodSync(at(path), mode);
        const [there, own] = run(root, 0, { writable: [], network: false }, [
          reach([at(`${path}/s`)]),
          `${OWN} $TMPDIR/own`,
        ]);
        assert.doesNotMatch(there.stdout, /REACHED/);
        assert.match(own.stdout, right, path);
        assert.deepEqual(more(), []);
      }
      assert.deepEqual(hits(), []);
    },
  );
});
