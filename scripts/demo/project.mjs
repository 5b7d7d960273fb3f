// The project of the demo: the example workflows, and a test for the gates that run the tests of a project.
import { cpSync } from "node:fs";
import { join } from "node:path";

import { REPO } from "../../tests/pi/harness/pi.mjs";
import { makeSandbox } from "../../tests/pi/harness/sandbox.mjs";

const TEST = `import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

test("a greeting is not empty", () => {
  if (existsSync("greeting.txt")) assert.notEqual(readFileSync("greeting.txt", "utf8").trim(), "");
});
`;

const FILES = {
  "README.md": "# Demo\n\nA project to try workflows in. It is thrown away at the end.\n",
  "package.json": '{ "private": true, "scripts": { "test": "node --test" } }\n',
  "greeting.test.mjs": TEST,
};

/** @param {{ baseUrl: string } | undefined} model */
export function demoSandbox(model) {
  const sandbox = makeSandbox({ model, files: FILES });
  cpSync(join(REPO, "workflows-examples"), join(sandbox.project, ".pi/workflows"), { recursive: true });
  return sandbox;
}
