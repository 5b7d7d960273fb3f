// Has the file system looked at in another thread (look-thread.js), of which this process has one: a look at a large
// folder takes seconds, and one at a dead network file system never ends, while the thread of the sessions must go on.
// The thread starts with the first look, stays, and keeps no process alive.
import { once } from "node:events";
import { SHARE_ENV, Worker } from "node:worker_threads";

import { known, learn } from "./known.js";

/** The longest wait for a look, and the time after which the user is told about it, in milliseconds. */
const [LIMIT, LONG] = [120_000, 1000];

/** @typedef {import("./look-thread.js").Looks} Looks */
/**
 * @typedef {object} Watch
 * @property {AbortSignal} [signal] ends the look
 * @property {(what?: string) => void} [tell] tells the user what a long look looks at; without an argument, that it is over
 */

/** @type {Worker | undefined} */
let thread;
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
  const limit = setTimeout(() => end.abort(new Error(`to look at ${what} took longer than ${LIMIT / 1000} s`)), LIMIT);
  const interrupt = () => end.abort(new Error(`the look at ${what} was interrupted`));
  signal?.addEventListener("abort", interrupt, { once: true });
  if (signal?.aborted) interrupt();
  let told = false;
  const long = setTimeout(() => tell(((told = true), what)), LONG);
  const answer = last.then(() => ask({ name, parameters }, end.signal));
  last = answer.catch(() => {});
  try {
    // A look that has not begun ends at once, also while the thread is at work on an earlier one.
    return await Promise.race([answer, aborted(end.signal)]);
  } finally {
    signal?.removeEventListener("abort", interrupt);
    for (const timer of [limit, long]) clearTimeout(timer);
    if (told) tell();
  }
}

/** @param {object} request @param {AbortSignal} end */
async function ask(request, end) {
  end.throwIfAborted();
  const own = (thread ??= begun());
  const done = new AbortController();
  let answer;
  try {
    own.ref();
    own.postMessage({ ...request, known });
    const over = once(own, "exit", done).then(() => Promise.reject(new Error("the thread that looks has ended")));
    [answer] = await Promise.race([once(own, "message", done), over, aborted(end)]);
    learn(answer.known);
    if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
    return answer.result;
  } finally {
    done.abort();
    own.unref();
    // The look cannot be ended in another way. The next one starts a new thread.
    if (!answer) void own.terminate();
    if (!answer && thread === own) thread = undefined;
  }
}

/** Starts the thread. */
function begun() {
  const own = new Worker(new URL("./look-thread.js", import.meta.url), { env: SHARE_ENV, execArgv: [] });
  // Without a listener, an error of the thread would be one of the process.
  own.on("error", () => {});
  own.on("exit", () => {
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
