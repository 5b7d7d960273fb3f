// Compares two records. Every difference must be declared, and every declared difference must occur.

import assert from "node:assert/strict";
import { diff, inspect, isDeepStrictEqual } from "node:util";
import { KNOWN, mapStrings, states } from "./known.mjs";

/**
 * A difference between the two records: the number of one in differences.mjs that has the same form everywhere
 * (known.mjs), or a number with the content of each side.
 *
 * Without `at`, ours has the text `ours` wherever the reference has the text `reference`. With `at`, a path, each side
 * has the declared content there: a value, a pattern for its JSON, or nothing. A path that ends in `[2..]` means all
 * items from that index on: a list of such contents, or one pattern for all. `states[1]` and `results[1]` are the
 * second state and tool result of all sessions. 61 is in every record with the tool, and need not be declared.
 * Differences are removed one after the other, so a path refers to the records without the previous ones.
 *
 * @typedef {number | TextDifference | PlaceDifference} Difference
 * @typedef {{ number: number, at?: undefined, reference: string, ours: string }} TextDifference
 * @typedef {{ number: number, at: string, reference?: unknown, ours?: unknown }} PlaceDifference
 */

/**
 * @param {import("./known.mjs").Both} records
 * @param {Difference[]} differs
 */
export function assertSame(records, differs) {
  let both = records;
  /** @type {string[]} */
  const complaints = [];
  const everywhere = records.ours.tool.definition ? [61] : [];
  for (const difference of [...everywhere, ...differs]) {
    const without = structuredClone(both);
    try {
      assert.ok(takeAway(without, difference) > 0, "there is no such difference");
      both = without;
    } catch (error) {
      const what = typeof difference === "number" ? `number ${difference}` : inspect(difference);
      complaints.push(`Not as declared: ${what}\n${error instanceof Error ? error.message : error}`);
    }
  }
  if (!isDeepStrictEqual(both.reference, both.ours)) complaints.push(`Not declared:\n${changes(both)}`);
  if (complaints.length > 0) throw new Error(complaints.join("\n\n"));
}

/**
 * @param {import("./known.mjs").Both} both
 * @param {Difference} difference
 * @returns {number} in how many places
 */
function takeAway(both, difference) {
  if (typeof difference === "number") {
    const known = KNOWN[difference];
    assert.ok(known, "known.mjs does not know it: say what each side shows");
    return known(both);
  }
  if (difference.at === undefined) {
    const { reference, ours } = difference;
    return mapStrings(both.reference, (text) => text.replaceAll(reference, ours));
  }
  takeAt(both.reference, difference.at, difference.reference, "the reference");
  takeAt(both.ours, difference.at, difference.ours, "ours");
  return 1;
}

/**
 * Removes the content at a path, after checking that it is the declared one.
 *
 * @param {any} record
 * @param {string} path
 * @param {any} expected
 * @param {string} who
 */
function takeAt(record, path, expected, who) {
  const keys = path.match(/[^.[\]]+|\.\.(?=\]$)/g) ?? [];
  const toTheEnd = keys.at(-1) === ".." && keys.pop();
  const last = keys.pop() ?? "";
  const root = keys.length > 0 ? { ...record, ...shortcuts(record) } : record;
  const parent = keys.reduce((value, key) => value?.[key], root);
  if (toTheEnd) {
    const rest = parent.splice(Number(last));
    if (expected instanceof RegExp) return assertShows(rest, expected, who);
    const wanted = expected ?? [];
    assert.equal(rest.length, wanted.length, `${who} has there: ${inspect(rest, { depth: 5 })}`);
    rest.forEach((/** @type {unknown} */ item, /** @type {number} */ index) => assertShows(item, wanted[index], who));
  } else if (expected !== undefined) {
    assertShows(parent?.[last], expected, who);
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else delete parent[last];
  }
}

/**
 * Returns shortcuts to the entries of the sessions: the stored states, and the results of tools.
 * @param {import("./play.mjs").PlayRecord} record
 */
function shortcuts(record) {
  const results = record.sessions.flat().filter((entry) => entry.type === "toolResult");
  return { states: states(record).map((entry) => entry.data), results };
}

/**
 * @param {unknown} actual
 * @param {unknown} expected
 * @param {string} who
 */
function assertShows(actual, expected, who) {
  if (expected instanceof RegExp) {
    const text = typeof actual === "string" ? actual : (JSON.stringify(actual) ?? "nothing");
    assert.match(text, expected, `${who} has there, not ${expected}: ${text}`);
  } else {
    assert.deepEqual(actual, expected, `${who} has there: ${inspect(actual, { depth: 5 })}`);
  }
}

/**
 * Formats the differences line by line.
 * @param {import("./known.mjs").Both} both
 */
function changes({ reference, ours }) {
  const lines = diff(textLines(reference), textLines(ours));
  const isNear = (/** @type {number} */ index) =>
    lines.slice(Math.max(0, index - 3), index + 4).some(([operation]) => operation !== 0);
  const shown = lines.flatMap(([operation, line], index) => {
    if (!isNear(index)) return index > 0 && isNear(index - 1) ? ["  …"] : [];
    return [`${operation === 0 ? " " : operation < 0 ? "+" : "-"} ${line}`];
  });
  return ["(- the reference, + ours)", ...shown].join("\n");
}

/**
 * @param {any} value
 * @param {string} indent
 * @returns {string[]}
 */
function textLines(value, indent = "") {
  if (value === null || typeof value !== "object")
    return String(value)
      .split("\n")
      .map((line) => indent + line);
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = Array.isArray(value) ? "-" : `${key}:`;
    const below = textLines(inner, `${indent}  `);
    return below.length === 1 && !(inner && typeof inner === "object")
      ? [`${indent}${name} ${below[0].trim()}`]
      : [indent + name, ...below];
  });
}
