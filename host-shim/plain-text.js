// Text that cannot control the terminal.

/**
 * Removes control characters from a text except line feeds and tabs, so that it cannot control the terminal.
 * @param {string} text
 */
export function plainText(text) {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}
