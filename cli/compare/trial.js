// One trial of a comparison: a fresh copy of a project, a run in it, and the check of what it left.
import { spawn } from "node:child_process";
import { copyFileSync, cpSync, createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { canConfine, lineInFolder, shellQuoted } from "../../host-shim/sandbox/index.js";
import { endProcess } from "../headless/pi.js";
import { reportHtml } from "../runs/html/report.js";
import { processOf } from "../runs/process.js";
import { Failure, inWords, shortened } from "../words.js";
import { checkParts, projectOf, setupOf } from "./tasks.js";

/** @typedef {import("./results.js").Trial} Trial */
/** @typedef {import("./results.js").Planned} Planned */
/** @typedef {import("./tasks.js").Task} Task */

const CLI = fileURLToPath(new URL("../pi-workflows.js", import.meta.url));

/** The time that a run has to end after a signal, in milliseconds. */
const GRACE = 15_000;
/** The output of a script that is kept, in bytes. */
const MAX_OUTPUT = 1_000_000;

/** The end of a run, by the exit status of `pi-workflows run`. @type {Record<number, import("./results.js").Ending>} */
const ENDINGS = { 0: "done", 3: "paused", 4: "stopped", 5: "cancelled", 6: "budget" };

/**
 * What all trials of a comparison have in common.
 * @typedef {object} Common
 * @property {string} agentDir pi's agent folder
 * @property {import("../places.js").Grant[]} grants the folders of workflows
 * @property {string} work a folder for temporary files
 * @property {string[]} hide what no agent may read
 * @property {boolean} hidden it is hidden
 * @property {string[]} slots the folders of the trials that are at work at the same time
 * @property {(limits: string | undefined, hide: string[], home: string) => string} trialLimits
 * @property {string} [model]
 * @property {string} [pi]
 * @property {boolean} [allow-commands]
 */

/**
 * Carries out a trial, and returns it; `undefined` if it was aborted.
 *
 * @param {Planned} planned
 * @param {Task} task
 * @param {string} slot the folder in which it works
 * @param {string} results the folder of its results
 * @param {Common} common
 * @param {AbortSignal} signal
 * @returns {Promise<Trial | undefined>}
 */
export async function carryOut(planned, task, slot, results, common, signal) {
  /** @type {Trial} */
  const trial = { ...planned, ending: "error", text: "", solved: false, hidden: common.hidden, startedAt: Date.now(), ms: 0, turns: 0, tokens: 0, cost: 0, unpriced: 0 };
  try {
    const project = join(slot, "project");
    const env = await prepare(task, slot, common);
    const setup = setupOf(task);
    if (setup !== undefined) {
      const end = await runScript(`exec ${shellQuoted(setup)}`, { cwd: project, env, output: join(results, "setup.txt"), time: task.checkTimeout, signal });
      if (end.status !== 0) throw new Failure(`setup ended ${words(end)}`);
    }
    if (signal.aborted) return undefined;
    const { status, isLate, ms } = await run(planned, task, { project, env, results, common, signal });
    if (signal.aborted) return undefined;
    const result = resultIn(results);
    Object.assign(trial, { ms, ...figuresOf(result) });
    const ending = isLate ? "timeout" : (ENDINGS[status ?? 1] ?? "error");
    const check = ending === "done" ? await checkOf(task, slot, { env, results, signal }) : undefined;
    const text = isLate ? `not over within ${task.timeout / 1000} s` : shortened(String(result?.end?.text ?? lastLine(join(results, "log.txt"))));
    return signal.aborted ? undefined : { ...trial, ending, text, check, solved: check?.status === 0 };
  } catch (error) {
    return signal.aborted ? undefined : { ...trial, text: shortened(inWords(error)) };
  } finally {
    rmSync(slot, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Makes the project, the home and pi's agent folder of a trial, and returns its environment. @param {Task} task @param {string} slot @param {Common} common */
async function prepare(task, slot, common) {
  rmSync(slot, { recursive: true, force: true, maxRetries: 5 });
  const [home, agent, temporary] = ["home", "agent", "tmp"].map((name) => join(slot, name));
  for (const folder of [slot, home, agent, temporary]) mkdirSync(folder, { mode: 0o700 });
  await copy(await projectOf(task, common.work), join(slot, "project"));
  writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = pi-workflows\n\temail = pi-workflows@localhost\n");
  const own = (/** @type {string} */ name) => join(common.agentDir, name);
  if (existsSync(own("models.json"))) copyFileSync(own("models.json"), join(agent, "models.json"));
  // A copy would break the renewal of logins.
  for (const name of ["auth.json", "npm", "git"]) if (existsSync(own(name))) symlinkSync(own(name), join(agent, name));
  if (existsSync(own("settings.json"))) writeFileSync(join(agent, "settings.json"), settingsOf(own("settings.json"), common.agentDir));
  mkdirSync(join(agent, "workflows"));
  // Workflows of the project stand before those of the user.
  for (const { path } of common.grants) {
    for (const [from, to] of [[path, "workflows"], [join(path, "../agents"), "agents"]]) if (existsSync(from)) cpSync(from, join(agent, to), { recursive: true, dereference: true });
  }
  for (const name of ["limits.yaml", "notify.yaml"]) rmSync(join(agent, "workflows", name), { force: true });
  const limits = existsSync(own("workflows/limits.yaml")) ? readFileSync(own("workflows/limits.yaml"), "utf8") : undefined;
  const hide = common.hidden ? [...common.hide, ...common.slots.filter((other) => other !== slot)].map((path) => `${path}/`) : [];
  if (limits !== undefined || hide.length > 0) writeFileSync(join(agent, "workflows/limits.yaml"), common.trialLimits(limits, hide, homedir()));
  return { ...process.env, HOME: home, USERPROFILE: home, PI_CODING_AGENT_DIR: agent, TMPDIR: temporary };
}

/** @param {string} from @param {string} to */
const copy = (from, to) => cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });

/** pi's settings for another agent folder. @param {string} file @param {string} agentDir */
function settingsOf(file, agentDir) {
  try {
    const settings = JSON.parse(readFileSync(file, "utf8"));
    const placed = (/** @type {string} */ source) => (/^\.{1,2}(\/|$)/.test(source) || source === "~" || source.startsWith("~/") ? resolve(agentDir, source.replace(/^~/, homedir())) : source);
    if (Array.isArray(settings.packages)) {
      settings.packages = settings.packages.map((/** @type {any} */ one) => (typeof one === "string" ? placed(one) : typeof one?.source === "string" ? { ...one, source: placed(one.source) } : one));
    }
    return JSON.stringify(settings);
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${inWords(error)}`);
  }
}

/**
 * Runs pi by `pi-workflows run`.
 * @param {Planned} planned
 * @param {Task} task
 * @param {{ project: string, env: NodeJS.ProcessEnv, results: string, common: Common, signal: AbortSignal }} place
 */
async function run({ variant }, task, { project, env, results, common, signal }) {
  const session = join(results, "session.jsonl");
  const inputs = variant === "none" ? [] : task.inputs.map(([name, value]) => `--input=${name}=${value}`);
  const options = [
    `--session=${session}`,
    `--result=${join(results, "result.json")}`,
    ...inputs,
    ...(common.model === undefined ? [] : [`--model=${common.model}`]),
    ...(task.budget === undefined ? [] : [`--budget=${task.budget}`]),
    ...(common.pi === undefined ? [] : [`--pi=${common.pi}`]),
    ...(common["allow-commands"] ? ["--allow-commands"] : []),
  ];
  const child = spawn(process.execPath, [CLI, "run", ...options, "--", variant === "none" ? "-" : variant, task.text], {
    cwd: project,
    env,
    // Ctrl+C is for the comparison.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  keep(child.stderr, join(results, "log.txt"));
  const started = performance.now();
  let isLate = false;
  const end = () => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), GRACE).unref();
  };
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, task.timeout);
  signal.addEventListener("abort", end);
  try {
    /** @type {number | null} */
    const status = await new Promise((done, fail) => {
      child.once("error", fail);
      child.once("close", done);
    });
    const left = processOf(session)?.pi;
    if (left !== undefined) await endProcess(left);
    return { status, isLate, ms: Math.round(performance.now() - started) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/**
 * Checks a copy of the project, with the parts of the task that the check may need beside it. Where the system can, it is confined: it may
 * write what it was given, and has the network.
 *
 * @param {Task} task
 * @param {string} slot
 * @param {{ env: NodeJS.ProcessEnv, results: string, signal: AbortSignal }} place
 */
async function checkOf(task, slot, { env, results, signal }) {
  const place = join(slot, "checked");
  const [project, own, home] = ["project", "task", "home"].map((name) => join(place, name));
  // Not below what is writable: a confined command line sees it in another place.
  const temporary = join(slot, "checked-tmp");
  for (const folder of [place, own, home, temporary]) mkdirSync(folder, { mode: 0o700 });
  await copy(join(slot, "project"), project);
  for (const name of checkParts(task)) await copy(join(task.folder, name), join(own, name));
  const line = `exec ${shellQuoted(join(own, "check"))}`;
  const clean = { ...env, HOME: home, USERPROFILE: home, TMPDIR: temporary, PI_CODING_AGENT_DIR: undefined };
  return runScript(confined(line, place, project, temporary), { cwd: project, env: clean, output: join(results, "check.txt"), time: task.checkTimeout, signal });
}

/** @param {string} line @param {string} place @param {string} cwd @param {string} temporary */
function confined(line, place, cwd, temporary) {
  try {
    canConfine();
  } catch {
    return line;
  }
  return lineInFolder(line, place, { cwd, temporary, network: true });
}

/** The end of a script. @typedef {{ status: number | null, signal: NodeJS.Signals | null, late: boolean }} ScriptEnd */

/**
 * Runs a line of the shell in a process group of its own, which ends with it.
 * @param {string} line
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, output: string, time: number, signal: AbortSignal }} options
 * @returns {Promise<ScriptEnd>}
 */
async function runScript(line, { cwd, env, output, time, signal }) {
  const child = spawn("/bin/sh", ["-c", line], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) keep(stream, output);
  let late = false;
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, time);
  signal.addEventListener("abort", end);
  try {
    return await new Promise((done, fail) => {
      child.once("error", fail);
      child.once("exit", (status, name) => done({ status, signal: name, late }));
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    end();
  }
}

/** Keeps the beginning of an output. @param {NodeJS.ReadableStream} stream @param {string} file */
function keep(stream, file) {
  const output = createWriteStream(file, { flags: "a" });
  // A full disk must not end the comparison.
  output.on("error", () => {});
  let room = MAX_OUTPUT;
  stream.on("data", (/** @type {Buffer} */ bytes) => {
    if (room > 0) output.write(bytes.subarray(0, room));
    room -= bytes.length;
  });
  stream.on("close", () => output.end());
}

/** @param {ScriptEnd} end */
export const words = ({ status, signal, late }) => (late ? "at its time limit" : signal === null ? `with exit status ${status}` : `by ${signal}`);

/** What `pi-workflows run` wrote, if it did; its report goes beside it. @param {string} results @returns {any} */
function resultIn(results) {
  try {
    const result = JSON.parse(readFileSync(join(results, "result.json"), "utf8"));
    if (result.phases !== undefined) writeFileSync(join(results, "report.html"), reportHtml(result));
    return result;
  } catch {
    return undefined;
  }
}

/** What a run took. Without its result that is not known. @param {any} result */
function figuresOf(result) {
  const { usage } = result ?? { usage: { unpriced: 1 } };
  const number = (/** @type {unknown} */ value) => (typeof value === "number" && value >= 0 ? value : 0);
  const tokens = ["input", "output", "cacheRead", "cacheWrite"].reduce((all, name) => all + number(usage?.[name]), 0);
  return { turns: number(usage?.turns), tokens, cost: number(usage?.cost), unpriced: number(usage?.unpriced) };
}

/** @param {string} file */
function lastLine(file) {
  try {
    return readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "";
  } catch {
    return "";
  }
}

