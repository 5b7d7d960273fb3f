// An agent in a phase with limits.

import { existsSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { startRpc } from "./rpc.mjs";
import { stage } from "./stage.mjs";
import { PYTHON, visibleStage } from "./world.mjs";
import { ATTACKED, statusTexts, step, toolResults, workflow } from "./workflows.mjs";

/** @typedef {{ name: string, arguments: unknown }} Call */

/** @param {string} command @param {object} [more] @returns {Call} */
export const bash = (command, more) => ({ name: "bash", arguments: { command, ...more } });
/** @param {string} path @param {string} [content] @returns {Call} */
export const write = (path, content = "changed\n") => ({ name: "write", arguments: { path, content } });
/** @param {string} path @returns {Call} */
export const edit = (path) => ({
  name: "edit",
  arguments: { path, edits: [{ oldText: "untouched", newText: "changed" }] },
});

/**
 * Starts pi with an agent that prepares in a phase without limits, plays these messages in a phase with limits, and
 * moves on to a phase without. `play` returns the results of their calls, flat.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {Record<string, unknown>} limits fields of the phase
 * @param {object} options
 * @param {string} [options.prepare] a command line
 * @param {Record<string, string>} [options.files]
 * @param {boolean} [options.hidden] the project is below /tmp, which confined commands do not see
 * @param {(sandbox: import("./sandbox.mjs").Sandbox) => void} [options.before] runs before pi starts
 * @param {Partial<import("./pi.mjs").PiOptions>} [options.pi]
 */
export async function limited(t, version, limits, { prepare, files, hidden = false, before, pi } = {}) {
  const globalFiles = workflow("ways", ["open", { id: "limited", ...limits }, "after"]);
  /** @type {import("./scripted-model.mjs").Step[]} */
  const script = [];
  const { model, sandbox } = await (hidden ? stage : visibleStage)(t, (_, index) => script[index], {
    globalFiles,
    files,
    pace: ATTACKED,
  });
  before?.(sandbox);
  const rpc = await startRpc({ version, sandbox, ...pi, env: { PYTHON, ...pi?.env } });
  let started = false;
  return {
    model,
    sandbox,
    rpc,
    /** @param {...Call[]} messages */
    async play(...messages) {
      const first = started ? [] : [...(prepare === undefined ? [] : [{ calls: [bash(prepare)] }]), step("next")];
      const done = toolResults(model.lastRequest()).length + (started ? 0 : first.length);
      script.length = model.requests.length;
      script.push(...first, ...messages.map((calls) => ({ calls })), { text: "Over." });
      await rpc.promptAndSettle(started ? "Go on" : "/workflow ways Get out", { timeoutMs: 60_000 });
      started = true;
      return toolResults(model.lastRequest()).slice(done);
    },
    /**
     * Plays these messages in another pi, which goes on with the session or starts a run in one of its own.
     *
     * @param {import("./rpc.mjs").Rpc} other
     * @param {...Call[]} messages
     */
    async playOn(other, ...messages) {
      const goesOn = statusTexts(other).some(Boolean);
      script.length = model.requests.length;
      script.push(...(goesOn ? [] : [step("next")]), ...messages.map((calls) => ({ calls })), { text: "Over." });
      await other.promptAndSettle(goesOn ? "Go on" : "/workflow ways Get out", { timeoutMs: 60_000 });
    },
    /** Returns the text of a file of the project; `undefined` if there is none. @param {string} path */
    text(path) {
      const file = resolve(sandbox.project, path);
      return existsSync(file) && lstatSync(file).isFile() ? readFileSync(file, "utf8") : undefined;
    },
    /** @param {string} path */
    exists: (path) => existsSync(resolve(sandbox.project, path)),
    /** @param {string} path */
    folder: (path) => mkdirSync(dirname(join(sandbox.project, path)), { recursive: true }),
  };
}
