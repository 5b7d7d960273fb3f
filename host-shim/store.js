// The `pi:extension/store` interface: a small key-value store, a JSON object of strings in a file below pi's agent
// directory.
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { processes, unlessFails, untrusted } from "#sandbox";

const MAX_KEY = 256;
const MAX_VALUE = 64 * 1024;
const MAX_KEYS = 1000;
const MAX_FILE = 4 * 1024 * 1024;

/** The age at which a lock of another process counts as stale, in milliseconds. */
const LOCK_STALE = 5000;
/** The maximum time to wait for the lock, in milliseconds. */
const LOCK_PATIENCE = 3000;

/**
 * @param {{ name: string } | undefined} grant
 * @param {() => string} agentDir
 * @param {(message: string) => void} showError
 * @returns {import("./interface.js").Imports["pi:extension/store"]}
 */
export function storeImports(grant, agentDir, showError) {
  const path = () => {
    if (!grant) throw storeError({ tag: "not-granted" });
    return join(agentDir(), "extension-data", `${grant.name}.json`);
  };
  /** @param {string} file */
  const readOrRepair = (file) => {
    try {
      return read(file);
    } catch (error) {
      if (!(error instanceof BrokenStore)) throw error;
      renameSync(file, `${file}.broken`);
      showError(`${file} is broken: ${error.message}. It was renamed to ${file}.broken, and its values are lost.`);
      return new Map();
    }
  };
  /** @param {(values: Map<string, string>) => boolean} change returns true if it changed a value */
  const update = (change) => {
    const file = path();
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    locked(file, () => {
      const values = readOrRepair(file);
      if (change(values)) write(file, values);
    });
  };
  return {
    get: (key) =>
      attempt(() => {
        const file = path();
        try {
          return read(file).get(key);
        } catch (error) {
          if (!(error instanceof BrokenStore)) throw error;
          return locked(file, () => readOrRepair(file).get(key));
        }
      }),

    set: (key, value) =>
      attempt(() => {
        const fits = key !== "" && Buffer.byteLength(key) <= MAX_KEY && Buffer.byteLength(value) <= MAX_VALUE;
        if (grant && !fits) throw storeError({ tag: "too-large" });
        update((values) => {
          if (values.get(key) === value) return false;
          values.set(key, value);
          if (values.size > MAX_KEYS) throw storeError({ tag: "full" });
          return true;
        });
      }),

    remove: (key) => attempt(() => update((values) => values.delete(key))),
  };
}

/** The store's file does not contain a store. */
class BrokenStore extends Error {}

/** @param {string} file */
function read(file) {
  let values;
  try {
    values = JSON.parse(untrusted.readUserFile(file, MAX_FILE).toString("utf8"));
  } catch (/** @type {any} */ error) {
    if (error.code === "ENOENT") return new Map();
    if (error instanceof SyntaxError) throw new BrokenStore("it is not valid JSON");
    if (error.code === "EFBIG") throw new BrokenStore("it is too large");
    if (error.code === "EISDIR" || error.code === "ENXIO") {
      throw new BrokenStore("it is not a file");
    }
    throw error;
  }
  const isObject = typeof values === "object" && values !== null && !Array.isArray(values);
  if (!isObject || Object.values(values).some((value) => typeof value !== "string")) {
    throw new BrokenStore("it is not a JSON object of strings");
  }
  return new Map(Object.entries(values));
}

/**
 * Replaces the file atomically.
 * @param {string} file
 * @param {Map<string, string>} values
 */
function write(file, values) {
  const text = `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_FILE) throw storeError({ tag: "full" });
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
 * Runs a function while no other process runs one with this file.
 * @template T
 * @param {string} file
 * @param {() => T} work
 * @returns {T}
 */
export function locked(file, work) {
  const lock = `${file}.lock`;
  const deadline = performance.now() + LOCK_PATIENCE;
  while (!takeLock(lock)) {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    const holder = textOf(lock);
    if (Math.abs(Date.now() - since) > LOCK_STALE || isOfDead(holder)) unlessFails(() => removeLock(lock, holder));
    else if (performance.now() > deadline) throw new Error(`${lock} is held by another process.`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Creates the lock file. Returns false if it exists. @param {string} lock */
function takeLock(lock) {
  try {
    const descriptor = openSync(lock, "wx", 0o600);
    // Without its name the process is waited for longer.
    unlessFails(() => writeFileSync(descriptor, JSON.stringify(processes.self())));
    closeSync(descriptor);
    return true;
  } catch (/** @type {any} */ error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** @param {string} lock */
const textOf = (lock) => unlessFails(() => String(untrusted.readUserFile(lock, MAX_VALUE)));

/** @param {string | undefined} holder the text of a lock */
const isOfDead = (holder) => unlessFails(() => processes.state(JSON.parse(holder ?? ""))) === "dead";

/** Removes a lock with this text. Of several processes that do so at a time, one removes it. @param {string} lock @param {string | undefined} holder */
function removeLock(lock, holder) {
  const aside = `${lock}.${randomUUID()}`;
  renameSync(lock, aside);
  try {
    // Another process has removed the old lock, and taken a new one.
    if (textOf(aside) !== holder) linkSync(aside, lock);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Gives a literal its type. @param {import("../target/types/interfaces/pi-extension-store.js").StoreError} error */
function storeError(error) {
  return error;
}

/**
 * Converts errors of the operating system to errors of the interface.
 * @template T
 * @param {() => T} work
 * @returns {T}
 */
function attempt(work) {
  try {
    return work();
  } catch (/** @type {any} */ error) {
    throw error instanceof Error ? storeError({ tag: "failed", val: error.message }) : error;
  }
}
