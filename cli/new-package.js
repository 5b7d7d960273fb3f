// The files of a new pi package with a workflow.
import { Failure, quoted } from "./words.js";

/** Names that npm publishes; the part behind the scope is the name of a workflow too. */
const NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?([a-z0-9][a-z0-9_-]*)$/;
const MAX_NAME = 214;

/** Returns the name of a package without its scope; throws if it is not a valid name. @param {string} name */
export function shortName(name) {
  const short = name.length <= MAX_NAME ? NAME.exec(name)?.[1] : undefined;
  if (short === undefined || short === "node_modules") {
    throw new Failure(
      `${quoted(name)} is not a valid name of a package: it is NAME or @SCOPE/NAME, in lower case, of letters, digits, "-" and "_".`,
    );
  }
  return short;
}

/**
 * Returns the files of a package.
 * @param {string} name
 * @param {{ path: string, text: string }[]} workflow the files of its workflow
 * @returns {{ path: string, text: string }[]}
 */
export function packageFiles(name, workflow) {
  const short = shortName(name);
  const manifest = {
    name,
    version: "0.1.0",
    description: `The workflow ${short} for pi`,
    type: "module",
    keywords: ["pi-package", "pi-workflows"],
    files: ["workflows"],
    scripts: { test: "node --test" },
    // Without it, pi takes a package that is installed from a folder for an extension.
    pi: { extensions: [] },
    "pi-workflows": { workflows: ["./workflows"] },
  };
  const fill = (/** @type {string} */ text) => text.replaceAll("PACKAGE", name).replaceAll("WORKFLOW", short);
  return [
    { path: "package.json", text: `${JSON.stringify(manifest, null, 2)}\n` },
    { path: "README.md", text: fill(README) },
    { path: "test/workflows.test.js", text: fill(TEST) },
    ...workflow.map(({ path, text }) => ({ path: `workflows/${short}/${path}`, text })),
  ];
}

const README = `# PACKAGE

A workflow for the [pi](https://pi.dev) coding agent. It needs pi-workflows: \`pi install FOLDER\`, with the folder of pi-workflows.

## Install

\`\`\`sh
pi install npm:PACKAGE    # when it is published
pi install .                # from this folder
\`\`\`

\`-l\` installs it for one project.

## Use

\`\`\`text
/workflow WORKFLOW TASK
/workflow PACKAGE/WORKFLOW TASK     if another workflow has the name WORKFLOW
\`\`\`

## Test

\`npm test\` checks the workflow files and goes through the workflow without a model. It needs the command \`pi-workflows\`:
\`npm install --save-dev FOLDER\`, with the folder or the tarball (\`npm pack\`) of pi-workflows.
`;

const TEST = `// Checks the workflows of this package, and goes through WORKFLOW without a model.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const cwd = fileURLToPath(new URL("..", import.meta.url));

/** Runs the command pi-workflows in the package, and returns its output. */
function piWorkflows(...parameters) {
  const options = { cwd, encoding: "utf8", shell: process.platform === "win32" };
  const { error, status, stdout, stderr } = spawnSync("pi-workflows", [...parameters, "--dir", "."], options);
  assert.equal(error, undefined, "The command pi-workflows is not installed.");
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test("the workflow files have no errors and no warnings", () => {
  piWorkflows("check", "--strict");
});

test("WORKFLOW goes from its first phase to its end", () => {
  assert.match(piWorkflows("run-through", "WORKFLOW"), /DONE/);
});
`;
