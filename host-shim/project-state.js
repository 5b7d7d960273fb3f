// The state of the project's files: the tree of its git work tree, and what has changed since earlier trees.
//
// git runs in the sandbox, without network, and may write one folder of its own below pi's agent directory. That folder is its
// repository: the project's configuration, which an agent may have written and which names programs (filters, `core.fsmonitor`), is read
// for one list of names only, and runs nothing. Files are hashed, not copied: the folder has an index and trees.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from "node:path";

import { NOT_GRANTED, messageOf } from "./calls.js";
import { SYSTEM_FOLDERS, canConfine, lineInFolder, shellQuoted, workTreeAt } from "./sandbox/index.js";

/** @typedef {import("./interface.js").ProjectState} ProjectState */

/** The folder of all own repositories, relative to pi's agent directory. */
const FOLDER = join("extension-data", "project-states");

/** The time in which the state must be known, in milliseconds. */
const PATIENCE = 10_000;
/** The age at which the index of a request, which ends after `PATIENCE`, is left over, in milliseconds. */
const STALE = 60_000;
/** The time after which an own repository that nobody uses is removed, in milliseconds. */
const KEPT = 60 * 24 * 60 * 60 * 1000;
/** The maximum size of what git prints, in bytes. */
const MAX_OUTPUT = 32 * 2 ** 20;
/** The maximum number of earlier states in a request. */
const MAX_SINCE = 100;
/** The maximum number of paths that are told. */
const MAX_PATHS = 10;

/** The beginning of the name of an index that is about to take the place of the one before. */
const NEW = "new-";

/** The name of a tree. */
const TREE = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The script of the shell. `tree_of` prints the tree of a work tree: of the files that git tracks or would track. A repository in it has its
 * own tree as its commit. Arguments: the work tree, the own repository, a name that no other request has, and the earlier trees. The file
 * `excluded` has patterns.
 *
 * Each request works on a copy of the index, which then takes its place: so several processes need no lock, and a kill leaves none. The
 * copy has the time of the original, by which git knows which files may have changed in the same second.
 *
 * Within `tree_of` each command ends it itself: `set -e` has no effect there.
 */
const SCRIPT = `set -e
top=$1; export GIT_DIR="$2"; new=$GIT_DIR/${NEW}$3; shift 3
[ -d "$GIT_DIR/objects" ] || git init --quiet --bare "$GIT_DIR"
tree_of() (
  cd "$1" || exit 1
  name=$(printf %s "$1" | git hash-object --stdin) || exit 1
  export GIT_WORK_TREE="$1" GIT_INDEX_FILE="$TMPDIR/index-$name"
  list=$GIT_INDEX_FILE.list
  [ ! -e "$GIT_DIR/index-$name" ] || cp -p "$GIT_DIR/index-$name" "$GIT_INDEX_FILE" || exit 1
  git ls-files -z --modified --deleted >"$list" || exit 1
  git ls-files -z --stage | tr '\\000' '\\n' | sed -n 's/^160000 [^	]*	//p' | tr '\\n' '\\000' >>"$list"
  git update-index -z --force-remove --stdin <"$list" || exit 1
  git ls-files -z --others --exclude-from="$TMPDIR/excluded" --exclude-standard >"$list" || exit 1
  (unset GIT_INDEX_FILE; GIT_DIR="$1/.git" git -c core.fsmonitor=false ls-files -z --cached --ignored --exclude-standard) >>"$list" || exit 1
  git update-index -z --add --remove --info-only --stdin <"$list" || exit 1
  tr '\\000' '\\n' <"$list" | sed -n 's,/$,,p' |
    while IFS= read -r inner; do
      id=$(tree_of "$1/$inner") || exit 1
      git update-index --add --cacheinfo "160000,$id,$inner" || exit 1
    done || exit 1
  git write-tree --missing-ok || exit 1
  if [ -e "$GIT_INDEX_FILE" ]; then cp -p "$GIT_INDEX_FILE" "$new" && mv -f "$new" "$GIT_DIR/index-$name"; fi
)
id=$(tree_of "$top")
printf '%s\\0' "$id"
for earlier; do
  git cat-file -e "$earlier^{tree}" 2>/dev/null || continue
  printf '%s\\0' "$earlier"
  git diff-tree -r -z --no-renames --name-status "$earlier" "$id"
done`;

/** For each work tree, the end of the requests so far: one follows the other. @type {Map<string, Promise<unknown>>} */
const queues = new Map();
/** Work trees that take too long. @type {Set<string>} */
const tooLarge = new Set();

/**
 * Returns the top of the work tree.
 *
 * @param {boolean} granted
 * @param {string} cwd
 * @throws {Error} with the reason if the state of its files cannot be told
 */
export function workTreeOf(granted, cwd) {
  if (!granted) throw new Error(NOT_GRANTED);
  const top = workTreeAt(realpathSync(cwd))?.tree;
  if (top === undefined) throw new Error("the project is no git work tree");
  if (tooLarge.has(top)) throw new Error(`its files take longer than ${PATIENCE / 1000} s`);
  if (!programFolders().some((folder) => existsSync(join(folder, process.platform === "win32" ? "git.exe" : "git")))) throw new Error("git is not installed");
  canConfine();
  return top;
}

/** Returns the folders of programs, those of the system first: others may be writable for the agent. */
function programFolders() {
  return [...SYSTEM_FOLDERS, ...(process.env.PATH ?? "").split(delimiter)];
}

/**
 * Returns the state of the project's files.
 *
 * @param {{ granted: boolean, cwd: string, agentDir: string, sessionFile: string | undefined }} place
 * @param {string[]} since
 * @param {AbortSignal} signal
 * @returns {Promise<import("./interface.js").Answer>}
 */
export async function projectState({ granted, cwd, agentDir, sessionFile }, since, signal) {
  try {
    const top = workTreeOf(granted, cwd);
    const before = queues.get(top) ?? Promise.resolve();
    const state = before.then(() => ask(top, agentDir, sessionFile, since, signal));
    queues.set(top, state.catch(() => {}));
    return { tag: "project-state", val: { tag: "ok", val: await state } };
  } catch (error) {
    return signal.aborted ? { tag: "cancelled" } : { tag: "project-state", val: { tag: "err", val: messageOf(error) } };
  }
}

/**
 * @param {string} top
 * @param {string} agentDir
 * @param {string | undefined} sessionFile
 * @param {string[]} since
 * @param {AbortSignal} signal
 */
async function ask(top, agentDir, sessionFile, since, signal) {
  const parent = join(agentDir, FOLDER);
  const folder = join(parent, createHash("sha256").update(top).digest("hex").slice(0, 20));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // The agent folder may be a work tree itself.
  writeFileSync(join(parent, ".gitignore"), "*\n");
  tidy(parent, folder);
  const earlier = since.filter((id) => TREE.test(id)).slice(0, MAX_SINCE);
  const temporary = mkdtempSync(join(tmpdir(), "pi-project-state-"));
  const words = [top, realpathSync(folder), basename(temporary), ...earlier].map(shellQuoted).join(" ");
  try {
    writeFileSync(join(temporary, "excluded"), patternsOf(sessionFile, top));
    const line = lineInFolder(`set -- ${words}\n${SCRIPT}`, realpathSync(folder), { cwd: top, temporary: realpathSync(temporary), network: false });
    return stateOf(await output(line, top, signal));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * Returns patterns of git for the files of the session and of its children, which change all the time.
 *
 * @param {string | undefined} file
 * @param {string} top
 */
function patternsOf(file, top) {
  if (!file || !existsSync(file)) return "";
  const path = relative(top, realpathSync(file)).split(sep).join("/");
  if (/^\.\.(?:\/|$)|\n/.test(path) || isAbsolute(path)) return "";
  const [, parent] = /^(.*)\.children\/[^/]*$/.exec(path) ?? [];
  const stem = (parent ?? path.replace(/\.jsonl$/, "")).replace(/[\\*?[\]!# ]/g, "\\$&");
  return ["jsonl", "jsonl.process", "children/"].map((end) => `/${stem}.${end}\n`).join("");
}

/** Removes own repositories that were not used for long, and what a kill has left over. @param {string} parent @param {string} used */
function tidy(parent, used) {
  const now = Date.now();
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (folder !== used && now - statSync(folder).mtimeMs > KEPT) rmSync(folder, { recursive: true, force: true });
  }
  for (const name of readdirSync(used).filter((name) => name.startsWith(NEW))) {
    const left = join(used, name);
    if (now - (statSync(left, { throwIfNoEntry: false })?.ctimeMs ?? now) > STALE) rmSync(left, { force: true });
  }
}

/**
 * Returns what a line of the shell prints.
 *
 * @param {string} line
 * @param {string} top
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
function output(line, top, signal) {
  const { HOME, XDG_CONFIG_HOME } = process.env;
  const env = { PATH: programFolders().join(delimiter), HOME, XDG_CONFIG_HOME, LC_ALL: "C", GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" };
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", line], { cwd: top, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    /** @type {Buffer[]} */
    const chunks = [];
    let size = 0;
    let errors = "";
    /** @param {Error} reason */
    const end = (reason) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      reject(reason);
    };
    const timer = setTimeout(() => {
      tooLarge.add(top);
      end(new Error(`its files take longer than ${PATIENCE / 1000} s`));
    }, PATIENCE);
    const cancel = () => end(new Error("cancelled"));
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    child.stdout.on("data", (data) => {
      size += data.length;
      if (size > MAX_OUTPUT) end(new Error("too many files have changed"));
      else chunks.push(data);
    });
    child.stderr.on("data", (data) => (errors = `${errors}${data}`.slice(-1000)));
    child.on("error", reject);
    child.on("close", (status) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      if (status === 0) resolve(Buffer.concat(chunks).toString("utf8"));
      else reject(new Error(`git failed: ${/^(?:fatal|error): .*/m.exec(errors)?.[0] ?? (errors.trim().split("\n").at(-1) || `exit status ${status}`)}`));
    });
  });
}

/**
 * Reads what the script prints: the tree, and for each earlier one its name and pairs of a letter and a path.
 *
 * @param {string} text
 * @returns {ProjectState}
 */
function stateOf(text) {
  const [id = "", ...words] = text.split("\0");
  if (!TREE.test(id)) throw new Error("git named no tree");
  /** @type {ProjectState["since"]} */
  const since = [];
  for (let at = 0; at < words.length - 1; ) {
    const word = words[at] ?? "";
    const last = since.at(-1);
    if (TREE.test(word)) {
      since.push({ since: word, count: 0n, paths: [] });
      at += 1;
    } else {
      if (!last) throw new Error("git named no earlier tree");
      last.count += 1n;
      if (last.paths.length < MAX_PATHS) last.paths.push(words[at + 1] ?? "");
      at += 2;
    }
  }
  return { id, since };
}
