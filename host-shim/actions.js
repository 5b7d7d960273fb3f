// The functions of `pi:extension/api` that act on the session.
import { plainText } from "./drawing.js";
import { deliverAs, plainMessage } from "./messages.js";

/** @typedef {import("./interface.js").Imports["pi:extension/api"]} Api */
/** @typedef {"appendEntry" | "sendMessage" | "sendUserMessage" | "setSessionName" | "getFlag" | "toolNames" | "activeTools" | "setActiveTools"} ActionName */

/**
 * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
 * @param {import("./calls.js").Calls} calls
 * @param {import("./load.js").Manifest} manifest
 * @returns {Pick<Api, ActionName>}
 */
export function actions(pi, calls, manifest) {
  /** @type {Pick<Api, ActionName>} */
  const functions = {
    appendEntry: (customType, data) => pi.appendEntry(customType, JSON.parse(data)),
    sendMessage: (message, triggerTurn, delivery) =>
      pi.sendMessage(plainMessage(message), { triggerTurn, deliverAs: deliverAs(delivery) }),
    sendUserMessage: (text, delivery) => {
      const as = deliverAs(delivery);
      pi.sendUserMessage(plainText(text), as === "nextTurn" ? undefined : { deliverAs: as });
    },
    setSessionName: (name) => pi.setSessionName(plainText(name)),
    getFlag: (name) => pi.getFlag(name) === true,
    toolNames: () => pi.getAllTools().map(({ name }) => name),
    activeTools: () => pi.getActiveTools(),
    setActiveTools: (names) => {
      if (!manifest.activeTools) throw new Error("The manifest does not grant it.");
      pi.setActiveTools(names);
    },
  };
  return calls.guarded(functions);
}
