// Ways out of the limits of a phase by links, by pi's file tools, by other tools, and by races between them.

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { suite, test } from "node:test";
import { LONG, VERSIONS, variants } from "./harness/extent.mjs";
import { bash, edit, limited, write } from "./harness/limited.mjs";
import { PI_VERSIONS } from "./harness/pi.mjs";

const DOCS = { write: ["docs/"] };
const FILES = { "src/a": "untouched\n", "src/b": "untouched\n", "docs/x/f": "mine\n" };
const EXTENSION = `
const parameters = { type: "object", properties: { calls: { type: "array" }, path: { type: "string" } } };
const tool = (name, execute) => ({ name, label: name, description: name, parameters, execute });
export default (pi) => {
  pi.registerTool(tool("scribble", async (id, { path }) => {
    (await import("node:fs")).writeFileSync(path, "changed\\n");
    return { content: [{ type: "text", text: "written" }], details: {} };
  }));
  pi.registerTool(tool("script", async (id, { calls }, signal, onUpdate, context) => {
    const texts = [];
    for (const [name, input, alone] of calls) {
      const outcome = context.executeTool(name, input);
      if (alone) await new Promise((resolve) => setTimeout(resolve, 300));
      else texts.push(await outcome.then(({ result }) => result.content.map(({ text }) => text).join(""), String));
    }
    return { content: [{ type: "text", text: texts.join("\\n---\\n") }], details: {} };
  }));
};
`;

/** The command line that computes the folder for temporary files of this session. */
const TEMPORARY = `
id=$(basename $PI_CODING_AGENT_DIR/sessions/*/*.jsonl .jsonl); id=\${id##*_}
parent=/tmp/pi-confined-$(id -u); folder=$parent/$(printf %s "$id" | sha256sum | cut -c1-16); mkdir -p $parent
`;
/** Swaps a folder and a link to the sources, again and again. */
const swap = (/** @type {number} */ seconds) => `"$PYTHON" - <<'END'
import os, time
end = time.time() + ${seconds}
while time.time() < end:
    os.rename("docs/x", "docs/z"); os.symlink("../src", "docs/x"); os.remove("docs/x"); os.rename("docs/z", "docs/x")
END`;

/** @param {import("./harness/sandbox.mjs").Sandbox} sandbox */
function addTools(sandbox) {
  mkdirSync(join(sandbox.agent, "extensions"), { recursive: true });
  writeFileSync(join(sandbox.agent, "extensions/tools.js"), EXTENSION);
}

for (const version of VERSIONS) {
  suite(
    `pi ${version}: ways out by links and tools`,
    { skip: process.platform === "linux" ? false : "needs Linux", concurrency: 2 },
    () => {
      const hardLinks = [
        [
          bash(
            "echo changed > docs/h; echo changed >> docs/sub/h; sed -i s/u/x/ docs/h; chmod 777 docs/h; truncate -s 0 docs/h; touch docs/h",
          ),
        ],
        [
          bash(
            "rm -f docs/h; mv docs/h docs/h2 && echo changed > docs/h2; ln docs/h docs/h3 && echo changed > docs/h3; cp /etc/passwd docs/h",
          ),
        ],
        [bash("mv docs/sub docs/sub2; echo changed > docs/sub2/h")],
        [bash("echo changed > docs/sub2/h")],
        [
          bash("mv docs/sub2 docs/sub3; mkdir docs/sub2; touch docs/sub2/h"),
          bash("sleep 0.3; echo changed > docs/sub3/h"),
        ],
        [edit("docs/h"), edit("docs/sub2/h"), edit("docs/sub3/h"), write("docs/h"), write("docs/sub3/h")],
      ];
      const linked = { prepare: "mkdir docs/sub; ln src/a docs/h; ln src/b docs/sub/h", files: FILES };

      test("hard links that were there before cannot be written through", LONG, async (t) => {
        const { play, text } = await limited(t, version, DOCS, linked);
        const results = await play(...hardLinks);
        assert.deepEqual([text("src/a"), text("src/b")], ["untouched\n", "untouched\n"], results.join("\n---\n"));
      });

      test("hard links that the user's commands and a gate make between two commands cannot be written through", async (t) => {
        const gate = [{ run: "ln -f src/b docs/sub/h; cp -al src docs/copy; false", name: "links" }];
        const { play, text, rpc } = await limited(
          t,
          version,
          { ...DOCS, gate },
          { files: { ...FILES, "docs/sub/f": "" } },
        );
        rpc.onDialog(({ method, options }) => (method === "select" ? options?.[0] : true));
        const results = await play([bash("echo x > docs/f")], [bash("echo y > docs/f")]);
        await rpc.send({ type: "bash", command: "ln src/a docs/h" });
        results.push(...(await play(hardLinks[0], [bash("mv docs/h docs/h2; echo changed > docs/h2")])));
        results.push(
          ...(await play(
            [{ name: "workflow_step", arguments: { action: "next" } }],
            [
              bash(
                "echo changed > docs/sub/h; mv docs/sub docs/sub2; echo changed > docs/sub2/h; echo changed > docs/copy/b",
              ),
            ],
          )),
        );
        assert.match(results.join("\n"), /links[^]*exit/i, "the gate ran");
        assert.deepEqual(
          [text("docs/f"), text("src/a"), text("src/b")],
          ["y\n", "untouched\n", "untouched\n"],
          results.join("\n---\n"),
        );
      });

      test("folders that an earlier phase left without rights or too deep do not keep commands from running", async (t) => {
        const deep = "d=$PWD; cd docs; for i in $(seq 25); do mkdir deep-$(printf %0200d 1) && cd -P deep-*; done";
        const { play, text } = await limited(
          t,
          version,
          { write: ["docs/", "build/"] },
          { prepare: `${deep}; cd $d; mkdir docs/closed; chmod 0 docs/closed`, files: { ...FILES, "build/x": "" } },
        );
        const results = await play(
          [bash("echo x > docs/f; echo x > build/f")],
          [bash("mkdir -m 0 build/closed /tmp/closed; rm -r docs/deep-*")],
          [bash("echo y > build/f")],
        );
        assert.deepEqual([text("docs/f"), text("build/f")], ["x\n", "y\n"], results.join("\n---\n"));
        assert.match(results[1], /Read-only, because it cannot be reached or searched: \S*docs\/deep/);
      });

      test("hard links lead out without limits", LONG, async (t) => {
        const { play, text } = await limited(t, version, {}, linked);
        await play(...hardLinks);
        assert.notEqual(text("src/a"), "untouched\n");
        assert.notEqual(text("src/b"), "untouched\n");
      });

      for (const [what, prepare] of variants([
        ["that is a link", `${TEMPORARY} rm -rf $folder; ln -s $PWD/src $folder`],
        ["with a hard link", `${TEMPORARY} mkdir -p $folder/sub; ln src/a $folder/a; ln src/a $folder/sub/a`],
      ])) {
        test(`a prepared folder for temporary files ${what} leads nowhere`, async (t) => {
          const { play, text, exists } = await limited(
            t,
            version,
            { write: [] },
            { prepare: `${prepare}; ls -ld $folder`, files: FILES },
          );
          const results = await play(
            [bash("echo changed > /tmp/a; echo changed > /tmp/new; echo changed > /tmp/sub/a")],
            [bash("echo changed > /tmp/a")],
          );
          assert.deepEqual([text("src/a"), exists("src/new")], ["untouched\n", false], results.join("\n---\n"));
        });
      }

      test("links in the private folder for temporary files create nothing outside", async (t) => {
        const { play, sandbox, text } = await limited(
          t,
          version,
          { write: ["docs/", "new/deep/file"] },
          {
            hidden: true,
            files: FILES,
            prepare: `${TEMPORARY} mkdir -p $PWD-victim $folder; ln -s /oldroot$PWD-victim $folder/$(basename $(dirname $PWD))`,
          },
        );
        const top = basename(sandbox.root);
        const results = await play(
          [bash("echo x > docs/made; pwd")],
          [
            bash(
              `cd /; rm -rf /tmp/${top}; mv /tmp/${top} /tmp/moved; ln -s /oldroot${sandbox.project}-victim /tmp/${top}`,
            ),
          ],
          [bash("echo x > docs/again; pwd")],
        );
        assert.deepEqual(readdirSync(`${sandbox.project}-victim`), []);
        assert.equal(text("docs/made"), "x\n", results.join("\n---\n"));
        assert.equal(text("docs/again"), "x\n", results.join("\n---\n"));
      });

      /** Files that are no part of `docs/`, by any of these names. @type {Record<string, string>} */
      const PATHS = {
        absolute: "/PROJECT/src/absolute",
        home: "~/home",
        at: "@src/at",
        "at home": "@~/at-home",
        parent: "docs/../src/parent",
        "parent of a link": "docs/link/../../parent-of-a-link",
        "many parents": "docs/../../project/src/many",
        "parent of the project": "../outside",
        url: "file:///PROJECT/src/url",
        "url with escapes": "file:///PROJECT/docs/%2e%2e/src/url2",
        "link to a file": "docs/file",
        "link to a folder": "docs/link/through",
        "link to nothing": "docs/dangling",
        "link to a link": "docs/two/through2",
        space: "docs\u00a0x/f",
        "space in a link": "docs/a\u2003link/through3",
        case: "Docs/f",
        "similar name": "docs2/f",
        "similar name above": "docs-x/docs/f",
        dot: "./docs/.././src/dot",
        "process directory": "/proc/self/cwd/src/process",
        "process root": "/proc/self/root/PROJECT/src/root",
        "settings of pi": "AGENT/ways.json",
        "own phase": "AGENT/workflows/ways/more.md",
        temporary: "/tmp/ways-temporary-PID",
        device: "/dev/shm/ways-PID",
        NUL: "docs/\0/../../src/nul",
      };
      const links = {
        prepare:
          "ln -s ../src/file docs/file; touch src/file; ln -s ../src docs/link; ln -s ../src/none docs/dangling; ln -s link docs/two; ln -s ../src 'docs/a link'",
        files: FILES,
      };
      const targets = [
        "src/absolute",
        "../home/home",
        "src/at",
        "../home/at-home",
        "src/parent",
        "parent-of-a-link",
        "src/many",
        "../outside",
        "src/url",
        "src/url2",
        "src/through",
        "src/none",
        "src/through2",
        "docs x/f",
        "src/through3",
        "Docs/f",
        "docs2/f",
        "docs-x/docs/f",
        "src/dot",
        "src/process",
        "src/root",
        "../agent/ways.json",
        "../agent/workflows/ways/more.md",
      ];
      const calls = (/** @type {import("./harness/sandbox.mjs").Sandbox} */ sandbox) =>
        Object.values(PATHS).map((path) =>
          write(
            path
              .replace("/PROJECT", sandbox.project)
              .replace("AGENT", sandbox.agent)
              .replace("PID", String(process.pid)),
          ),
        );

      test("the file tools reach nothing outside, by any name", async (t) => {
        const { play, sandbox, exists, text } = await limited(t, version, DOCS, links);
        const results = await play(
          calls(sandbox),
          [
            edit("src/a"),
            edit("docs/link/a"),
            edit("@src/a"),
            edit("docs/../src/a"),
            edit(`file://${sandbox.project}/src/a`),
          ],
          [write("docs/new/deep"), write("@docs/at"), write(`${sandbox.project}/docs/abs`)],
        );
        assert.deepEqual(targets.filter(exists), []);
        assert.deepEqual([text("src/file"), text("src/a")], ["", "untouched\n"]);
        assert.deepEqual(
          [text("docs/new/deep"), text("docs/at"), text("docs/abs")],
          ["changed\n", "changed\n", "changed\n"],
          results.join("\n---\n"),
        );
      });

      test("the file tools reach all of them without limits", LONG, async (t) => {
        const { play, sandbox, exists, text } = await limited(t, version, {}, links);
        await play(
          calls(sandbox).filter((call) => !/ways-\w*-?\d+"/.test(JSON.stringify(call))),
          [edit("src/a")],
        );
        assert.deepEqual(
          targets.filter((target) => !exists(target)),
          [],
        );
        assert.deepEqual([text("src/file"), text("src/a")], ["changed\n", "changed\n"]);
      });

      test("a command beside a write cannot put a link in its place", async (t) => {
        const { play, text, exists } = await limited(t, version, DOCS, { files: FILES });
        const rounds = Array.from({ length: 8 }, (_, n) => {
          const both = [bash(swap(0.2)), write("docs/x/new"), edit("docs/x/a")];
          return n % 2 === 0 ? both : both.reverse();
        });
        const results = await play(...rounds, [bash("echo ran > docs/ran")]);
        assert.deepEqual([exists("src/new"), text("src/a"), text("docs/ran")], [false, "untouched\n", "ran\n"]);
        assert.ok(
          results.some((result) => result.includes("Successfully wrote")),
          results.join("\n---\n"),
        );
      });

      test("a tool of another extension is refused unless the phase names it", LONG, async (t) => {
        /** @param {Record<string, unknown>} limits */
        const scribble = async (limits) => {
          const { play, text } = await limited(t, version, limits, { files: FILES, before: addTools });
          await play([{ name: "scribble", arguments: { path: "src/a" } }]);
          return text("src/a");
        };
        assert.equal(await scribble({ write: [] }), "untouched\n");
        assert.equal(await scribble({ write: [], tools: { whitelist: ["scribble"] } }), "changed\n");
      });

      if (version === PI_VERSIONS[0]) {
        test("nested calls are held to the limits, and cannot put a link in the place of a file", LONG, async (t) => {
          const script = (/** @type {unknown[]} */ ...nested) => ({ name: "script", arguments: { calls: nested } });
          const { play, text, exists } = await limited(
            t,
            version,
            { ...DOCS, tools: { whitelist: ["script", "bash", "write", "edit"] } },
            {
              files: FILES,
              before: addTools,
            },
          );
          const swapping = swap(1.5);
          const results = await play(
            [
              script(
                ["bash", { command: "echo changed > src/a; echo changed > src/new" }],
                ["write", { path: "src/b", content: "x" }],
                ["write", { path: "docs/link", content: "x" }],
              ),
            ],
            [
              script(
                ["bash", { command: swapping }, true],
                ["write", { path: "docs/x/new", content: "x" }],
                ["write", { path: "docs/x/new2", content: "x" }],
              ),
            ],
            ...Array.from({ length: 6 }, () => [write("docs/x/new"), edit("docs/x/a")]),
            [script(["bash", { command: swapping }, true])],
          );
          const later = await play(...Array.from({ length: 6 }, () => [write("docs/x/new"), edit("docs/x/a")]), [
            bash("sleep 1.5"),
          ]);
          assert.deepEqual(
            [text("src/a"), text("src/b"), exists("src/new"), exists("src/new2")],
            ["untouched\n", "untouched\n", false, false],
            [...results, ...later].join("\n---\n"),
          );
          assert.equal(text("docs/link"), "x", results.join("\n---\n"));
        });
      }
    },
  );
}
