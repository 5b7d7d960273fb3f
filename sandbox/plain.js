// Plain helpers, which stand here because nothing is imported from outside of this folder.

/**
 * Removes control characters from a text except line feeds and tabs, so that it cannot control the terminal.
 * @param {string} text
 */
export function plainText(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

/** Returns the message of a thrown value, for the user. @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the result of a look at something that may be gone, as with a session; `undefined` if the look fails.
 *
 * @template T
 * @param {() => T} look
 * @returns {T | undefined}
 */
export function unlessFails(look) {
  try {
    return look();
  } catch {
    return undefined;
  }
}
