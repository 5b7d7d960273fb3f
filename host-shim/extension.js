// Connects pi and one component: registers the guest's tools, commands and renderers, delivers pi's events to it, and
// provides its imports.
import { messageOf, unlessFails } from "#sandbox";

import { actions } from "./actions.js";
import { ArgumentText } from "./argument-text.js";
import { Calls, after } from "./calls.js";
import { claimStep, sessionRead } from "./claims.js";
import { Children } from "./children/children.js";
import { EVALUATION, Origin } from "./children/origin.js";
import { Commands, goOnBehind } from "./commands.js";
import { Confinement } from "./confinement.js";
import { contextImports } from "./context.js";
import { EVENTS, Inputs, boundaryResult, eventName, handlerResult, refusal, toolCall } from "./events.js";
import { fileImports } from "./files.js";
import { folderImports } from "./folders.js";
import { Guest, moment } from "./guest.js";
import { JoinedPrompt } from "./joined-prompt.js";
import { LastHandler } from "./last-handler.js";
import { plainMessage } from "./messages.js";
import { ModelFailures } from "./model-failure.js";
import { Models } from "./models.js";
import { watchSessions } from "./pi-session.js";
import { installedPackages, ownPackage } from "./packages.js";
import { Programs } from "./programs.js";
import { registerEntryRenderer, registerMessageRenderer } from "./renderers.js";
import { Requests } from "./requests.js";
import { isNew, sessionImports } from "./session.js";
import { storeImports } from "./store.js";
import { shellSettings } from "./shell.js";
import { Timers } from "./timers.js";
import { BROKEN_CALL, OFF_CALL, RunningCalls, TAKEN_ID, registerTool } from "./tools.js";
import { Ui } from "./ui.js";
import { View } from "./view.js";

/** @typedef {import("@earendil-works/pi-coding-agent").ExtensionContext} Context */
/** @typedef {import("./events.js").PiEvent} PiEvent */
/** @typedef {import("./events.js").PiEventName} PiEventName */
/** @typedef {import("./interface.js").Imports} Imports */

/**
 * The values that the extension of a child is given.
 * @typedef {object} ChildOf
 * @property {string} label the name of the child for the user
 * @property {string | undefined} handed the value that its component is given
 * @property {Context["sessionManager"]} session the session of the parent, whose folders are the child's
 * @property {import("./turns.js").Turns} commands the turns of command lines, one at a time for all children
 * @property {Programs | undefined} programs the programs of the parent
 */

/**
 * A call of `pi:extension/api`: the JavaScript name of the function, and its arguments.
 *
 * @typedef {[string, ...unknown[]]} Registration
 */

/**
 * The parts of an extension that others use.
 * @typedef {object} Parts
 * @property {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
 * @property {import("./load.js").Host} host
 * @property {import("./manifest.js").Manifest} manifest
 * @property {Guest} guest
 * @property {Calls} calls
 * @property {Requests} requests
 * @property {ArgumentText} argumentText
 * @property {JoinedPrompt} [joined]
 * @property {(context: Context) => unknown} begin delivers the start of the session, if pi has not
 * @property {() => Promise<void> | undefined} settled waits for a limited time until the processes of killed commands
 *   have ended
 */

/** The events of an agent's work. A program that embeds pi may have told no start of the session before them. */
const WORK = new Set(["input", "before_agent_start", "agent_start", "context", "tool_call"]);

/** The state of a guest that has no instance, for the user. */
const OFF = "is switched off until a command of its own or /reload starts it again";

export class Extension {
  /** The events that pi delivers to a handler of this extension. @type {Set<PiEventName>} */
  #handled = new Set();
  /** The events that the guest subscribed to. @type {Set<PiEventName>} */
  #subscribed = new Set();
  /** The registrations that pi has accepted. @type {Set<string>} */
  #registered = new Set();
  /** True if tool calls are refused while the guest is switched off. */
  #guarding = true;
  #running = new RunningCalls((id) => this.#confinement.ended(id));
  /** @type {Parts} */
  #parts;
  #pi;
  #manifest;
  #guest;
  #calls;
  /** @type {Requests} */
  #requests;
  #ui;
  #programs;
  #timers;
  #confinement;
  #view;
  #models;
  #inputs = new Inputs();
  #failures = new ModelFailures();
  #lastHandler = new LastHandler();
  /** @type {Commands} */
  #commands;
  #imports;
  /** @type {Children} */
  #children;
  #childOf;
  /** @type {Registration[] | undefined} */
  #registrations;
  /** @type {import("./shell.js").ShellSettings} */
  #shell = { user: {} };
  /** The origin of the session, for its children. @type {Origin | undefined} */
  #origin;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {import("./load.js").Host} host
   * @param {import("./manifest.js").Manifest} manifest
   * @param {import("./interface.js").Instantiate} instantiate
   * @param {ChildOf} [childOf] set for the extension of a child
   */
  constructor(pi, host, manifest, instantiate, childOf) {
    this.#childOf = childOf;
    this.#pi = pi;
    this.#manifest = manifest;
    this.#guest = new Guest(
      () => {
        this.#view.end();
        return instantiate(this.#imports);
      },
      (message, off) => this.#ui.showError(`${manifest.name} broke and ${off ? OFF : "was started again"}: ${message}`),
      () => {
        this.#endSession();
        this.#ui.clear();
        // A new instance with a run that goes on takes it again.
        this.#releaseClaim(this.#calls.knownContext);
      },
    );
    this.#calls = new Calls(this.#guest);
    this.#ui = new Ui(host, this.#calls, childOf?.label, (interrupts) => {
      this.#calls.call(undefined, "handleEvent", moment(), { tag: "terminal-input", val: interrupts });
    });
    this.#programs = childOf
      ? childOf.programs
      : manifest.programs
        ? new Programs(host.tui, (message) => this.#ui.showError(message))
        : undefined;
    this.#timers = new Timers(this.#calls, pi);
    this.#requests = new Requests(
      host,
      manifest,
      () => this.#children,
      childOf,
      () => this.#shell.user,
    );
    this.#children = new Children(this.#calls, manifest.children, ({ label, handed }, { sessionManager: session }) => ({
      pi,
      codingAgent: host.codingAgent,
      origin: this.#origin,
      tell: (message) => this.#ui.show(message, "warning"),
      name: manifest.name,
      turns: this.#requests.turns,
      factory: (pi) => {
        const commands = this.#requests.commandTurns;
        const of = { label, handed, session, commands, programs: this.#programs };
        new Extension(pi, host, { ...manifest, children: undefined }, instantiate, of).start(this.#registrations);
      },
    }));
    const joined =
      manifest.joinedPrompt && !childOf ? new JoinedPrompt(pi, host.codingAgent, manifest.joinedPrompt) : undefined;
    this.#parts = {
      pi,
      host,
      manifest,
      guest: this.#guest,
      calls: this.#calls,
      requests: this.#requests,
      argumentText: new ArgumentText(),
      joined,
      begin: (context) => this.#begin(context),
      settled: () => this.#confinement.settled(),
    };
    this.#commands = new Commands(this.#parts, this.#timers);
    this.#confinement = new Confinement(
      pi,
      host,
      manifest.confine,
      () => this.#shell,
      (message) => this.#ui.show(message, "warning"),
    );
    this.#view = new View(pi, host.codingAgent);
    this.#models = new Models(this.#parts, (message) => this.#ui.showError(message));
    this.#imports = this.#allImports(host.codingAgent);
  }

  /**
   * Registers the guest's tools, commands, renderers and flags, and adds the handlers of events.
   * @param {Registration[]} [registrations] stored by the build; if absent, the first instance is created to make them
   */
  start(registrations) {
    this.#registrations = registrations;
    const { codingAgent, evaluation } = this.#parts.host;
    if (this.#manifest.children && evaluation) {
      watchSessions(codingAgent);
      this.#pi.registerMessageRenderer(EVALUATION, evaluation);
    }
    if (!registrations) this.#guest.start();
    const api = /** @type {Record<string, Function>} */ (/** @type {unknown} */ (this.#imports["pi:extension/api"]));
    for (const [name, ...parameters] of registrations ?? []) {
      if (!Object.hasOwn(api, name))
        throw new Error(`${this.#manifest.name} calls "${name}", which pi:extension/api does not have.`);
      api[name](...parameters);
    }
    // Timers and the terminal watch end with the session, even if the guest did not subscribe to its end.
    this.#handle("session_start");
    this.#handle("session_shutdown");
  }

  /** Adds a handler for an event of pi, unless there is one. @param {PiEventName} name */
  #handle(name) {
    if (this.#handled.has(name)) return;
    this.#handled.add(name);
    if (name === "tool_call") this.#running.watch(this.#pi);
    if (name === "agent_end") this.#failures.watch(this.#pi);
    const on = /** @type {(name: string, handler: (event: PiEvent, context: Context) => unknown) => void} */ (
      this.#pi.on
    );
    on.call(this.#pi, name, (event, context) =>
      after(WORK.has(name) ? this.#begin(context) : undefined, () => this.#receive(name, event, context)),
    );
  }

  /** @param {Context} context */
  #begin(context) {
    return this.#calls.knownContext ? undefined : this.#onSessionStart({ reason: "startup" }, context);
  }

  /**
   * @param {PiEventName} name
   * @param {PiEvent} event
   * @param {Context} context
   */
  #receive(name, event, context) {
    switch (name) {
      case "session_start":
        return this.#onSessionStart(event, context);
      case "session_shutdown":
        return this.#onSessionShutdown(event, context);
      case "tool_call":
        return this.#onToolCall(event, context);
      case "before_agent_start":
        // Waits for the queue, so that the agent's run uses the model that the guest has set in any call.
        return after(this.#models.queue, () => this.#deliver(name, event, context));
      case "model_select":
      case "thinking_level_select":
        // pi sets no other model before this handler returns, so the handler must not wait for the queue.
        void this.#deliver(name, event, context);
        return undefined;
      default:
        return this.#deliver(name, event, context);
    }
  }

  /**
   * Delivers an event to the guest, if the guest subscribed to it.
   *
   * @param {PiEventName} name
   * @param {PiEvent} event
   * @param {Context} context
   */
  #deliver(name, event, context) {
    if (!this.#subscribed.has(name) || this.#guest.off) return undefined;
    const converted = EVENTS[name](event, context, this.#pi, this.#models, this.#inputs, this.#running);
    if (!converted) return undefined;
    const call = this.#calls.call(context, "handleEvent", moment(), converted);
    return after(call, (outcome) => {
      if (name === "turn_end" || name === "agent_settled") this.#view.end();
      if (outcome?.tag === "pending") return goOnBehind(this.#parts, context, outcome);
      if (name === "session_compact" && outcome?.tag === "inject") return this.#sendAtOnce(outcome.val, context);
      return outcome?.tag === "boundary" ? this.#boundary(outcome.val, event, context) : handlerResult(outcome, event);
    });
  }

  /**
   * Sends a message with the next request. pi stores it after that turn, so the message causes no other request.
   * @param {import("./interface.js").CustomMessage} message
   * @param {Context} context
   */
  #sendAtOnce(message, { sessionManager }) {
    const plain = plainMessage(message);
    if (!this.#view.send({ role: "custom", ...plain, timestamp: Date.now() }, sessionManager)) return;
    this.#models.afterwards(() => this.#pi.sendMessage(plain, { triggerTurn: false }));
  }

  /**
   * Returns the result of pi's handler for entries that follow a turn.
   *
   * @param {import("./interface.js").Boundary} boundary
   * @param {PiEvent} event
   * @param {Context} context
   */
  #boundary(boundary, event, context) {
    try {
      return boundaryResult(boundary, event, this.#manifest, context.sessionManager);
    } catch (error) {
      this.#ui.showError(`The entries after a turn were left out: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** @param {PiEvent} event @param {Context} context */
  #onToolCall(event, context) {
    this.#lastHandler.restore(event);
    const call = toolCall(event, this.#pi);
    if (!this.#running.begin(call)) return refusal(TAKEN_ID);
    return after(this.#decide(event, call, context), (refused) => {
      if (refused) this.#running.refuse(call);
      return refused;
    });
  }

  /**
   * @param {PiEvent} event
   * @param {import("./interface.js").ToolCall} call
   * @param {Context} context
   */
  #decide(event, call, context) {
    if (this.#guest.off && this.#guarding && this.#subscribed.has("tool_call")) return refusal(OFF_CALL);
    if (this.#guest.off || !this.#subscribed.has("tool_call")) {
      this.#confinement.notConfined(event);
      return undefined;
    }
    const decided = this.#calls.handleToolCall(context, event.input, moment(), { tag: "tool-call", val: call });
    return after(decided, (outcome) => {
      if (!outcome) return refusal(BROKEN_CALL);
      if (outcome.tag !== "confine") {
        this.#confinement.notConfined(event);
        return handlerResult(outcome, event);
      }
      // Other extensions may change the event.
      const { toolName, toolCallId, input } = event;
      return this.#lastHandler.decide(event, () =>
        after(this.#confinement.confine({ toolName, toolCallId, input }, outcome.val, context), (reason) => {
          if (reason === undefined) return undefined;
          this.#running.refuse(call);
          return refusal(reason);
        }),
      );
    });
  }

  /**
   * Delivers the start of a session. If pi itself starts, with a session that has no entries of extensions, the event
   * is deferred, so that pi does not wait for the first instance.
   *
   * @param {PiEvent} event
   * @param {Context} context
   */
  #onSessionStart(event, context) {
    this.#calls.context = context;
    this.#confinement.begin(context);
    if (this.#manifest.confine) this.#lastHandler.begin(context);
    this.#shell = unlessFails(() => shellSettings(this.#parts.host.codingAgent, context)) ?? { user: {} };
    if (this.#manifest.children) this.#origin = Origin.of(this.#parts.host, context);
    if (!this.#childOf) {
      unlessFails(() => sessionRead(context.sessionManager));
      this.#programs?.begin(context);
    }
    this.#guest.startAgain(false);
    const deliver = () => this.#ui.beginning(() => this.#deliver("session_start", event, context));
    if (event.reason !== "startup" || this.#guest.begun || !isNew(context.sessionManager)) return deliver();
    this.#calls.defer(deliver);
  }

  /**
   * Delivers the end of a session, unless its start was not delivered.
   *
   * @param {PiEvent} event
   * @param {Context} context
   */
  #onSessionShutdown(event, context) {
    const dropped = this.#calls.dropDeferred();
    this.#endSession();
    if (!this.#childOf) this.#programs?.end();
    const told = dropped ? undefined : this.#deliver("session_shutdown", event, context);
    return after(told, () => {
      this.#releaseClaim(context);
      return this.#children.areEnding ? this.#children.ended() : undefined;
    });
  }

  /** @param {Context | undefined} context */
  #releaseClaim(context) {
    if (context && !this.#childOf) unlessFails(() => claimStep(context.sessionManager, "release"));
  }

  #endSession() {
    this.#calls.dropDeferred();
    this.#children.endAll();
    this.#running.endAll();
    this.#timers.stopAll();
    this.#ui.end();
    this.#requests.drop();
    this.#confinement.end();
    this.#view.end();
  }

  /** @param {import("./load.js").Host["codingAgent"]} codingAgent @returns {Imports} */
  #allImports(codingAgent) {
    const calls = this.#calls;
    const bases = {
      agentDir: codingAgent.getAgentDir,
      configDirName: codingAgent.CONFIG_DIR_NAME,
      ...calls.guarded({
        cwd: () => calls.context.cwd,
        isProjectTrusted: () => calls.context.isProjectTrusted(),
      }),
    };
    const installed = installedPackages(codingAgent, bases);
    const own = ownPackage(this.#manifest.folder);
    return {
      "pi:extension/types": {},
      "pi:extension/api": {
        ...this.#registering(),
        ...actions(this.#pi, calls, this.#manifest, this.#view, this.#models, (tool) => {
          this.#handle("tool_call");
          registerTool(this.#parts, this.#running, tool);
        }),
        ...calls.guarded(this.#commands.imports()),
      },
      "pi:extension/context": contextImports(
        calls,
        this.#confinement,
        this.#models,
        this.#running,
        this.#childOf,
        this.#failures,
      ),
      "pi:extension/session": sessionImports(calls, this.#manifest, this.#childOf !== undefined),
      "pi:extension/ui": this.#ui.imports(),
      "pi:extension/files": fileImports(this.#manifest.files, bases, () => [...installed(), ...own]),
      "pi:extension/store": storeImports(this.#manifest.store, bases.agentDir, (message) =>
        this.#ui.showError(message),
      ),
      "pi:extension/timers": this.#timers.imports(),
      "pi:extension/folders": folderImports(
        calls,
        this.#manifest.folders,
        codingAgent.CONFIG_DIR_NAME,
        this.#childOf?.session,
      ),
      "pi:extension/children": this.#children.imports(),
      "pi:extension/programs": { run: (kind, program, line) => this.#programs?.run(kind, program, line) },
    };
  }

  /**
   * The functions of `pi:extension/api` that configure the extension. A new instance calls them again; a second call
   * with the same name has no effect.
   *
   * @returns {Omit<Imports["pi:extension/api"], import("./actions.js").ActionName | "runCommand">}
   */
  #registering() {
    const once = (/** @type {string} */ kind, /** @type {string} */ name, /** @type {() => void} */ register) => {
      if (this.#registered.has(`${kind} ${name}`)) return;
      this.#registered.add(`${kind} ${name}`);
      register();
    };
    return {
      on: (kind) => {
        const name = eventName(kind);
        if (!name) return;
        this.#subscribed.add(name);
        this.#handle(name);
      },
      registerTool: (tool) => {
        // The event of a nested call carries the outer call, the execution does not.
        this.#handle("tool_call");
        once("tool", tool.name, () => registerTool(this.#parts, this.#running, tool));
      },
      registerCommand: (command) => once("command", command.name, () => this.#commands.register(command)),
      registerMessageRenderer: (customType) =>
        once("message", customType, () => {
          registerMessageRenderer(this.#parts, customType);
          this.#view.registered(customType);
        }),
      registerEntryRenderer: (customType) =>
        once("entry", customType, () => {
          registerEntryRenderer(this.#parts, customType);
          this.#view.registered(customType);
        }),
      registerFlag: ({ name, description }) =>
        once("flag", name, () => this.#pi.registerFlag(name, { type: "boolean", description })),
      registerTextFlag: ({ name, description }) =>
        once("flag", name, () => this.#pi.registerFlag(name, { type: "string", description })),
      guardTools: (guard) => {
        this.#guarding = guard;
        if (guard) this.#confinement.prepare();
      },
      cancelRequest: (ticket) => this.#requests.cancel(ticket),
      logPanic: (message) => this.#guest.logPanic(message),
    };
  }
}
