// Has the file system looked at in another thread (look-thread.js), of which this process has one: a look at a large
// folder takes seconds, and one at a dead network file system never ends, while the thread of the sessions must go on.
// The thread starts with the first look, stays, and keeps no process alive.
import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { known, learn } from "./known.js";
import { unlessFails } from "./plain.js";

/** The longest look, and the time after which the user is told about it, in milliseconds. */
const [LIMIT, LONG] = [120_000, 1000];
/** The maximum number of threads that were ended but hang in the kernel: each one keeps its place in the system's pool. */
const MAX_HANGING = 2;

/** @typedef {import("./look-thread.js").Looks} Looks */
/**
 * @typedef {object} Watch
 * @property {AbortSignal} [signal] ends the look
 * @property {(what?: string) => void} [tell] tells the user what a long look looks at; without an argument, that it is over
 */

/** @type {Worker | undefined} */
let thread;
/** The threads whose looks have no answer, also ended ones that hang, with the begin of each look. @type {Map<Worker, number>} */
const working = new Map();
/** Ends with the looks so far, which are made one by one. @type {Promise<unknown>} */
let last = Promise.resolve();

/**
 * Returns the result of a look.
 * @template {keyof Looks} Name
 * @param {Watch} watch
 * @param {string} what it looks at, for the user
 * @param {Name} name
 * @param {Parameters<Looks[Name]>} parameters
 * @returns {Promise<ReturnType<Looks[Name]>>}
 * @throws {Error} also if it takes too long, or the signal ends it
 */
export async function look({ signal, tell = () => {} }, what, name, ...parameters) {
  const end = new AbortController();
  const interrupt = () => end.abort(new Error(`the look at ${what} was interrupted`));
  signal?.addEventListener("abort", interrupt, { once: true });
  if (signal?.aborted) interrupt();
  let told = false;
  const long = setTimeout(() => tell(((told = true), what)), LONG);
  const answer = last.then(() => ask({ name, parameters }, what, end));
  last = answer.catch(() => {});
  try {
    // A look that has not begun ends at once, also while the thread is at work on an earlier one.
    return await Promise.race([answer, aborted(end.signal)]);
  } finally {
    signal?.removeEventListener("abort", interrupt);
    clearTimeout(long);
    if (told) tell();
  }
}

/** @param {object} request @param {string} what @param {AbortController} end */
async function ask(request, what, end) {
  end.signal.throwIfAborted();
  if (hanging().length >= MAX_HANGING)
    throw new Error("earlier looks have not ended: a file system does not answer. Try again when it does");
  const limit = setTimeout(() => end.abort(new Error(`to look at ${what} took longer than ${LIMIT / 1000} s`)), LIMIT);
  const own = (thread ??= begun());
  working.set(own, performance.now());
  const done = new AbortController();
  let answer;
  try {
    own.ref();
    own.postMessage({ ...request, known, env: { ...process.env } });
    const over = once(own, "exit", done).then(() => Promise.reject(new Error("the thread that looks has ended")));
    [answer] = await Promise.race([once(own, "message", done), over, aborted(end.signal)]);
    learn(answer.known);
    if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
    return answer.result;
  } finally {
    clearTimeout(limit);
    done.abort();
    // The look cannot be ended in another way. The next one starts a new thread.
    if (answer) working.delete(own);
    else void own.terminate();
    if (!answer && thread === own) thread = undefined;
    own.unref();
  }
}

/** Returns the begins of the looks that take long: their threads may hang in the kernel. */
const hanging = () => [...working.values()].filter((since) => performance.now() - since > LONG);

/** This process ends, which would wait for a thread that hangs. Calls the listeners that came after this one. @param {number} code */
function exit(code) {
  if (hanging().length === 0) return;
  const listeners = process.rawListeners("exit");
  for (const listener of listeners.slice(listeners.indexOf(exit) + 1)) unlessFails(() => listener.call(process, code));
  process.kill(process.pid, "SIGKILL");
}

/** Starts the thread. */
function begun() {
  if (!process.listeners("exit").includes(exit)) process.on("exit", exit);
  // Otherwise the thread would load what NODE_OPTIONS names, which a command may have written since this process began.
  const env = { ...process.env, NODE_OPTIONS: "" };
  const own = new Worker(new URL("./look-thread.js", import.meta.url), { env, execArgv: [] });
  // Without a listener, an error of the thread would be one of the process.
  own.on("error", () => {});
  own.on("exit", () => {
    working.delete(own);
    if (thread === own) thread = undefined;
  });
  return own;
}

/** Rejects when a signal aborts. @param {AbortSignal} signal @returns {Promise<never>} */
const aborted = (signal) =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
