// The models that pi knows, for `check`. A pi without a session tells them with the extension beside this file, and ends.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { piCommand } from "./headless/pi.js";
import { parsed } from "./runs/sessions.js";
import { Failure, inWords, shortened } from "./words.js";

/** @typedef {import("../target/types/interfaces/pi-extension-context.js").KnownModel} KnownModel */

const EXTENSION = fileURLToPath(new URL("models-extension.mjs", import.meta.url));
/** The time that pi has, in milliseconds. */
const PATIENCE = 30_000;

/**
 * @param {string | undefined} path of pi
 * @returns {{ models?: KnownModel[], problem?: string }} the problem is for the user
 */
export function modelsOfPi(path) {
  try {
    return { models: read(path) };
  } catch (error) {
    return { problem: `Models were not looked at: ${inWords(error)}` };
  }
}

/** @param {string | undefined} path @returns {KnownModel[]} */
function read(path) {
  const [program, ...args] = piCommand(path);
  const without = ["--offline", "--no-approve", "--no-session", "--mode", "rpc"];
  const { stderr, error } = spawnSync(program, [...args, ...without, "-e", EXTENSION], {
    encoding: "utf8",
    timeout: PATIENCE,
    killSignal: "SIGKILL",
    maxBuffer: 64 * 2 ** 20,
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (error) throw error;
  const told = stderr
    .split("\n")
    .map(parsed)
    .find((record) => record?.type === "models");
  const models = Array.isArray(told?.models) ? told.models : undefined;
  if (models === undefined) throw new Failure(`pi does not tell its models: ${shortened(stderr.trim())}`);
  if (models.length === 0) throw new Failure("pi knows none.");
  return models.map((/** @type {[string, string, boolean]} */ [provider, id, available]) => ({
    model: { provider, id },
    available,
    priced: true,
    contextWindow: 0,
  }));
}
