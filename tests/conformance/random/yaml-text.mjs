// Random YAML: values in many styles, valid and invalid.

/** @typedef {import("./choices.mjs").Choices} Choices */

/** Plain scalars that are ambiguous or invalid. */
export const ODD_SCALARS = [
  ..."yes no on off y n true false True TRUE null Null ~ = << - -- --- ... ? : , ] } [ { [] {} [a] {a} {{a}}".split(
    " ",
  ),
  ..."0 7 12 -3 +4 007 0777 0o17 -0o17 0x1F -0x1f 0b11 1_000 1.5 .5 5. 1e3 1e400 -0 .inf -.inf .nan".split(" "),
  ..."2024-01-01 12:30 12:30:45 1.2.3 2001-12-14t21:59:43Z 99999999999999999999 0xFFFFFFFFFFFFFFFFFF".split(" "),
  ..."!important !!str !!bool %x @x `x` *x &x | > |2 >- # #x x#y \\n C:\\x a,b a]b :x ?x -x a:b http://x.y/z".split(
    " ",
  ),
  ...["{a: b}", "a: b", "a #b", "- x", "? x", "!x y", "!!str 12", "!!int 7", "!!bool false", "&a b", "x y: z"],
  ...["'a' b", '"a" b', "a 'b'", "{a} b", "[a] b", "it's", 'say "hi"', "a | b", "a > b", "a & b", "50%", "x@y.z"],
  ...["é", "ünï", "🚀", "⚙️", "👩‍💻", "1️⃣", "$&", "{description}", "a {phaseName} b", "a {{b}} c", "**b**", "_b_"],
  ...["a\u00a0b", "\u00a0a", "a\u200bb", "a\tb", "a\u3000", "a \u2028 b", "a\u0085b", "\ufeffa", "a\u007f", "\u0007"],
  ..." |  | a |a  ".split("|"),
];

const WORDS = "Plan the work and check {description} it (twice) — naïve 🚀 step-by-step a/b v1.2".split(" ");

/**
 * Returns the text after `key:`, including the line end.
 * @param {Choices} choices
 * @param {string} text the value
 * @param {number} indent the indentation of the key
 */
export function textValue(choices, text, indent) {
  // Texts that need quotes are rarely written without them.
  const inside = `\n\n${pad(indent + 2)}`;
  const folded = () => (choices.chance(0.2) ? `\n${pad(indent + choices.pick([1, 2, 3]))}` : " ");
  const plain = choices.chance(0.05) || /^[\p{L}(—🔹⚙👩][^\n]*$/u.test(text);
  const styles = /** @type {import("./choices.mjs").Weighted<() => string>} */ ([
    [plain ? 5 : 0, () => ` ${text}`],
    [4, () => ` ${doubleQuoted(choices, text)}`],
    [3, () => ` '${text.replaceAll("'", "''").replaceAll("\n", inside)}'`],
    [text ? 4 : 0, () => ` ${blockScalar(choices, text, indent)}`],
    [plain ? 1 : 0, () => `\n${pad(indent + choices.pick([1, 2, 4]))}${text.replaceAll("\n", inside)}`],
    [0.5, () => ` &anchor ${doubleQuoted(choices, text)}`],
    [0.5, () => ` !!str ${doubleQuoted(choices, text)}`],
    [plain ? 1 : 0, () => ` ${text.replaceAll(" ", folded)}`],
  ]);
  return choices.weighted(styles)() + comment(choices) + "\n";
}

/**
 * Returns the text after `key:` for a single word.
 * @param {Choices} choices
 * @param {string} word
 */
export function wordValue(choices, word) {
  if (choices.chance(0.1)) return textValue(choices, word, 0);
  return ` ${choices.pick([word, word, `"${word}"`, `'${word}'`, `|-\n  ${word}`])}${comment(choices)}\n`;
}

/** @param {Choices} choices */
export function comment(choices) {
  if (choices.chance(0.9)) return "";
  return choices.weighted([
    [5, " # note"],
    [2, "  "],
    [1, " #"],
    [0.5, "#tight"],
    [1, "\t"],
    [1, "\t# note"],
  ]);
}

/** Returns nothing, or an empty line or a comment. @param {Choices} choices */
export function idleLine(choices) {
  if (choices.chance(0.87)) return "";
  return choices.weighted([
    [5, "\n"],
    [5, "# note\n"],
    [2, "   # note: x\n"],
    [2, "  \n"],
    [0.6, "\t\n"],
    [0.4, "\t# note\n"],
  ]);
}

/** @param {Choices} choices */
export function sentence(choices) {
  return choices.list(choices.between(1, 6), () => choices.pick(WORDS)).join(" ");
}

/** @param {Choices} choices */
export function paragraphs(choices) {
  const separators = ["\n", "\n\n", "\n  ", "\n- ", " \n", "\n\n\n", "\n\t"];
  return choices
    .list(choices.between(1, 4), () => sentence(choices) + choices.pick(separators))
    .join("")
    .trimEnd();
}

/**
 * @param {Choices} choices
 * @param {string} text
 */
function doubleQuoted(choices, text) {
  const quoted = JSON.stringify(text);
  const escape = choices.weighted([
    [6, 0],
    [1, 0.1],
    [0.3, 1],
  ]);
  const escaped = (/** @type {string} */ character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const long = (/** @type {string} */ character) => `\\U${character.codePointAt(0)?.toString(16).padStart(8, "0")}`;
  const pair = (/** @type {string} */ character) => character.split("").map(escaped).join("");
  const style = choices.weighted([
    [2, long],
    [1, pair],
  ]);
  return quoted.replace(/[^\x20-\x7e]/gu, (character) => {
    if (!choices.chance(escape)) return character;
    return character.length > 1 ? style(character) : escaped(character);
  });
}

/**
 * @param {Choices} choices
 * @param {string} text
 * @param {number} indent
 */
function blockScalar(choices, text, indent) {
  const deeper = choices.weighted([
    [8, 2],
    [1, 4],
    [1, 1],
    [0.1, 0],
  ]);
  const chomping = choices.weighted([
    [6, ""],
    [2, "-"],
    [2, "+"],
    [0.5, String(deeper || 1)],
    [0.3, `-${deeper || 2}`],
  ]);
  const note = choices.weighted([
    [8, ""],
    [1, " # note"],
    [0.3, " "],
  ]);
  const header = choices.pick(["|", ">"]) + chomping + note;
  const emptyLine = choices.weighted([
    [6, ""],
    [1, pad(indent + deeper)],
    [0.5, pad(indent + deeper + 1)],
    [0.3, "\t"],
  ]);
  const lines = text.split("\n").map((line) => (line ? pad(indent + deeper) + line : emptyLine));
  const before = choices.weighted([
    [10, []],
    [1, [""]],
    [0.5, [pad(indent + deeper)]],
    [0.2, [pad(indent + deeper + 2)]],
  ]);
  const after = choices.weighted([
    [8, []],
    [1, [""]],
    [0.5, ["", ""]],
    [0.3, [pad(indent + deeper)]],
  ]);
  return [header, ...before, ...lines, ...after].join("\n");
}

/** @param {number} width */
const pad = (width) => " ".repeat(width);
