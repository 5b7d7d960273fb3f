// The recorded plays of the reference on the newest pi: one file below recorded/ for each group of scenarios.
// `npm run record` writes them. The reference, pi and the model are pinned, so a record changes only with its scenario.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PI_VERSIONS } from "../../pi/harness/pi.mjs";
import { REFERENCE } from "./packages.mjs";
import { share, unshare } from "./shared-values.mjs";

/** @typedef {import("./play.mjs").PlayRecord} PlayRecord */

const FOLDER = fileURLToPath(new URL("recorded", import.meta.url));

/** The versions of pi and of the reference of a record. */
const OF = {
  pi: PI_VERSIONS[0],
  reference: JSON.parse(readFileSync(join(REFERENCE, "package.json"), "utf8")).version,
};

/** The version of pi that the records are of. */
export const RECORDED_ON = OF.pi;

/**
 * Returns the record of a scenario.
 *
 * @param {string} group
 * @param {string} name of the scenario
 * @returns {PlayRecord}
 */
export function recorded(group, name) {
  const { of, plays } = read(group);
  assert.deepEqual(of, OF, `the record of ${group} is of other versions: npm run record`);
  const record = plays[name];
  assert.ok(record, `there is no record of ${group}: ${name}: npm run record -- ${group}`);
  return record;
}

/**
 * Fails if a record differs from a new play of the reference.
 *
 * @param {string} group
 * @param {string} name of the scenario
 * @param {PlayRecord} live
 */
export function assertRecorded(group, name, live) {
  const message = `the record of ${group}: ${name} is not what the reference does: npm run record -- ${group}`;
  assert.deepEqual(recorded(group, name), live, message);
}

/**
 * @param {string} group
 * @param {Record<string, PlayRecord>} plays by the names of the scenarios
 */
export function writeRecords(group, plays) {
  mkdirSync(FOLDER, { recursive: true });
  const { shared, value } = share(plays);
  writeFileSync(fileOf(group), `${JSON.stringify({ of: OF, plays: value, shared }, null, 1)}\n`);
}

/**
 * @param {string} group
 * @returns {{ of: typeof OF, plays: Record<string, PlayRecord> }}
 */
function read(group) {
  const { of, plays, shared } = JSON.parse(readFileSync(fileOf(group), "utf8"));
  return { of, plays: /** @type {Record<string, PlayRecord>} */ (unshare({ shared, value: plays })) };
}

/** @param {string} group */
function fileOf(group) {
  return join(FOLDER, `${group}.json`);
}
