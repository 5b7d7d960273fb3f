// Commands of a phase with limits: what is allowed works as without limits, and what the user and the agent are told.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LONG, VERSIONS } from "./harness/extent.mjs";
import { madeBy } from "./harness/gates.mjs";
import { bash, limited, write } from "./harness/limited.mjs";
import { sessionFiles } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { notices, toolResults } from "./harness/workflows.mjs";

const DOCS = { write: ["docs/"] };

/** Commands whose results do not depend on limits. */
const COMMANDS = [
  bash("echo out; sleep 0.5; echo error >&2; sleep 0.5; echo out again"),
  bash("exit 3"),
  bash("false"),
  bash("kill -TERM $$"),
  bash("kill -KILL $$"),
  bash("sh -c 'kill -SEGV $$'"),
  bash("no-such-program"),
  bash("echo 'unbalanced"),
  bash("printf 'a\\000b\\377c\\n'"),
  bash("seq 3000 | sed 's/$/ with a long text on every line/'"),
  bash('cat; read x; echo "read: $?"'),
  bash("pwd; cd docs && pwd; echo $OLDPWD"),
  bash('echo $HOME; echo $#; echo "$-"; umask; ulimit -n'),
  bash("false | true; echo ${PIPESTATUS[*]}; echo é 世界; x=$'a\\'b'; echo \"$x\""),
  bash("sleep 60", { timeout: 1 }),
  bash("echo begun; sleep 60 & sleep 60", { timeout: 1 }),
  bash("trap 'echo trapped' TERM; echo before; sleep 0.1"),
  bash("true"),
  bash(""),
  bash("# a comment"),
  bash("cat <<'END'\n$x `y` '\nEND"),
];

/** Returns the command lines of the processes that contain a text. @param {string} text */
function processesWith(text) {
  const lines = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((id) => {
      try {
        return readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    });
  return lines.filter((line) => line.includes(text));
}

/** @param {string} text */
async function allEnd(text) {
  for (let tries = 0; processesWith(text).length > 0; tries += 1) {
    if (tries > 100) assert.fail(`left: ${processesWith(text).join("\n")}`);
    await sleep(20);
  }
}

/** A duration of `sleep` that no other process has. */
const unique = () => `${1000 + Math.floor(Math.random() * 1000)}.${process.pid}${process.hrtime.bigint() % 100000n}`;

const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
/** Runs pi with a file in the place of bubblewrap. @param {string} file */
const withBubblewrap = (file) => [
  "unshare",
  ...asRoot,
  "--mount",
  "sh",
  "-c",
  'for f in $(which -a bwrap); do mount --bind "$0" "$(readlink -f $f)"; done; exec "$@"',
  file,
];
/** Runs pi as in a container, by this line. @param {string} line */
const container = (line) => ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", line, "sh"];
/** Containers in which no sandbox starts, and the cause that the user is told. @type {[string, string[], string][]} */
const CONTAINERS = [
  [
    "without user namespaces",
    container('echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --inh-caps=-all --bounding-set=-all -- "$@"'),
    "The system or the container does not allow user namespaces",
  ],
  [
    "that covers a part of /proc",
    container('mount -t tmpfs x /proc/fs; exec "$@"'),
    "The container covers parts of /proc",
  ],
];

for (const version of VERSIONS) {
  suite(
    `pi ${version}: commands of a phase with limits`,
    { skip: process.platform === "linux" ? false : "needs Linux", concurrency: 2 },
    () => {
      test("end as without limits, with the same output", LONG, async (t) => {
        const results = async (/** @type {Record<string, unknown>} */ limits) => {
          const { play, sandbox } = await limited(t, version, limits, { files: { "docs/x": "" } });
          const texts = await play(COMMANDS);
          return texts.map((text) =>
            text
              .replaceAll(sandbox.root, "ROOT")
              .replace(/\/tmp\/pi-bash-\w+/, "LOG")
              .replace(/^\S*bash: /gm, "bash: "),
          );
        };
        const [confined, free] = [await results(DOCS), await results({})];
        assert.deepEqual(confined, free);
      });

      test("build with their caches listed", LONG, async (t) => {
        const { play, sandbox, text } = await limited(
          t,
          version,
          { write: ["build/", "~/.cache/x/"] },
          {
            files: {
              Makefile:
                "build/out: src/a\n\tmkdir -p build ~/.cache/x/deep\n\tcp src/a build/out\n\tdate > ~/.cache/x/deep/stamp\n",
              "src/a": "source\n",
            },
          },
        );
        const [built] = await play([bash("make && make && cat build/out")]);
        assert.match(built, /is up to date/);
        assert.equal(text("build/out"), "source\n");
        assert.ok(existsSync(join(sandbox.home, ".cache/x/deep/stamp")));
      });

      test("leave no process behind, whether they end, time out or are aborted", async (t) => {
        const { play, rpc, sandbox } = await limited(t, version, DOCS, { files: { "docs/x": "" } });
        const seconds = unique();
        const children = `sleep ${seconds} & setsid sleep ${seconds} & nohup sleep ${seconds} >/dev/null 2>&1 &`;
        await play([bash(`(${children}) >/dev/null 2>&1`)], [bash(`${children} sleep ${seconds}`, { timeout: 1 })]);
        await allEnd(seconds);
        const aborted = play([bash(`${children} touch docs/begun; sleep ${seconds}`)]);
        await madeBy(sandbox, "docs/begun");
        assert.notDeepEqual(processesWith(seconds), []);
        await rpc.send({ type: "abort" });
        await aborted;
        await allEnd(seconds);
        const result = rpc.records.findLast(({ type }) => type === "tool_execution_end");
        assert.match(JSON.stringify(result), /[Aa]borted/);
      });

      test("leave no process behind when pi is killed", async (t) => {
        const { play, rpc, sandbox } = await limited(t, version, DOCS, { files: { "docs/x": "" } });
        const seconds = unique();
        const killed = play([bash(`(setsid sleep ${seconds} &) ; touch docs/begun; sleep ${seconds}`)]).catch(() => {});
        await madeBy(sandbox, "docs/begun");
        assert.notDeepEqual(processesWith(seconds), []);
        process.kill(rpc.pid, "SIGKILL");
        await allEnd(seconds);
        await killed;
      });

      test("share a folder for temporary files, over a restart of pi", LONG, async (t) => {
        const { play, model, sandbox, rpc, playOn } = await limited(t, version, { write: [] });
        const name = `ways-${unique()}`;
        const [, second] = await play([bash(`echo kept > /tmp/${name}; mktemp`)], [bash(`cat /tmp/${name}`)]);
        assert.equal(second.trim(), "kept");
        assert.equal(existsSync(`/tmp/${name}`), false);
        await rpc.close();
        const results = toolResults(model.lastRequest()).length;
        const again = await startRpc({ version, sandbox, args: ["--continue"] });
        await playOn(again, [bash(`cat /tmp/${name}`)]);
        assert.equal(toolResults(model.lastRequest()).at(-1)?.trim(), "kept");
        assert.equal(toolResults(model.lastRequest()).length, results + 1);
      });

      test("have the prefix of the session's start, whatever is in the place of the settings", LONG, async (t) => {
        const { play } = await limited(
          t,
          version,
          { write: [".pi/"] },
          {
            files: { ".pi/settings.json": JSON.stringify({ shellCommandPrefix: "export FROM=settings" }) },
            pi: { trust: true },
          },
        );
        const results = await play(
          [bash("rm .pi/settings.json && mkfifo .pi/settings.json && echo made")],
          [bash("echo $FROM")],
          [bash("rm .pi/settings.json && ln -s /dev/zero .pi/settings.json; echo $FROM")],
          [bash("echo $FROM")],
        );
        assert.deepEqual(results, ["made\n", "settings\n", "settings\n", "settings\n"]);
      });

      test("run side by side", async (t) => {
        const { play, text } = await limited(t, version, DOCS, { files: { "docs/x": "" } });
        const numbers = [1, 2, 3, 4, 5, 6];
        const results = await play([
          ...numbers.map((n) => bash(`sleep 0.2; echo ${n} > docs/${n}; echo done ${n}`)),
          write("docs/7", "7\n"),
        ]);
        assert.deepEqual(
          results.slice(0, 6).map((result) => result.trim()),
          numbers.map((n) => `done ${n}`),
        );
        assert.deepEqual(
          [...numbers, 7].map((n) => text(`docs/${n}`)),
          [...numbers, 7].map((n) => `${n}\n`),
        );
      });

      test("appear everywhere as the agent wrote them", async (t) => {
        const { play, rpc, model, sandbox } = await limited(t, version, DOCS, { files: { "docs/x": "" } });
        await play([bash("echo it > docs/it; echo it > src/it")]);
        const everything = [
          JSON.stringify(model.requests),
          JSON.stringify(rpc.records),
          ...sessionFiles(sandbox).map((file) => readFileSync(file, "utf8")),
        ];
        for (const text of everything) {
          assert.match(text, /echo it > docs\/it; echo it > src\/it/);
          assert.doesNotMatch(text, /ro-bind|seccomp|bwrap|pi-confined/);
        }
      });

      test("are refused without bubblewrap, and the user is told once", async (t) => {
        const { play, rpc, exists } = await limited(t, version, DOCS, {
          files: { "docs/x": "" },
          pi: { wrapper: withBubblewrap("/dev/null") },
        });
        const results = await play([bash("touch docs/ran")], [bash("touch docs/ran"), write("docs/written")]);
        for (const result of results.slice(0, 2))
          assert.match(
            result,
            /^\[workflow\] Commands are refused in this phase: .* bubblewrap is not installed\. Install it, for example by `apt install bubblewrap`/,
          );
        assert.deepEqual([exists("docs/ran"), exists("docs/written")], [false, true]);
        assert.equal(
          notices(rpc).filter((notice) =>
            /The agent's commands are refused .* bubblewrap is not installed/.test(notice),
          ).length,
          1,
        );
      });

      test("run by a bubblewrap that cannot set permissions, and end with their processes", async (t) => {
        const old = `#!/bin/sh
        case " $* " in " --version ") echo bubblewrap 0.4.1; exit ;; *" --perms "*) echo unknown option >&2; exit 1 ;; esac
        exec FOLDER/real "$@"`;
        const folder = mkdtempSync("/var/tmp/pi-test-bwrap-");
        t.after(() => rmSync(folder, { recursive: true }));
        copyFileSync(execFileSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).trim(), join(folder, "real"));
        writeFileSync(join(folder, "old"), old.replace("FOLDER", folder), { mode: 0o755 });
        const { play, text } = await limited(t, version, DOCS, {
          files: { "docs/x": "" },
          pi: { wrapper: withBubblewrap(join(folder, "old")) },
        });
        const seconds = unique();
        const [result, refused] = await play([
          bash(`setsid sleep ${seconds} & echo ran > docs/x; echo $PPID; exit 3`),
          bash("echo x > /proc/1/mem; gdb -p 1 -batch; kill -9 1; echo x > src"),
        ]);
        assert.match(result, /^1\n[^]*code 3/);
        assert.match(refused, /Read-only file system[^]*Read-only file system/);
        assert.equal(text("docs/x"), "ran\n");
        await allEnd(seconds);
      });

      test("run with `sandbox: preferred` without bubblewrap, and the user is told once", async (t) => {
        const { play, rpc, exists } = await limited(
          t,
          version,
          { ...DOCS, sandbox: "preferred" },
          { files: { "docs/x": "" }, pi: { wrapper: withBubblewrap("/dev/null") } },
        );
        await play([bash("touch ran")], [bash("touch ran2"), write("written")]);
        assert.deepEqual([exists("ran"), exists("ran2"), exists("written")], [true, true, false]);
        assert.equal(
          notices(rpc).filter((notice) => /run without a sandbox .*bubblewrap is not installed/.test(notice)).length,
          1,
        );
      });

      test("are refused where the sandbox does not start", LONG, async (t) => {
        const { play, exists } = await limited(t, version, DOCS, {
          files: { "docs/x": "" },
          pi: { wrapper: withBubblewrap("/bin/false") },
        });
        const [result] = await play([bash("touch docs/ran")]);
        assert.match(result, /Commands are refused in this phase: .*the sandbox does not start/);
        assert.equal(exists("docs/ran"), false);
      });

      for (const [which, wrapper, cause] of CONTAINERS) {
        test(`are refused in a container ${which}`, async (t) => {
          const { play, rpc, exists } = await limited(t, version, DOCS, { files: { "docs/x": "" }, pi: { wrapper } });
          const [result] = await play([bash("touch docs/ran")]);
          assert.match(result, /Commands are refused in this phase: .*the sandbox does not start \(.*\)\. The /);
          assert.ok(result.includes(`). ${cause}: see`), result);
          assert.equal(exists("docs/ran"), false);
          assert.equal(notices(rpc).filter((notice) => notice.includes(cause)).length, 1);
        });
      }

      test("start Chromium without a network and without its own sandbox", LONG, async (t) => {
        const { play } = await limited(
          t,
          version,
          { ...DOCS, network: false },
          { files: { "docs/x.html": "<p>shown</p>" } },
        );
        const page = "--headless --disable-gpu --dump-dom file://$PWD/docs/x.html 2>&1; exit 1";
        const [shown, refused] = await play([bash(`chromium --no-sandbox ${page}`)], [bash(`chromium ${page}`)]);
        assert.match(shown, /<p>shown<\/p>/);
        assert.match(refused, /Chromium needs `--no-sandbox`\./);
      });
    },
  );
}
