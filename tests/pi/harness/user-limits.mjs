import { startRpc } from "./rpc.mjs";
import { settingsWith } from "./sandbox.mjs";
import { PYTHON, visibleStage } from "./world.mjs";
import { toolResults } from "./workflows.mjs";

/** @typedef {import("./limited.mjs").Call} Call */

/**
 * Starts pi with these limits. `play` gives the agent a message, plays its calls, and returns their results, flat.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {string} limits the fields of `limits`, as YAML
 * @param {object} [options]
 * @param {Record<string, string>} [options.files]
 * @param {Record<string, string>} [options.globalFiles]
 * @param {Record<string, string>} [options.projectFiles]
 * @param {(sandbox: import("./sandbox.mjs").Sandbox) => void} [options.before] runs before pi starts
 * @param {Partial<import("./pi.mjs").PiOptions>} [options.pi]
 */
export async function underLimits(t, version, limits, { files, globalFiles, projectFiles, before, pi } = {}) {
  /** @type {import("./scripted-model.mjs").Step[]} */
  const script = [];
  const { model, sandbox } = await visibleStage(t, (_, index) => script[index] ?? { text: "Over." }, {
    globalFiles: { "settings.yaml": settingsWith(limits), ...globalFiles },
    projectFiles,
    files,
  });
  before?.(sandbox);
  const rpc = await startRpc({ version, sandbox, ...pi, env: { PYTHON, ...pi?.env } });
  return {
    model,
    sandbox,
    rpc,
    /** @param {...Call[]} messages */
    play: (...messages) => playIn(rpc, "Go on", ...messages),
    /**
     * Plays these messages in a pi, after a prompt.
     *
     * @param {import("./rpc.mjs").Rpc} other
     * @param {string} prompt
     * @param {...Call[]} messages
     */
    playIn,
  };

  /** @param {import("./rpc.mjs").Rpc} other @param {string} prompt @param {...Call[]} messages */
  async function playIn(other, prompt, ...messages) {
    const done = toolResults(model.lastRequest()).length;
    script.length = model.requests.length;
    script.push(...messages.map((calls) => ({ calls })), { text: "Over." });
    await other.promptAndSettle(prompt, { timeoutMs: 60_000 });
    return toolResults(model.lastRequest()).slice(done);
  }
}
