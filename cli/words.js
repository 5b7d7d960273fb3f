// Error messages of the command line: one line each.

/** An error that the user can correct. */
export class Failure extends Error {}

/**
 * The message of any error, for the user.
 * @param {any} error
 * @returns {string}
 */
export function inWords(error) {
  if (error instanceof Failure) return error.message;
  // An error of the component.
  if (typeof error?.payload === "string") return error.payload;
  // "ENOENT: no such file or directory, mkdir 'x'"
  const ofSystem = /^[A-Z]+: ([^,]+)(?:, \w+)?(?: '(.*)')?/s.exec(error?.message ?? "");
  if (error?.syscall && ofSystem) return ofSystem[2] ? `${shortened(ofSystem[2])}: ${ofSystem[1]}` : ofSystem[1];
  if (error instanceof WebAssembly.RuntimeError) return `The component of pi-workflows broke: ${error.message}`;
  return String(error?.message ?? error);
}

/**
 * Text typed by the user, shortened for a message.
 * @param {string} text
 */
export const quoted = (text) => `"${shortened(text)}"`;

/** The beginning of a text, on one line. @param {string} text */
export function shortened(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
