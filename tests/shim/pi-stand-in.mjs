// A stand-in for pi: records the calls of an extension, and emits the events of a test.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as tui from "@earendil-works/pi-tui";
import { Extension } from "../../host-shim/extension.js";
import { INTERFACE_VERSION } from "../../host-shim/interface.js";

/** @typedef {ReturnType<typeof standIn>} StandIn */
/** @typedef {(imports: Record<string, any>) => Record<string, any>} Instantiate */

/** pi's error message for a context of a session that no longer exists. */
export const STALE = "This extension ctx is stale after session replacement or reload. Do not use a captured pi.";

/** A theme that writes its colours as text. */
const THEME = {
  fg: (/** @type {string} */ color, /** @type {string} */ text) => `<${color}>${text}`,
  bold: (/** @type {string} */ text) => `*${text}*`,
};

/** The exports of pi-coding-agent that the shim uses. */
export const CODING_AGENT = {
  VERSION: "1.6.0",
  CONFIG_DIR_NAME: ".conf",
  getMarkdownTheme: () => new Proxy({}, { get: () => (/** @type {string} */ text) => text }),
};

export function standIn() {
  /** The calls of the extension that have effects: name and arguments. @type {unknown[][]} */
  const calls = [];
  /** @type {Map<string, Set<Function>>} */
  const handlers = new Map();
  /** @type {Map<string, any>} */
  const registered = new Map();
  /** Implementations of recorded functions. @type {Record<string, Function>} */
  const behaviour = {};
  /** @type {{ id: string, parentId: string | null, type: string, customType?: string, data?: unknown }[]} */
  const entries = [];

  /** @param {string} name */
  const recorded =
    (name) =>
    (/** @type {unknown[]} */ ...parameters) => {
      calls.push([name, ...parameters]);
      return behaviour[name]?.(...parameters);
    };
  /** @param {string} kind */
  const registering = (kind) => (/** @type {any} */ nameOrTool, /** @type {any} */ rest) => {
    const name = typeof nameOrTool === "string" ? nameOrTool : nameOrTool.name;
    calls.push([`register ${kind}`, name]);
    registered.set(`${kind} ${name}`, rest ?? nameOrTool);
  };

  /** Records a dialog without its options, which contain the signal. @param {string} name */
  const dialog =
    (name) =>
    async (/** @type {unknown[]} */ ...parameters) => {
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
    /** pi's own, for an overlay. */
    custom(/** @type {Function} */ factory, /** @type {any} */ options) {
      calls.push(["custom", options.blocked]);
      return new Promise((resolve) =>
        factory(undefined, undefined, undefined, () => resolve(calls.push(["customDone"]))),
      );
    },
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
    /** Sends input of the terminal. @type {(data: string) => void} */
    typed: () => {},
    /** Creates a context for a handler. @param {object} [changes] */
    context: (changes) => ({
      mode: "tui",
      hasUI: true,
      cwd: "/no/such/project",
      isIdle: () => true,
      hasPendingMessages: () => false,
      abort: () => void calls.push(["abort"]),
      isProjectTrusted: () => false,
      waitForIdle: async () => void calls.push(["waitForIdle"]),
      ui,
      sessionManager: {
        getLeafEntry: () => entries.at(-1),
        getEntry: (/** @type {string} */ id) => entries.find((entry) => entry.id === id),
      },
      ...changes,
    }),
    /** Creates a context that throws on every access. */
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
     * Emits an event to all handlers, and returns the result of the last one.
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
    /** Returns the calls since the last time. */
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
      getAllTools: () => behaviour.getAllTools?.() ?? [{ name: "read" }, { name: "greet" }],
    },
  };
  return pi;
}

/**
 * Loads a component into the stand-in, and starts a session.
 *
 * @param {StandIn} pi
 * @param {Instantiate} instantiate
 * @param {Partial<import("../../host-shim/manifest.js").Manifest>} [changes] to the manifest
 * @param {string} [agentDir] pi's agent directory
 * @param {import("../../host-shim/extension.js").Registration[]} [registrations] the stored registrations
 */
export function loadInto(pi, instantiate, changes = {}, agentDir = "/no/such/agent", registrations = undefined) {
  const host = /** @type {any} */ ({ codingAgent: { ...CODING_AGENT, getAgentDir: () => agentDir }, tui });
  const manifest = {
    name: "hello-guest",
    glue: "",
    files: [],
    exec: false,
    confine: false,
    activeTools: false,
    conversation: false,
    models: false,
    programs: false,
    store: undefined,
    folders: undefined,
    children: undefined,
    folder: "/no/such/package",
    ...changes,
  };
  new Extension(/** @type {any} */ (pi.api), host, manifest, instantiate).start(registrations);
  pi.emit("session_start", { reason: "startup" });
  return pi;
}

/**
 * Creates a component of plain functions instead of WebAssembly: `exports` receives the imports and returns the guest's
 * exports.
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
 * Returns the built guest in a folder of `buildHello`.
 *
 * @param {string} home
 * @returns {Instantiate}
 */
export function builtGuest(home) {
  const glue = createRequire(import.meta.url)(join(home, "component/hello_guest.js"));
  const module = (/** @type {string} */ file) => new WebAssembly.Module(readFileSync(join(home, "component", file)));
  return (imports) => glue.instantiate(module, imports);
}
