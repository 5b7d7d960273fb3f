// The first prompt of pi's command line. pi makes one text of standard input, of `@file` arguments and of the first
// message. A command of the guest behind another text does not run. If another text, perhaps a stranger's, begins with
// a command of the guest, that text decides what runs. So no joined prompt starts anything.
import { unlessFails } from "#sandbox";

import { exitsAfterPrompt, isProgramOfPi } from "./context.js";

/** True once the first prompt was examined; the user types all later prompts. */
let isOver = false;

export class JoinedPrompt {
  #codingAgent;
  #help;
  /** The names of the guest's commands. @type {string[]} */
  #commands = [];

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {import("./load.js").Host["codingAgent"]} codingAgent
   * @param {string} help the way to hand over a text, for the user
   */
  constructor(pi, codingAgent, help) {
    this.#codingAgent = codingAgent;
    this.#help = help;
    pi.on("input", ({ text, source }, context) => {
      if (source === "extension") return undefined;
      const name = this.#commands.find((name) => isCommand(this.#firstMessage() ?? "", name));
      return this.#isJoined(text, context) && name !== undefined ? this.#refuse(name, context) : undefined;
    });
  }

  /** @param {string} name of a command of the guest */
  watch(name) {
    this.#commands.push(name);
  }

  /**
   * Returns true if a command is not to run: its text is not the user's alone.
   * @param {string} name
   * @param {string} parameters
   * @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context
   */
  refuses(name, parameters, context) {
    const texts = [`/${name} ${parameters}`, `/${name}`];
    return this.#isJoined(parameters ? texts[0] : texts[1], context) && this.#refuse(name, context) !== undefined;
  }

  #arguments() {
    return unlessFails(() => this.#codingAgent.parseArgs(process.argv.slice(2)));
  }

  #firstMessage() {
    return this.#arguments()?.messages[0];
  }

  /**
   * Returns true if this is the first prompt, and pi has joined it from several texts.
   * @param {string} text
   * @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context
   */
  #isJoined(text, context) {
    if (isOver || context.mode === "rpc" || !isProgramOfPi()) return false;
    isOver = true;
    const given = this.#arguments();
    if (!given || given.messages.includes(text)) return false;
    const [first] = given.messages;
    return first === undefined ? given.fileArgs.length > 0 : text.endsWith(first);
  }

  /**
   * @param {string} name
   * @param {import("@earendil-works/pi-coding-agent").ExtensionContext} context
   * @returns {{ action: "handled" }}
   */
  #refuse(name, context) {
    const message = `Nothing was started: pi has put standard input or a file before the message, so /${name} is not the whole prompt. ${this.#help}`;
    if (exitsAfterPrompt(context)) {
      process.stderr.write(`${message}\n`);
      process.exitCode = 1;
    } else context.ui.notify(message, "error");
    return { action: "handled" };
  }
}

/** @param {string} text @param {string} name */
const isCommand = (text, name) => text === `/${name}` || text.startsWith(`/${name} `);
