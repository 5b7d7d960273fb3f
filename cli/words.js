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

/** Text typed by the user, shortened for a message. @param {string} text */
export const quoted = (text) => `"${shortened(text)}"`;

/** Characters that are invisible or change the direction of writing. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\u2028\u2029]/gu;
/** The end of a text behind which a joiner or a variation selector belongs to an emoji. */
const EMOJI = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\d#*]$/u;

/**
 * Writes out the invisible characters of a text: as code points, or in JSON as escapes.
 * @param {string} text
 * @param {boolean} isJson
 */
export function visible(text, isJson) {
  return text.replace(HIDDEN, (character, /** @type {number} */ at) => {
    if (/[\u200d\ufe0e\ufe0f]/.test(character) && EMOJI.test(text.slice(Math.max(0, at - 2), at))) return character;
    if (isJson)
      return [...character.split("")].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}

/** True in a job on GitHub, whose runner takes lines for commands. */
export const isGitHub = () => process.env.GITHUB_ACTIONS === "true";

/**
 * A text as it may stand in the log of this process: in a job on GitHub none of its lines is a command of the runner, which
 * takes those that begin with `::`, and `##[` anywhere. JSON stays JSON with the same content.
 * @param {string} text without control characters
 * @param {boolean} [isJson]
 */
export const forLog = (text, isJson = false) =>
  isGitHub() ? text.replace(/^(?=\s*::)/gm, "│ ").replaceAll("##[", isJson ? "##\\u005b" : "## [") : text;

/**
 * The known word that is similar to a word: one letter more, less, or another, or two letters swapped.
 * @param {string} word
 * @param {string[]} known
 */
export function similar(word, known) {
  const near = (/** @type {string} */ other) => {
    let start = 0;
    while (start < word.length && word[start] === other[start]) start += 1;
    let end = 0;
    while (end < Math.min(word.length, other.length) - start && word.at(-1 - end) === other.at(-1 - end)) end += 1;
    const [rest, otherRest] = [word.slice(start, word.length - end), other.slice(start, other.length - end)];
    return (
      rest.length + otherRest.length <= 1 ||
      (rest.length === 1 && otherRest.length === 1) ||
      (rest.length === 2 && rest === otherRest.split("").reverse().join(""))
    );
  };
  return known.find(near);
}

/** The beginning of a text, on one line. @param {string} text */
export function shortened(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/**
 * A record's own property of this name.
 * @template T
 * @param {Record<string, T>} record
 * @param {string} name
 */
export const own = (record, name) => (Object.hasOwn(record, name) ? record[name] : undefined);

/**
 * The format of the output that the options name.
 * @template T
 * @param {Record<string, T>} formats
 * @param {{ format?: string }} options
 * @param {string} [standard]
 */
export function formatOf(formats, { format }, standard = "text") {
  const known = own(formats, format ?? standard);
  if (!known)
    throw new Failure(`There is no format ${quoted(format ?? standard)}, only ${Object.keys(formats).join(", ")}.`);
  return known;
}

/**
 * The parts before and behind the first `=` of each value of an option.
 * @param {string} option
 * @param {string} form the form of the option, for a message
 * @param {string[]} [values]
 * @returns {[string, string][]}
 */
export function pairs(option, form, values = []) {
  return values.map((value) => {
    const [, name, rest] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
    if (rest === undefined || (rest === "" && option === "outcome"))
      throw new Failure(`--${option} takes ${form}, but is ${quoted(value)}.`);
    return [name, rest];
  });
}

/**
 * The values of `--input`: each is NAME=VALUE, or one JSON object in which a list has the items of one input.
 * @param {string[]} [values]
 * @returns {[string, string][]}
 */
export function inputsIn(values = []) {
  return values.flatMap((value) => {
    if (!/^\s*\{/.test(value)) return pairs("input", "NAME=VALUE", [value]);
    return Object.entries(objectIn(value)).flatMap(([name, given]) => {
      const items = Array.isArray(given) ? given : [given];
      if (!items.every((one) => ["string", "number", "boolean"].includes(typeof one)))
        throw new Failure(`--input: ${quoted(name)} is no text, number, true, false, or list of these.`);
      // An empty list is given as well.
      return (items.length === 0 ? [""] : items).map((one) => /** @type {[string, string]} */ ([name, String(one)]));
    });
  });
}

/** @param {string} text @returns {Record<string, unknown>} */
function objectIn(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure(`--input: no JSON object: ${inWords(error)}`);
  }
}
