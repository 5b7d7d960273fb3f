// Workflows of other programs, rewritten in this language (tests/ports/): each loads without a diagnostic, and runs to
// DONE in pi. The first line of each says what it needs of the language.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";

import { openWorkflows } from "../../cli/workflows.js";
import { demoAgent } from "../../scripts/demo/agent.mjs";
import { VERSIONS } from "./harness/extent.mjs";
import { REPO } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { stage } from "./harness/stage.mjs";
import { states } from "./harness/workflows.mjs";

const PORTS = join(REPO, "tests/ports");

/** The files of all workflows, by their paths in a folder of workflows. */
const FILES = Object.fromEntries(
  readdirSync(PORTS, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() ? [[path.slice(PORTS.length + 1), readFileSync(path, "utf8")]] : [];
  }),
);

const PROJECT = {
  "package.json": '{ "private": true, "scripts": { "test": "test -f package.json" } }\n',
  "CONTRIBUTING.md": "One change, one test.\n",
  "ISSUE.md": "The greeting is missing, says the issue.\n",
};

/** The line that starts each, and a text of the session or of a request to the model that shows the construct for which it stands here. */
const STARTS = [
  { line: "audit-fix most=3 the parser", shown: /Tell what was repaired[^]*Repairs: 1\. repaired/ },
  { line: "code-review the greeting", shown: /Find out whether this is true: Read the greeting once more/ },
  { line: "cut-release notes=true the greeting", shown: /the notes of 0\.0\.1 \(asked for: \(none\)\)/ },
  { line: "fix-issue the greeting", shown: /You need no tool\.[^]*The greeting is missing, says the issue\./ },
  { line: "packages the greeting", shown: /Judge what was done: Done as the phase asks\.[^]*Changed:[^]*ISSUE\.md/ },
  { line: "planned-change the greeting", shown: /Change Done as the phase asks\. in Done as the phase asks\./ },
  { line: "refactor the greeting", shown: /Writable in this phase:\*\* src\/api\// },
  { line: "story the greeting", shown: /"next-step"[^]*"list"/ },
  { line: "tournament entrants=2 at-once=2 the greeting", shown: /Judge candidate 2 of 2/ },
];

test("each loads without a diagnostic", () => {
  const { diagnostics } = openWorkflows([{ name: "global", path: PORTS }]).check({ tools: [], moreTools: true });
  assert.deepEqual(
    diagnostics.map(({ text }) => text),
    [],
  );
});

for (const version of VERSIONS) {
  suite(`pi ${version}: workflows of other programs`, () => {
    for (const { line, shown } of STARTS)
      test(`/workflow ${line}`, async (t) => {
        const { model, sandbox } = await stage(t, demoAgent({ paceMs: 0 }), { globalFiles: FILES, files: PROJECT });
        const onDialog = (/** @type {any} */ { options }) =>
          options?.find((/** @type {string} */ of) => /^(Yes|Write them|go)\b/i.test(of));
        const rpc = await startRpc({ version, sandbox, onDialog });
        await rpc.promptAndSettle(`/workflow ${line}`);
        const entries = await rpc.entries();
        const { active, cancelled, completionNotified } = states(entries).at(-1);
        assert.deepEqual([active, cancelled, completionNotified], [false, false, true]);
        assert.ok(shown.test(JSON.stringify([entries, model.requests]).replaceAll("\\n", "\n")), "the construct");
        assert.deepEqual(rpc.extensionErrors(), []);
      });
  });
}
