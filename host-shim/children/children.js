// The `pi:extension/children` interface: the child agents of a session. Each works in a session of pi of its own, in
// this process, with an instance of the same component.
//
// This folder has all that only serves child agents. pi has no interface for some of it, so it leans on pi's insides, at
// these places; behind each, the test of tests/pi/ that fails in either version of pi if the place gives way:
//
//   prototype.bindExtensions  ../pi-session.js  branches-origin: is that of the session
//   modelRegistry.runtime     session.js        branches-rights: uses the models of its session
//   runtime.registerProvider  session.js        branches-insides: changes no model
//   runtime.refreshTools      session.js        branches-insides: activates no tool
//   runtime.flagValues        session.js        branches-insides: has the flags
//   extensionRunner.emit      session.js        branches-rights: has one copy of an extension, which ends with it
//   handlers.get              session.js        branches-origin: are the guards of its session
//   loader.packageManager     session.js        branches-origin: is that of the session
//   of.getSkills              session.js        branches-origin: is that of the session
//   messageRenderers.get      session.js        branches-insides: is made of what pi has loaded
//   header.parentSession      session.js        branches-rights: goes on in no session that is not its own
//   manager.settings          origin.js         branches-origin: is that of the session
//   parent.ui                 ui.js             branches-rights: sees nothing of the user interface
import { messageOf, plainText } from "#sandbox";

import { NOT_GRANTED } from "../calls.js";
import { moment } from "../guest.js";
import { newestEntries } from "../session.js";
import { noUsage, usageOf, usageSince } from "../usage.js";
import { closeChildSession, openChildSession, whyNotStarted } from "./session.js";

/** @typedef {import("@earendil-works/pi-coding-agent").AgentSession} AgentSession */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("../interface.js").Child} ChildStart */
/** @typedef {import("../../target/types/interfaces/pi-extension-guest.js").ChildOutcome} ChildOutcome */
/** The manifest's grant: the number of children that run at a time. @typedef {{ max: number }} ChildrenGrant */

/** The minimum time between two reports of a child's tool calls, in milliseconds. */
const BETWEEN_REPORTS = 250;

/** The maximum time that the end of a session waits for its children, in milliseconds. */
const END = 2000;

/** The maximum time that a child takes to end when it is aborted, in milliseconds. */
const ABORTING = 4000;

/** The maximum length of the last call in a report, in characters. */
const MAX_CALL = 200;

/** A child that runs. */
class Running {
  controller = new AbortController();
  /** @type {AgentSession | undefined} */
  session;
  /** The time of the last report, in milliseconds. */
  reported = 0;
  /** @type {NodeJS.Timeout | undefined} */
  timer;
  /** @type {string | undefined} */
  lastCall;
  /** Resolves when the child has ended. @type {Promise<void>} */
  ended = Promise.resolve();

  /** @param {ChildStart} start */
  constructor(start) {
    this.start = start;
  }
}

export class Children {
  /** The children that run, by key. @type {Map<string, Running>} */
  #running = new Map();
  /** The children that no longer report, but have not ended. @type {Set<Promise<void>>} */
  #ending = new Set();
  /** Called when a child has ended. @type {Set<() => void>} */
  #waiting = new Set();
  /** Shows the progress of a request that waits. @type {((text: string) => void) | undefined} */
  #show;
  #calls;
  #grant;
  #parentOf;

  /**
   * @param {import("../calls.js").Calls} calls
   * @param {ChildrenGrant | undefined} grant
   * @param {(start: ChildStart, context: Context) => Omit<import("./session.js").Parent, "context">} parentOf
   *   returns the parts of a child's session
   */
  constructor(calls, grant, parentOf) {
    this.#calls = calls;
    this.#grant = grant;
    this.#parentOf = parentOf;
  }

  /** True if the manifest grants children. */
  get isGranted() {
    return this.#grant !== undefined;
  }

  /** @returns {import("../interface.js").Imports["pi:extension/children"]} */
  imports() {
    const { start } = this.#calls.guarded({ start: (/** @type {ChildStart} */ child) => this.#start(child) });
    return {
      start,
      abort: (key) => this.#abort(key),
      show: (text) => this.#show?.(plainText(text)),
    };
  }

  /**
   * Waits until no child runs.
   *
   * @param {string} text the progress that is shown until `children.show` sets another text
   * @param {(text: string) => void} show
   * @param {AbortSignal} signal aborts all children
   * @returns {Promise<boolean>} true if the signal aborted the children
   */
  async wait(text, show, signal) {
    const abort = () => this.abortAll();
    this.#show = show;
    show(plainText(text));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      while (this.#running.size > 0)
        await new Promise((/** @type {(value: void) => void} */ resolve) => this.#waiting.add(resolve));
    } finally {
      signal.removeEventListener("abort", abort);
      this.#show = undefined;
    }
    return signal.aborted;
  }

  /** Aborts all children; each reports its end. */
  abortAll() {
    for (const key of this.#running.keys()) this.#abort(key);
  }

  /** Ends all children without a report: their session ends, or the instance that started them is gone. */
  endAll() {
    for (const child of this.#running.values()) {
      child.controller.abort();
      this.#forget(child);
    }
    this.#running.clear();
    this.#wake();
  }

  /** True while children that `endAll` ends have not ended. */
  get areEnding() {
    return this.#ending.size > 0;
  }

  /** Waits a limited time for the end of all children. */
  async ended() {
    const late = new Promise((resolve) => setTimeout(resolve, END).unref());
    await Promise.race([Promise.all(this.#ending), late]);
  }

  /** @param {ChildStart} start */
  #start(start) {
    if (!this.#grant) throw new Error(NOT_GRANTED);
    const before = this.#running.get(start.key);
    if (before && !before.controller.signal.aborted) throw new Error("A child with this key runs.");
    if (!before && this.#running.size >= this.#grant.max)
      throw new Error(`No more than ${this.#grant.max} children run at a time.`);
    const child = new Running(start);
    const { context } = this.#calls;
    const parent = { ...this.#parentOf(start, context), context };
    this.#running.set(start.key, child);
    if (before) this.#forget(before);
    // An aborted child with this key ends before this one begins: both may use one session.
    child.ended = this.#run(child, parent, before?.ended);
  }

  /** Stops the delivery of a child's reports. @param {Running} child */
  #forget({ ended, timer }) {
    clearTimeout(timer);
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }

  /** @param {string} key */
  #abort(key) {
    const child = this.#running.get(key);
    if (!child) return;
    child.controller.abort();
    // The promise waits for the end of the aborted work.
    void child.session?.abort().catch(() => {});
  }

  /**
   * @param {Running} child
   * @param {import("./session.js").Parent} parent
   * @param {Promise<void>} [before] the child begins after this, and not before the call that starts the child has
   *   returned
   */
  async #run(child, parent, before = Promise.resolve()) {
    const { signal } = child.controller;
    /** @type {ChildOutcome} */
    let outcome = { tag: "settled" };
    await before;
    try {
      if (!signal.aborted) {
        const opening = openChildSession(parent, child.start, signal);
        const session = await inTime(opening, signal, () => void opening.then(closeChildSession, () => {}));
        child.session = session;
        session.subscribe((event) => this.#watch(child, event));
        signal.addEventListener("abort", () => void session.abort().catch(() => {}), { once: true });
        await inTime(work(session, child.start.prompt, signal), signal);
      }
    } catch (error) {
      outcome = { tag: "failed", val: child.session ? messageOf(error) : whyNotStarted(error) };
    }
    if (signal.aborted) outcome = { tag: "aborted" };
    clearTimeout(child.timer);
    const report = this.#report(child);
    if (child.session) await closeChildSession(child.session);
    if (this.#running.get(child.start.key) !== child) return;
    await this.#deliver(child, () => {
      this.#running.delete(child.start.key);
      return { tag: "child-end", val: { report, outcome } };
    });
    this.#wake();
  }

  #wake() {
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  /** @param {Running} child @param {any} event */
  #watch(child, event) {
    // An answer that is paid for is told at once: the guest applies its bounds before an agent's next request.
    if (event.type === "turn_end") return this.#tell(child);
    if (event.type === "turn_start") child.reported = 0;
    const stores = event.type === "entry_appended" && event.entry.customType === child.start.report;
    if (event.type === "tool_execution_start") child.lastCall = callOf(event);
    else if (!stores) return;
    if (child.timer !== undefined) return;
    const wait = Math.max(0, child.reported + BETWEEN_REPORTS - Date.now());
    child.timer = setTimeout(() => this.#tell(child), wait);
  }

  /** Reports the progress of a child. @param {Running} child */
  #tell(child) {
    clearTimeout(child.timer);
    child.timer = undefined;
    child.reported = Date.now();
    if (child.controller.signal.aborted) return;
    void this.#deliver(child, () => ({ tag: "child-progress", val: this.#report(child) }));
  }

  /**
   * Delivers an event of a child, unless the child's session or instance has ended.
   *
   * @param {Running} child
   * @param {() => import("../interface.js").Event} event
   */
  async #deliver(child, event) {
    if (this.#running.get(child.start.key) !== child) return;
    await this.#calls.call(undefined, "handleEvent", moment(), event());
  }

  /** @param {Running} child @returns {import("../../target/types/interfaces/pi-extension-guest.js").ChildReport} */
  #report({ start: { key, report }, session, lastCall }) {
    const manager = session?.sessionManager;
    const [newest] = manager ? newestEntries(manager, report, 0, 1) : [];
    const usage = manager ? usageSince(manager, report) : usageOf(noUsage());
    return { key, session: manager?.getSessionFile(), newest, usage, lastCall };
  }
}

/**
 * Waits for the work of a child. After an abort the wait is limited: an extension may not return.
 *
 * @template T
 * @param {Promise<T>} work
 * @param {AbortSignal} signal
 * @param {() => void} [leave] is called if the work goes on after the wait
 * @returns {Promise<T>}
 */
async function inTime(work, signal, leave) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let end = () => {};
  const late = new Promise((_, reject) => {
    end = () => {
      timer = setTimeout(() => {
        leave?.();
        reject(new Error("It did not end."));
      }, ABORTING);
    };
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  try {
    return /** @type {T} */ (await Promise.race([work, late]));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/**
 * Lets the agent of a child work until the agent is at rest.
 *
 * @param {AgentSession} session
 * @param {string} prompt
 * @param {AbortSignal} signal
 */
async function work(session, prompt, signal) {
  if (signal.aborted) return;
  await session.prompt(prompt);
  do {
    // An agent that an extension prompts starts a moment later.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await session.waitForIdle();
  } while (!session.isIdle && !signal.aborted);
}

/** A call of a tool in a few words. @param {any} event */
function callOf({ toolName, args }) {
  const first = Object.values(args ?? {}).find((value) => typeof value === "string") ?? "";
  return plainText(`${toolName} ${first}`).replaceAll(/\s+/g, " ").trim().slice(0, MAX_CALL);
}
