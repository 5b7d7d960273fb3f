// Between pi and one component: registers what the guest asks for, hands it what happens, and does
// what it calls for.
import { Dialogs } from "./dialogs.js";
import { Drawing, plainText, textOf } from "./drawing.js";
import { MAX_TIMEOUT, personsShell, runCommandLine, showSeconds } from "./exec.js";
import { fileImports, identityOf } from "./files.js";
import { Guest, moment } from "./guest.js";
import { json } from "./json.js";
import { isNew, newestEntries, newestMessage, withoutOlder } from "./session.js";
import { storeImports } from "./store.js";
import { TerminalWatch, onInterruptKey } from "./terminal-watch.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionAPI} ExtensionAPI */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionCommandContext} CommandContext */
/** @typedef {{ tag: string, val?: any }} Variant */

/**
 * Where it is shown how far something is.
 * @typedef {object} Progress
 * @property {(stop: () => void) => () => void} begin lets the user stop it; what it returns ends that and the showing
 * @property {(text: string) => void} show
 */

/** What is said for a call that the guest broke in, and for one that comes when it is switched off. */
const BROKEN_CALL = "The extension that decides about this call broke while it did. The call is refused; try again.";
const OFF_CALL = "The extension that decides about this call broke and is switched off. The call is refused; tell the user.";

/** What is said of a guest that has no instance any more. */
const OFF = "is switched off until a command of its own or /reload starts it again";

/** A call of `pi:extension/api`: the function's name in JavaScript, and its arguments. @typedef {[string, ...unknown[]]} Registration */

/** How long after a new session's start the guest is told of it, in milliseconds: pi is there by then. */
const LATE = 100;

/** Sources of an input and reasons of a session's start or end that the interface knows. */
const SOURCES = ["interactive", "rpc", "extension"];
const REASONS = ["startup", "reload", "new", "resume", "fork", "quit"];

export class Extension {
  /** The context of the current call, or of the last session event between calls. @type {Context | undefined} */
  #context;
  /** The arguments of the tool call that is being decided. @type {unknown} */
  #toolInput = undefined;
  /** Tells the guest of the session, if it does not know it yet. @type {(() => unknown) | undefined} */
  #late;
  /** The calls that made a call of the guest's tools: pi tells of them before the tool is executed. @type {Map<string, string>} */
  #parents = new Map();
  /** What is registered; a new instance asks for the same again. */
  #registered = new Set();
  /** The types of custom messages of which the model is sent only the newest. @type {Set<string>} */
  #kept = new Set();
  /** @type {Map<bigint, NodeJS.Timeout>} */
  #timers = new Map();
  /** Ends with the session, and with the instance if that breaks. */
  #life = new AbortController();
  /** What is pending, and what gives it up. @type {Set<{ ticket: bigint, controller: AbortController }>} */
  #pending = new Set();
  #dialogs = new Dialogs();
  #watch;
  #pi;
  #host;
  #manifest;
  #instantiate;
  /** @type {Guest | undefined} */
  #guest;
  /** Whether tool calls are refused while the guest is switched off. */
  #guarding = true;
  /** What the instance has put beside the editor and into the status bar. @type {Record<"status" | "widget", Set<string>>} */
  #shown = { status: new Set(), widget: new Set() };

  /**
   * @param {ExtensionAPI} pi
   * @param {import("./load.js").Host} host
   * @param {import("./load.js").Manifest} manifest
   * @param {(imports: object) => Record<string, any>} instantiate
   */
  constructor(pi, host, manifest, instantiate) {
    this.#pi = pi;
    this.#host = host;
    this.#manifest = manifest;
    this.#instantiate = instantiate;
    this.#watch = new TerminalWatch(host.tui, () => this.#event({ tag: "terminal-input" }));
  }

  /**
   * Registers what the component needs.
   * @param {Registration[]} [registrations] without them its first instance says so itself
   */
  start(registrations) {
    const imports = this.#imports();
    const { name } = this.#manifest;
    this.#guest = new Guest(
      () => {
        this.#kept.clear();
        return this.#instantiate(imports);
      },
      (words, off) => this.#tell(`${name} broke and ${off ? OFF : "was started again"}: ${words}`),
      // What the broken instance has asked for is nobody's any more.
      () => {
        this.#sessionEnds();
        this.#clearUi();
      },
    );
    if (!registrations) this.#guest.start();
    const api = /** @type {Record<string, Function>} */ (imports["pi:extension/api"]);
    for (const [name, ...parameters] of registrations ?? []) {
      if (!Object.hasOwn(api, name)) throw new Error(`${this.#manifest.name} calls "${name}", which pi:extension/api does not have.`);
      api[name](...parameters);
    }
    // Timers and the watch belong to the session, whether or not the guest wants to hear of its end.
    this.#subscribe("session_start");
    this.#subscribe("session_shutdown");
  }

  // --- what pi calls -------------------------------------------------------------------------

  /**
   * Calls the guest on behalf of a context. A call that comes in the middle of another one waits for
   * the end of that.
   *
   * @param {Context | undefined} context
   * @param {string} name
   * @param {...unknown} parameters
   * @returns {any} a promise only if it had to wait
   */
  #call(context, name, ...parameters) {
    return this.#callWith(context, undefined, name, ...parameters);
  }

  /**
   * The same, with the arguments of the tool call that the guest may ask for.
   *
   * @param {Context | undefined} context
   * @param {unknown} toolInput
   * @param {string} name
   * @param {...unknown} parameters
   * @returns {any}
   */
  #callWith(context, toolInput, name, ...parameters) {
    this.#late?.();
    const guest = this.#guest;
    if (guest?.busy) {
      return Promise.resolve().then(() => this.#callWith(context, toolInput, name, ...parameters));
    }
    const outer = this.#context;
    if (context) this.#context = context;
    this.#toolInput = toolInput;
    try {
      return guest?.call(name, ...parameters);
    } finally {
      this.#toolInput = undefined;
      if (outer) this.#context = outer;
    }
  }

  /**
   * @param {Variant} event
   * @param {Context} [context]
   * @param {unknown} [toolInput]
   */
  #event(event, context, toolInput) {
    return this.#callWith(context, toolInput, "handleEvent", moment(), event);
  }

  /**
   * Subscribes to one of pi's events, once.
   * @param {keyof typeof EVENTS} name
   */
  #subscribe(name) {
    if (this.#registered.has(name)) return;
    this.#registered.add(name);
    const on = /** @type {(name: string, handler: (event: any, context: Context) => unknown) => void} */ (this.#pi.on);
    on.call(this.#pi, name, (event, context) => {
      if (name === "tool_call") this.#rememberParent(event);
      const call = () => {
        if (!this.#registered.has(`event ${name}`)) return undefined;
        if (this.#guest?.off) return name === "tool_call" && this.#guarding ? refusal(OFF_CALL) : undefined;
        return after(this.#event(EVENTS[name](event, context, this.#pi), context, event.input), (result) => {
          return name === "tool_call" && !result ? refusal(BROKEN_CALL) : outcome(result, event);
        });
      };
      if (name === "session_start") return this.#sessionStarts(event.reason, context, call);
      if (name !== "session_shutdown") return call();
      const known = !this.#late;
      this.#sessionEnds();
      return known ? call() : undefined;
    });
  }

  /** @param {{ toolCallId: string, toolName: string, parentToolCallId?: string }} event */
  #rememberParent({ toolCallId, toolName, parentToolCallId }) {
    if (parentToolCallId === undefined) this.#parents.delete(toolCallId);
    else if (this.#registered.has(`tool ${toolName}`)) this.#parents.set(toolCallId, String(parentToolCallId));
  }

  /**
   * Tells the guest of a session. If pi has just started with it, there is nothing in it for the guest, and the guest
   * has not begun yet, pi comes first.
   *
   * @param {string} reason
   * @param {Context} context
   * @param {() => unknown} tell
   */
  #sessionStarts(reason, context, tell) {
    this.#context = context;
    this.#guest?.revive(false);
    if (reason !== "startup" || this.#guest?.begun || !isNew(context.sessionManager)) return tell();
    this.#late = () => {
      this.#late = undefined;
      return tell();
    };
    setTimeout(() => this.#late?.(), LATE).unref();
  }

  /**
   * Starts a guest again that is switched off.
   * @param {Context} context
   */
  #revive(context) {
    if (!this.#guest?.off) return;
    this.#context = context;
    this.#guest.revive(true);
  }

  #sessionEnds() {
    this.#late = undefined;
    this.#parents.clear();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#watch.stop();
    this.#life.abort();
    this.#life = new AbortController();
  }

  #clearUi() {
    const { status, widget } = this.#shown;
    try {
      for (const key of status) this.#now().ui.setStatus(key, undefined);
      for (const key of widget) this.#now().ui.setWidget(key, undefined);
    } catch {
      // The session is gone, and they with it.
    }
    status.clear();
    widget.clear();
  }

  /** @param {string} words */
  #tell(words) {
    try {
      if (this.#context) notify(this.#context, words, "error");
    } catch {
      // The session is gone, and with it whoever could be told.
    }
  }

  /**
   * Follows a guest's outcome through everything it waits for. Gives `undefined` if the call broke, or if
   * nobody is there any more who waits.
   *
   * @param {Context} context
   * @param {Variant | undefined | Promise<Variant | undefined>} outcome
   * @param {"resumeTool" | "resumeCommand"} resume
   * @param {AbortSignal | undefined} signal
   * @param {Progress} progress
   */
  async #resolve(context, outcome, resume, signal, progress) {
    let result = outcome instanceof Promise ? await outcome : outcome;
    const life = this.#life.signal;
    while (result?.tag === "pending") {
      if (life.aborted) return undefined;
      const { ticket, request } = result.val;
      const answer = await this.#fulfil(context, ticket, request, [life, signal], progress);
      result = life.aborted ? undefined : await this.#call(context, resume, moment(), ticket, answer);
    }
    return result;
  }

  /**
   * Does what a guest waits for.
   *
   * @param {Context} context
   * @param {bigint} ticket
   * @param {any} request
   * @param {(AbortSignal | undefined)[]} signals each of them ends it
   * @param {Progress} progress
   * @returns {Promise<Variant>}
   */
  async #fulfil(context, ticket, request, signals, progress) {
    const controller = new AbortController();
    const pending = { ticket, controller };
    const abort = () => controller.abort();
    for (const signal of signals) {
      if (signal?.aborted) abort();
      signal?.addEventListener("abort", abort, { once: true });
    }
    this.#pending.add(pending);
    try {
      if (request.tag !== "exec") return await this.#dialogs.ask(context, request, controller.signal);
      if (!this.#manifest.exec) return { tag: "not-granted" };
      return { tag: "ran", val: await this.#exec(context, request.val, controller, progress) };
    } finally {
      this.#pending.delete(pending);
      for (const signal of signals) signal?.removeEventListener("abort", abort);
    }
  }

  /**
   * @param {Context} context
   * @param {import("./exec.js").CommandLine} commandLine
   * @param {AbortController} controller
   * @param {Progress} progress
   */
  async #exec(context, commandLine, controller, progress) {
    const end = progress.begin(() => controller.abort());
    const stopShowing = showSeconds(plainText(commandLine.progress), progress.show);
    const hide = () => {
      stopShowing();
      end();
    };
    // At once where the session ends: afterwards nothing can be cleared any more.
    controller.signal.addEventListener("abort", hide, { once: true });
    try {
      const shell = () => personsShell(this.#host.codingAgent, context.cwd);
      return await runCommandLine(shell, commandLine, controller.signal);
    } finally {
      if (!controller.signal.aborted) hide();
    }
  }

  /**
   * Shows above the editor what a command waits for. pi's key for interrupting stops it.
   * @param {CommandContext} context
   * @returns {Progress}
   */
  #widget(context) {
    const key = `${this.#manifest.name}:running`;
    return {
      show: (text) => {
        const hint = context.mode === "tui" ? ` · ${this.#host.codingAgent.keyText("app.interrupt")} stops it` : "";
        context.ui.setWidget(key, [text + hint]);
      },
      begin: (stop) => {
        const forget = onInterruptKey(this.#host.tui, context, stop);
        return () => {
          try {
            forget();
            context.ui.setWidget(key, undefined);
          } catch {
            // The session is gone, and its widgets with it.
          }
        };
      },
    };
  }

  // --- what the guest calls --------------------------------------------------------------------

  #imports() {
    const { codingAgent } = this.#host;
    const bases = {
      agentDir: codingAgent.getAgentDir,
      configDirName: codingAgent.CONFIG_DIR_NAME,
      ...this.#guarded({
        cwd: () => this.#now().cwd,
        isProjectTrusted: () => this.#now().isProjectTrusted(),
      }),
    };
    return {
      "pi:extension/types": {},
      "pi:extension/api": this.#api(),
      "pi:extension/context": this.#guarded({
        runMode: () => knownMode(this.#now()),
        hasUi: () => this.#now().hasUI,
        cwd: () => this.#now().cwd,
        isProjectTrusted: () => this.#now().isProjectTrusted(),
        projectIdentity: () => identityOf(this.#now().cwd),
        isIdle: () => this.#now().isIdle(),
        setExitCode: (/** @type {number} */ code) => {
          if (endsWithPrompt(this.#now())) process.exitCode = code;
        },
        toolInput: () => json(this.#toolInput),
      }),
      "pi:extension/session": this.#guarded({
        entries: (
          /** @type {string} */ customType,
          /** @type {number} */ skip,
          /** @type {number} */ limit,
          /** @type {string | undefined} */ until,
        ) => newestEntries(this.#now().sessionManager, customType, skip, limit, until),
        newestMessage: (/** @type {string} */ customType) => newestMessage(this.#now().sessionManager, customType),
      }),
      "pi:extension/ui": this.#guarded({
        notify: (/** @type {string} */ message, /** @type {"info" | "warning" | "error"} */ level) =>
          notify(this.#now(), message, level),
        setStatus: (/** @type {string} */ key, /** @type {string | undefined} */ text) => {
          this.#now().ui.setStatus(key, text === undefined ? undefined : plainText(text));
          remember(this.#shown.status, key, text !== undefined);
        },
        setWidget: (
          /** @type {string} */ key,
          /** @type {string[] | undefined} */ lines,
          /** @type {string} */ placement,
        ) => {
          this.#now().ui.setWidget(key, lines?.map(plainText), {
            placement: placement === "below-editor" ? "belowEditor" : "aboveEditor",
          });
          remember(this.#shown.widget, key, lines !== undefined);
        },
        watchTerminal: (/** @type {boolean} */ watch) =>
          watch ? this.#watch.start(this.#now()) : this.#watch.stop(),
      }),
      "pi:extension/files": fileImports(this.#manifest.files, bases),
      "pi:extension/store": storeImports(this.#manifest.store, bases.agentDir, (words) => this.#tell(words)),
      "pi:extension/timers": {
        start: (/** @type {bigint} */ id, /** @type {number} */ delay) => this.#startTimer(id, delay),
        stop: (/** @type {bigint} */ id) => this.#stopTimer(id),
      },
    };
  }

  /** The context of the current call. */
  #now() {
    if (!this.#context) throw new Error("There is no session yet.");
    return this.#context;
  }

  /**
   * Functions of the interface over functions of pi: what pi throws becomes an error of the interface.
   * @template {Record<string, (...parameters: any[]) => unknown>} T
   * @param {T} functions
   * @returns {T}
   */
  #guarded(functions) {
    const wrapped = Object.entries(functions).map(([name, work]) => [
      name,
      (/** @type {unknown[]} */ ...parameters) => {
        try {
          return work(...parameters);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          throw this.#isStale() ? { tag: "stale" } : { tag: "failed", val: message };
        }
      },
    ]);
    return Object.fromEntries(wrapped);
  }

  /**
   * Tests if the session of the current call was replaced. pi's error for that has no class and no code of its own, and any
   * error may contain its words, say in a path; but every access to such a context throws, so reading a field tells.
   */
  #isStale() {
    try {
      void this.#context?.cwd;
      return false;
    } catch {
      return true;
    }
  }

  #api() {
    const pi = this.#pi;
    return {
      on: (/** @type {string} */ kind) => {
        const name = eventName(kind);
        if (!name) return;
        this.#registered.add(`event ${name}`);
        this.#subscribe(name);
      },
      registerTool: (/** @type {any} */ tool) => this.#once(`tool ${tool.name}`, () => this.#registerTool(tool)),
      registerCommand: (/** @type {any} */ command) =>
        this.#once(`command ${command.name}`, () => this.#registerCommand(command)),
      registerMessageRenderer: (/** @type {string} */ customType) =>
        this.#once(`message ${customType}`, () =>
          pi.registerMessageRenderer(customType, ({ content, display }, { expanded }, theme) =>
            this.#drawing(theme, 1, "drawMessage", { customType, content: textOf(content), display }, expanded),
          ),
        ),
      registerEntryRenderer: (/** @type {string} */ customType) =>
        this.#once(`entry ${customType}`, () =>
          pi.registerEntryRenderer(customType, ({ data }, { expanded }, theme) =>
            this.#drawing(theme, 1, "drawEntry", customType, json(data), expanded),
          ),
        ),
      guardTools: (/** @type {boolean} */ guard) => void (this.#guarding = guard),
      keepNewest: (/** @type {string} */ customType, /** @type {boolean} */ keep) => {
        if (keep) {
          this.#once("older messages", () => pi.on("context", ({ messages }) => withoutOlder(messages, this.#kept)));
          this.#kept.add(customType);
        } else this.#kept.delete(customType);
      },
      withdraw: (/** @type {bigint} */ ticket) => {
        for (const pending of this.#pending) if (pending.ticket === ticket) pending.controller.abort();
      },
      registerFlag: (/** @type {any} */ { name, description }) =>
        this.#once(`flag ${name}`, () => pi.registerFlag(name, { type: "boolean", description })),
      logPanic: (/** @type {string} */ message) => this.#guest?.logPanic(message),
      ...this.#guarded({
        appendEntry: (/** @type {string} */ customType, /** @type {string} */ data) =>
          pi.appendEntry(customType, JSON.parse(data)),
        sendMessage: (
          /** @type {Message} */ message,
          /** @type {boolean} */ triggerTurn,
          /** @type {string | undefined} */ delivery,
        ) => pi.sendMessage(shown(message), { triggerTurn, deliverAs: deliverAs(delivery) }),
        sendUserMessage: (/** @type {string} */ text, /** @type {string | undefined} */ delivery) => {
          const as = deliverAs(delivery);
          pi.sendUserMessage(plainText(text), as === "nextTurn" ? undefined : { deliverAs: as });
        },
        setSessionName: (/** @type {string} */ name) => pi.setSessionName(plainText(name)),
        getFlag: (/** @type {string} */ name) => pi.getFlag(name) === true,
        toolNames: () => pi.getAllTools().map(({ name }) => name),
      }),
    };
  }

  /**
   * @param {string} what
   * @param {() => void} register
   */
  #once(what, register) {
    if (this.#registered.has(what)) return;
    this.#registered.add(what);
    register();
  }

  /** @param {any} tool */
  #registerTool({ name, label, description, parameters, promptSnippet, promptGuidelines, sequential }) {
    this.#subscribe("tool_call");
    this.#pi.registerTool({
      name,
      label,
      description,
      parameters: JSON.parse(parameters),
      promptSnippet,
      promptGuidelines,
      executionMode: sequential ? "sequential" : undefined,
      execute: async (id, input, signal, onUpdate, context) => {
        if (this.#guest?.off) throw new Error(OFF_CALL);
        const parent = this.#parents.get(id);
        this.#parents.delete(id);
        const record = { id, name, parent, carriesCalls: false };
        const call = this.#call(context, "executeTool", moment(), record, json(input));
        const result = await this.#resolve(context, call, "resumeTool", signal, {
          show: (text) => onUpdate?.({ content: [{ type: "text", text }], details: {} }),
          begin: () => () => {},
        });
        // pi makes the result of a failed call from an error.
        if (!result) throw new Error(BROKEN_CALL);
        const { text, details } = result.val;
        return { content: [{ type: "text", text: plainText(text) }], details: JSON.parse(details) };
      },
      renderCall: (input, theme, context) =>
        this.#drawing(theme, 0, "drawToolCall", name, json(input), context?.expanded === true),
      renderResult: ({ content, details }, { expanded, isPartial }, theme) => {
        if (isPartial) return new Drawing(() => muted(textOf(content)), theme, this.#host, 0);
        const output = { text: textOf(content), details: json(details) };
        return this.#drawing(theme, 0, "drawToolResult", name, output, expanded);
      },
    });
  }

  /** @param {{ name: string, description: string }} command */
  #registerCommand({ name, description }) {
    this.#pi.registerCommand(name, {
      description,
      getArgumentCompletions: (prefix) => {
        const completions = this.#guest?.busy ? undefined : this.#call(undefined, "completeArgument", name, prefix);
        return completions?.length ? completions.map(plainFields) : null;
      },
      handler: async (parameters, context) => {
        this.#revive(context);
        const call = this.#call(context, "runCommand", moment(), name, parameters ?? "");
        const result = await this.#resolve(context, call, "resumeCommand", undefined, this.#widget(context));
        if (result?.tag === "settle") await this.#settled(context);
      },
    });
  }

  /**
   * Waits for the agent where pi would end with the command. A run starts a little after the prompt
   * for it.
   * @param {CommandContext} context
   */
  async #settled(context) {
    if (!endsWithPrompt(context)) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    await context.waitForIdle();
  }

  /**
   * @param {import("@earendil-works/pi-coding-agent").Theme} theme
   * @param {number} padding a tool's own frame has some already
   * @param {string} name
   * @param {...unknown} parameters
   */
  #drawing(theme, padding, name, ...parameters) {
    const describe = () => (this.#guest?.busy ? undefined : this.#call(undefined, name, ...parameters));
    return new Drawing(describe, theme, this.#host, padding);
  }

  /**
   * @param {bigint} id
   * @param {number} delay
   */
  #startTimer(id, delay) {
    this.#stopTimer(id);
    const context = this.#context;
    const wait = (/** @type {number} */ rest) => {
      const part = Math.min(rest, MAX_TIMEOUT);
      const timer = setTimeout(() => {
        if (rest > part) return wait(rest - part);
        this.#timers.delete(id);
        this.#call(context, "timer", moment(), id);
      }, part);
      this.#timers.set(id, timer);
    };
    wait(delay);
  }

  /** @param {bigint} id */
  #stopTimer(id) {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}

/** pi's events, and what the interface makes of each. */
const EVENTS = {
  session_start: (/** @type {any} */ { reason }) => ({ tag: "session-start", val: known(REASONS, reason) }),
  session_tree: () => ({ tag: "session-tree" }),
  session_compact: () => ({ tag: "session-compact" }),
  session_shutdown: (/** @type {any} */ { reason }) => ({ tag: "session-shutdown", val: known(REASONS, reason) }),
  input: (/** @type {any} */ { source }) => ({ tag: "input", val: known(SOURCES, source) }),
  before_agent_start: () => ({ tag: "before-agent-start" }),
  agent_start: () => ({ tag: "agent-start" }),
  turn_end: () => ({ tag: "turn-end" }),
  // Some versions of pi call it an error if a tool was aborted.
  agent_end: (/** @type {any} */ { messages }, /** @type {Context} */ context) => ({
    tag: "agent-end",
    val: isAborted(context) ? "aborted" : lastStopReason(messages),
  }),
  agent_before_settle: () => ({ tag: "agent-before-settle" }),
  agent_settled: () => ({ tag: "agent-settled" }),
  tool_call: (
    /** @type {any} */ { toolCallId, toolName, parentToolCallId: parent },
    /** @type {Context} */ _context,
    /** @type {ExtensionAPI} */ pi,
  ) => ({
    tag: "tool-call",
    val: {
      id: String(toolCallId),
      name: String(toolName),
      parent: parent === undefined ? undefined : String(parent),
      carriesCalls: carriesCalls(pi, toolName),
    },
  }),
};

/**
 * pi's name of an event of the interface; `undefined` for keys, which are no event of pi, see `ui.watch-terminal`.
 * @param {string} kind
 */
export function eventName(kind) {
  if (kind === "terminal-input") return undefined;
  const name = kind.replaceAll("-", "_");
  if (!Object.hasOwn(EVENTS, name)) throw new Error(`The extension asks for the event "${kind}", which the loader does not know.`);
  return /** @type {keyof typeof EVENTS} */ (name);
}

/**
 * Tests if a tool is one of pi's own and declares that it reaches other tools. A tool of an extension that declares this may
 * do anything else besides.
 *
 * @param {ExtensionAPI} pi
 * @param {string} name
 */
function carriesCalls(pi, name) {
  try {
    const tool = /** @type {any} */ (pi.getAllTools().find((tool) => tool.name === name));
    return typeof tool?.reachesTools === "function" && tool.sourceInfo?.source === "builtin";
  } catch {
    return false; // The session is gone.
  }
}

/**
 * A later pi may have more of a kind.
 *
 * @param {string[]} kinds
 * @param {string} kind
 */
function known(kinds, kind) {
  return kinds.includes(kind) ? kind : "other";
}

/** @param {Context} context */
function knownMode({ mode, hasUI }) {
  if (mode === "tui" || mode === "json" || mode === "print") return mode;
  return hasUI ? "rpc" : "print";
}

/** @param {Context} context */
function isAborted(context) {
  try {
    return context.signal?.aborted;
  } catch {
    return false; // The session is gone.
  }
}

/** @param {{ role: string, stopReason?: string }[]} messages */
function lastStopReason(messages) {
  const reason = messages.findLast(({ role }) => role === "assistant")?.stopReason;
  switch (reason) {
    case undefined:
    case "stop":
    case "length":
    case "error":
    case "aborted":
      return reason;
    case "toolUse":
      return "tool-use";
    default:
      return "other";
  }
}

/**
 * @param {string} text
 * @returns {import("./drawing.js").Description}
 */
function muted(text) {
  return { tag: "lines", val: [[{ text, color: "muted", bold: false }]] };
}

/** @param {string} reason */
function refusal(reason) {
  return { block: true, reason };
}

/** @typedef {{ customType: string, content: string, display: boolean }} Message */

/**
 * A message that may be shown has no control characters: without this extension pi draws it as it is.
 * @param {Message} message
 */
function shown({ customType, content, display }) {
  return { customType, content: display ? plainText(content) : content, display };
}

/**
 * A record whose texts have no control characters.
 * @template {Record<string, string | undefined>} T
 * @param {T} record
 * @returns {T}
 */
function plainFields(record) {
  const plain = Object.entries(record).map(([name, text]) => [name, text && plainText(text)]);
  return Object.fromEntries(plain);
}

/**
 * What pi is told after an event.
 * @param {Variant | undefined} outcome
 * @param {any} event
 */
function outcome(outcome, event) {
  switch (outcome?.tag) {
    case "block":
      return refusal(plainText(outcome.val));
    case "inject":
      return { message: shown(outcome.val) };
    case "continue":
      return { entries: [...event.entries, { type: "custom_message", ...shown(outcome.val) }], continue: true };
    default:
      return undefined;
  }
}

/**
 * @template T, U
 * @param {T | Promise<T>} value
 * @param {(value: T) => U} next
 * @returns {U | Promise<U>}
 */
function after(value, next) {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * @param {Set<string>} keys
 * @param {string} key
 * @param {boolean} there
 */
function remember(keys, key, there) {
  if (there) keys.add(key);
  else keys.delete(key);
}

/**
 * Shows a notice where somebody can see it.
 * @param {Context} context
 * @param {string} message
 * @param {"info" | "warning" | "error"} level
 */
function notify(context, message, level) {
  if (endsWithPrompt(context)) process.stderr.write(`${plainText(message)}\n`);
  else context.ui.notify(plainText(message), level);
}

/**
 * Whether pi ends with its prompt.
 * @param {Context} context
 */
function endsWithPrompt({ mode }) {
  return mode === "print" || mode === "json";
}

/** @param {string | undefined} delivery */
function deliverAs(delivery) {
  switch (delivery) {
    case "steer":
      return "steer";
    case "follow-up":
      return "followUp";
    case "next-turn":
      return "nextTurn";
    default:
      return undefined;
  }
}
