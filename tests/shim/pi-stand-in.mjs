// A pi of plain functions: it writes down what an extension calls, and lets a test send events.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as tui from "@earendil-works/pi-tui";
import { Extension } from "../../host-shim/extension.js";
import { INTERFACE_VERSION } from "../../host-shim/guest.js";

/** @typedef {ReturnType<typeof standIn>} StandIn */
/** @typedef {(imports: Record<string, any>) => Record<string, any>} Instantiate */

/** The message with which pi refuses a context of a session that is gone. */
export const STALE = "This extension ctx is stale after session replacement or reload. Do not use a captured pi.";

/** pi's theme, as text that can be read. */
const THEME = {
  fg: (/** @type {string} */ color, /** @type {string} */ text) => `<${color}>${text}`,
  bold: (/** @type {string} */ text) => `*${text}*`,
};

/** What pi-coding-agent gives a shim. */
export const CODING_AGENT = {
  CONFIG_DIR_NAME: ".conf",
  getMarkdownTheme: () => new Proxy({}, { get: () => (/** @type {string} */ text) => text }),
};

export function standIn() {
  /** What the extension called that does something: its name and its arguments. @type {unknown[][]} */
  const calls = [];
  /** @type {Map<string, Set<Function>>} */
  const handlers = new Map();
  /** @type {Map<string, any>} */
  const registered = new Map();
  /** Functions that do more than being written down. @type {Record<string, Function>} */
  const behaviour = {};
  /** @type {{ id: string, parentId: string | null, type: string, customType?: string, data?: unknown }[]} */
  const entries = [];

  /** @param {string} name */
  const recorded = (name) => (/** @type {unknown[]} */ ...parameters) => {
    calls.push([name, ...parameters]);
    return behaviour[name]?.(...parameters);
  };
  /** @param {string} kind */
  const registering = (kind) => (/** @type {any} */ nameOrTool, /** @type {any} */ rest) => {
    const name = typeof nameOrTool === "string" ? nameOrTool : nameOrTool.name;
    calls.push([`register ${kind}`, name]);
    registered.set(`${kind} ${name}`, rest ?? nameOrTool);
  };

  /** Without the options, which hold the signal that closes it. @param {string} name */
  const dialog = (name) => async (/** @type {unknown[]} */ ...parameters) => {
    calls.push([name, ...parameters.slice(0, 2)]);
    return behaviour[name]?.(...parameters);
  };

  const ui = {
    notify: recorded("notify"),
    setStatus: recorded("setStatus"),
    setWidget: recorded("setWidget"),
    confirm: dialog("confirm"),
    select: dialog("select"),
    input: dialog("input"),
    onTerminalInput(/** @type {(data: string) => void} */ listener) {
      calls.push(["onTerminalInput"]);
      pi.typed = listener;
      return () => calls.push(["offTerminalInput"]);
    },
  };

  const pi = {
    calls,
    behaviour,
    registered,
    entries,
    /** Sends what a terminal sends. @type {(data: string) => void} */
    typed: () => {},
    /** A context, as an event's handler gets it. @param {object} [changes] */
    context: (changes) => ({
      mode: "tui",
      hasUI: true,
      cwd: "/no/such/project",
      isIdle: () => true,
      isProjectTrusted: () => false,
      waitForIdle: async () => void calls.push(["waitForIdle"]),
      ui,
      sessionManager: {
        getLeafEntry: () => entries.at(-1),
        getEntry: (/** @type {string} */ id) => entries.find((entry) => entry.id === id),
      },
      ...changes,
    }),
    /** A context that throws whatever is done with it. */
    staleContext: () =>
      new Proxy(
        {},
        {
          get() {
            throw new Error(STALE);
          },
        },
      ),
    /** Adds an entry at the end of the branch. @param {string} type @param {object} [fields] */
    addEntry(type, fields) {
      const id = `e${entries.length}`;
      entries.push({ id, parentId: entries.at(-1)?.id ?? null, type, ...fields });
    },
    /**
     * Emits an event to all handlers, and gives what the last one answers.
     *
     * @param {string} name
     * @param {object} [event]
     * @param {unknown} [context]
     * @returns {any}
     */
    emit(name, event = {}, context = pi.context()) {
      let answer;
      for (const handler of handlers.get(name) ?? []) answer = handler({ type: name, ...event }, context);
      return answer;
    },
    handlers,
    /** @param {string} name @param {string} [parameters] @param {unknown} [context] */
    command: (name, parameters, context = pi.context()) =>
      registered.get(`command ${name}`).handler(parameters, context),
    /** @param {string} name @param {unknown} input @param {unknown} [context] */
    tool: (name, input, context = pi.context()) =>
      registered.get(`tool ${name}`).execute("call-1", input, undefined, undefined, context),
    /** The calls since the last look. */
    did: () => calls.splice(0),
    theme: THEME,
    api: {
      on(/** @type {string} */ name, /** @type {Function} */ handler) {
        if (!handlers.has(name)) handlers.set(name, new Set());
        handlers.get(name)?.add(handler);
      },
      registerTool: registering("tool"),
      registerCommand: registering("command"),
      registerFlag: registering("flag"),
      getFlag: () => undefined,
      registerMessageRenderer: registering("message"),
      registerEntryRenderer: registering("entry"),
      appendEntry(/** @type {string} */ customType, /** @type {unknown} */ data) {
        recorded("appendEntry")(customType, data);
        pi.addEntry("custom", { customType, data });
      },
      sendMessage: recorded("sendMessage"),
      sendUserMessage: recorded("sendUserMessage"),
      setSessionName: recorded("setSessionName"),
      getAllTools: () => [{ name: "read" }, { name: "greet" }],
    },
  };
  return pi;
}

/**
 * Loads a component into the stand-in, and starts a session.
 *
 * @param {StandIn} pi
 * @param {Instantiate} instantiate
 * @param {Partial<import("../../host-shim/load.js").Manifest>} [changes] to the manifest
 * @param {string} [agentDir] pi's agent directory
 * @param {import("../../host-shim/extension.js").Registration[]} [registrations] written down beforehand
 */
export function loadInto(pi, instantiate, changes = {}, agentDir = "/no/such/agent", registrations = undefined) {
  const host = /** @type {any} */ ({ codingAgent: { ...CODING_AGENT, getAgentDir: () => agentDir }, tui });
  const manifest = { name: "hello-guest", glue: "", files: [], exec: false, store: undefined, ...changes };
  new Extension(/** @type {any} */ (pi.api), host, manifest, instantiate).start(registrations);
  pi.emit("session_start", { reason: "startup" });
  return pi;
}

/**
 * A component of plain functions instead of WebAssembly: `exports` gets the imports, and gives what
 * the guest exports.
 *
 * @param {(imports: Record<string, any>, instance: number) => Record<string, Function>} exports
 * @returns {Instantiate}
 */
export function plainGuest(exports) {
  let instances = 0;
  return (imports) => {
    const defaults = { init() {}, handleEvent: () => ({ tag: "none" }) };
    const guest = { ...defaults, ...exports(imports, instances++) };
    return { [`pi:extension/guest@${INTERFACE_VERSION}`]: guest };
  };
}

/**
 * The built guest in a folder that `buildHello` made.
 *
 * @param {string} home
 * @returns {Instantiate}
 */
export function builtGuest(home) {
  const glue = createRequire(import.meta.url)(join(home, "component/hello_guest.js"));
  const module = (/** @type {string} */ file) =>
    new WebAssembly.Module(readFileSync(join(home, "component", file)));
  return (imports) => glue.instantiate(module, imports);
}
