// Makes session files with pi's own session manager, with given times.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";

export const START = Date.UTC(2026, 10, 1, 9);
const MINUTE = 60_000;

/** The usage of a part of a run. @param {Record<string, any>} [fields] */
export const used = (fields) => ({ turns: 1, input: 100, output: 10, cost: 0.5, workMs: MINUTE, ...fields });

/**
 * A visit of a phase.
 * @param {string} name
 * @param {Record<string, any>} [fields]
 */
export const visit = (name, fields) => ({ name, startedAt: START, passes: 1, usage: used(), ...fields });

/**
 * The state of a run of the workflow `flow`, in the phase of an index.
 *
 * @param {number} index
 * @param {Record<string, any>} visits by the index of the phase
 * @param {Record<string, any>} [fields]
 * @param {Record<string, any>} [progress]
 */
export function state(index, visits, fields, progress) {
  const { workflowKey = "flow" } = fields ?? {};
  const keyed = Object.fromEntries(Object.entries(visits).map(([index, visit]) => [`${workflowKey}:${index}`, visit]));
  return {
    active: true,
    workflowKey,
    currentPath: [{ workflowKey, phaseIndex: index }],
    globalStepCount: index,
    taskId: "wf-1-aaaaaa",
    taskDescription: "The task",
    startedAt: START,
    completionNotified: false,
    cancelled: false,
    progress: { version: 1, seal: { version: 3, hash: "abcdef" }, visits: keyed, ...progress },
    ...fields,
  };
}

export const DONE = { active: false, completionNotified: true };
export const CANCELLED = { active: false, completionNotified: true, cancelled: true };

/** A session with given times. */
export class Recording {
  /** @param {string} [cwd] */
  constructor(cwd = "/tmp/project") {
    this.session = SessionManager.inMemory(cwd);
    this.header().timestamp = new Date(START - MINUTE).toISOString();
  }

  /** @returns {any} */
  header() {
    return this.session.getHeader();
  }

  /**
   * Sets the time of the newest entry, in minutes since `START`.
   *
   * @param {number} minute
   * @returns {string} the id of the entry
   */
  #at(minute) {
    const entry = /** @type {any} */ (this.session.getLeafEntry());
    entry.timestamp = new Date(START + minute * MINUTE).toISOString();
    return entry.id;
  }

  /** @param {number} minute @param {any} data */
  state(minute, data) {
    this.session.appendCustomEntry("workflow:state", data);
    return this.#at(minute);
  }

  /** @param {number} minute @param {string} [text] */
  user(minute, text = "Go on.") {
    this.session.appendMessage({ role: "user", content: text, timestamp: 0 });
    return this.#at(minute);
  }

  /** @param {number} minute @param {number} [cost] @param {number} [calls] */
  answer(minute, cost = 0.25, calls = 0) {
    const content = Array.from({ length: calls }, (_, index) => ({
      type: "toolCall",
      id: `${index}`,
      name: "read",
      arguments: {},
    }));
    const usage = { input: 1000, output: 50, cacheRead: 0, cacheWrite: 0, totalTokens: 1050, cost: { total: cost } };
    this.session.appendMessage(
      /** @type {any} */ ({
        role: "assistant",
        provider: "p",
        model: "m",
        content,
        usage,
        stopReason: "stop",
        timestamp: 0,
      }),
    );
    return this.#at(minute);
  }

  /** @param {number} minute @param {string} [text] */
  result(minute, text = "done") {
    const content = [{ type: "text", text }];
    this.session.appendMessage(
      /** @type {any} */ ({
        role: "toolResult",
        toolCallId: "0",
        toolName: "read",
        content,
        isError: false,
        timestamp: 0,
      }),
    );
    return this.#at(minute);
  }

  text() {
    return [this.header(), ...this.session.getEntries()].map((entry) => `${JSON.stringify(entry)}\n`).join("");
  }

  /** @param {string} path */
  write(path) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, this.text());
    return path;
  }
}
