// Shows the progress of a run on standard error: in a terminal one line that changes, elsewhere a line for each phase.
import { plainText } from "#sandbox";

import { cell } from "../runs/columns.js";
import { cost, counted, duration, tokensOf } from "../runs/figures.js";
import { forLog, isGitHub } from "../words.js";

/** @typedef {import("./events.js").RunEvent} RunEvent */

const TOKENS = /** @type {const} */ (["input", "output", "cacheRead", "cacheWrite"]);

export class Progress {
  #isQuiet;
  #isLive;
  #live = "";
  /** The entry that the run is at, and the sums of the run at a time. */
  #title = "";
  /** @type {import("./events.js").Sums | undefined} */
  #usage;
  #at = 0;
  /** True if a group of lines is open, in the log of a job on GitHub. */
  #hasGroup = false;
  /** Lines that wait for the end of a question. @type {string[] | undefined} */
  #held;

  /** @param {boolean} isQuiet */
  constructor(isQuiet) {
    this.#isQuiet = isQuiet;
    this.#isLive = !isQuiet && process.stderr.isTTY === true;
  }

  /** Shows the position of a run after an event. @param {RunEvent} event */
  event({ type, title, usage }) {
    if (usage) [this.#usage, this.#at] = [usage, Date.now()];
    const isNew = type === "entry" && title !== this.#title;
    if (isNew) this.#title = String(title);
    if (this.#isLive) return this.tick(false);
    if (!isNew || this.#isQuiet) return;
    const line = this.#line(0);
    if (!isGitHub()) return this.line(line);
    this.endGroup();
    this.#hasGroup = true;
    this.#show(`::group::${forLog(line).replaceAll("%", "%25")}`);
  }

  /** The agent begins to work. */
  begins() {
    this.#at = Date.now();
  }

  /** Draws the line that changes again. @param {boolean} isAtWork true if the agent has worked since the last event */
  tick(isAtWork) {
    if (this.#isLive && this.#usage) this.#draw(this.#line(isAtWork ? Date.now() - this.#at : 0));
  }

  /** Ends the lines of the entry at which the run was last. */
  endGroup() {
    if (this.#hasGroup) this.#show("::endgroup::");
    this.#hasGroup = false;
  }

  /** @param {number} since the time that the agent has worked since the sums, in milliseconds */
  #line(since) {
    const usage = this.#usage && { ...this.#usage, workMs: this.#usage.workMs + since };
    return `${cell(this.#title, 60)} · ${figures({ usage })}`;
  }

  /** Shows a line that stays. @param {string} text */
  line(text) {
    if (!this.#isQuiet) this.always(text);
  }

  /** Shows a line that stays, also in quiet mode. @param {string} text */
  always(text) {
    this.#show(forLog(plainText(text)));
  }

  /** @param {string} line without control characters */
  #show(line) {
    if (this.#held) return void this.#held.push(line);
    const live = this.#live;
    this.clear();
    process.stderr.write(`${line}\n`);
    if (live !== "") this.#draw(live);
  }

  /**
   * Shows nothing while the user is asked.
   * @template T
   * @param {() => Promise<T>} question
   */
  async during(question) {
    this.clear();
    this.#held = [];
    try {
      return await question();
    } finally {
      const lines = this.#held;
      this.#held = undefined;
      lines.forEach((line) => this.#show(line));
    }
  }

  /** Takes the line that changes away. */
  clear() {
    if (this.#live !== "") process.stderr.write("\r\x1b[K");
    this.#live = "";
  }

  /** @param {string} text */
  #draw(text) {
    if (text === this.#live || this.#held) return;
    // Without wrapping: the terminal knows how wide its characters are.
    process.stderr.write(`\r\x1b[K\x1b[?7l${text}\x1b[?7h`);
    this.#live = text;
  }
}

/**
 * Returns the turns, the cost and the working time of a run in words, and the tokens where the cost is not known.
 * @param {{ usage?: Record<typeof TOKENS[number] | "turns" | "cost" | "unpriced" | "unreported" | "workMs", number> }} run
 */
export function figures({ usage }) {
  if (!usage) return "usage unknown";
  const known = TOKENS.reduce((sum, kind) => sum + usage[kind], 0);
  const tokens = usage.unpriced > 0 && known > 0 ? ` · ${tokensOf(known, usage.unreported)} tokens` : "";
  const spent = usage.unpriced > 0 && usage.cost === 0 ? "cost unknown" : cost(usage);
  return `${counted(usage.turns, "turn")}${tokens} · ${spent} · ${duration(usage.workMs)}`;
}
