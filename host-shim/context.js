// The `pi:extension/context` interface.
import { resolveWrite } from "#sandbox";

import { identityOf } from "./files.js";
import { utcOffset, zoneOffset } from "./local-time.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */

/**
 * @param {import("./calls.js").Calls} calls
 * @param {import("./confinement.js").Confinement} confinement
 * @param {import("./models.js").Models} models
 * @param {import("./tools.js").RunningCalls} running
 * @param {import("./extension.js").ChildOf | undefined} childOf
 * @param {import("./model-failure.js").ModelFailures} failures
 * @returns {import("./interface.js").Imports["pi:extension/context"]}
 */
export function contextImports(calls, confinement, models, running, childOf, failures) {
  /**
   * @type {Omit<import("./interface.js").Imports["pi:extension/context"], "handed" | keyof ReturnType<typeof models.questions>>}
   */
  const functions = {
    runMode: () => runMode(calls.context),
    hasUi: () => calls.context.hasUI,
    cwd: () => calls.context.cwd,
    isProjectTrusted: () => calls.context.isProjectTrusted(),
    projectIdentity: () => identityOf(calls.context.cwd),
    isIdle: () => calls.context.isIdle(),
    hasPendingMessages: () => calls.context.hasPendingMessages(),
    setExitCode: (code) => {
      if (exitsAfterPrompt(calls.context) && isProgramOfPi() && !childOf) process.exitCode = code;
    },
    toolInput: () => calls.toolInput,
    runningCalls: () => [...running.all, ...confinement.leftBeside(running.all)],
    resolveWrite: (path) => resolveWrite(path, calls.context.cwd),
    canConfine: (network) => confinement.test(network),
    utcOffset,
    zoneOffset,
    lastFailure: () => failures.last,
  };
  return { ...calls.guarded(functions), ...models.questions(), handed: () => childOf?.handed };
}

/**
 * A later version of pi may have more modes.
 * @param {Context} context
 * @returns {import("../target/types/interfaces/pi-extension-types.js").Mode}
 */
function runMode({ mode, hasUI }) {
  if (mode === "tui" || mode === "json" || mode === "print") return mode;
  return hasUI ? "rpc" : "print";
}

/** Returns true in pi's own program: a program that embeds pi has an exit status and arguments of its own. */
export const isProgramOfPi = () => process.env.PI_CODING_AGENT === "true";

/** Returns true if pi, or the program that embeds it, may exit after its prompt. @param {Context} context */
export function exitsAfterPrompt({ mode }) {
  return mode === "print" || mode === "json";
}
