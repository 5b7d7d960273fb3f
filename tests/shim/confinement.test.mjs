// The outcome `confine`: command lines that run confined, and the paths of pi's file tools.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { constants, homedir, tmpdir, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  SettingsManager,
  createEditToolDefinition,
  createReadToolDefinition,
  createWriteToolDefinition,
} from "@earendil-works/pi-coding-agent";
import { resolveWrite } from "#sandbox";
import { runningCommands } from "../../sandbox/running-commands.js";
import { Confinement } from "../../host-shim/confinement.js";
import { LONG, variants } from "../pi/harness/extent.mjs";
import { CODING_AGENT, loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

/** @typedef {import("../../target/types/interfaces/pi-extension-guest.js").Confinement} Limits */

/**
 * A project with `docs/plan.md` and `src/main.rs`, and an agent directory.
 *
 * @param {import("node:test").TestContext} t
 */
function project(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "confinement-test-")));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write("docs/plan.md", "plan");
  write("src/main.rs", "main");
  mkdirSync(join(root, "agent"));
  return { root, write, read: (/** @type {string} */ path) => readFileSync(join(root, path), "utf8") };
}

/** Ends the sessions of a test. @type {(() => void)[]} */
const sessions = [];
afterEach(() => sessions.splice(0).forEach((end) => end()));

/**
 * A loaded guest that confines every call within these limits; without limits it allows all.
 *
 * @param {string} root
 * @param {Partial<Limits> | undefined} limits
 * @param {object} [manifest]
 * @param {boolean} [guarding] true if it guards tools from the beginning
 */
function confining(root, limits, manifest = { confine: true }, guarding = true) {
  const pi = standIn();
  const tools = [createReadToolDefinition(root), createEditToolDefinition(root), createWriteToolDefinition(root)].map(
    (tool) => ({ ...tool, sourceInfo: { source: "builtin" } }),
  );
  pi.behaviour.getAllTools = () =>
    tools.map((tool) => ({ sourceInfo: { source: "cli" }, ...(pi.registered.get(`tool ${tool.name}`) ?? tool) }));
  const outcome = limits
    ? {
        tag: "confine",
        val: {
          writable: [],
          hidden: [],
          network: true,
          notice: "Only docs/ is writable.",
          signs: ["read-only file system"],
          ...limits,
        },
      }
    : { tag: "none" };
  /** @type {Record<string, any>} */
  let given = {};
  const guest = plainGuest((imports) => ({
    init: () => {
      given = imports;
      imports["pi:extension/api"].on("tool-call");
      if (guarding) imports["pi:extension/api"].guardTools(true);
    },
    handleEvent: (/** @type {unknown} */ _, /** @type {{ tag: string }} */ event) =>
      event.tag === "tool-call" ? outcome : { tag: "none" },
  }));
  Object.assign(CODING_AGENT, {
    SettingsManager,
    createEditToolDefinition,
    createReadToolDefinition,
    createWriteToolDefinition,
  });
  loadInto(pi, guest, manifest, join(root, "agent"));
  const context = pi.context({
    cwd: root,
    sessionManager: { getSessionId: () => root, getLeafEntry: () => undefined, getEntry: () => undefined },
  });
  let calls = 0;
  /** Emits a call, and returns its id, its input as changed, and the reason for its refusal. */
  const call = async (/** @type {string} */ toolName, /** @type {any} */ input, /** @type {object} */ more = {}) => {
    const toolCallId = `call-${calls++}`;
    const answer = await pi.emit("tool_call", { toolName, toolCallId, input, ...more }, context);
    return { toolCallId, input, refused: answer?.block ? answer.reason : undefined };
  };
  sessions.push(() => pi.emit("session_shutdown", {}, context));
  const end = (/** @type {string} */ toolCallId) => pi.emit("tool_execution_end", { toolCallId }, context);
  /** Runs a command line as pi does, after the guest confined it. */
  const run = async (/** @type {string} */ command) => {
    const { toolCallId, input, refused } = await call("bash", { command });
    assert.equal(refused, undefined, command.slice(0, 100));
    const result = bash(input.command, root);
    end(toolCallId);
    return result;
  };
  if (guarding) pi.emit("turn_start");
  /** Emits a call of a file tool, executes it, and returns the text of its result. */
  const use = async (/** @type {string} */ toolName, /** @type {any} */ input) => {
    const { refused } = await call(toolName, input);
    if (refused !== undefined) return refused;
    return pi.tool(toolName, input, context).then(
      (/** @type {any} */ { content }) => content[0].text,
      (/** @type {Error} */ { message }) => message,
    );
  };
  const running = () => given["pi:extension/context"].runningCalls().map((/** @type {any} */ { name }) => name);
  return { pi, context, call, end, run, use, running };
}

/** @param {string} command @param {string} cwd */
function bash(command, cwd) {
  const { status, signal, stdout, stderr } = spawnSync("bash", ["-c", command], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { status: status ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)], stdout, stderr };
}

suite("a confined command line", () => {
  test("means the same as without limits, whatever is in it", async (t) => {
    const { root } = project(t);
    const { run } = confining(root, {});
    const lines = [
      "echo one\necho two",
      `echo 'a'"b"\\''c'`,
      `echo "$(echo '"x"')" \`echo y\``,
      "echo $'tab\\tquote\\'end\\n'",
      "echo '$HOME' \"$HOME\" $0 $# $@ end",
      "echo a; exit 3",
      "no-such-program",
      "kill -TERM $$",
      "kill -KILL $$",
      "cat <<'EOF'\n'$x' `y` \"z\"\nEOF",
      "cat <<EOF\n$((1 + 1))\nEOF",
      "echo \\\\ \\' \\\" \\$ !$ !! # not this",
      "printf '%s\\n' * 'docs/*' {a,b} ~",
      "echo end of line\\\n continued",
      "true &&",
      "for i in 1 2; do echo $i >&2; done",
      "echo ünïcödé 🦊 \u200b\u202e",
      "\r\n echo carriage return",
      "",
      "   ",
      "pwd; echo $PWD",
      "cat; echo no input",
      "set -o pipefail; false | true; echo $?",
      "trap 'echo trapped' EXIT; exit 4",
      "if then",
      "printf 'x%.0s' {1..70000} | wc -c",
      `echo ${"x".repeat(100_000)} | wc -c`,
      `: ${"'\"".repeat(5_000)}; echo quotes`,
    ];
    for (const line of lines) {
      const plain = bash(line, root);
      assert.deepEqual(await run(line), plain, JSON.stringify(line.slice(0, 100)));
    }
    // A word of options is a command like any other.
    assert.match((await run("-x --version")).stderr, /-x: command not found/);
  });

  test("that was killed has its result when its processes have ended", async (t) => {
    const { root } = project(t);
    const { pi, call, end, context, running } = confining(root, {});
    const { toolCallId } = await call("bash", { command: "true" });
    let left = 3;
    t.mock.method(runningCommands, "isLeft", () => (left -= 1) > 0);
    const result = (/** @type {AbortSignal} */ signal) =>
      pi.emit(
        "tool_result",
        { toolName: "bash", toolCallId, content: [{ type: "text", text: "Killed" }] },
        { ...context, signal },
      );
    const { signal } = new AbortController();
    assert.equal(await result(signal), undefined);
    assert.equal(left, -1);
    left = Infinity;
    assert.equal(await result(AbortSignal.timeout(100)), undefined);
    let now = 0;
    const clock = t.mock.method(performance, "now", () => (now += 6000));
    const { content } = await result(signal);
    clock.mock.restore();
    assert.deepEqual(
      content.map((/** @type {any} */ { text }) => text),
      [
        "Killed",
        "Processes of a killed command have not ended yet. Until they have, commands and searches are refused.",
      ],
    );
    assert.deepEqual(running(), ["bash"]);
    end(toolCallId);
    assert.deepEqual(running(), ["bash"]);
    left = 0;
    assert.deepEqual(running(), []);
    // The agent's next run, and a command of the user, begin when they have ended.
    left = 3;
    await pi.emit("agent_start", {}, { ...context, signal });
    assert.equal(left, 0);
  });

  test("is refused if it cannot be a command line, or is too long with its limits", async (t) => {
    const { root } = project(t);
    const { call } = confining(root, {});
    for (const [command, reason] of [
      ["echo \0", /NUL/],
      ["x".repeat(131_000), /too long/],
    ]) {
      assert.match((await call("bash", { command })).refused, /** @type {RegExp} */ (reason));
    }
    const { call: callWithNew } = confining(root, { writable: [`${root}/new/file`] });
    assert.match((await callWithNew("bash", { command: "x".repeat(131_000) })).refused, /too long/);
    assert.equal(existsSync(join(root, "new")), false);
    for (const input of [{}, { command: 1 }, { command: ["x"] }, null, "x"])
      assert.match((await call("bash", input)).refused, /cannot be confined/);
  });

  test("writes the listed folders, and its own folder for temporary files", async (t) => {
    const { root, read } = project(t);
    const { run } = confining(root, { writable: [`${root}/docs/`] });
    const { status, stderr } = await run(
      "echo new > docs/plan.md && echo t > /tmp/t && echo t >> $TMPDIR/t; echo x > src/main.rs; echo x > new; echo x > ~/new-file",
    );
    assert.equal(status, 1);
    assert.equal(stderr.match(/Read-only file system/g)?.length, 3);
    assert.deepEqual(
      [
        read("docs/plan.md"),
        read("src/main.rs"),
        existsSync(join(root, "new")),
        existsSync(join(homedir(), "new-file")),
      ],
      ["new\n", "main", false, false],
    );
    assert.equal((await run("cat /tmp/t")).stdout, "t\nt\n");
    assert.equal(existsSync("/tmp/t"), false);
  });

  test("can create listed files and folders, which otherwise are not left behind", async (t) => {
    const { root, read } = project(t);
    const { run } = confining(root, {
      writable: [`${root}/new/sub/file.md`, `${root}/build/`, `${root}/docs/`, `${root}/docs/plan.md`],
    });
    await run("true");
    assert.equal(existsSync(join(root, "new")), false);
    assert.equal(existsSync(join(root, "build")), false);
    assert.equal((await run("echo made > new/sub/file.md; mkdir build/a; ls new/sub")).status, 0);
    assert.equal(read("new/sub/file.md"), "made\n");
    assert.equal(existsSync(join(root, "build/a")), true);
  });

  test("does not write through hard links to files outside of the listed folders", async (t) => {
    const { root, read } = project(t);
    linkSync(join(root, "src/main.rs"), join(root, "docs/linked"));
    mkdirSync(join(root, "docs/sub"));
    linkSync(join(root, "src/main.rs"), join(root, "docs/sub/linked"));
    linkSync(join(root, "docs/plan.md"), join(root, "docs/sub/plan.md"));
    const { run } = confining(root, { writable: [`${root}/docs/`] });
    assert.equal((await run("echo x > docs/plan.md")).status, 0);
    assert.match((await run("echo x > docs/linked")).stderr, /Read-only file system/);
    assert.match(
      (await run("mv docs/sub docs/moved; echo x > docs/sub/linked; echo y > docs/sub/plan.md")).stderr,
      /Device or resource busy[^]*Read-only file system/,
    );
    assert.equal(read("src/main.rs"), "main");
    assert.equal(read("docs/sub/plan.md"), "y\n");
    assert.match((await run("ln src/main.rs docs/another")).stderr, /cross-device link/);
  });

  test("writes no folder with many hard links to files outside of the listed folders", async (t) => {
    const { root, write, read } = project(t);
    for (let n = 0; n < 201; n += 1) {
      write(`store/${n}`, "stored");
      mkdirSync(join(root, "docs/modules/a"), { recursive: true });
      linkSync(join(root, `store/${n}`), join(root, `docs/modules/a/${n}`));
    }
    const { run, call } = confining(root, { writable: [`${root}/docs/`] });
    assert.equal((await run("echo x > docs/plan.md")).status, 0);
    assert.match(
      (await run("echo x > docs/modules/a/7; echo x > docs/modules/a/new; mv docs/modules docs/moved")).stderr,
      /(Read-only file system[^]*){2}Device or resource busy/,
    );
    for (const command of ["true", "echo x > docs/other"])
      assert.equal((await call("bash", { command })).refused, undefined);
    assert.equal(read("store/7"), "stored");
  });

  test("is refused if a link took the place of a listed path", async (t) => {
    const { root } = project(t);
    const { call } = confining(root, { writable: [`${root}/docs/`, `${root}/plan.md`] });
    symlinkSync("src/main.rs", join(root, "plan.md"));
    assert.match((await call("bash", { command: "true" })).refused, /a link leads elsewhere from .*plan\.md/);
    rmSync(join(root, "plan.md"));
    renameSync(join(root, "docs"), join(root, "was-docs"));
    symlinkSync("src", join(root, "docs"));
    assert.match((await call("bash", { command: "true" })).refused, /a link leads elsewhere from .*docs/);
  });

  test("has no network, if so limited", async (t) => {
    const { root } = project(t);
    const namespaces = `readlink /proc/self/ns/net; tail -n +3 /proc/net/dev | cut -d : -f 1`;
    const { stdout, stderr } = await confining(root, { network: false }).run(namespaces);
    const [namespace, ...interfaces] = stdout.trim().split(/\s+/);
    assert.match(namespace, /^net:\[\d+\]$/, stderr);
    assert.notEqual(namespace, readlinkSync("/proc/self/ns/net"));
    assert.deepEqual(interfaces, ["lo"], stderr);
    const python = `python3 -c "import socket; socket.socket(socket.AF_UNIX)"`;
    assert.match(
      (await confining(root, { network: true, writable: ["/"] }).run(python)).stderr,
      /Operation not permitted/,
    );
  });

  test("that may write everything has the system's folder for temporary files", async (t) => {
    const { root, read } = project(t);
    const { run } = confining(root, { network: false, writable: ["/"] });
    assert.equal((await run(`echo x > src/main.rs; ls ${tmpdir()}`)).status, 0);
    assert.equal(read("src/main.rs"), "x\n");
  });

  test("ends with all of its processes", async (t) => {
    const { root, read } = project(t);
    const { run } = confining(root, { writable: [`${root}/docs/`] });
    await run(
      "(setsid sh -c 'sleep 0.4; echo late > docs/plan.md' &) ; nohup sh -c 'sleep 0.4; echo late > docs/plan.md' >/dev/null 2>&1 & true",
    );
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.equal(read("docs/plan.md"), "plan");
  });

  test("begins with the prefix of the user's settings, as they were at the session's start", async (t) => {
    const { root, write } = project(t);
    write(
      "agent/settings.json",
      JSON.stringify({ shellCommandPrefix: "shopt -s expand_aliases\nalias greet='echo hello'" }),
    );
    const { pi, context, run } = confining(root, {});
    pi.emit("session_start", { reason: "startup" }, context);
    assert.equal((await run("greet")).stdout, "hello\n");
    // pi would open it anew, and wait for ever.
    rmSync(join(root, "agent/settings.json"));
    spawnSync("mkfifo", [join(root, "agent/settings.json")]);
    assert.equal((await run("greet")).stdout, "hello\n");
  });

  test("gets the notice if its limits made it fail", async (t) => {
    const { root } = project(t);
    const { pi, call, end, context } = confining(root, {
      network: false,
      signs: ["read-only file system", "could not resolve"],
    });
    const result = async (/** @type {string} */ id, /** @type {string} */ text) => {
      const event = { toolCallId: id, toolName: "bash", isError: true, content: [{ type: "text", text }] };
      return (await pi.emit("tool_result", event, context))?.content.at(-1).text;
    };
    const { toolCallId } = await call("bash", { command: "true" });
    assert.equal(await result(toolCallId, "sh: cannot create x: Read-only file system"), "Only docs/ is writable.");
    assert.equal(await result(toolCallId, "curl: (6) COULD NOT RESOLVE host: example.org"), "Only docs/ is writable.");
    assert.equal(await result(toolCallId, "assertion failed"), undefined);
    end(toolCallId);
    assert.equal(await result(toolCallId, "Read-only file system"), undefined);
    assert.equal(await result("another", "Read-only file system"), undefined);
  });
});

suite("a name with accents", () => {
  const [composed, decomposed] = ["prüfung", "prüfung".normalize("NFD")];

  for (const { rule, there } of [
    [composed, [decomposed]],
    [decomposed, [composed]],
    [composed, [composed, decomposed]],
    [decomposed, [composed, decomposed]],
  ].map(([rule, there]) => ({ rule: String(rule), there: [there].flat() }))) {
    const what = `${rule === composed ? "composed" : "decomposed"} where there ${there.length > 1 ? "are both" : "is the other"}`;

    test(`is hidden in each form, ${what}`, async (t) => {
      const { root, write } = project(t);
      for (const name of there) write(`src/${name}/a.txt`, "secret");
      write(`src/${there[0]}/link`, "");
      symlinkSync(there[0], join(root, `src/the-link-${there[0]}`));
      const { run, use } = confining(root, { writable: ["/"], hidden: [`src/${rule}/`, `src/the-link-${rule}`] });
      assert.doesNotMatch((await run("cat src/*/a.txt")).stdout, /secret/);
      for (const name of [composed, decomposed])
        for (const path of [`src/${name}/a.txt`, `src/the-link-${name}/a.txt`])
          assert.doesNotMatch(await use("read", { path }), /secret/, path);
      assert.equal(existsSync(join(root, `src/${rule}`)), there.includes(rule), "nothing is left behind");
    });

    test(`is writable, ${what}`, async (t) => {
      const { root, write, read } = project(t);
      for (const name of there) write(`src/${name}/a.txt`, "old");
      const { path, linked } = resolveWrite(`src/${rule}/`, root);
      assert.equal(linked, false);
      const { run, use } = confining(root, { writable: [`${path}/`] });
      const listed = there.includes(rule) ? rule : there[0];
      assert.equal((await run(`echo new > src/${listed}/a.txt`)).status, 0);
      assert.match(await use("write", { path: `src/${rule}/b.txt`, content: "new" }), /Successfully wrote/);
      assert.deepEqual([read(`src/${listed}/a.txt`), read(`src/${listed}/b.txt`)], ["new\n", "new"]);
      assert.equal(existsSync(join(root, `src/${rule}`)), there.includes(rule));
    });
  }

  test("leads through a link in the other form too", (t) => {
    const { root } = project(t);
    symlinkSync("src", join(root, decomposed));
    assert.deepEqual(resolveWrite(`${composed}/x`, root), { path: `${root}/src/x`, linked: true });
  });
});

const USERS = process.getuid?.() === 0 ? [0, 12345] : [undefined];
/** @param {number | undefined} user */
const asUser = (user) =>
  user ? ["setpriv", "--reuid", String(user), "--regid", String(user), "--clear-groups", "--"] : [];

/**
 * Runs command lines confined, as a user.
 *
 * @param {number | undefined} user
 * @param {string} root
 * @param {string[]} writable
 * @param {string[]} lines
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {{ refused?: string, status: number, stdout: string, stderr: string, notice?: string }[]}
 */
function runAs(user, root, writable, lines, env) {
  if (user !== undefined) spawnSync("chown", ["-Rh", `${user}:${user}`, root]);
  const [program, ...args] = [
    ...asUser(user),
    process.execPath,
    new URL("../sandbox/confined-host.mjs", import.meta.url).pathname,
    root,
    JSON.stringify(writable),
    ...lines,
  ];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env: { ...process.env, ...env } });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

suite("what commands leave in a listed folder", () => {
  test("is searched again before each command", async (t) => {
    const { root, read } = project(t);
    const link = `${process.execPath} -e 'fs.linkSync("${root}/src/main.rs", "${root}/docs/linked")'`;
    const { run } = confining(root, { writable: [`${root}/docs/`] });
    await run("true");
    bash(link, root);
    assert.match(
      (await run("echo x > docs/linked; mv docs/linked docs/y; chmod 777 docs/linked")).stderr,
      /Read-only file system[^]*busy[^]*Read-only file system/,
    );
    rmSync(join(root, "docs/linked"));
    await run("mkdir docs/sub");
    linkSync(join(root, "src/main.rs"), join(root, "docs/sub/linked"));
    assert.match((await run("echo x > docs/sub/linked")).stderr, /Read-only file system/);
    assert.equal(read("src/main.rs"), "main");
  });

  for (const user of variants(USERS)) {
    const who = user ? ", of an ordinary user" : "";

    test(`does not keep later commands from running: too deep, without rights, with other names${who}`, (t) => {
      const { root, read } = project(t);
      const DEEP =
        "cd docs; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do mkdir deep-$(printf %0200d 1) && cd -P deep-*; done; echo x > x";
      const results = runAs(
        user,
        root,
        [`${root}/docs/`],
        [
          DEEP,
          "mkdir -p docs/closed/inner docs/listed/inner docs/$'\\xff'/sub && echo x > docs/$'\\xff'/sub/$'\\xfe' && chmod 0 docs/closed/inner && chmod 400 docs/listed",
          "echo more > docs/plan.md; echo more > docs/$'\\xff'/sub/y && echo written",
          "rm -rf docs/deep-*; echo x > docs/closed/inner/x; chmod 700 docs/closed/inner",
          "mkdir /tmp/closed; chmod 0 /tmp/closed; echo x > /tmp/x",
          "echo more >> docs/plan.md; touch /tmp/y; ls /tmp",
          "for n in {1..300}; do mkdir -m 0 docs/closed-$n; done",
          "echo ran; echo x > docs/plan.md",
          "echo ran",
        ],
      );
      assert.deepEqual(results.map(({ refused }) => refused).filter(Boolean), []);
      assert.equal(results[2].stdout, "written\n", results[2].stderr);
      assert.match(results[3].stderr, /Read-only file system/);
      assert.match(
        results[3].notice ?? "",
        /^NOTICE Read-only, because it cannot be reached or searched: .*docs\/deep-/,
      );
      assert.equal(results[7].stdout, "ran\n");
      assert.equal(results[8].stdout, "ran\n");
      if (user) {
        assert.match(results[3].stderr, /chmod: .*Read-only file system/);
        assert.equal(results[5].stdout, `${basename(root)}\ny\n`, "a folder of its own again");
        assert.match(results[7].stderr, /Read-only file system/);
        assert.equal(read("docs/plan.md"), "more\nmore\n");
      }
      spawnSync("chmod", ["-R", "u+rwx", root]);
      spawnSync("rm", ["-rf", join(root, "docs")]);
    });

    test(`hides no hard link: in folders without rights, behind names that are not UTF-8, too deep${who}`, (t) => {
      const { root, read } = project(t);
      bash(
        "mkdir docs/closed docs/$'\\xff'; ln src/main.rs docs/closed/h; ln src/main.rs docs/$'\\xff'/h; ln src/main.rs docs/$'\\xfe'",
        root,
      );
      bash(
        "d=$PWD; cd docs; for i in $(seq 25); do mkdir $(printf %0200d 1) && cd -P 0*; done; ln $d/src/main.rs h",
        root,
      );
      chmodSync(join(root, "docs/closed"), 0);
      runAs(
        user,
        root,
        [`${root}/docs/`],
        [
          "chmod 700 docs/closed; echo x > docs/closed/h; echo x > docs/$'\\xff'/h; mv docs/$'\\xff' docs/u; echo x > docs/u/h; echo x > docs/$'\\xfe'; mv docs/$'\\xfe' docs/v; echo x > docs/v",
          "mv docs/closed docs/c; chmod 700 docs/c; echo x > docs/c/h; for i in $(seq 25); do cd -P 0*; done; echo x > h",
          "cd docs; for i in $(seq 25); do cd -P 0* && touch here; done; echo x > h",
        ],
      );
      assert.equal(read("src/main.rs"), "main");
      spawnSync("rm", ["-rf", join(root, "docs")]);
    });

    test(`a listed path that cannot be reached or created is left out${who}`, (t) => {
      const { root, read } = project(t);
      mkdirSync(join(root, "closed/inner"), { recursive: true });
      const results = runAs(
        user,
        root,
        [`${root}/docs/`, `${root}/closed/inner/`, `${root}/src/main.rs/x`],
        ["chmod 0 closed/inner; echo x > docs/plan.md", "echo y > docs/plan.md"],
      );
      chmodSync(join(root, "closed"), 0);
      const [last] = runAs(
        user,
        root,
        [`${root}/docs/`, `${root}/closed/inner/`, `${root}/src/main.rs/x`],
        ["echo z > docs/plan.md; echo x > src/new"],
      );
      chmodSync(join(root, "closed"), 0o700);
      assert.deepEqual([...results, last].map(({ refused }) => refused).filter(Boolean), []);
      assert.match(last.notice ?? "", user ? /searched: .*closed\/inner, .*main\.rs\/x/ : /searched: .*main\.rs\/x/);
      assert.equal(read("docs/plan.md"), "z\n");
    });
  }
});

suite("the keys of the user", () => {
  const TRY = `ls -A ~/.ssh/; cat ~/.ssh/id; echo key > ~/.ssh/id; echo key > ~/.ssh/authorized_keys; mkdir -p ~/.ssh; echo key >> ~/.ssh/authorized_keys
    rm -rf ~/.ssh; mv ~/.ssh ~/moved; ln -sfn ~/other ~/.ssh; mkdir -p ~/.ssh && echo key > ~/.ssh/authorized_keys
    rm -rf ~/keys ~/dotfiles; mv ~/keys ~/keys2; mv ~/dotfiles ~/dotfiles2; mkdir -p ~/keys ~/dotfiles/ssh; echo key > ~/keys/authorized_keys; echo key > ~/dotfiles/ssh/authorized_keys
    h=$(realpath ~); d=$(dirname $h); echo begun > ~/f; cd /; mv $h $h-2 && mkdir -p $h/.ssh && echo key > $h/.ssh/authorized_keys
    mv $d $d-2 && mkdir -p $h/.ssh && echo key > $h/.ssh/authorized_keys; true`;
  /**
   * The places of the keys: the line that prepares them in the home directory, and the file of a key.
   *
   * @type {Record<string, [string, string?]>}
   */
  const PLACES = {
    "in a folder": ["mkdir .ssh; echo secret > .ssh/id", ".ssh/id"],
    "in a folder that does not exist": [":"],
    "behind a link": ["mkdir keys; echo secret > keys/id; ln -s keys .ssh", "keys/id"],
    "behind an absolute link to a folder in another": [
      "mkdir -p dotfiles/ssh; echo secret > dotfiles/ssh/id; ln -s $PWD/dotfiles/ssh .ssh",
      "dotfiles/ssh/id",
    ],
    "behind a link to a link": ["mkdir keys; echo secret > keys/id; ln -s keys l; ln -s l .ssh", "keys/id"],
    "behind a link to nothing": ["ln -s keys .ssh"],
    "behind a link to itself": ["ln -s .ssh .ssh"],
    "behind a link to elsewhere": [
      "mkdir ../elsewhere; echo secret > ../elsewhere/id; ln -s ../elsewhere .ssh",
      "../elsewhere/id",
    ],
    "in a file": ["echo secret > .ssh", ".ssh"],
  };
  for (const user of USERS) {
    for (const [place, [prepare, key]] of variants(Object.entries(PLACES), 3)) {
      test(`are neither read nor written ${place}${user ? ", of an ordinary user" : ""}`, user ? LONG : {}, (t) => {
        for (const writable of ["/", "home/", "", "home/sub/", "home/.ssh/"]) {
          const { root } = project(t);
          const home = join(root, "home");
          mkdirSync(join(home, "sub"), { recursive: true });
          bash(prepare, home);
          const before = key && readFileSync(join(home, key), "utf8");
          const list = writable === "/" ? ["/"] : writable ? [`${root}/${writable}`] : [`${root}/`];
          const [result] = runAs(user, root, list, [TRY], { HOME: home });
          const seen = `${place} ${writable}: ${JSON.stringify(result)}`;
          if (result.refused) {
            assert.match(`${writable}${result.refused}`, /^home\/\.ssh\/.*a link leads elsewhere/, seen);
            continue;
          }
          assert.doesNotMatch(result.stdout + result.stderr, /secret/, seen);
          assert.equal(key && readFileSync(join(home, key), "utf8"), before, seen);
          assert.equal(existsSync(join(home, ".ssh/authorized_keys")), false, seen);
          // Another pi may have hidden it too.
          if (place.includes("does not exist"))
            assert.equal(existsSync(join(home, ".ssh")), writable !== "home/sub/", seen);
          assert.equal(
            existsSync(join(home, "f")),
            !["home/sub/", "home/.ssh/"].includes(writable) && !(readlink(join(home, ".ssh")) !== undefined),
            seen,
          );
        }
      });
    }
  }

  test("are those of the user, whatever HOME is", (t) => {
    const { root } = project(t);
    const keys = join(userInfo().homedir, ".ssh");
    const [result] = runAs(undefined, root, ["/"], [`ls -A ${keys}; echo key > ${keys}/ways; echo key > ${root}/f`], {
      HOME: join(root, "docs"),
    });
    assert.match(result.stderr, /Read-only file system/);
    assert.deepEqual([existsSync(join(keys, "ways")), existsSync(join(root, "f"))], [false, true]);
    for (const HOME of ["/no/such/home", "", "relative", "/dev/null", "/proc/1"]) {
      const [{ refused, stdout }] = runAs(undefined, root, [`${root}/docs/`], ["echo ran"], { HOME });
      assert.deepEqual([refused, stdout], [undefined, "ran\n"], HOME);
    }
  });
});

/** @param {string} path */
function readlink(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
}

suite("the processes of a confined command line", () => {
  const HOST = new URL("../sandbox/dying-host.mjs", import.meta.url).pathname;

  for (const user of variants(USERS)) {
    test(`end with the process that confined it, whenever that is killed${user ? ", of an ordinary user" : ""}`, async (t) => {
      const { root } = project(t);
      if (user) for (const path of ["", "docs", "src"]) chownSync(join(root, path), user, user);
      const line =
        "(setsid sh -c 'while :; do echo x >> late; sleep 0.01; done' &) ; while :; do echo x >> late; sleep 0.01; done";
      const size = () => (existsSync(join(root, "late")) ? readFileSync(join(root, "late")).length : 0);
      for (const delay of ["0", "4", "8", "12", "16", "20", "25", "30", "35", "40", "late", "0", "5"]) {
        const [program, ...args] = [...asUser(user), process.execPath, HOST, root, line, delay];
        const { signal, stderr } = spawnSync(program, args, { encoding: "utf8" });
        assert.equal(signal, "SIGKILL", stderr);
        // The kernel kills one after the other, which takes time on a busy machine.
        let ended;
        for (let tries = 0; ended !== size(); tries += 1) {
          assert.ok(tries < 50, `killed after ${delay} ms`);
          ended = size();
          await sleep(100);
        }
      }
      assert.ok(size() > 0, "a command line ran");
    });
  }

  test("have a first process that nobody can reach into, and the environment of pi", async (t) => {
    const { root } = project(t);
    const { run } = confining(root, {});
    const { stdout } = await run(
      "echo $PPID; ls /proc/self/fd | wc -l; for f in mem fd/0 root cwd exe environ maps; do cat /proc/1/$f 2>&1 | head -c 200; done",
    );
    const [parent, descriptors, ...refused] = stdout.trim().split("\n");
    assert.deepEqual([parent, descriptors], ["1", bash("ls /proc/self/fd | wc -l", root).stdout.trim()]);
    assert.deepEqual(
      refused.map((line) => line.replace(/^.*: /, "")),
      Array(7).fill("Permission denied"),
    );
    process.env["with.dots"] = "kept";
    process.env["BASH_FUNC_greet%%"] = "() { echo hello; }";
    t.after(() => {
      delete process.env["with.dots"];
      delete process.env["BASH_FUNC_greet%%"];
    });
    const line = "greet; env | grep -vE '^(TMPDIR|SHLVL)=' | sort; shopt; set -o";
    assert.equal((await run(line)).stdout, bash(line, root).stdout);
  });

  test("are none where another process started the shell", async (t) => {
    const { root } = project(t);
    const { call } = confining(root, { writable: [`${root}/docs/`] });
    const { input } = await call("bash", { command: "touch docs/ran" });
    const { status, stderr } = spawnSync("bash", ["-c", 'bash -c "$0"; exit $?', input.command], {
      cwd: root,
      encoding: "utf8",
    });
    assert.equal(status, 126);
    assert.match(stderr, /The process that confined this command has ended, or did not start it itself/);
    assert.equal(existsSync(join(root, "docs/ran")), false);
  });

  test("are ended by the kernel, before the command line has ended", async (t) => {
    const { root } = project(t);
    const { run } = confining(root, { writable: [`${root}/docs/`] });
    for (let round = 0; round < 10; round += 1) {
      await run(
        "for i in 1 2 3 4 5; do (trap '' TERM HUP INT; exec setsid sh -c 'while :; do echo x >> docs/late; done') & done; sleep 0.02",
      );
      const ended = readFileSync(join(root, "docs/late")).length;
      await sleep(20);
      assert.equal(readFileSync(join(root, "docs/late")).length, ended);
    }
  });
});

suite("a file tool within limits", () => {
  test("writes the listed paths only", async (t) => {
    const { root, read } = project(t);
    const { use } = confining(root, { writable: [`${root}/docs/`, `${root}/README.md`] });
    symlinkSync("../src", join(root, "docs/src"));
    symlinkSync(`${root}/none`, join(root, "docs/dangling"));
    linkSync(join(root, "src/main.rs"), join(root, "docs/linked"));
    for (const path of [
      "docs/plan.md",
      "docs/new/deep.md",
      "@docs/x",
      `${root}/docs/x`,
      "src/../docs/x",
      "README.md",
      `file://${root}/docs/x`,
    ]) {
      assert.equal(await use("write", { path, content: "new" }), `Successfully wrote to ${path}`);
    }
    assert.equal(read("docs/new/deep.md"), "new");
    for (const path of [
      "src/main.rs",
      "docs/../src/x",
      "docs2/x",
      "docs/src/main.rs",
      "docs/dangling",
      "~/x",
      "/etc/x",
      "README.md.bak",
    ]) {
      assert.match(await use("write", { path, content: "new" }), /may not be (written|created)$/, path);
    }
    assert.match(
      await use("write", { path: "docs/linked", content: "new" }),
      /docs\/linked has other names \(hard links\)/,
    );
    assert.match(
      await use("edit", { path: "docs/src/main.rs", edits: [{ oldText: "main", newText: "new" }] }),
      /^Could not edit file: .*\/src\/main.rs may not be written/,
    );
    for (const path of ["docs", "", "docs/\0"])
      assert.notEqual(await use("write", { path, content: "new" }), `Successfully wrote to ${path}`);
    assert.deepEqual(
      [read("src/main.rs"), existsSync(join(root, "none")), existsSync(join(root, "docs2"))],
      ["main", false, false],
    );
    for (const input of [{}, { path: 1 }, null]) assert.match(await use("edit", input), /cannot be confined/);
  });

  test("can be confined though the guest guards tools before pi knows any", async (t) => {
    const { root } = project(t);
    const pi = standIn();
    pi.behaviour.getAllTools = () => {
      throw new Error("Extension runtime not initialized");
    };
    const guest = plainGuest((imports) => ({ init: () => imports["pi:extension/api"].guardTools(true) }));
    loadInto(pi, guest, { confine: true }, join(root, "agent"));
    assert.deepEqual([...pi.registered.keys()], []);
  });

  test("is refused until the agent uses the registered tool", async (t) => {
    const { root, read } = project(t);
    const { pi, call, context } = confining(root, { writable: [`${root}/docs/`] }, { confine: true }, false);
    const input = { path: "docs/x", content: "new" };
    assert.match((await call("write", input)).refused, /can be confined from the next message on/);
    assert.ok(pi.registered.has("tool write"));
    assert.match((await call("write", input)).refused, /can be confined from the next message on/);
    pi.emit("turn_start");
    assert.equal((await call("write", input)).refused, undefined);
    await pi.tool("write", input, context);
    assert.equal(read("docs/x"), "new");
  });

  test("runs only if its call was judged, and without limits as pi's own", async (t) => {
    const { root, read } = project(t);
    const { pi, context } = confining(root, { writable: [] });
    const input = { path: "src/x", content: "new" };
    await assert.rejects(pi.tool("write", input, context), /did not see it/);
    const free = confining(root, undefined);
    assert.equal(await free.use("write", input), "Successfully wrote to src/x");
    assert.equal(read("src/x"), "new");
    await assert.rejects(free.pi.tool("write", { ...input }, context), /did not see it/);
  });
});

suite("any other call", () => {
  test("is refused", async (t) => {
    const { root } = project(t);
    const { call } = confining(root, { writable: ["/"] });
    for (const tool of ["powershell", "Bash", "toString", "", "deploy"])
      assert.match((await call(tool, { command: "true", path: "x" })).refused, /cannot be confined/, tool);
  });

  test("is refused without a grant", async (t) => {
    const { root } = project(t);
    const { call } = confining(root, { writable: ["/"] }, { confine: false });
    assert.match((await call("bash", { command: "true" })).refused, /The manifest does not grant it/);
    assert.throws(() => new Confinement(/** @type {any} */ ({}), /** @type {any} */ ({}), false).test(true), /grant/);
  });
});

suite("the file that a path leads to", () => {
  test("is the one that pi would write", (t) => {
    const { root } = project(t);
    symlinkSync("src", join(root, "link"));
    symlinkSync("loop", join(root, "loop"));
    symlinkSync("new/../../elsewhere", join(root, "nowhere"));
    const cases = /** @type {const} */ ([
      ["docs/plan.md", `${root}/docs/plan.md`, false],
      ["@docs/plan.md", `${root}/docs/plan.md`, false],
      ["./docs//plan.md", `${root}/docs/plan.md`, false],
      [".", root, false],
      ["new/../docs/x y", `${root}/docs/x y`, false],
      ["docs/x\u00a0y", `${root}/docs/x y`, false],
      ["link/main.rs", `${root}/src/main.rs`, true],
      ["link/../docs/x", `${root}/docs/x`, false],
      ["nowhere", `${dirname(root)}/elsewhere`, true],
      ["~", realpathSync(homedir()), false],
      ["~/x/y", `${realpathSync(homedir())}/x/y`, false],
      ["/", "/", false],
      [`${root}/link/x`, `${root}/src/x`, true],
      [`file://${root}/docs/x`, `${root}/docs/x`, false],
    ]);
    for (const [path, expected, linked] of cases)
      assert.deepEqual(resolveWrite(path, root), { path: expected, linked }, path);
    for (const path of ["loop", "loop/x", "x\0", "file://%zz"]) assert.throws(() => resolveWrite(path, root), path);
  });
});
