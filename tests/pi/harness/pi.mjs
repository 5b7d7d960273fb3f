// Runs pi: its command line, one-shot runs (print and JSON mode), and its session files.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { onExit } from "./on-exit.mjs";

/** The root of this repository, which is the extension package under test. */
export const REPO = resolve(fileURLToPath(import.meta.url), "../../../..");

/** The Node that runs pi: this repository's own, whichever Node runs the tests. */
export const NODE = realpathSync(join(REPO, "node_modules/.bin/node"));

/** @type {{ package: string, tarballs: Record<string, string>, devDependency: string }} */
const SOURCES = JSON.parse(readFileSync(join(REPO, "scripts/pi-versions.json"), "utf8"));

/** A wait that is longer than this fails; a busy machine takes its time. */
export const PATIENCE_MS = 60_000;

/** All tested versions of pi, newest first. */
export const PI_VERSIONS = [...Object.keys(SOURCES.tarballs), SOURCES.devDependency];

/**
 * Options for running pi in a sandbox, in any mode.
 *
 * @typedef {object} PiOptions
 * @property {import("./sandbox.mjs").Sandbox} sandbox
 * @property {string} [version] one of PI_VERSIONS, the newest by default
 * @property {string | string[]} [extension] path or paths for `-e`; this repository by default, `[]` for none
 * @property {boolean} [trust] whether the project is trusted (`--approve`, `--no-approve`); undecided by default
 * @property {string[]} [args] more arguments
 * @property {Record<string, string>} [env] more environment
 * @property {string[]} [wrapper] a program with arguments that runs pi's command line
 */

/**
 * Returns the command that runs a version of pi: Node and the path of its script.
 *
 * @param {string} [version]
 * @returns {[string, string]}
 */
export function piCli(version = PI_VERSIONS[0]) {
  const packed = version in SOURCES.tarballs;
  if (!packed && version !== SOURCES.devDependency) throw new Error(`no pi ${version} in scripts/pi-versions.json`);
  const home = packed ? `target/pi/${version}/package` : `node_modules/${SOURCES.package}`;
  const cli = join(REPO, home, "dist/bundle/cli.js");
  if (!existsSync(cli)) throw new Error(`pi ${version} is not at ${cli}: run \`node scripts/setup.mjs test\``);
  return [NODE, cli];
}

/** Returns the package of a version of pi with its dependencies, which other programs embed. @param {string} version */
export function sdkOf(version) {
  const home = version in SOURCES.tarballs ? `target/pi/${version}-sdk/node_modules` : "node_modules";
  return join(REPO, home, SOURCES.package);
}

/** The program that compiles pi into one file; it is there only where npm could install it. */
export const BUN = join(REPO, "target/bun/node_modules/.bin/bun");

/**
 * Returns the command line for `options`, without the arguments of a mode.
 *
 * @param {PiOptions} options
 */
export function piCommand({ version, extension = REPO, trust, args = [] }) {
  const trustFlag = trust === undefined ? [] : [trust ? "--approve" : "--no-approve"];
  const extensions = [extension].flat().flatMap((path) => ["-e", path]);
  return [...piCli(version), "--offline", ...trustFlag, ...extensions, ...args];
}

/**
 * Starts pi with pipes, in a process group of its own that does not outlive this process.
 *
 * @param {PiOptions} options
 * @param {string[]} modeArgs
 * @param {"pipe" | "ignore"} stdin
 */
export function spawnPi(options, modeArgs, stdin) {
  const [program, ...args] = [...(options.wrapper ?? []), ...piCommand(options), ...modeArgs];
  const child = spawn(program, args, {
    cwd: options.sandbox.project,
    env: { ...options.sandbox.env(), ...options.env },
    stdio: [stdin, "pipe", "pipe"],
    detached: true,
  });
  const killGroup = () => {
    try {
      if (child.pid) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Everything in the group has ended.
    }
  };
  const forget = onExit(killGroup);
  child.once("close", () => {
    forget();
    killGroup();
  });
  return { child, killGroup };
}

/**
 * Runs pi once over `prompt`, in print mode or (`mode: "json"`) in JSON mode, to its end.
 *
 * @param {PiOptions & { prompt: string | string[], mode?: "text" | "json", stdin?: string, timeoutMs?: number }} options
 *   `stdin` is piped to pi
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string, rules: string }>}
 */
export function runPrint({ prompt, mode = "text", stdin, timeoutMs = PATIENCE_MS, ...options }) {
  // Without a text stdin must not be a pipe: pi reads a pipe to its end and puts the text in front of the prompt.
  const modeArgs = mode === "json" ? ["--mode", "json"] : ["-p"];
  const { child, killGroup } = spawnPi(
    options,
    [...modeArgs, ...[prompt].flat()],
    stdin === undefined ? "ignore" : "pipe",
  );
  child.stdin?.end(stdin);
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text) => (output.stderr += text));
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      killGroup();
    }, timeoutMs);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      // The line about the rules of a run stands in `rules`.
      const [rules = ""] = /^Rules of this run: .*\n/m.exec(output.stderr) ?? [];
      const result = { code, ...output, stderr: output.stderr.replace(rules, "") };
      // Comparisons of the whole result leave it out.
      if (!late) return resolve(Object.defineProperty(/** @type {any} */ (result), "rules", { value: rules }));
      const said = `--- stdout\n${output.stdout}\n--- stderr\n${output.stderr}`;
      reject(new Error(`pi did not end within ${timeoutMs} ms\n${said}`));
    });
  });
}

/**
 * Returns the session files of a sandbox, oldest first.
 *
 * @param {import("./sandbox.mjs").Sandbox} sandbox
 */
export function sessionFiles(sandbox) {
  const sessions = join(sandbox.agent, "sessions");
  if (!existsSync(sessions)) return [];
  const names = readdirSync(sessions, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  // Names begin with the time of creation.
  return names.sort().map((name) => join(sessions, name));
}

/**
 * Returns the entries of one session file, or of the newest one of a sandbox, without the header line.
 *
 * @param {import("./sandbox.mjs").Sandbox} sandbox
 * @param {string} [file]
 * @returns {any[]}
 */
export function readSession(sandbox, file = sessionFiles(sandbox).at(-1)) {
  if (!file) throw new Error(`no session file below ${sandbox.agent}`);
  const lines = readFileSync(file, "utf8").split("\n");
  // A kill can leave a line that is not complete; pi passes over it.
  const complete = lines.filter((line) => line.endsWith("}"));
  return parseJsonLines(complete.join("\n")).filter((entry) => entry.type !== "session");
}

/**
 * Parses a session file or the output of JSON mode.
 *
 * @param {string} text
 * @returns {any[]}
 */
export function parseJsonLines(text) {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
