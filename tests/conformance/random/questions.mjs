// The questions of ours in a terminal (difference 56): a model of what a user reads there.

/** @typedef {import("./stand-in.mjs").Deeds["questions"][number]} Question */

/** The columns of a line in a frame, without the bar. */
const FRAMED = 36;

/**
 * Whether to start another run.
 * @param {string} workflow
 * @param {string} phase
 * @param {string} task
 * @returns {Question}
 */
export function startAnother(workflow, phase, task) {
  const first = `"${inColumns(workflow.replaceAll('"', "'"), 18)}" is still active.`;
  const title = [first, framed(phase), framed(task), "It stays unfinished. Start the other?"].join("\n");
  return { title, message: "No, go on with it\nYes, start the other" };
}

/**
 * Whether to cancel the run, as the agent wants to.
 * @param {string} workflow
 * @param {string} task
 * @returns {Question}
 */
export function cancelling(workflow, task) {
  const first = `Cancel "${inColumns(workflow.replaceAll('"', "'"), 26)}"?`;
  const title = [first, framed(task), "The agent asks. It ends unfinished."].join("\n");
  return { title, message: "No, go on\nYes, cancel it" };
}

/** @param {string} text */
const framed = (text) => `│ ${inColumns(text, FRAMED)}`;

/**
 * A text on one line, cut at a width: a character outside ASCII takes two columns, one that does not show is written out.
 * @param {string} text
 * @param {number} width
 */
function inColumns(text, width) {
  const line = text.split(/[ \t\r\n]+/).filter(Boolean).join(" ");
  /** @type {string[]} */
  const shown = [];
  for (const character of line) {
    const item = HIDDEN.test(character) ? `\\u{${character.codePointAt(0)?.toString(16)}}` : character;
    shown.push(item);
    if (columns(shown) <= width) continue;
    do shown.pop();
    while (columns(shown) > width - 2);
    return `${shown.join("")}…`;
  }
  return shown.join("");
}

/** @param {string[]} items */
const columns = (items) => [...items.join("")].reduce((sum, character) => sum + (character <= "\x7f" ? 1 : 2), 0);

/** Characters that show nothing, or change what others show; a plain space is none. */
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
