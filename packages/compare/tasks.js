// The tasks of a comparison: folders with a task, a project and a check.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";

import { Failure, inWords, quoted, shortened } from "@pi-workflows/pi-workflows/cli";
import { untrusted } from "@pi-workflows/pi-workflows/sandbox";

const run = promisify(execFile);

/**
 * @typedef {object} Task
 * @property {string} name the name of its folder
 * @property {string} folder absolute, links followed
 * @property {string} digest of all its files
 * @property {string} text
 * @property {[string, string][]} inputs
 * @property {number} timeout in milliseconds
 * @property {number} checkTimeout the time of `setup` and of `check`, in milliseconds
 * @property {string} [budget]
 * @property {[address: string, commit: string]} [repo]
 */

/** @typedef {Pick<import("@pi-workflows/pi-workflows/cli").Workflows, "readYaml" | "readBounds">} Readers */

/** The fields of a `task.md`; `schemas/task.json` describes them. */
const FIELDS = ["repo", "commit", "inputs", "timeout", "checkTimeout", "budget"];
/** The longest time of a run or a script, in milliseconds. */
const DAY = 24 * 3600_000;

/** The maximum size of a `task.md`, and of a task with its project, in bytes. */
const MAX_TEXT = 2 ** 20;
const MAX_TASK = 2 * 2 ** 30;

const PARTS = { text: "task.md", project: "project", setup: "setup", check: "check" };

/**
 * Returns the tasks of a folder, by name.
 * @param {string} folder
 * @param {Readers} readers
 * @returns {Task[]}
 */
export function tasksIn(folder, readers) {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Failure(`There is no folder ${shortened(folder)}.`);
  const root = realpathSync(folder);
  const names = readdirSync(root).filter((name) => existsSync(join(root, name, PARTS.text)));
  if (names.length === 0)
    throw new Failure(
      `${shortened(folder)} has no tasks: a task is a folder with ${PARTS.text}, a project and a check. "pi-workflows-compare new DIR" writes two.`,
    );
  return names.sort().map((name) => taskIn(join(root, name), name, readers));
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {Readers} readers
 * @returns {Task}
 */
function taskIn(folder, name, readers) {
  const file = join(folder, PARTS.text);
  if (!/^[\w.-]{1,60}$/.test(name))
    throw new Failure(`${quoted(name)} is no name of a task: it may have letters, digits, ".", "_" and "-".`);
  const { repo, ...read } = readTask(file, textOf(dirname(folder), name), readers);
  const hasProject = statSync(join(folder, PARTS.project), { throwIfNoEntry: false })?.isDirectory() === true;
  if (hasProject === (repo !== undefined))
    throw new Failure(
      `${file}: ${hasProject ? "a task has a folder project or a repo, not both" : "there is no folder project beside it, and no repo in it"}.`,
    );
  executable(join(folder, PARTS.check), true);
  executable(join(folder, PARTS.setup), false);
  return {
    name,
    folder: realpathSync(folder),
    digest: digestOf(realpathSync(folder)),
    ...read,
    repo: repo && [addressIn(folder, repo[0]), repo[1]],
  };
}

/** @param {unknown} value */
export const isMapping = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads a `task.md`.
 * @param {string} file the name of the file in errors
 * @param {string} content
 * @param {Readers} readers
 * @returns {Pick<Task, "text" | "inputs" | "timeout" | "checkTimeout" | "budget" | "repo">}
 */
export function readTask(file, content, { readYaml, readBounds }) {
  const { json, body: text, places } = readYaml(file, content, true);
  const fields = JSON.parse(json) ?? {};
  /** @type {string[]} */
  const errors = [];
  const wrong = (/** @type {string} */ name, /** @type {string} */ message) => {
    const [, line, column] = places.find(([other]) => other === name) ?? ["", 1, 1];
    errors.push(`${file}:${line}:${column}: error: ${message}`);
  };
  const expected = (/** @type {string} */ name, /** @type {string} */ what, /** @type {unknown} */ value) =>
    wrong(
      name,
      `\`${shortened(name)}\`: expected ${what}, found \`${shortened(scalar(value) ?? JSON.stringify(value))}\``,
    );
  if (!isMapping(fields)) throw new Failure(`${file}:${places[0].slice(1).join(":")}: error: expected a mapping`);
  for (const [name, value] of Object.entries(fields)) {
    const isEmpty = value === null || scalar(value)?.trim() === "" || (isMapping(value) && !Object.keys(value).length);
    if (!FIELDS.includes(name))
      wrong(name, `unknown field \`${shortened(name)}\` in \`task.md\`; it has ${FIELDS.join(", ")}`);
    else if (isEmpty) wrong(name, `\`${name}\` has no value`);
    else continue;
    delete fields[name];
  }
  const word = (/** @type {string} */ name) => {
    const value = fields[name];
    if (value !== undefined && scalar(value) === undefined) expected(name, "a text", value);
    return scalar(value);
  };
  const time = (/** @type {string} */ name, /** @type {number} */ standard) => {
    const value = fields[name];
    if (value === undefined) return standard;
    try {
      const words = Number(value) >= 0 ? `${Math.round(Number(value) * 1000)}ms` : scalar(value);
      const { timeMs, ...others } = readBounds(`time=${words}`);
      const ms = Number(timeMs);
      if (ms <= DAY && Object.values(others).every((bound) => bound === undefined)) return ms;
    } catch {
      // The error is reported below.
    }
    expected(name, "a duration like `30m` or `1h 30m`, or a number of seconds, at most a day", value);
    return standard;
  };
  if (text === "") errors.push(`${file}: error: there is no task below the front matter`);
  const [repo, commit, budget] = ["repo", "commit", "budget"].map(word);
  if (repo !== undefined && fields.commit === undefined) expected("repo", "a `commit` beside it", repo);
  if (fields.repo === undefined && commit !== undefined) wrong("commit", "missing field `repo`");
  const timeout = time("timeout", 30 * 60_000);
  const checkTimeout = time("checkTimeout", 10 * 60_000);
  try {
    if (budget !== undefined) readBounds(budget);
  } catch (error) {
    wrong("budget", `\`budget\`: expected amounts such as \`cost=2,time=30m\`: ${inWords(error)}`);
  }
  const given = fields.inputs ?? {};
  if (!isMapping(given)) expected("inputs", "a mapping", given);
  /** @type {[string, string][]} */
  const inputs = [];
  for (const [name, value] of isMapping(given) ? Object.entries(given) : [])
    for (const item of Array.isArray(value) ? value : [value]) {
      const written = scalar(item);
      if (written !== undefined) inputs.push([name, written]);
      else expected(`inputs.${name}`, "a text, a number, true or false, or a list of these", item);
    }
  if (errors.length > 0) throw new Failure(errors.join("\n"));
  const ofRepo = repo !== undefined && commit !== undefined;
  return { text, inputs, timeout, checkTimeout, budget, repo: ofRepo ? [repo, commit] : undefined };
}

/** `readYaml` returns numbers and booleans as texts. @param {unknown} value */
const scalar = (value) => (typeof value === "string" ? value : undefined);

/** A path is relative to the folder of the task. @param {string} folder @param {string} address */
const addressIn = (folder, address) =>
  /^[\w+-]+:|^[^/]+@[^/]+:/.test(address) || isAbsolute(address) ? address : resolve(folder, address);

/** @param {string} file @param {boolean} isNeeded */
function executable(file, isNeeded) {
  if (!existsSync(file)) {
    if (isNeeded) throw new Failure(`There is no ${file}.`);
    return;
  }
  try {
    accessSync(file, constants.X_OK);
    if (!statSync(file).isFile()) throw new Error();
  } catch {
    throw new Failure(`${file} is not an executable file.`);
  }
}

/** @param {string} root the folder of tasks @param {string} name */
function textOf(root, name) {
  try {
    return String(untrusted.readFile(root, `${name}/${PARTS.text}`, MAX_TEXT));
  } catch (error) {
    throw new Failure(inWords(error));
  }
}

/**
 * The digest of a folder: of the names, kinds and contents of all that is in it.
 * @param {string} folder without links
 */
export function digestOf(folder) {
  const hash = createHash("sha256");
  let left = MAX_TASK;
  const addContent = (/** @type {string} */ path) => {
    const { descriptor, stat } = untrusted.openUserFile(path, { flags: constants.O_NOFOLLOW ?? 0, place: path });
    try {
      left -= stat.size;
      if (left < 0) throw new Failure(`${folder} has more than ${MAX_TASK / 2 ** 30} GiB.`);
      const chunk = Buffer.allocUnsafe(64 * 1024);
      // Of a file that grows, only the first `size` bytes count.
      for (let rest = stat.size; rest > 0;) {
        const length = readSync(descriptor, chunk, 0, Math.min(chunk.length, rest), null);
        if (length === 0) break;
        hash.update(chunk.subarray(0, length));
        rest -= length;
      }
    } finally {
      closeSync(descriptor);
    }
  };
  const add = (/** @type {string} */ path, /** @type {string} */ shown) => {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) hash.update(`link ${shown}\0${readlinkSync(path)}\0`);
    else if (stat.isDirectory()) {
      hash.update(`folder ${shown}\0`);
      for (const name of readdirSync(path).sort()) add(join(path, name), `${shown}/${name}`);
    } else if (stat.isFile()) {
      hash.update(`file ${shown}\0${stat.mode & 0o111 ? "x" : ""}\0${stat.size}\0`);
      addContent(path);
    } else throw new Failure(`${path} is neither a file nor a folder.`);
  };
  add(folder, "");
  return hash.digest("hex").slice(0, 16);
}

/** Removes from a submodule everything but the history of its commit: the clone has the whole repository. */
const FORGET = `for remote in $(git remote); do git remote remove "$remote"; done
git for-each-ref --format='delete %(refname)' | git update-ref --stdin
rm -f "$(git rev-parse --git-dir)/FETCH_HEAD"
git reflog expire --expire=now --all && git gc --quiet --prune=now`;

/**
 * Returns the folder of a task's project. A repository is cloned below `work`, once, with the history of its commit and
 * without a remote: neither the clone nor its submodules contain a later solution.
 * @param {Task} task
 * @param {string} work
 * @param {AbortSignal} [signal]
 */
export async function projectOf({ name, folder, repo }, work, signal) {
  if (!repo) return join(folder, PARTS.project);
  const [address, commit] = repo;
  const project = join(work, `repo-${name}`);
  if (existsSync(project)) return project;
  mkdirSync(dirname(project), { recursive: true });
  const git = (/** @type {string[]} */ ...words) =>
    run("git", ["-c", "advice.detachedHead=false", ...words], {
      env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
      maxBuffer: 2 ** 26,
      signal,
    });
  try {
    await git("init", "--quiet", project);
    await git("-C", project, "fetch", "--quiet", "--no-tags", "--", address, commit);
    await git("-C", project, "checkout", "--quiet", "-B", "main", "FETCH_HEAD");
    await git("-C", project, "submodule", "--quiet", "update", "--init", "--recursive");
    await git("-C", project, "submodule", "--quiet", "foreach", "--recursive", FORGET);
    rmSync(join(project, ".git/FETCH_HEAD"), { force: true });
    return project;
  } catch (error) {
    rmSync(project, { recursive: true, force: true });
    const [told] = /^(?:fatal|error): .*/m.exec(String(/** @type {any} */ (error).stderr ?? "")) ?? [inWords(error)];
    throw new Failure(`${name}: the project cannot be fetched: ${shortened(told)}`);
  }
}

/** The parts of a task that a check may need. @param {Task} task */
export const checkParts = ({ folder }) =>
  readdirSync(folder).filter((name) => name !== PARTS.project && name !== PARTS.text && name !== PARTS.setup);

/** @param {Task} task */
export const setupOf = ({ folder }) => (existsSync(join(folder, PARTS.setup)) ? join(folder, PARTS.setup) : undefined);
