// The thread that looks at the file system for look.js: one request after the other, each of them in one go.
import { parentPort } from "node:worker_threads";

import { checkKept, keptTogether } from "./agent-folder.js";
import { canConfine } from "./command-line.js";
import { trackingGitFolders } from "./git-folders.js";
import { linkedOutside, readOnlyIn } from "./hard-links.js";
import { findHidden } from "./hidden-paths.js";
import { known, learn } from "./known.js";
import { messageOf } from "./plain.js";
import { keptPlaces, projectOfSearch } from "./programs.js";
import { socketCovers } from "./sockets.js";
import { isBelow } from "./write-target.js";

/** @typedef {typeof LOOKS} Looks */
/** @typedef {Pick<import("./hidden-paths.js").Stat, "dev" | "ino" | "nlink">} File */

const LOOKS = {
  canConfine,
  keptPlaces,
  keptTogether,
  linkedOutside,
  projectOfSearch,
  readOnlyIn,
  socketCovers,
  trackingGitFolders,
  /** Returns the places that rules hide. @param {string[]} rules @param {string} cwd */
  hiddenPlaces: (rules, cwd) => findHidden(rules, cwd).places,
  /** Returns all names of what rules hide. @param {string[]} rules @param {string} cwd */
  hiddenNames: (rules, cwd) => findHidden(rules, cwd).names(),
  /**
   * Tells if a place is hidden, or which hidden path lies in the place.
   * @param {string[]} rules
   * @param {string} cwd
   * @param {string} place without links
   */
  hiddenAt(rules, cwd, place) {
    const hidden = findHidden(rules, cwd);
    return { itself: hidden.isHidden(place), inside: hidden.names().find((name) => isBelow(name, place)) };
  },
  /**
   * Throws if a place is hidden, or lies in a kept folder.
   * @param {string[]} rules
   * @param {string} cwd
   * @param {import("./agent-folder.js").Folder[]} kept
   * @param {string} place without links
   * @param {File} [file] if there is a file, which is no folder
   */
  check(rules, cwd, kept, place, file) {
    const stat = file && { ...file, isDirectory: () => false };
    findHidden(rules, cwd).check(place, stat);
    checkKept(kept, place, stat);
  },
};

parentPort?.on("message", ({ name, parameters, known: other, env }) => {
  process.env = env;
  learn(other);
  let answer;
  try {
    const work = /** @type {(...parameters: unknown[]) => unknown} */ (LOOKS[/** @type {keyof Looks} */ (name)]);
    answer = { result: work(...parameters) };
  } catch (/** @type {any} */ error) {
    answer = { error: { message: messageOf(error), ...(error?.code && { code: error.code }) } };
  }
  parentPort?.postMessage({ ...answer, known });
});
