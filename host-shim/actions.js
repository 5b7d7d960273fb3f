// The functions of `pi:extension/api` that act on the session.
import { plainText } from "#sandbox";

import { NOT_GRANTED } from "./calls.js";
import { deliverAs, plainMessage } from "./messages.js";

/** @typedef {import("./interface.js").Imports["pi:extension/api"]} Api */
/**
 * @typedef {"abort" | "appendEntry" | "sendMessage" | "sendUserMessage" | "setSessionName" | "getFlag" | "getTextFlag" | "offerTool" | "toolNames" | "activeTools" | "setActiveTools" | "beginView" | "setModel" | "getThinkingLevel" | "setThinkingLevel"} ActionName
 */

/**
 * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
 * @param {import("./calls.js").Calls} calls
 * @param {import("./manifest.js").Manifest} manifest
 * @param {import("./view.js").View} view
 * @param {import("./models.js").Models} models
 * @param {(tool: import("./interface.js").Tool) => void} register
 * @returns {Pick<Api, ActionName>}
 */
export function actions(pi, calls, manifest, view, models, register) {
  /** @type {Omit<Pick<Api, ActionName>, keyof ReturnType<typeof models.actions>>} */
  const functions = {
    abort: () => calls.context.abort(),
    appendEntry: (customType, data) => pi.appendEntry(customType, JSON.parse(data)),
    sendMessage: (message, triggerTurn, delivery) =>
      models.afterwards(() => pi.sendMessage(plainMessage(message), { triggerTurn, deliverAs: deliverAs(delivery) })),
    sendUserMessage: (text, delivery) => {
      const as = deliverAs(delivery);
      models.afterwards(() => pi.sendUserMessage(plainText(text), as === "nextTurn" ? undefined : { deliverAs: as }));
    },
    setSessionName: (name) => pi.setSessionName(plainText(name)),
    getFlag: (name) => pi.getFlag(name) === true,
    getTextFlag: (name) => {
      const text = pi.getFlag(name);
      return text === undefined || text === false ? undefined : String(text);
    },
    offerTool: (tool) => {
      if (!manifest.activeTools) throw new Error(NOT_GRANTED);
      register(tool);
    },
    toolNames: () => pi.getAllTools().map(({ name }) => name),
    activeTools: () => pi.getActiveTools(),
    setActiveTools: (names) => {
      if (!manifest.activeTools) throw new Error(NOT_GRANTED);
      pi.setActiveTools(names);
    },
    beginView: (firstKept, summary, imagesOf) => {
      if (!manifest.conversation) throw new Error(NOT_GRANTED);
      view.begin({ firstKept, summary, imagesOf });
    },
  };
  return { ...calls.guarded(functions), ...models.actions() };
}
