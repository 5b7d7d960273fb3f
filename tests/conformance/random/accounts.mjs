// Which deliberate difference accounts for what the two packages make of some files.

import { PROPOSED } from "./explained.mjs";

/** @typedef {import("./loading.mjs").Difference} Difference */
/** @typedef {import("./workflow-files.mjs").Files} Files */

/**
 * Why ours leaves a workflow out that the reference loads: the words of the fault.
 * @type {[number: number, words: RegExp][]}
 */
const REFUSED_BY_OURS = [
  [21, /: `(show|loopable|tools|tools\.blacklist|tools\.whitelist)` must be /],
  [PROPOSED.refusedYaml, /: not valid YAML: control characters are not allowed/],
  [PROPOSED.refusedYaml, /: not valid YAML: .*expected a key of text/],
  [PROPOSED.refusedYaml, /: not valid YAML: .*invalid value: string ".*", expected (null|an? \w+)/],
  [PROPOSED.refusedYaml, /: not valid YAML: did not find expected alphabetic or numeric character/],
  [PROPOSED.refusedYaml, /: not valid YAML: did not find expected whitespace or line break/],
  [PROPOSED.refusedYaml, /: not valid YAML: (found unknown directive name|found incompatible YAML document)/],
];

/**
 * Why the reference leaves a workflow out that ours loads: what it prints.
 * @type {[number: number, words: RegExp][]}
 */
const REFUSED_BY_REFERENCE = [
  [19, /Failed to load phase file .*ENOENT: .*\\/],
  [PROPOSED.lenientYaml, /: Flow (sequence|map) in block collection must be sufficiently indented/],
  [PROPOSED.lenientYaml, /: Missing closing ["']quote/],
  [PROPOSED.lenientYaml, /: Comments must be separated from other tokens/],
  [PROPOSED.lenientYaml, /: Block collections are not allowed within flow collections/],
  [PROPOSED.lenientYaml, /: Could not resolve tag: /],
];

/** Numbers that the two read differently, where nothing quotes them. */
const ODD_NUMBER = /(?<![\w.'"])([-+]?0\d+|[-+]?0b[01]+|[-+]0[xo]\w+|[-+]?1e400|1e21)(?![\w.'"])/;

/** Characters that end a line for one of the two only. */
const ODD_LINE_END = /[\u0085\u2028\u2029]|\r(?!\n)/;

/** A tag that is more than a way to say that a text is one. */
const ODD_TAG = /[:?[{,-]\s+!(?!!str\s)/;

/**
 * The number of the difference that accounts for it, or else its kind in a line.
 * @param {Difference} difference
 * @param {Files} files
 * @returns {number | string}
 */
export function accountFor(difference, files) {
  const { what, where, details, printed, faults } = difference;
  const text = Object.values(files).join("\n");
  if (ODD_LINE_END.test(text)) return PROPOSED.lineEnds;
  const numbers = ODD_NUMBER.test(text) ? PROPOSED.oddNumbers : undefined;
  switch (what) {
    case "ours refuses": {
      const errors = faults.split("\n").filter(isError);
      const accounts = errors.map((fault) => find(REFUSED_BY_OURS, fault) ?? (isOfType(fault) ? numbers : undefined));
      const open = accounts.indexOf(undefined);
      return (open < 0 ? accounts[0] : undefined) ?? `${what}: ${withoutNames(errors[open] ?? "")}`;
    }
    case "the reference refuses": {
      const reason = printed[0] ?? "";
      const account = find(REFUSED_BY_REFERENCE, reason) ?? (isMissing(reason) ? numbers : undefined);
      return account ?? `${what}: ${withoutNames(reason)}`;
    }
    default: {
      const lengths = faults.includes("`sessionNameMaxLength` must be ") && isOfName(details) ? 32 : undefined;
      const tags = ODD_TAG.test(text) ? PROPOSED.tags : undefined;
      return numbers ?? lengths ?? tags ?? `${what}: ${withoutNames(where)} ${details.map(withoutNames).join(", ")}`;
    }
  }
}

/**
 * @param {[number, RegExp][]} accounts
 * @param {string} words
 */
const find = (accounts, words) => accounts.find(([, pattern]) => pattern.test(words))?.[0];

/** Whether an error is not the consequence of another one. @param {string} fault */
const isError = (fault) => / error: /.test(fault) && !/ refers to /.test(fault);

/** @param {string} fault */
const isOfType = (fault) => / must be .*, but is a (number|text)$/.test(fault);

/** @param {string} reason */
const isMissing = (reason) => /Missing or invalid "|commandName must match/.test(reason);

/** @param {string[]} details */
const isOfName = (details) => details.length === 1 && details[0].startsWith("sessionNames");

/** What is not particular to one case. @param {string} words */
const withoutNames = (words) => words.split("\n")[0].replace(/\S*\/\S+ ?|"[^"]*"|\d+/g, "").trim();
