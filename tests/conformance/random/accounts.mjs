// Finds the deliberate difference that explains why the two packages read a set of files differently.

import { explained } from "./explained.mjs";

/** @typedef {import("./loading.mjs").Difference} Difference */
/** @typedef {import("./workflow-files.mjs").Files} Files */

/**
 * Diagnostics with which ours rejects a workflow that the reference loads, by difference.
 * @type {[number: number, words: RegExp][]}
 */
const REFUSED_BY_OURS = [
  [64, /: `[^`]+` has no value$/],
  [21, /: `(show|loopable|tools|tools\.blacklist|tools\.whitelist)`: expected /],
  [45, /: not valid YAML: control characters are not allowed/],
  [
    45,
    /: not valid YAML: (found character that cannot start any token|found a tab character that violates indentation)/,
  ],
  [45, /: (the YAML tag `.*` does not fit |a key cannot have a YAML tag|expected a string as the key, found )/],
  [45, /: not valid YAML: .*invalid type: .*, expected a scalar/],
  [45, /: not valid YAML: did not find expected alphabetic or numeric character/],
  [45, /: not valid YAML: did not find expected whitespace or line break/],
  [45, /: not valid YAML: found invalid Unicode character escape code/],
  [45, /: YAML directives are not supported/],
  [48, /: unknown YAML tag /],
  [60, /: (`(inputs|with)[.`]|unknown field `with`)/],
  [61, /: `(outcomes|outputs|onMaxLoops)[.`]/],
  [62, /: (`when[.`]|no way )/],
  [67, /: the id `\w+` is the word for a target$/],
  [52, /: (unknown field `|unknown tool `.*`: the names of tools are case-sensitive)/],
];

/**
 * Output of the reference when it rejects a workflow that ours loads, by difference.
 * @type {[number: number, words: RegExp][]}
 */
const REFUSED_BY_REFERENCE = [
  [19, /Failed to load phase file .*ENOENT: .*\\/],
  [44, /: Flow (sequence|map) in block collection must be sufficiently indented/],
  [44, /: Block scalar lines must not be less indented than their /],
  [44, /: Block scalars with more-indented leading empty lines must use an explicit/],
  [44, /: Missing closing ["']quote/],
  [44, /: Comments must be separated from other tokens/],
  [44, /: Block collections are not allowed within flow collections/],
  [44, /: Could not resolve tag: /],
  [62, /^\[pi-workflows\] Invalid phase entry in .*: expected string or \{ subworkflow: key \} object$/],
];

/**
 * Text that the two packages read differently, and a replacement that both read alike. The difference explains a case
 * only if the packages agree after the replacement.
 * @type {[number: number, odd: RegExp, instead: (odd: string) => string][]}
 */
const READ_DIFFERENTLY = [
  // Unquoted numbers.
  [46, /(?<![\w.'"])([-+]?0\d+|[-+]?0b[01]+|[-+]0[xo]\w+|[-+]?1e400)(?![\w.'"])/g, () => "7"],
  // Characters that only one of the two treats as a line end or ignores.
  [47, /[\u0085\u2028\u2029]|\r(?!\n)|(?<=[^])\ufeff/g, (odd) => (odd === "\r" ? "\n" : "")],
  // Fields that only ours knows.
  [60, /(?<=^|\n)(\? )?["']?inputs["']?\s*:.*(\r?\n|$)/g, () => ""],
  [61, /(?<=^|\n)(\? )?["']?outcomes["']?\s*:.*(\r?\n|$)/g, () => ""],
  [62, /, when: \{[^{}]*\}/g, () => ""],
  // A missing key, a colon as a value, a multi-line key in a flow mapping, a quoted string that ends in an escaped
  // quote.
  [45, /(?<=^|\n)(?<!(?:^|\n)\? [^\n]*\n):(?=\s)/g, () => "x:"],
  [45, /(?<=^\ufeff?)---[^\n-](?=:\s)/g, () => "---\nx"],
  [45, /(?<=: ):(?=\s)/g, () => "x"],
  [45, /(?<=\{[^{}\n]*)\n\s+/g, () => " "],
  [45, /\\"(?=\r?\n---|\s*$)/g, () => '"'],
];

/**
 * Returns the number of the deliberate difference that explains a difference, otherwise its kind in one line.
 * @param {Difference} difference
 * @param {Files} files
 * @param {(files: Files) => Promise<Difference | undefined>} find looks for a difference in other files
 * @returns {Promise<number | string>}
 */
export async function explanationOf(difference, files, find) {
  return knownDifference(difference) ?? (await readDifferently(files, find)) ?? kindOf(difference);
}

/**
 * @param {Difference} difference
 * @returns {number | undefined}
 */
function knownDifference({ what, details, printed, diagnostics }) {
  switch (what) {
    case "ours refuses": {
      const numbers = errorsOf(diagnostics).map((diagnostic) => find(REFUSED_BY_OURS, diagnostic));
      return numbers.includes(undefined) ? undefined : numbers[0];
    }
    case "the reference refuses":
      return find(REFUSED_BY_REFERENCE, printed[0] ?? "");
    default:
      if (diagnostics.includes("`sessionNameMaxLength`: expected a number from 0, found `") && isOfName(details))
        return 32;
      if (diagnostics.includes("`availableProfiles`: expected names only") && isOfProfiles(details)) return 49;
      return undefined;
  }
}

/**
 * @param {Files} files
 * @param {(files: Files) => Promise<Difference | undefined>} find
 */
async function readDifferently(files, find) {
  // These attempts do not count as occurrences.
  const met = new Map(explained);
  try {
    for (const rules of [...READ_DIFFERENTLY.map((rule) => [rule]), READ_DIFFERENTLY]) {
      const changed = mapTexts(files, (text) =>
        rules.reduce((text, [, odd, instead]) => text.replace(odd, instead), text),
      );
      const there = rules.find(([, odd]) => Object.values(files).some((text) => String(text).search(odd) >= 0));
      const left = there && (await find(changed));
      if (there && (!left || knownDifference(left))) return there[0];
    }
    return undefined;
  } finally {
    explained.clear();
    for (const [number, times] of met) explained.set(number, times);
  }
}

/**
 * @param {Files} files
 * @param {(text: string) => string} change
 * @returns {Files}
 */
function mapTexts(files, change) {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, change(text.toString())]));
}

/** @param {Difference} difference */
function kindOf({ what, where, details, printed, diagnostics }) {
  const refused = errorsOf(diagnostics).find((diagnostic) => !find(REFUSED_BY_OURS, diagnostic)) ?? "";
  switch (what) {
    case "ours refuses":
      return `${what}: ${withoutNames(refused)}`;
    case "the reference refuses":
      return `${what}: ${withoutNames(printed[0] ?? "")}`;
    default:
      return `${what}: ${withoutNames(where)} ${details.map(withoutNames).join(", ")}`;
  }
}

/**
 * @param {[number, RegExp][]} patterns
 * @param {string} words
 */
const find = (patterns, words) => patterns.find(([, pattern]) => pattern.test(words))?.[0];

/** Returns the errors that are not caused by other errors. @param {string} diagnostics */
const errorsOf = (diagnostics) =>
  diagnostics.split("\n").filter((diagnostic) => / error: /.test(diagnostic) && !/ refers to /.test(diagnostic));

/** @param {string[]} details */
const isOfName = (details) => details.length === 1 && details[0].startsWith("sessionNames");

/** Returns true if the details differ only in the names of profiles. @param {string[]} details */
function isOfProfiles(details) {
  const [, reference, ours] = /^answer\n {2}reference: (.*)\n {2}ours: {6}(.*)$/.exec(details.join("\n")) ?? [];
  const rest = (/** @type {string} */ prompt) =>
    prompt.replace(/(?<=profiles(?: for this phase)?:\*\* ).*?(?=\\n)/g, "");
  return reference !== undefined && rest(reference) === rest(ours);
}

/** Removes the parts of a text that are specific to one case: paths, quoted names, numbers. @param {string} words */
const withoutNames = (words) =>
  words
    .split("\n")[0]
    .replace(/\S*\/\S+ ?|"[^"]*"|\d+/g, "")
    .trim();
