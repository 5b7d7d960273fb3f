// The state of the project's files: the tree of its git work tree, and what has changed since earlier trees.
//
// git runs in the sandbox, without network, and may write one folder of its own: the folder of the trees. Files are
// hashed, not copied. An agent may have written whatever lies on the disk, so git takes little from there:
//
//   configuration   each request makes new repositories, with a configuration of its own. Those of the project and of
//                   the user can name programs (filters, `core.fsmonitor`, remotes), and are not used.
//   attributes      none, of which some make git hash something else than the bytes of a file.
//   index           an empty one for each request: git hashes the contents of all files. Sizes and times of files do
//                   not prove that a file is the same: an agent can restore both, and a write through a shared mapping
//                   changes the times only when the system writes the page to the disk.
//   trees           tell which paths have changed, but not if any has: the name of a tree is a hash.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join, relative, sep } from "node:path";

import { SYSTEM_FOLDERS } from "./bubblewrap.js";
import { canConfine, lineInFolder } from "./command-line.js";
import { killGroup } from "./exec.js";
import { commonGitFolder, workTreeAt } from "./git-folders.js";
import { privateFolder } from "./session-folder.js";
import { quoted } from "./shell-quote.js";
import { inFolder, makeFolder, replaceFile } from "./untrusted-files.js";
import { isBelow } from "./write-target.js";

/**
 * The state of the files. For each earlier state that is known: the number of paths that have changed since, and some of
 * them.
 * @typedef {{ id: string, since: { since: string, count: bigint, paths: string[] }[] }} ProjectState
 */

/** The folder for the folders of trees, in the folder for data. */
const STATES = "project-states";

/** The time in which the state must be known, in milliseconds. */
const PATIENCE = 5_000;
/** The maximum size of all files together, in MiB. */
const MAX_SIZE = 512;
const TOO_MANY_BYTES = `its files have more than ${MAX_SIZE} MiB`;
/** The time after which a folder of trees that nobody uses is removed, in milliseconds. */
const KEPT = 60 * 24 * 60 * 60 * 1000;
/** The maximum size of what git prints, in bytes. */
const MAX_OUTPUT = 32 * 2 ** 20;
/** The maximum number of earlier states in a request. */
const MAX_SINCE = 100;
/** The maximum number of paths that are told. */
const MAX_PATHS = 10;

/** The name of a tree. */
const TREE = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The environment of git. git must fetch nothing, because a fetch starts a program. This holds without these variables
 * too: no repository of a request has a remote.
 */
const GIT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
};

/**
 * The configuration of the repositories of a request: git takes names that are special on other systems only, and quotes
 * only names with control characters, quotation marks or backslashes.
 */
const CONFIGURATION = "[core]\n\tprotectNTFS = false\n\tprotectHFS = false\n\tquotePath = false\n";

/**
 * The attributes of all files, which come before those of the project and of the user: git hashes the bytes of a file.
 */
const ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding\n";

/**
 * The script of the shell. Arguments: the work tree, the folder of trees, and the names of earlier trees. The folder
 * for temporary files has the files `configuration` and `attributes`, and the file `excluded` with patterns of git.
 *
 * - `new_repository` makes an empty repository. Arguments: its folder, and the name of its hash.
 * - `absolute` prints a path, which may be relative to a folder.
 * - `behind_link` tells if a folder of a path is a link. git takes nothing behind it.
 * - `tracked_and_ignored` prints the files that the repository of a work tree tracks although `.gitignore` names them.
 *   Its index is read through a repository with the same hash, and with the same patterns as for the other files.
 *   Without objects there are no patterns of a `.gitignore` that is only in the index. git finds the other file of a
 *   split index beside it.
 * - `tree_of` prints the tree of a work tree: of the files that git tracks or would track. In the lists special names
 *   are quoted, as git does it. A repository in it, whose name has a slash at the end there, has its own tree as its
 *   commit. Each command ends it itself: `set -e` has no effect there.
 * - `count_bytes` adds the sizes of files to those that are counted so far. Files with special names are not counted:
 *   the time of the request bounds these too.
 */
const SCRIPT = `set -e
top=$1; export GIT_DIR="$TMPDIR/states.git" GIT_OBJECT_DIRECTORY="$2"; shift 2
cannot() { printf 'cannot: %s\\n' "$1" >&2; exit 1; }
absolute() { case $2 in /*) printf %s "$2" ;; *) printf %s "$1/$2" ;; esac; }
new_repository() (
  unset GIT_DIR GIT_OBJECT_DIRECTORY GIT_WORK_TREE GIT_INDEX_FILE
  GIT_DEFAULT_HASH="$2" git init --quiet --bare --template= "$1" || exit 1
  cat "$TMPDIR/configuration" >>"$1/config" || exit 1
  mkdir -p "$1/info" && cp "$TMPDIR/attributes" "$1/info/attributes"
)
behind_link() {
  folder=$1
  while [ "$folder" != "\${folder%/*}" ]; do
    folder=\${folder%/*}
    [ ! -h "$folder" ] || return 0
  done
  return 1
}
tracked_and_ignored() (
  repository=$1/.git
  if [ -f "$repository" ]; then repository=$(absolute "$1" "$(sed 's/^gitdir: //' "$repository")"); fi
  [ -e "$repository/HEAD" ] || [ -h "$repository/HEAD" ] || cannot "$1/.git is no repository"
  common=$repository
  if [ -f "$repository/commondir" ]; then common=$(absolute "$repository" "$(cat "$repository/commondir")"); fi
  hash=$(git config --file "$common/config" --get extensions.objectFormat) || [ $? -eq 1 ] || exit 1
  new_repository "$2" "\${hash:-sha1}" || exit 1
  export GIT_DIR="$2" GIT_OBJECT_DIRECTORY="$2/objects" GIT_INDEX_FILE="$repository/index"
  git ls-files --cached --ignored --exclude-standard
)
count_bytes() {
  bytes=$(sed '/^"/d; /\\/$/d' "$1" | tr '\\n' '\\0' | xargs -0 ls -ldn -- /dev/null 2>/dev/null |
    awk -v bytes="$(cat "$TMPDIR/bytes")" '{ bytes += $5 } END { printf "%.0f", bytes }')
  printf %s "$bytes" >"$TMPDIR/bytes"
  [ "$bytes" -le ${MAX_SIZE * 2 ** 20} ] || cannot "${TOO_MANY_BYTES}"
}
tree_of() (
  cd "$1" || exit 1
  name=$(printf %s "$1" | git hash-object --stdin) || exit 1
  export GIT_WORK_TREE="$1" GIT_INDEX_FILE="$TMPDIR/index-$name"
  list=$TMPDIR/list-$name
  git ls-files --others --exclude-from="$TMPDIR/excluded" --exclude-standard >"$list" || exit 1
  tracked_and_ignored "$1" "$TMPDIR/tracked-$name.git" >"$list.tracked" || exit 1
  while IFS= read -r path; do
    case $path in \\"*) cannot "a file that is tracked and ignored has a special name: $path" ;; esac
    if behind_link "$path"; then continue; fi
    if [ -h "$path" ] || [ -f "$path" ]; then printf '%s\\n' "$path"; elif [ -e "$path/.git" ]; then printf '%s/\\n' "$path"; fi
  done <"$list.tracked" >>"$list" || exit 1
  count_bytes "$list" || exit 1
  sed '/\\/"\\{0,1\\}$/d' "$list" | git update-index --add --remove --replace --info-only --stdin 2>"$list.messages" || { cat "$list.messages" >&2; exit 1; }
  if grep -q '^Ignoring path ' "$list.messages"; then cannot "git takes no file of this name: $(sed -n 's/^Ignoring path //p' "$list.messages" | head -n 1)"; fi
  sed -n 's|/\\("\\{0,1\\}\\)$|\\1|p' "$list" |
    while IFS= read -r inner; do
      case $inner in \\"*) cannot "a repository in the project has a special name: $inner" ;; esac
      id=$(tree_of "$1/$inner") || exit 1
      git update-index --add --replace --cacheinfo "160000,$id,$inner" || exit 1
    done || exit 1
  git write-tree --missing-ok
)
new_repository "$GIT_DIR" sha1
printf 0 >"$TMPDIR/bytes"
id=$(tree_of "$top")
printf '%s\\0' "$id"
for earlier; do
  git diff-tree -r -z --no-renames --name-status "$earlier" "$id" >"$TMPDIR/changes" 2>/dev/null || continue
  printf '%s\\0' "$earlier"
  cat "$TMPDIR/changes"
done`;

/** For each work tree, the end of the requests so far, which run one by one. @type {Map<string, Promise<unknown>>} */
const queues = new Map();
/** For each work tree that is too large, the reason. No request looks at it again. @type {Map<string, string>} */
const tooLarge = new Map();

/**
 * Returns the top of the work tree, and the folder of git that its work trees share.
 * @param {string} cwd
 * @throws {Error} with the reason if the state of its files cannot be told
 */
export function workTreeOf(cwd) {
  const found = workTreeAt(realpathSync(cwd));
  if (found === undefined) throw new Error("the project is no git work tree");
  const top = found.tree;
  const reason = tooLarge.get(top);
  if (reason !== undefined) throw new Error(reason);
  if (!programFolders().some((folder) => existsSync(join(folder, process.platform === "win32" ? "git.exe" : "git"))))
    throw new Error("git is not installed");
  canConfine(false);
  return { top, repository: commonGitFolder(found.folder) };
}

/** Returns the folders of programs, those of the system first: others may be writable for the agent. */
function programFolders() {
  return [...SYSTEM_FOLDERS, ...(process.env.PATH ?? "").split(delimiter)];
}

/**
 * Returns the state of the project's files.
 * @param {{ cwd: string, data: string, leftOut: string[] }} place `data` is a folder for data, which may be a link;
 *   `leftOut` are the real paths of files that change all the time, and of folders, with a slash at the end
 * @param {string[]} since
 * @param {AbortSignal} signal
 * @returns {Promise<ProjectState>}
 * @throws {Error} with the reason if the state cannot be told
 */
export async function projectState({ cwd, data, leftOut }, since, signal) {
  const { top, repository } = workTreeOf(cwd);
  const ask = async () => {
    const folder = folderOf(data, top);
    const earlier = since.filter((id) => TREE.test(id)).slice(0, MAX_SINCE);
    const words = [top, folder, ...earlier].map(quoted).join(" ");
    const temporary = mkdtempSync(join(privateFolder(), "state-"));
    try {
      writeFileSync(join(temporary, "configuration"), CONFIGURATION);
      writeFileSync(join(temporary, "attributes"), ATTRIBUTES);
      writeFileSync(join(temporary, "excluded"), leftOut.map((path) => patternOf(path, top)).join(""));
      const line = lineInFolder(`set -- ${words}\n${SCRIPT}`, folder, {
        cwd: top,
        temporary: realpathSync(temporary),
        network: false,
        readOnly: [repository],
      });
      return stateOf(await output(line, top, signal));
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  };
  const state = (queues.get(top) ?? Promise.resolve()).then(ask);
  queues.set(
    top,
    state.catch(() => {}),
  );
  return await state;
}

/**
 * Returns the real path of the folder of the trees of a work tree, and removes those that were not used for long.
 * @param {string} data
 * @param {string} top
 */
function folderOf(data, top) {
  // The folder may be a link of the user.
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const path = `${STATES}/${createHash("sha256").update(top).digest("hex").slice(0, 20)}`;
  makeFolder(data, path, 0o700);
  inFolder(data, path, (folder) => utimesSync(folder.at("."), new Date(), new Date()));
  // The folder for data may be in a work tree.
  replaceFile(data, `${STATES}/.gitignore`, "*\n");
  inFolder(data, STATES, (parent) => {
    for (const name of readdirSync(parent.at("."))) {
      const other = parent.at(name);
      if (Date.now() - (lstatSync(other, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > KEPT)
        rmSync(other, { recursive: true, force: true });
    }
  });
  return join(realpathSync(data), path);
}

/**
 * Returns the pattern of git for a path; none for a path that is not in the work tree or that a pattern cannot name.
 * @param {string} path
 * @param {string} top
 */
function patternOf(path, top) {
  if (!isBelow(path, top) || path.includes("\n")) return "";
  const end = /[/\\]$/.test(path) ? "/" : "";
  const name = relative(top, path).split(sep).join("/");
  return `/${name.replace(/[\\*?[\]!# ]/g, "\\$&")}${end}\n`;
}

/**
 * Returns what a line of the shell prints.
 * @param {string} line
 * @param {string} top
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
async function output(line, top, signal) {
  const { HOME, XDG_CONFIG_HOME } = process.env;
  const env = { PATH: programFolders().join(delimiter), HOME, XDG_CONFIG_HOME, LC_ALL: "C", ...GIT };
  const limit = AbortSignal.timeout(PATIENCE);
  const stop = AbortSignal.any([limit, signal]);
  stop.throwIfAborted();
  const child = spawn("/bin/sh", ["-c", line], { cwd: top, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const end = () => killGroup(child);
  stop.addEventListener("abort", end, { once: true });
  /** @type {Buffer[]} */
  const chunks = [];
  let size = 0;
  let errors = "";
  child.stdout.on("data", (data) => {
    size += data.length;
    if (size > MAX_OUTPUT) end();
    else chunks.push(data);
  });
  child.stderr.on("data", (data) => (errors = `${errors}${data}`.slice(-1000)));
  const [status] = await once(child, "close").finally(() => stop.removeEventListener("abort", end));
  if (status === 0) return Buffer.concat(chunks).toString("utf8");
  if (size > MAX_OUTPUT) throw new Error("too many files have changed");
  const tooLong = limit.aborted && `its files take longer than ${PATIENCE / 1000} s`;
  const reason = tooLong || /^cannot: (.*)/m.exec(errors)?.[1];
  if (reason && (tooLong || reason === TOO_MANY_BYTES)) tooLarge.set(top, reason);
  const told =
    /^(?:fatal|error): .*/m.exec(errors)?.[0] ?? (errors.trim().split("\n").at(-1) || `exit status ${status}`);
  throw new Error(reason ?? `git failed: ${told}`);
}

/**
 * Reads what the script prints: the tree, and for each earlier one its name and pairs of a letter and a path.
 * @param {string} text
 * @returns {ProjectState}
 */
function stateOf(text) {
  const [id = "", ...words] = text.split("\0");
  if (!TREE.test(id)) throw new Error("git named no tree");
  /** @type {ProjectState["since"]} */
  const since = [];
  for (let at = 0; at < words.length - 1;) {
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
  // Trees with other names are different. Where git finds no difference, a stored tree is not what it was.
  return { id, since: since.filter(({ since, count }) => count > 0n || since === id) };
}
