// Hand-written session files in pi's format.

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSession, sessionFiles } from "../../pi/harness/pi.mjs";

/** @typedef {import("../../pi/harness/sandbox.mjs").Sandbox} Sandbox */

const TIMESTAMP = "2026-01-01T00:00:00.000Z";

/**
 * Writes a session file whose name sorts after all existing ones.
 *
 * @param {Sandbox} sandbox
 * @param {object[]} entries without ids; each is the child of the one before
 */
export function writeSession(sandbox, entries) {
  const { agent, project } = sandbox;
  const number = sessionFiles(sandbox).length + 1;
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const header = { type: "session", version: 3, id, timestamp: TIMESTAMP, cwd: project };
  const folder = join(agent, "sessions", `--${project.slice(1).replaceAll("/", "-")}--`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `2026-01-01T00-00-0${number}-000Z_${id}.jsonl`);
  writeFileSync(file, `${JSON.stringify(header)}\n`);
  append(file, entries, null);
  return file;
}

/**
 * Appends entries to the newest session.
 *
 * @param {Sandbox} sandbox
 * @param {object[]} entries
 */
export function extendSession(sandbox, entries) {
  append(sessionFiles(sandbox).at(-1) ?? "", entries, readSession(sandbox).at(-1).id);
}

/**
 * @param {string} file
 * @param {object[]} entries
 * @param {string | null} leaf
 */
function append(file, entries, leaf) {
  let parentId = leaf;
  for (const [index, entry] of entries.entries()) {
    const id = `ffff${String(index).padStart(4, "0")}`;
    appendFileSync(file, `${JSON.stringify({ ...entry, id, parentId, timestamp: TIMESTAMP })}\n`);
    parentId = id;
  }
}
