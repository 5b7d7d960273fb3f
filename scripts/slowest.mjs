// A reporter for `node --test`: at the end, the slowest tests and the slowest files.

const SHOWN = 20;

/**
 * @param {AsyncIterable<import("node:test/reporters").TestEvent>} events
 * @returns {AsyncGenerator<string>}
 */
export default async function* slowest(events) {
  /** @type {[milliseconds: number, name: string][]} */
  const tests = [];
  /** The time from the beginning to the end of all suites and tests of a file. @type {Map<string, number>} */
  const files = new Map();
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, file = "", nesting, details } = data;
    const path = file.replace(`${process.cwd()}/`, "");
    if (details.type !== "suite") tests.push([details.duration_ms, `${path}: ${name}`]);
    if (nesting === 0) files.set(path, (files.get(path) ?? 0) + details.duration_ms);
  }
  yield table("The slowest tests", tests);
  yield table(
    "The slowest files",
    [...files].map(([path, milliseconds]) => [milliseconds, path]),
  );
}

/**
 * @param {string} title
 * @param {[milliseconds: number, name: string][]} rows
 */
function table(title, rows) {
  const shown = rows.sort(([a], [b]) => b - a).slice(0, SHOWN);
  const lines = shown.map(([milliseconds, name]) => `${(milliseconds / 1000).toFixed(1).padStart(7)} s  ${name}\n`);
  return `${title}:\n${lines.join("")}`;
}
