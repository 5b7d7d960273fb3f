// The way to pi's session. pi gives an extension none. But pi exports the class of sessions, and each session binds its
// extensions by one method before it tells them of its start.
import { dialogsFor } from "./dialog-turns.js";

/** @typedef {import("@earendil-works/pi-coding-agent").AgentSession} AgentSession */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */

/** The sessions of this process, by their session managers. @type {WeakMap<object, AgentSession>} */
const SESSIONS = new WeakMap();
/** The classes that are watched. */
const WATCHED = new WeakSet();

/**
 * Learns of each session that binds its extensions from now on, and gives each session its dialogs.
 * @param {import("./load.js").Host["codingAgent"]} codingAgent
 */
export function watchSessions({ AgentSession, VERSION }) {
  const bind = AgentSession?.prototype?.bindExtensions;
  if (typeof bind !== "function" || WATCHED.has(AgentSession)) return;
  WATCHED.add(AgentSession);
  AgentSession.prototype.bindExtensions = function (/** @type {any} */ bindings) {
    SESSIONS.set(this.sessionManager, this);
    return bind.call(this, { ...bindings, uiContext: dialogsFor(VERSION, bindings) });
  };
}

/** The session of a context; `undefined` where pi does not show it. @param {Context} context */
export function sessionOf(context) {
  return SESSIONS.get(context.sessionManager);
}

/**
 * The settings of the session of a context; `undefined` where pi does not show the session.
 * @param {Context} context
 */
export function settingsOf(context) {
  return sessionOf(context)?.settingsManager;
}
