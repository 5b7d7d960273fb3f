// The enclosure of a trial on Linux: pi and all processes that pi starts, also the commands of gates, run in namespaces
// of their own, in which the tasks and the other trials do not exist. All these processes end with pi.
//
// util-linux makes the namespaces, not bubblewrap: bubblewrap covers a part of `/proc` for root, and the kernel then
// refuses to give the sandbox of a phase a `/proc` of its own.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { shellQuoted } from "@pi-workflows/pi-workflows/sandbox";

/**
 * The paths of an enclosure, absolute and without links.
 * @typedef {object} Enclosure
 * @property {string[]} hidden folders that appear empty; no folder is below another
 * @property {string[]} shown folders, at most three, that stay visible below hidden folders
 * @property {string[]} fixed folders that cannot be written
 */

const NAMESPACES = "unshare --user --map-current-user --keep-caps --mount --pid --fork --kill-child --mount-proc";
/** Drops the rights over mounts. With the remaining rights root can make the sandbox of a phase. */
const WITHOUT_RIGHTS = "setpriv --bounding-set -all,+setfcap --inh-caps -all --ambient-caps -all";
/** The first process must stay: the other processes end with the first. */
const FIRST = `"$@"; exit $?`;
/** The descriptors of the folders that are shown. */
const DESCRIPTORS = [7, 8, 9];

/**
 * Returns a script that runs a command, with its own arguments behind it, in an enclosure.
 * @param {string[]} command
 * @param {Enclosure} enclosure
 */
export function enclosed(command, { hidden, shown, fixed }) {
  const open = shown.map((path, index) => /** @type {const} */ ([DESCRIPTORS[index], path]));
  const mounts = [
    // The folders stay reachable by their descriptors.
    `exec ${open.map(([descriptor, path]) => `${descriptor}<${shellQuoted(path)}`).join(" ")}`,
    ...hidden.map((path) => `mount -t tmpfs -o mode=0755 none ${shellQuoted(path)}`),
    ...open.map(
      ([descriptor, path]) =>
        `mkdir -p ${shellQuoted(path)}; mount --no-canonicalize --bind /proc/self/fd/${descriptor} ${shellQuoted(path)}`,
    ),
    ...hidden.map((path) => `mount -o remount,bind,ro ${shellQuoted(path)}`),
    ...fixed.map(
      (path) => `mount --bind ${shellQuoted(path)} ${shellQuoted(path)}; mount -o remount,bind,ro ${shellQuoted(path)}`,
    ),
  ];
  const close = open.map(([descriptor]) => `${descriptor}<&-`).join(" ");
  // The old working directory would lead to the folders above it as they were before.
  const inside = [
    "set -e",
    "here=$(pwd -P)",
    ...mounts,
    'cd "$here"',
    `exec ${close} ${WITHOUT_RIGHTS} -- /bin/sh -c ${shellQuoted(FIRST)} sh "$@"`,
  ].join("\n");
  return `#!/bin/sh\nexec ${NAMESPACES} -- /bin/sh -c ${shellQuoted(inside)} sh ${command.map(shellQuoted).join(" ")} "$@"\n`;
}

/**
 * Succeeds if this system can enclose a trial, with the sandbox of phases in it.
 * @throws {Error} with the reason
 */
export function canEnclose() {
  if (process.platform !== "linux") throw new Error("only Linux can");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pi-workflows-enclosure-")));
  try {
    const sandbox = import.meta.resolve("@pi-workflows/pi-workflows/sandbox");
    const probe = `import(${JSON.stringify(sandbox)}).then(({ canConfine }) => canConfine(false)).then(() => process.exit(7), (error) => console.error(error.message))`;
    const shown = join(folder, "shown");
    mkdirSync(shown);
    const script = enclosed([process.execPath, "-e", probe], { hidden: [folder], shown: [shown], fixed: [shown] });
    const { status, stderr, error } = spawnSync("/bin/sh", ["-c", script], { encoding: "utf8", timeout: 20_000 });
    if (status !== 7)
      throw new Error(stderr?.trim().split("\n").at(-1) || String(error?.message ?? `exit status ${status}`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
