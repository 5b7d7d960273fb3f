// Renders the guest's drawings with pi's own components.
import { plainText } from "#sandbox";

/** @typedef {import("./interface.js").Drawing} Description */
/** @typedef {import("../target/types/interfaces/pi-extension-types.js").Span} Span */
/** @typedef {import("@earendil-works/pi-coding-agent").Theme} Theme */
/** @typedef {import("@earendil-works/pi-tui").Component} Component */

/**
 * A component that makes its content when it is rendered, once for each width: pi may create components during a call
 * of the guest, and the guest must not be called again during that call.
 *
 * @implements {Component}
 */
class Drawing {
  /** @type {Component | undefined} */
  #component;
  /** The width of the current content. */
  #width = 0;
  #make;

  /** @param {(width: number) => Component | undefined} make */
  constructor(make) {
    this.#make = make;
  }

  /** @param {number} width */
  render(width) {
    if (this.#width !== width) this.#component = this.#make(width) ?? this.#component;
    if (this.#component) this.#width = width;
    return this.#component?.render(width) ?? [];
  }

  invalidate() {
    this.#component = undefined;
    this.#width = 0;
  }
}

/**
 * Returns a function that renders drawings.
 * @param {import("./load.js").Host} host
 * @param {number} padding columns on the left and on the right; pi's frame of a tool has padding of its own
 */
export function drawingWith({ tui, codingAgent }, padding) {
  /** @param {Theme} theme @param {(width: number) => Description | undefined} describe gets the number of columns */
  return (theme, describe) =>
    new Drawing((width) => {
      const description = describe(width - 2 * padding);
      if (description?.tag === "markdown")
        return new tui.Markdown(plainText(description.val), padding, 0, codingAgent.getMarkdownTheme());
      const lines = description?.val.map((spans) => spans.map((span) => styled(theme, span)).join(""));
      return lines && new tui.Text(lines.join("\n"), padding, 0);
    });
}

/** @param {Theme} theme @param {Span} span */
function styled(theme, { text, color, bold }) {
  const plain = plainText(text);
  return theme.fg(themeColor(color), bold ? theme.bold(plain) : plain);
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
 * @param {import("../target/types/interfaces/pi-extension-types.js").Color} color
 */
function themeColor(color) {
  const name = color.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  return /** @type {import("@earendil-works/pi-coding-agent").ThemeColor} */ (name);
}
