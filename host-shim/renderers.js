// Registers the guest as the renderer of its messages and entries.
import { drawingWith, textOf } from "./drawing.js";
import { json } from "./json.js";

/** @typedef {import("./extension.js").Parts} Parts */

/** Columns on the left and on the right, like those of pi's own messages. */
const PADDING = 1;

/** @param {Parts} parts @param {string} customType */
export function registerMessageRenderer({ pi, host, calls }, customType) {
  const draw = drawingWith(host, PADDING);
  pi.registerMessageRenderer(customType, ({ content, display }, { expanded }, theme) =>
    draw(theme, () => calls.callNow("drawMessage", { customType, content: textOf(content), display }, expanded)),
  );
}

/** @param {Parts} parts @param {string} customType */
export function registerEntryRenderer({ pi, host, calls }, customType) {
  const draw = drawingWith(host, PADDING);
  pi.registerEntryRenderer(customType, ({ data }, { expanded }, theme) =>
    draw(theme, (width) => calls.callNow("drawEntry", customType, json(data), expanded, Math.max(0, width))),
  );
}
