// Registers the guest as the renderer of its messages and entries.
import { guestDrawing, textOf } from "./drawing.js";
import { json } from "./json.js";

export class Renderers {
  /** Types of custom messages that have a renderer. @type {Set<string>} */
  #messages = new Set();
  /** Types of custom entries that have a renderer. @type {Set<string>} */
  #entries = new Set();
  #pi;
  #draw;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {import("./load.js").Host} host
   * @param {import("./calls.js").Calls} calls
   */
  constructor(pi, host, calls) {
    this.#pi = pi;
    this.#draw = guestDrawing(calls, host, 1);
  }

  /** @param {string} customType */
  registerMessage(customType) {
    if (this.#messages.has(customType)) return;
    this.#messages.add(customType);
    this.#pi.registerMessageRenderer(customType, ({ content, display }, { expanded }, theme) =>
      this.#draw(theme, "drawMessage", { customType, content: textOf(content), display }, expanded),
    );
  }

  /** @param {string} customType */
  registerEntry(customType) {
    if (this.#entries.has(customType)) return;
    this.#entries.add(customType);
    this.#pi.registerEntryRenderer(customType, ({ data }, { expanded }, theme) =>
      this.#draw(theme, "drawEntry", customType, json(data), expanded),
    );
  }
}
