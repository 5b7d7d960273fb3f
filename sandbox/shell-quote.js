// Quoting for POSIX shells.

/**
 * Returns a word that the shell takes literally. A NUL cannot be part of any argument.
 * @param {string} text without NUL
 */
export function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
