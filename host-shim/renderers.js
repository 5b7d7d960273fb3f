// Registers the guest as the renderer of its messages and entries.
import { Drawing, guestDrawing, textOf } from "./drawing.js";
import { json } from "./json.js";

/** Columns on the left and on the right, like those of pi's own messages. */
const PADDING = 1;

export class Renderers {
  /** Types of custom messages that have a renderer. @type {Set<string>} */
  #messages = new Set();
  /** Types of custom entries that have a renderer. @type {Set<string>} */
  #entries = new Set();
  #pi;
  #host;
  #calls;
  #draw;

  /**
   * @param {import("@earendil-works/pi-coding-agent").ExtensionAPI} pi
   * @param {import("./load.js").Host} host
   * @param {import("./calls.js").Calls} calls
   */
  constructor(pi, host, calls) {
    this.#pi = pi;
    this.#host = host;
    this.#calls = calls;
    this.#draw = guestDrawing(calls, host, PADDING);
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
    this.#pi.registerEntryRenderer(customType, ({ data }, { expanded }, theme) => {
      const draw = (/** @type {number} */ width) => this.#calls.callNow("drawEntry", customType, json(data), expanded, Math.max(0, width));
      return new Drawing(draw, theme, this.#host, PADDING);
    });
  }
}
