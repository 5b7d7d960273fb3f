// Reads the workflows from the installed documentation of the reference.

import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { REFERENCE } from "./packages.mjs";
import { hidden, phaseFile } from "./workflows.mjs";

/**
 * Returns the files on a page of the documentation: each is a code block below a heading or a bold line that begins
 * with its path. The first block for a path counts.
 *
 * @param {string} page
 * @returns {Record<string, string>} texts by path
 */
export function documentedFiles(page) {
  const text = readFileSync(join(REFERENCE, "docs", page), "utf8");
  const labelled =
    /^(?:### |\*\*\w+ )`([^`]+\.(?:yaml|md))`.*\n\n(?:(?!```|#).*\n\n)*```(?:yaml|markdown)\n([^]*?)^```$/gm;
  /** @type {Record<string, string>} */
  const files = {};
  for (const [, path, content] of text.matchAll(labelled))
    files[path.replace("~/.pi/agent/workflows/", "")] ??= content;
  return files;
}

/**
 * Returns the workflows of which a page shows only `workflow.yaml`, with generated phases and nested workflows.
 *
 * @param {string} page from the package's folder
 * @returns {Record<string, string>} texts by path
 */
export function documentedFragments(page) {
  const text = readFileSync(join(REFERENCE, page), "utf8");
  const yamls = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, yaml]) => yaml);
  const whole = yamls.filter((yaml) => /^name:/m.test(yaml) && /^phases:/m.test(yaml));
  const keys = whole.map(
    (yaml) => (/^commandName: "?([\w-]+)/m.exec(yaml) ?? /^# \S*?([\w-]+)\/workflow\.yaml/m.exec(yaml))?.[1] ?? "",
  );
  const files = whole.flatMap((yaml, index) => {
    const phases = [...yaml.matchAll(/^ +- (\S+\.md)/gm)].map(([, path]) => path);
    const made = phases.map((path) => [posix.join(keys[index], path), phaseFile(posix.basename(path, ".md"))]);
    return [[`${keys[index]}/workflow.yaml`, yaml], ...made];
  });
  const nested = whole.flatMap((yaml) => [...yaml.matchAll(/subworkflow: ([\w-]+)/g)].map(([, key]) => key));
  const missing = nested.filter((key) => !keys.includes(key)).map((key) => hidden(key, ["only"]));
  return Object.assign(Object.fromEntries(files), ...missing);
}

/**
 * Returns the files below a folder, by their paths relative to it.
 * @param {Record<string, string>} files
 * @param {string} folder
 */
export function below(files, folder) {
  const inside = Object.entries(files).filter(([path]) => path.startsWith(folder));
  return Object.fromEntries(inside.map(([path, text]) => [path.slice(folder.length), text]));
}

/**
 * Returns the command names of the workflows in these files.
 * @param {Record<string, string>} files
 */
export function commandNames(files) {
  return Object.entries(files).flatMap(([path, text]) => {
    const name = path.endsWith("workflow.yaml") && /^commandName: "?([\w-]+)/m.exec(text);
    return name ? [name[1]] : [];
  });
}
