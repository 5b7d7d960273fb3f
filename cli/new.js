// Writes the files of a new workflow.
import { lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { plainText } from "#sandbox";

import { line } from "./headless/questions.js";
import { openWorkflows } from "./workflows.js";
import { Failure, inWords, quoted } from "./words.js";

/**
 * Returns the files of a new workflow, and the place where it is written.
 * @param {string} name
 * @param {string[]} places where it can be written
 * @param {string[]} [answers] to the questions about it; if absent, the user of the terminal is asked
 */
export async function newWorkflow(name, places, answers) {
  const workflows = openWorkflows([]);
  const given = [...(answers ?? [])];
  for (;;) {
    let step;
    try {
      step = workflows.skeleton(name, places, given);
    } catch (error) {
      // Without an answer the name is refused.
      if (answers || given.length === 0) throw error;
      process.stderr.write(`${plainText(inWords(error))}\n\n`);
      given.pop();
      continue;
    }
    if (step.tag === "done")
      return { files: [{ path: "workflow.yaml", text: step.val.text }], place: places[step.val.place] };
    given.push(await answerTo(step.val));
  }
}

/** @param {{ title: string, options: string[] }} question */
async function answerTo({ title, options }) {
  const listed = options.map((option, index) => `  ${index + 1}  ${option}`);
  const answer = await line([title, ...listed, "> "].join("\n"), new AbortController().signal);
  if (answer === undefined) throw new Failure("No workflow is written.");
  return /^\s*\d+\s*$/.test(answer) ? (options[Number(answer) - 1] ?? answer) : answer;
}

/** The folder of the examples of this package. */
const EXAMPLES = fileURLToPath(new URL("../workflows-examples", import.meta.url));

/**
 * Returns the files of an example under another name, and the files of the folder `_shared` if the example needs them.
 * @param {string} example
 * @param {string} name
 */
export function exampleFiles(example, name) {
  const examples = readdirSync(EXAMPLES, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== "_shared",
  );
  const names = examples.map((entry) => entry.name);
  if (!names.includes(example))
    throw new Failure(`There is no example ${quoted(example)}, only ${names.sort().join(", ")}.`);
  const files = filesIn(join(EXAMPLES, example));
  const text = files.map(({ text }) => text).join("\n");
  return {
    files: files.map(({ path, text }) => ({
      path,
      text: path === "workflow.yaml" ? text.replace(/^commandName: .*$/m, `commandName: ${name}`) : text,
    })),
    shared: /^\s*- (subworkflow: |\.\.\/_shared\/)/m.test(text) ? filesIn(join(EXAMPLES, "_shared")) : [],
  };
}

/** The files of a folder and of the folders in it, with their texts. @param {string} folder */
export function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = entries.filter((path) => statSync(join(folder, path)).isFile());
  return paths
    .sort()
    .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(folder, path), "utf8") }));
}

/**
 * Makes a folder with files in it, all or none. An existing folder is not changed.
 * @param {string} folder
 * @param {{ path: string, text: string, executable?: boolean }[]} files
 * @returns {string[]} the paths of the files
 */
export function writeNew(folder, files) {
  if (lstatSync(folder, { throwIfNoEntry: false })) throw new Failure(`${folder} is there already.`);
  makeFolder(dirname(folder));
  mkdirSync(folder);
  try {
    return files.map(({ path, text, executable }) => {
      makeFolder(dirname(join(folder, path)));
      writeFileSync(join(folder, path), text, { flag: "wx", mode: executable ? 0o755 : 0o644 });
      return join(folder, path);
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Makes a folder and the folders above it, without `recursive`: Node retries forever where a folder is missing and
 * cannot be made, as in `/proc`.
 * @param {string} folder
 */
function makeFolder(folder) {
  if (statSync(folder, { throwIfNoEntry: false })) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder));
  mkdirSync(folder);
}
