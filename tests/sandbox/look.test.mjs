// Looks at the file system before a command line: how long they take, and where they find what they need.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs, {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { SandboxSession } from "#sandbox";
import { Confinement } from "../../host-shim/confinement.js";
import { known } from "../../sandbox/known.js";
import { sessionFolder } from "../../sandbox/session-folder.js";

const HOST = fileURLToPath(new URL("confined-host.mjs", import.meta.url));

/** A folder with the folder `project`. @param {import("node:test").TestContext} t */
function folder(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "look-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "project"));
  return { root, project: join(root, "project") };
}

/** A folder with the folder `project`, in which files have other names outside. @param {import("node:test").TestContext} t */
function linked(t, count = 1000) {
  const { root, project } = folder(t);
  for (let at = 0; at < count; at += 1) {
    const folder = join(project, `package${at % 200}`);
    if (at < 200) mkdirSync(folder);
    writeFileSync(join(root, String(at)), "");
    linkSync(join(root, String(at)), join(folder, String(at)));
  }
  return { root, project };
}

/**
 * Calls a function when a look of this name has begun, and one when it has ended, before its answer is read.
 * @param {import("node:test").TestContext} t
 * @param {string} name
 * @param {{ begun?: () => void, ended?: () => void }} calls
 */
function during(t, name, { begun, ended = () => {} }) {
  const { postMessage } = Worker.prototype;
  /** @this {Worker} @param {any} message */
  const method = function (message) {
    postMessage.call(this, message);
    if (message.name !== name) return;
    begun?.();
    this.prependOnceListener("message", ended);
  };
  t.mock.method(Worker.prototype, "postMessage", method);
}

/**
 * A session that may write the project, or has these limits.
 * @param {import("node:test").TestContext} t
 * @param {string} project
 * @param {Partial<import("#sandbox").Limits>} [more]
 */
function session(t, project, more) {
  const own = new SandboxSession(() => ({ path: "/nowhere", name: "the agent's folder" }));
  t.after(() => own.end());
  const limits = { writable: [`${project}/`], network: true, notice: "" };
  return {
    /** @param {string} line @param {AbortSignal} [signal] @param {string[]} [hidden] */
    command: (line, signal, hidden) =>
      own.command("call", line, { ...limits, hidden, ...more }, { cwd: project, session: project, signal }),
    begin: () => own.begin(project),
    end: () => own.ended("call"),
    over: () => own.end(),
  };
}

/** Makes a file, or a folder for a name without a dot or digit. @param {string} path */
const writeOrMake = (path) =>
  /[.\d][a-z\d]*$/.test(path) && !path.endsWith(".pi") ? writeFileSync(path, "") : mkdirSync(path);

/**
 * Runs command lines confined, and returns their results.
 * @param {string} project
 * @param {object} limits
 * @param {string[]} lines
 * @param {NodeJS.ProcessEnv} [env]
 */
function results(project, limits, lines, env, wrapper = /** @type {string[]} */ ([])) {
  const command = [...wrapper, process.execPath, HOST, project, JSON.stringify(limits), ...lines];
  const { stdout, stderr } = spawnSync(command[0], command.slice(1), {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

suite("looks before a command line", { skip: process.platform === "linux" ? false : "needs Linux" }, () => {
  test("take a time that grows with the number of hard links, not with its square, and block no session", async (t) => {
    const { project } = linked(t, 4000);
    const { command, end } = session(t, project);
    let turns = 0;
    const turn = () => void ((turns += 1), (ticking = setImmediate(turn)));
    let ticking = setImmediate(turn);
    const start = performance.now();
    const line = await command("touch new; echo x > package7/7");
    clearImmediate(ticking);
    // A comparison of each link with each other one takes half a minute.
    assert.ok(performance.now() - start < 25_000);
    assert.ok(turns > 20, `${turns} turns of the event loop`);
    const { status, stderr } = spawnSync("bash", ["-c", line], {
      cwd: project,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    end();
    assert.deepEqual([status, /read-only/i.test(stderr)], [1, true], stderr);
  });

  test("end with their signal and their session, and leave those of others alone", async (t) => {
    const { project } = linked(t);
    const [a, b, c, d] = [1, 2, 3, 4].map(() => session(t, project));
    await a.command("true");
    a.end();
    const abort = new AbortController();
    const calls = [a.command("true", abort.signal), b.command("true"), c.command("true"), d.command("true")];
    const reasons = Promise.all(
      calls.map((call) =>
        call.then(
          () => "begun",
          ({ message }) => message,
        ),
      ),
    );
    await sleep(20);
    const start = performance.now();
    abort.abort();
    await assert.rejects(calls[0], /^Error: the look at .* was interrupted$/);
    b.over();
    await assert.rejects(calls[1], /^Error: the look at .* was interrupted$/);
    assert.ok(performance.now() - start < 1000, "not after the looks");
    assert.deepEqual((await reasons).slice(2), ["begun", "begun"]);
    await assert.rejects(a.command("true", abort.signal), /was interrupted/);
    assert.match(await a.command("true"), /bwrap/);
  });

  for (const exits of [true, false])
    test(`that hang are at most two, and this process ends though they do${exits ? "" : ", also by itself"}`, async (t) => {
      const { project } = folder(t);
      const host = fileURLToPath(new URL("hanging-host.mjs", import.meta.url));
      const child = spawn(process.execPath, [host, project, "3", ...(exits ? ["exit"] : [])]);
      const late = setTimeout(() => child.kill(), 30_000);
      let output = "";
      child.stdout.on("data", (data) => (output += data));
      const [status, signal] = await once(child, "close");
      clearTimeout(late);
      const [line, end] = output.split("\n");
      const { reasons, threads } = JSON.parse(line);
      assert.deepEqual([status, signal, threads, end], [null, "SIGKILL", 2, "released"]);
      for (const [at, reason] of reasons.entries())
        assert.match(reason, at < 2 ? /^the look at the system was interrupted$/ : /^earlier looks have not ended/);
      assert.equal(
        spawnSync(process.execPath, [host, project, "1", "meanwhile"], { timeout: 30_000 }).signal,
        "SIGKILL",
      );
    });

  test("remove from the folder for temporary files only what they have found in it", async (t) => {
    const { root, project } = folder(t);
    const { temporary } = sessionFolder(project);
    t.after(() => rmSync(temporary, { recursive: true, force: true }));
    const [inside, outside] = [join(temporary, "folder"), join(root, "outside")];
    mkdirSync(outside);
    writeFileSync(join(outside, "file"), "kept");
    const fill = () => {
      rmSync(inside, { recursive: true, force: true });
      mkdirSync(inside);
      linkSync(join(outside, "file"), join(inside, "file"));
    };
    const [a, b] = [session(t, project, { writable: [] }), session(t, project, { writable: [] })];
    await a.command("true");
    fill();
    during(t, "linkedOutside", {
      ended() {
        rmSync(inside, { recursive: true });
        symlinkSync(outside, inside);
        a.end();
      },
    });
    // While a command line runs that may change the folder, and while another program does.
    assert.match(await b.command("true"), /bwrap/);
    assert.equal(existsSync(join(outside, "file")), true);
    b.end();
    a.end();
    fill();
    await assert.rejects(b.command("true"), /folder/);
    assert.equal(existsSync(join(outside, "file")), true);
    t.mock.restoreAll();
    rmSync(inside);
    fill();
    assert.match(await b.command("true"), /bwrap/);
    assert.deepEqual([existsSync(join(inside, "file")), existsSync(join(outside, "file"))], [false, true]);
  });

  test("take nothing from what sessions have noted meanwhile", async (t) => {
    const { project } = folder(t);
    const { command, begin } = session(t, project);
    begin();
    during(t, "readOnlyIn", {
      begun() {
        spawnSync("git", ["init", "-q"], { cwd: project });
        begin();
      },
    });
    await command("true");
    assert.deepEqual([...(known.trees.get(project) ?? [])], [join(project, ".git")]);
  });

  test("that fail give the reason, and the next ones are made", async (t) => {
    const { root, project } = folder(t);
    writeFileSync(join(root, "outside"), "");
    linkSync(join(root, "outside"), join(project, "secret"));
    const { command } = session(t, project);
    await assert.rejects(command("true", undefined, ["secret"]), /secret has another name \(hard link\) outside/);
    assert.match(await command("true"), /bwrap/);
  });

  test("that take longer than a second are told to the user", async (t) => {
    const { project } = linked(t);
    const pi = /** @type {any} */ ({
      on() {},
      getAllTools: () => [{ name: "grep", sourceInfo: { source: "builtin" } }],
    });
    const codingAgent = { getAgentDir: () => "/nowhere" };
    const confinement = new Confinement(pi, /** @type {any} */ ({ codingAgent }), true);
    t.after(() => confinement.end());
    /** @type {(string | undefined)[]} */
    const shown = [];
    const ui = { setStatus: (/** @type {string} */ _, /** @type {string | undefined} */ text) => shown.push(text) };
    const context = /** @type {any} */ ({ cwd: project, ui, sessionManager: { getSessionId: () => "one" } });
    const limits = { writable: [], hidden: ["package1/", "package2/"], network: true, notice: "" };
    // Each one waits for those before it.
    const searches = Array.from({ length: 400 }, (_, at) =>
      confinement.confine({ toolName: "grep", toolCallId: String(at), input: { path: "." } }, limits, context),
    );
    for (const refused of await Promise.all(searches)) assert.match(refused ?? "", /has another name|is hidden/);
    assert.ok(shown.includes("The sandbox looks at package1/, package2/ …"));
    assert.equal(shown.at(-1), undefined);
  });

  test("find a file system that does not tell upper and lower case apart, and refuse what would be open there", async (t) => {
    const { root, project } = folder(t);
    for (const path of ["project/Mixed", "project/Mixed/.env", "project/.pi", "project/123", "project/Mixed/456"])
      writeOrMake(join(root, path));
    // A stand-in for such a file system, below `project`.
    const { lstatSync } = fs;
    const inCase = (/** @type {any} */ path) =>
      typeof path === "string" && path.toLowerCase().startsWith(`${project}/`.toLowerCase())
        ? (["Mixed/.env", "Mixed/456", "Mixed", ".pi", "123"]
            .map((name) => join(project, name))
            .find((name) => name.toLowerCase() === path.toLowerCase()) ?? path)
        : path;
    fs.lstatSync = /** @type {any} */ (
      (/** @type {any} */ path, /** @type {any} */ options) => lstatSync(inCase(path), options)
    );
    syncBuiltinESMExports();
    t.after(() => {
      fs.lstatSync = lstatSync;
      syncBuiltinESMExports();
    });
    for (const [limits, name] of /** @type {[Partial<import("#sandbox").Limits>, string][]} */ ([
      [{ hidden: ["Mixed/.env"] }, "Mixed/.env"],
      [{ hidden: ["Mixed/"] }, "Mixed"],
      [{ hidden: ["Mixed/456"] }, "Mixed/456"],
      [{ writable: [`${project}/`], kept: [join(project, ".pi")] }, ".pi"],
    ])) {
      const reason = await session(t, project, { writable: [], ...limits })
        .command("true")
        .catch(({ message }) => message);
      assert.match(reason, /does not tell upper and lower case apart.*Hide the folder around it, or move the project/);
      assert.ok(reason.startsWith(`${join(project, name)} `), reason);
    }
    for (const limits of [
      { writable: [`${project}/`] },
      { writable: [], hidden: ["123"] },
      { writable: [], hidden: ["../x"] },
    ]) {
      const { command, end } = session(t, project, limits);
      assert.match(await command("true"), /bwrap/);
      end();
    }
  });

  test("take a hard link in another case for a hard link", async (t) => {
    const { project } = folder(t);
    writeFileSync(join(project, ".env"), "secret");
    linkSync(join(project, ".env"), join(project, ".ENV"));
    const { command } = session(t, project);
    const line = await command("cat .env .ENV; true", undefined, [".env"]);
    const { stdout, stderr } = spawnSync("bash", ["-c", line], {
      cwd: project,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    assert.deepEqual([stdout, stderr.match(/Permission denied/g)?.length], ["", 2]);
  });

  test("ask the system for what the command needs: without network namespaces, writes are confined", (t) => {
    const { project } = folder(t);
    const wrapper = ["unshare", "-U", "-r", "sh", "-c", 'echo 0 >/proc/sys/user/max_net_namespaces && exec "$@"', "sh"];
    const run = (/** @type {boolean} */ network) =>
      results(
        project,
        { writable: [`${project}/`], network },
        ["echo x >in; echo x >/var/tmp/look-out"],
        undefined,
        wrapper,
      )[0];
    assert.match(run(true).stderr, /look-out: Read-only file system/);
    assert.equal(existsSync(join(project, "in")), true);
    assert.match(
      run(false).refused,
      /does not allow network namespaces\. Commands that may use the network can be confined/,
    );
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
