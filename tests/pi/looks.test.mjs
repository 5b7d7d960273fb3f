// Commands that exchange files and folders, and commands beside them that look for what is hidden and write wherever
// they can: calls of one answer, and those of a script of codemode. None sees anything, or writes elsewhere.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { panel, requestsOf, team } from "./harness/branches.mjs";
import { ALL, LONG, variants } from "./harness/extent.mjs";
import { bash, limited } from "./harness/limited.mjs";
import { PI_VERSIONS, REPO, piCli } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { underLimits } from "./harness/user-limits.mjs";
import { toolResults } from "./harness/workflows.mjs";
import { PYTHON, asUser, visibleStage } from "./harness/world.mjs";

const [NEWEST] = PI_VERSIONS;
/** The number of looks of a test; for each of the limits there are four tests. With `LOOKS=500` these take half an hour. */
const LOOKS = Number(process.env.LOOKS ?? (ALL ? 100 : 40));
/** The number of commands at once. */
const AT_ONCE = ALL ? 25 : 20;
const ORDINARY_USER = 12345;
const IS_ROOT = process.getuid?.() === 0;
const readable = [piCli()[1], REPO].every(
  (file) => spawnSync("setpriv", [...asUser(ORDINARY_USER), "test", "-r", file]).status === 0,
);
const SECRET = "The-secret-of-the-looks";
const FILES = {
  ".env": `${SECRET}\n`,
  "vault/.env": `${SECRET}\n`,
  "src/x/a/.env": "no secret\n",
  "src/x/b/deep/file": "file\n",
  "docs/file": "outside\n",
};

/**
 * Makes places on which later sandboxes rest, in folders that can be exchanged: closed folders, and a folder of git that
 * tracks what is hidden.
 */
const PREPARE = `cd src/x || exit
mkdir -p a/made b/made c/closed; echo made >c/closed/file; chmod 0 c/closed; 
ln -s ../.. up; ln -s ~/.ssh keys; ln -s ../../docs docs
mkdir ../l; for p in a c; do ln -s ../.. ../l/$p; done; for p in b d; do ln -s ~/.ssh ../l/$p; done
(git init -q a/made; cd a/made || exit; git update-index --add --cacheinfo 100644,$(echo x | git hash-object -w --stdin),.env; cp .git/index ../../b/made/index; echo ../../../.. >../../b/made/commondir)
echo "gitdir: src/x/b/made" >../../.git; true`;
/**
 * Exchanges them until all looks are over, or most of them if some are refused. With `fresh` it makes a place first that
 * is not one for itself: then looks that begin later are refused.
 *
 * @param {number} looks
 * @param {boolean} fresh
 */
const exchanging = (
  looks,
  fresh,
) => `: >src/looks; ${fresh ? "mkdir -p src/x/new/closed; chmod 0 src/x/new/closed" : ":"}
timeout 60 "$PYTHON" ${REPO}/tests/pi/harness/swap.py $(for p in a b c d a/made b/made c/closed d d/1 new; do for l in up keys docs; do echo src/x/$p src/x/$l; done; done) $(for n in $(seq 30); do echo src/x src/l; done) >src/begun &
for i in $(seq 40); do [ $(wc -l <src/looks) -ge ${looks} ] && break; sleep 0.1; done; kill $!; echo exchanged`;
const LOOK = `grep -rs ${SECRET} . ~/.ssh | head -n 3; for d in $(find . -type d -not -path './.git/*' -not -path '*/d/*' 2>/dev/null); do echo written 2>/dev/null >$d/looked; done
echo written 2>/dev/null | tee $(find . -name linked 2>/dev/null) >/dev/null 2>&1
find . -name closed -exec chmod 700 {} + 2>/dev/null; echo look >>src/looks; echo looked`;

/** The limits, as fields of a phase; a text has the user's own. @type {Record<string, string | Record<string, unknown>>} */
const RULES = {
  "a writable folder": { write: ["src/"], hide: [".env", "vault/"] },
  "limits without a run": "hide: [.env, vault/]\n",
  "a hidden file": { hide: [".env", "vault/"] },
  "a hidden folder": { hide: ["vault/", ".env", "src/x/a/"] },
  "a hidden file in a writable folder": { write: ["src/x/"], hide: [".env", "vault/", "src/x/a/.env"] },
  "a hidden path through a link": { write: ["./"], hide: ["link/.env", ".env", "src/x/a/.env"] },
  "the whole project": { write: ["./"], hide: [".env", "vault/"] },
};

/** @param {import("./harness/sandbox.mjs").Sandbox} sandbox @param {number | undefined} user */
function prepared(sandbox, user) {
  const { root, home, project, agent } = sandbox;
  mkdirSync(join(home, ".ssh"), { recursive: true });
  writeFileSync(join(home, ".ssh/id"), `${SECRET}\n`);
  writeFileSync(join(home, "file"), "outside\n");
  symlinkSync("vault", join(project, "link"));
  // More than are mounted one by one.
  for (let n = 0; n < 210; n += 1) {
    mkdirSync(join(project, `src/x/d/${n}`), { recursive: true });
    linkSync(join(home, "file"), join(project, `src/x/d/${n}/linked`));
  }
  const settings = join(agent, "settings.json");
  const before = existsSync(settings) ? JSON.parse(readFileSync(settings, "utf8")) : {};
  writeFileSync(settings, JSON.stringify({ ...before, defaultTools: ["+codemode"] }));
  if (user) execFileSync("chown", ["--recursive", "--no-dereference", `${user}:${user}`, root]);
}

/** @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function stateOf({ project, home }) {
  const text = (/** @type {string} */ path) => readFileSync(path, "utf8");
  const keys = join(home, ".ssh");
  return [".env", "vault/.env"]
    .map((path) => text(join(project, path)))
    .concat(readdirSync(keys), text(join(keys, "id")));
}

suite(
  `pi ${NEWEST}: looks beside exchanges`,
  { skip: process.platform === "linux" ? false : "needs Linux", concurrency: 1 },
  () => {
    for (const user of [ORDINARY_USER, undefined]) {
      if (user && (!IS_ROOT || !readable)) continue;
      for (const [name, rules] of variants(Object.entries(RULES), user ? 1 : 0)) {
        for (const script of variants([false, true])) {
          const how = `${script ? "in a script" : "in one answer"}${user ? ", of an ordinary user" : ""}`;
          test(`${LOOKS} see nothing: ${name}, ${how}`, { timeout: ALL ? 900_000 : 120_000 }, async (t) => {
            const pi = user ? { wrapper: ["setpriv", ...asUser(user)] } : {};
            /** @type {import("./harness/sandbox.mjs").Sandbox | undefined} */
            let sandbox;
            const before = (/** @type {import("./harness/sandbox.mjs").Sandbox} */ made) => {
              sandbox = made;
              prepared(made, user);
            };
            const agent = await (typeof rules === "string"
              ? underLimits(t, NEWEST, rules, { files: FILES, before, pi })
              : limited(t, NEWEST, rules, { files: FILES, before, pi }));
            assert.ok(sandbox);
            const state = stateOf(sandbox);
            await agent.play([bash(PREPARE)]);
            const outputs = [];
            for (let done = 0; done < LOOKS; done += AT_ONCE) {
              const calls = [
                bash(exchanging(AT_ONCE, done % (4 * AT_ONCE) === 3 * AT_ONCE)),
                ...Array(AT_ONCE).fill(bash(LOOK)),
              ];
              const lines = calls.map((call) => /** @type {any} */ (call).arguments.command);
              const code = `const run = async (command) => { try { return JSON.stringify(await tools.bash({ command })); } catch (error) { return String(error); } };
const [first, ...others] = ${JSON.stringify(lines)};
const exchange = run(first); await run("for i in 1 2 3 4 5 6 7 8 9; do [ -s src/begun ] && break; sleep 0.05; done");
return [...await Promise.all(others.map(run)), await exchange].join("\\n");`;
              outputs.push(...(await agent.play(script ? [{ name: "codemode", arguments: { code } }] : calls)));
            }
            const all = outputs.join("\n");
            assert.ok(!all.includes(SECRET), all.slice(Math.max(0, all.indexOf(SECRET) - 1000)).slice(0, 2000));
            assert.ok(all.includes("looked"), all.slice(0, 2000));
            assert.ok((all.match(/exchanged/g)?.length ?? 0) >= LOOKS / AT_ONCE / 2, all.slice(0, 2000));
            assert.deepEqual(stateOf(sandbox), state);
            const { write } = typeof rules === "string" ? { write: undefined } : rules;
            assert.equal(existsSync(join(sandbox.project, "docs/looked")), !write || String(write) === "./");
            if (write) assert.equal(readFileSync(join(sandbox.home, "file"), "utf8"), "outside\n");
            await agent.rpc.close();
          });
        }
      }
    }

    test(`${LOOKS} of a branch see nothing, beside one that may write`, { ...LONG, timeout: 900_000 }, async (t) => {
      const answers = LOOKS / AT_ONCE;
      const calls = {
        A: (/** @type {number} */ index) =>
          index === 0 ? [bash(PREPARE)] : index <= answers && [bash(exchanging(AT_ONCE, index % 4 === 3))],
        B: (/** @type {number} */ index) => index < answers && Array(AT_ONCE).fill(bash(LOOK)),
      };
      const script = team({
        A: (_, index) => ((calls) => (calls ? { calls } : undefined))(calls.A(index)),
        B: (_, index) => ((calls) => (calls ? { calls } : undefined))(calls.B(index)),
      });
      const globalFiles = panel([
        { id: "a", write: ["src/"], hide: [".env", "vault/"] },
        { id: "b", write: [], hide: [".env", "vault/", "src/x/a/"] },
      ]);
      const { model, sandbox } = await visibleStage(t, script, { globalFiles, files: FILES });
      prepared(sandbox, undefined);
      const state = stateOf(sandbox);
      const rpc = await startRpc({ version: NEWEST, sandbox, env: { PYTHON } });
      await rpc.promptAndSettle("/workflow panel The task", { timeoutMs: 900_000 });
      const [a, b] = ["A", "B"].map((name) =>
        toolResults(/** @type {any} */ (requestsOf(model, name).at(-1))).join("\n"),
      );
      assert.ok(!(a + b).includes(SECRET), b.slice(0, 2000));
      assert.match(a, /exchanged/);
      assert.match(b, /looked/);
      assert.deepEqual(stateOf(sandbox), state);
      await rpc.close();
    });
  },
);
