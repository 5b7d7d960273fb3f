// A mock of pi: implements the API that an extension uses, and records the effects of the extension.

import { projectDir } from "./world.mjs";

/** pi's validation of tool arguments. @type {{ validateToolArguments(tool: object, call: object): object }} */
const { validateToolArguments } = await import(
  new URL("../../../node_modules/@earendil-works/pi-ai/dist/utils/validation.js", import.meta.url).href
);

/**
 * @typedef {{ type: "custom", customType: string, data: any }} CustomEntry
 * @typedef {{ type: "custom_message", customType: string, content: string, display: boolean }} MessageEntry
 * @typedef {(CustomEntry | MessageEntry | { type: "compaction" }) & { id: string, parentId: string | null }} Entry
 */

/**
 * The effects of an extension in response to one trigger.
 * @typedef {object} Effects
 * @property {{ customType: string, data: any }[]} entries custom entries, and messages
 * @property {Prompt[]} prompts the messages that it sent for the user
 * @property {{ level: string, text: string }[]} notices
 * @property {{ title: string, message: string }[]} questions `message`: for a selection its options, one per line
 * @property {string[]} sessionNames
 * @property {(string | undefined)[]} widgets the line of the countdown after each change
 * @property {string | undefined} status the text in the status bar afterwards
 * @property {any} answer the result of the event handler, the tool or the completion
 */

/**
 * A message that an extension sends for the user. While the agent works pi refuses it, unless it names a time of
 * delivery.
 * @typedef {{ text: string, meanwhile?: string }} Prompt `meanwhile`: "refused", or the time of delivery
 */

/**
 * The configuration of pi.
 * @typedef {object} Setting
 * @property {"tui" | "rpc" | "print"} mode
 * @property {string[]} tools registered tools
 */

export class MockPi {
  /** The leaf of the session's current branch. @type {Entry | undefined} */
  leaf;
  /** The text in the status bar. @type {string | undefined} */
  status;
  /** True while the agent works. */
  running = false;
  /** Returns the user's answer to the next question. @type {() => Promise<boolean>} */
  user = async () => false;
  /** @type {Map<string, Entry>} */
  #entries = new Map();
  /** @type {Map<string, ((event: any, context: any) => unknown)[]>} */
  #handlers = new Map();
  /** @type {Map<string, any>} */
  #tools = new Map();
  /** @type {Map<string, any>} */
  #commands = new Map();
  /** @type {Set<(data: string) => void>} */
  #keyListeners = new Set();
  /** @type {string | undefined} */
  #widget;
  /** @type {Effects} */
  #effects = noEffects();
  #setting;
  #context;

  /** @param {Setting} setting */
  constructor(setting) {
    this.#setting = setting;
    this.#context = this.#makeContext();
  }

  /** Returns the effects since the last call. */
  takeEffects() {
    const effects = { ...this.#effects, status: this.status };
    this.#effects = noEffects();
    return effects;
  }

  /** The line of the countdown; `undefined` if there is none. */
  get widget() {
    return this.#widget;
  }

  /**
   * Loads an extension in place of the previous one, and clears the screen.
   * @param {import("@earendil-works/pi-coding-agent").ExtensionFactory} extension
   */
  async load(extension) {
    this.#handlers.clear();
    this.#tools.clear();
    this.#commands.clear();
    this.#keyListeners.clear();
    this.status = undefined;
    this.#widget = undefined;
    await extension(/** @type {any} */ (this.#makeApi()));
  }

  /**
   * @param {string} name
   * @param {object} [event]
   */
  async emit(name, event) {
    for (const handler of this.#handlers.get(name) ?? []) {
      const answer = await handler({ type: name, ...event }, this.#context);
      if (answer !== undefined) return answer;
    }
  }

  /**
   * @param {string} name
   * @param {object} input
   */
  callTool(name, input) {
    return this.#tools.get(name).execute("call", input, undefined, undefined, this.#context);
  }

  /**
   * Returns the arguments as the tool receives them; `undefined` if pi refuses the call.
   * @param {string} name
   * @param {unknown} input
   * @returns {any}
   */
  validated(name, input) {
    try {
      const parameters = compiledOnce(this.#tools.get(name).parameters);
      return validateToolArguments({ name, parameters }, { name, arguments: input });
    } catch {
      return undefined;
    }
  }

  /**
   * @param {string} name
   * @param {string} parameters
   */
  runCommand(name, parameters) {
    return this.#commands.get(name).handler(parameters, this.#context);
  }

  /**
   * @param {string} name
   * @param {string} prefix
   */
  complete(name, prefix) {
    return this.#commands.get(name).getArgumentCompletions(prefix);
  }

  pressKey() {
    for (const listener of this.#keyListeners) listener("x");
  }

  /** Returns the content of the newest message of a type since the last compaction. @param {string} customType */
  newestMessage(customType) {
    for (const entry of this.#branch().reverse()) {
      if (entry.type === "compaction") return undefined;
      if (entry.type === "custom_message" && entry.customType === customType) return entry.content;
    }
    return undefined;
  }

  /** Returns the entries of a type on the current branch, oldest first. @param {string} customType */
  entriesOf(customType) {
    return this.#branch().flatMap((entry) =>
      entry.type === "custom" && entry.customType === customType ? [entry] : [],
    );
  }

  /** @param {string | undefined} line */
  setWidget(line) {
    if (this.#hasUI && line !== this.#widget) this.#effects.widgets.push(line);
    this.#widget = line;
  }

  /**
   * @param {string} customType
   * @param {unknown} data
   */
  appendEntry(customType, data) {
    const copy = structuredClone(data);
    this.append({ type: "custom", customType, data: copy });
    this.#effects.entries.push({ customType, data: copy });
  }

  /** @param {CustomEntry | MessageEntry | { type: "compaction" }} entry */
  append(entry) {
    const id = String(this.#entries.size);
    this.leaf = { ...entry, id, parentId: this.leaf?.id ?? null };
    this.#entries.set(id, this.leaf);
  }

  get #hasUI() {
    return this.#setting.mode !== "print";
  }

  #branch() {
    const branch = [];
    for (let entry = this.leaf; entry; entry = this.#entries.get(entry.parentId ?? "")) branch.unshift(entry);
    return branch;
  }

  #makeApi() {
    return {
      on: (/** @type {string} */ name, /** @type {any} */ handler) => {
        this.#handlers.set(name, [...(this.#handlers.get(name) ?? []), handler]);
      },
      registerTool: (/** @type {any} */ tool) => this.#tools.set(tool.name, tool),
      registerCommand: (/** @type {string} */ name, /** @type {any} */ command) => this.#commands.set(name, command),
      registerMessageRenderer: () => {},
      registerEntryRenderer: () => {},
      registerFlag: () => {},
      getFlag: () => undefined,
      getAllTools: () => this.#setting.tools.map((name) => ({ name })),
      appendEntry: this.appendEntry.bind(this),
      sendMessage: (/** @type {any} */ message, /** @type {any} */ options) => {
        this.append({ type: "custom_message", ...message });
        this.#effects.entries.push({ customType: message.customType, data: { message, options } });
      },
      sendUserMessage: (/** @type {string} */ text, /** @type {any} */ options) =>
        this.#effects.prompts.push(this.running ? { text, meanwhile: options?.deliverAs ?? "refused" } : { text }),
      setSessionName: (/** @type {string} */ name) => this.#effects.sessionNames.push(name),
    };
  }

  #makeContext() {
    const shown = (/** @type {(...values: any[]) => void} */ show) => (this.#hasUI ? show : () => {});
    return {
      cwd: projectDir,
      mode: this.#setting.mode,
      hasUI: this.#hasUI,
      isProjectTrusted: () => true,
      isIdle: () => !this.running,
      hasPendingMessages: () => false,
      // A walk says itself when the agent stops.
      abort: () => {},
      waitForIdle: async () => {},
      sessionManager: {
        getBranch: () => this.#branch(),
        getLeafEntry: () => this.leaf,
        getEntry: (/** @type {string} */ id) => this.#entries.get(id),
      },
      ui: {
        notify: shown((text, level) => this.#effects.notices.push({ level, text })),
        setStatus: shown((_key, text) => void (this.status = text)),
        setWidget: shown((_key, lines) => this.setWidget(lines?.join("\n"))),
        confirm: async (/** @type {string} */ title, /** @type {string} */ message) => {
          if (!this.#hasUI) return false;
          this.#effects.questions.push({ title, message });
          return this.user();
        },
        select: async (/** @type {string} */ title, /** @type {string[]} */ options) => {
          // 53: only ours asks this, before a project's workflow runs in place of a global one.
          if (/ replaces yours\./.test(title)) return "Yes";
          this.#effects.questions.push({ title, message: options.join("\n") });
          const [no, yes] = options;
          // 50: the user cancels the selection of a workflow.
          if (!no.startsWith("No, ")) return undefined;
          return (await this.user()) ? yes : no;
        },
        input: async (/** @type {string} */ title, /** @type {string} */ message) =>
          void this.#effects.questions.push({ title, message }),
        onTerminalInput: (/** @type {(data: string) => void} */ listener) => {
          this.#keyListeners.add(listener);
          return () => this.#keyListeners.delete(listener);
        },
      },
    };
  }
}

/**
 * Schemas by their JSON: each instance of a tool has its own schema object, which would be compiled again.
 *
 * @type {Map<string, object>}
 */
const schemas = new Map();

/** @param {object} schema */
function compiledOnce(schema) {
  const text = Object.getOwnPropertySymbols(schema).length + JSON.stringify(schema);
  const known = schemas.get(text) ?? schema;
  schemas.set(text, known);
  return known;
}

/** @returns {Effects} */
function noEffects() {
  const lists = { entries: [], prompts: [], notices: [], questions: [], sessionNames: [], widgets: [] };
  return { ...lists, status: undefined, answer: undefined };
}
