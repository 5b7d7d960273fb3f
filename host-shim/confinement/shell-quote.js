// Quoting for POSIX shells.

/**
 * Returns a word that the shell takes literally. A NUL cannot be part of any argument.
 * @param {string} text without NUL
 */
export function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Returns an argument for `printf` that writes these bytes.
 * @param {Buffer} bytes
 */
export function octal(bytes) {
  return `'${[...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}'`;
}
