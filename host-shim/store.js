// The few values that a component keeps: a JSON object of strings in a file of its own below pi's agent
// directory.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readRegularFile } from "./files.js";

const MAX_KEY = 256;
const MAX_VALUE = 64 * 1024;
const MAX_KEYS = 1000;
const MAX_FILE = 4 * 1024 * 1024;

/** How long another process may hold the lock before it is taken for dead, and how long we wait; in milliseconds. */
const LOCK_STALE = 5000;
const LOCK_PATIENCE = 1000;

/** The folder of all stores, from pi's agent directory. */
const FOLDER = "extension-data";

/**
 * The `pi:extension/store` interface.
 *
 * @param {{ name: string } | undefined} grant
 * @param {() => string} agentDir
 * @param {(words: string) => void} tell tells the user
 */
export function storeImports(grant, agentDir, tell) {
  const path = () => {
    if (!grant) throw { tag: "not-granted" };
    return join(agentDir(), FOLDER, `${grant.name}.json`);
  };
  /** @param {string} file */
  const readOrRepair = (file) => {
    try {
      return read(file);
    } catch (error) {
      if (!(error instanceof BrokenStore)) throw error;
      renameSync(file, `${file}.broken`);
      tell(`${file} was broken (${error.message}). It is ${file}.broken now, and its values are forgotten.`);
      return new Map();
    }
  };
  /** @param {(values: Map<string, string>) => boolean} change says whether it changed anything */
  const update = (change) => {
    const file = path();
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    locked(file, () => {
      const values = readOrRepair(file);
      if (change(values)) write(file, values);
    });
  };
  return {
    get: (/** @type {string} */ key) =>
      attempt(() => {
        const file = path();
        try {
          return read(file).get(key);
        } catch (error) {
          if (!(error instanceof BrokenStore)) throw error;
          return locked(file, () => readOrRepair(file).get(key));
        }
      }),

    set: (/** @type {string} */ key, /** @type {string} */ value) =>
      attempt(() => {
        const fits = key !== "" && Buffer.byteLength(key) <= MAX_KEY && Buffer.byteLength(value) <= MAX_VALUE;
        if (grant && !fits) throw { tag: "too-large" };
        update((values) => {
          if (values.get(key) === value) return false;
          values.set(key, value);
          if (values.size > MAX_KEYS) throw { tag: "full" };
          return true;
        });
      }),

    remove: (/** @type {string} */ key) => attempt(() => update((values) => values.delete(key))),
  };
}

/** What is in the store's place is no store. */
class BrokenStore extends Error {}

/** @param {string} file */
function read(file) {
  let values;
  try {
    values = JSON.parse(readRegularFile(file, MAX_FILE).toString("utf8"));
  } catch (/** @type {any} */ error) {
    if (error.code === "ENOENT") return new Map();
    if (error instanceof SyntaxError) throw new BrokenStore("it is no JSON");
    if (error.tag === "too-large") throw new BrokenStore("it is too large");
    if (error.tag === "wrong-kind" || error.code === "EISDIR" || error.code === "ENXIO") {
      throw new BrokenStore("it is no file");
    }
    throw error;
  }
  const isObject = typeof values === "object" && values !== null && !Array.isArray(values);
  if (!isObject || Object.values(values).some((value) => typeof value !== "string")) {
    throw new BrokenStore("it is no JSON object of texts");
  }
  return new Map(Object.entries(values));
}

/**
 * Puts the new file in the old one's place at once.
 *
 * @param {string} file
 * @param {Map<string, string>} values
 */
function write(file, values) {
  const text = `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_FILE) throw { tag: "full" };
  const temporary = `${file}.new`;
  try {
    rmSync(temporary, { force: true });
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Does something while no other process does.
 *
 * @template T
 * @param {string} file
 * @param {() => T} work
 * @returns {T}
 */
function locked(file, work) {
  const lock = `${file}.lock`;
  const deadline = Date.now() + LOCK_PATIENCE;
  while (!taken(lock)) {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Math.abs(Date.now() - since) > LOCK_STALE) rmSync(lock, { force: true });
    else if (Date.now() > deadline) throw new Error(`${lock} is held by another process.`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** @param {string} lock */
function taken(lock) {
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (/** @type {any} */ error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/**
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
function attempt(work) {
  try {
    return work();
  } catch (/** @type {any} */ error) {
    throw error instanceof Error ? { tag: "failed", val: error.message } : error;
  }
}
