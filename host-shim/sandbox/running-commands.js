// The command lines that run. A call's events do not tell: a tool may call another one and end before it, and an aborted call
// ends without an event. So each shell stores its process id in a folder outside of every sandbox.
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { quoted } from "./shell-quote.js";

export class RunningCommands {
  #last = 0;

  /**
   * Returns a command line that is counted while it runs.
   * @param {string} line
   * @param {string} folder absolute
   */
  counted(line, folder) {
    this.#forgetEnded(folder);
    this.#last += 1;
    return `echo $$ > ${quoted(join(folder, String(this.#last)))}; ${line}`;
  }

  /**
   * Returns true if a command line runs.
   * @param {string} folder
   */
  any(folder) {
    this.#forgetEnded(folder);
    return readdirSync(folder).length > 0;
  }

  /**
   * Removes the process ids of shells that have ended.
   * @param {string} folder
   */
  #forgetEnded(folder) {
    for (const name of readdirSync(folder)) {
      if (!isRunning(readFileSync(join(folder, name), "utf8"))) rmSync(join(folder, name), { force: true });
    }
  }
}

/** @param {string} id of a process; empty if its shell is about to write it */
function isRunning(id) {
  if (id === "") return true;
  try {
    process.kill(Number(id), 0);
    return true;
  } catch {
    return false;
  }
}
