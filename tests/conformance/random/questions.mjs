// Models the questions that ours shows in a terminal (difference 56).

/** @typedef {import("./stand-in.mjs").Effects["questions"][number]} Question */

/** The width of a framed line in columns, without the bar. */
const FRAMED = 36;

/**
 * Returns the question before another run starts.
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
 * Returns the question before the agent cancels the run.
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
 * Converts a text to one line and truncates it to a width. A non-ASCII character takes two columns; an invisible one is
 * escaped.
 * @param {string} text
 * @param {number} width
 */
function inColumns(text, width) {
  const line = text
    .split(/[ \t\r\n]+/)
    .filter(Boolean)
    .join(" ");
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

/** Characters that are invisible or change how others are shown, except the space. */
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
