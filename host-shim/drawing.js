// Renders the guest's drawings with pi's own components.

import { plainText } from "./plain-text.js";

/** @typedef {import("./interface.js").Drawing} Description */
/** @typedef {import("./interface.js").Span} Span */
/** @typedef {import("@earendil-works/pi-coding-agent").Theme} Theme */
/** @typedef {import("@earendil-works/pi-tui").Component} Component */

/**
 * A component that gets its description when it is first rendered: pi may create components during a call of the guest,
 * which must not be entered again then.
 *
 * @implements {Component}
 */
export class Drawing {
  /** @type {Component | undefined} */
  #component;
  /** The width that it is described for. */
  #width = 0;
  #describe;
  #theme;
  #host;
  #padding;

  /**
   * @param {(width: number) => Description | undefined} describe gets the columns that it has
   * @param {Theme} theme
   * @param {import("./load.js").Host} host
   * @param {number} padding columns on the left and on the right
   */
  constructor(describe, theme, host, padding) {
    this.#describe = describe;
    this.#theme = theme;
    this.#host = host;
    this.#padding = padding;
  }

  /** @param {number} width */
  render(width) {
    if (this.#width !== width) this.#component = this.#make(this.#describe(width - 2 * this.#padding)) ?? this.#component;
    if (this.#component) this.#width = width;
    return this.#component?.render(width) ?? [];
  }

  invalidate() {
    this.#component = undefined;
    this.#width = 0;
  }

  /** @param {Description | undefined} description */
  #make(description) {
    const { tui, codingAgent } = this.#host;
    switch (description?.tag) {
      case "lines": {
        const lines = description.val.map((spans) => spans.map((span) => this.#style(span)).join(""));
        return new tui.Text(lines.join("\n"), this.#padding, 0);
      }
      case "markdown":
        return new tui.Markdown(plainText(description.val), this.#padding, 0, codingAgent.getMarkdownTheme());
      default:
        return undefined;
    }
  }

  /** @param {Span} span */
  #style({ text, color, bold }) {
    const plain = plainText(text);
    return this.#theme.fg(themeColor(color), bold ? this.#theme.bold(plain) : plain);
  }
}

/**
 * Returns a function that renders drawings of the guest.
 *
 * @param {import("./calls.js").Calls} calls
 * @param {import("./load.js").Host} host
 * @param {number} padding columns on the left and on the right; pi's frame of a tool has its own
 */
export function guestDrawing(calls, host, padding) {
  /**
   * @template {"drawToolCall" | "drawToolResult" | "drawMessage"} Name
   * @param {Theme} theme
   * @param {Name} name
   * @param {Parameters<import("./interface.js").GuestExports[Name]>} parameters
   */
  return (theme, name, ...parameters) => new Drawing(() => calls.callNow(name, ...parameters), theme, host, padding);
}

/**
 * Returns the text of a message's or a result's content.
 * @param {string | { type: string, text?: string }[]} content
 */
export function textOf(content) {
  if (typeof content === "string") return content;
  return content.flatMap(({ type, text }) => (type === "text" && text ? [text] : [])).join("\n");
}

/**
 * Returns the theme's name of a colour: `tool-title` ⇒ `toolTitle`.
 * @param {import("./interface.js").Color} color
 */
function themeColor(color) {
  const name = color.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  return /** @type {import("@earendil-works/pi-coding-agent").ThemeColor} */ (name);
}
