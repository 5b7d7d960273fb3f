// One trial of a comparison: a fresh copy of a project, a run in the copy, and the check of the result.
import { execFile, spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

import {
  PROGRAM,
  endProcess,
  Failure,
  inWords,
  processOf,
  reportHtml,
  shortened,
} from "@pi-workflows/pi-workflows/cli";
import { readText } from "@pi-workflows/pi-workflows/loader";
import {
  canConfine,
  copyFolder,
  isBelow,
  lineInFolder,
  shellQuoted,
  unlessFails,
  untrusted,
} from "@pi-workflows/pi-workflows/sandbox";

import { enclosed } from "./enclosure.js";
import { MAX_FILE, textOf } from "./results.js";
import { endOf, keep, runScript, words } from "./script.js";
import { checkParts, isMapping, projectOf, setupOf } from "./tasks.js";

/** @typedef {import("./results.js").Trial} Trial */
/** @typedef {import("./results.js").Planned} Planned */
/** @typedef {import("./tasks.js").Task} Task */

/** The time that a run has to end after a signal, in milliseconds. */
const GRACE = 15_000;
/** The greatest number of files and folders that are copied with workflows, and of folders in one another. */
const MAX_ENTRIES = 20_000;
const MAX_DEPTH = 32;
/** The folders of installed packages in pi's agent folder. */
export const PACKAGES = ["npm", "git"];

/** The end of a run, by the exit status of `pi-workflows run`. @type {Record<number, import("./results.js").Ending>} */
const ENDINGS = { 0: "done", 3: "paused", 4: "stopped", 5: "cancelled", 6: "budget" };

/**
 * The values that all trials of a comparison share.
 * @typedef {object} Common
 * @property {string} work a folder for temporary files, also those of the trials
 * @property {string} agent pi's agent folder of a trial, before its settings
 * @property {string[]} fixed folders of the user that no trial may write
 * @property {string} [settings] the user's own settings
 * @property {import("./results.js").Hidden} hidden
 * @property {string[]} hide files and folders that no agent may read
 * @property {string[]} slots the folders of the trials that are at work at the same time
 * @property {import("@pi-workflows/pi-workflows/cli").Workflows["readYaml"]} readYaml
 * @property {string} [model]
 * @property {[string, ...string[]]} pi the command that starts pi
 * @property {boolean} [allow-commands]
 */

/**
 * Carries out a trial, and returns its record; `undefined` if the signal aborted the trial.
 * @param {Planned} planned
 * @param {Task} task
 * @param {string} slot the folder in which the trial works
 * @param {string} results the folder of its results
 * @param {Common} common
 * @param {AbortSignal} signal
 * @returns {Promise<Trial | undefined>}
 */
export async function carryOut(planned, task, slot, results, common, signal) {
  const figures = { ms: 0, unknown: true, turns: 0, tokens: 0, cost: 0, unpriced: 0 };
  /** @type {Trial} */
  const trial = {
    ...planned,
    ending: "error",
    text: "",
    solved: false,
    hidden: common.hidden,
    startedAt: Date.now(),
    ...figures,
  };
  try {
    const project = join(slot, "project");
    const env = await prepare(task, slot, common);
    const setup = setupOf(task);
    if (setup !== undefined) {
      const place = { cwd: project, env, output: join(results, "setup.txt"), time: task.checkTimeout, signal };
      const end = await runScript(`exec ${shellQuoted(setup)}`, place);
      if (end.status !== 0) throw new Failure(`setup ended ${words(end)}`);
    }
    if (signal.aborted) return undefined;
    const { status, isLate, ms } = await run(planned, task, { slot, env, results, common, signal });
    if (signal.aborted) return undefined;
    const result = resultIn(results);
    Object.assign(trial, { ms, ...figuresOf(result) });
    const ending = isLate ? "timeout" : (ENDINGS[status ?? 1] ?? "error");
    // The agent could have replaced the project by a link to the task.
    const isThere = lstatSync(project, { throwIfNoEntry: false })?.isDirectory() === true;
    const check = ending === "done" && isThere ? await checkOf(task, slot, { env, results, signal }) : undefined;
    const text = !isThere
      ? "the folder of the project is gone"
      : isLate
        ? `not over within ${task.timeout / 1000} s`
        : shortened(String(result?.end?.text ?? lastLine(results, "log.txt")));
    return signal.aborted ? undefined : { ...trial, ending, text, check, solved: check?.status === 0 };
  } catch (error) {
    return signal.aborted ? undefined : { ...trial, text: shortened(inWords(error)) };
  } finally {
    removeFolder(slot);
  }
}

/**
 * Returns the text of the `settings.yaml` of a trial: the user's settings with more hidden paths. A trial has a home of its
 * own, so `~` is written out, and tells nobody of its run.
 * @param {string | undefined} settings
 * @param {string[]} hide
 * @param {string} home
 * @param {Common["readYaml"]} readYaml
 */
export function trialSettings(settings, hide, home, readYaml) {
  const all = settings === undefined ? {} : JSON.parse(readYaml("settings.yaml", settings, false).json);
  if (!isMapping(all)) throw new Failure("settings.yaml is not a mapping of YAML.");
  delete all.onEvent;
  const { limits = {} } = all;
  if (!isMapping(limits)) throw new Failure("`limits` in settings.yaml is not a mapping.");
  for (const field of ["write", "hide"])
    if (Array.isArray(limits[field]))
      limits[field] = limits[field].map((path) =>
        typeof path === "string" ? path.replace(/^~\//, () => `${home}/`) : path,
      );
  if (hide.length > 0) {
    if (limits.hide !== undefined && !Array.isArray(limits.hide))
      throw new Failure("`hide` in settings.yaml is not a list.");
    all.limits = { ...limits, hide: [...(limits.hide ?? []), ...hide] };
  }
  // JSON is YAML.
  return JSON.stringify(all);
}

/**
 * Makes the project, the home and pi's agent folder of a trial, and returns its environment.
 * @param {Task} task
 * @param {string} slot
 * @param {Common} common
 */
async function prepare(task, slot, common) {
  removeFolder(slot);
  const [home, agent, temporary] = ["home", "agent", "tmp"].map((name) => join(slot, name));
  for (const folder of [slot, home, temporary, dirname(sessionIn(slot))]) mkdirSync(folder, { mode: 0o700 });
  await copy(await projectOf(task, common.work), join(slot, "project"));
  writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = pi-workflows\n\temail = pi-workflows@localhost\n");
  await copy(common.agent, agent);
  const hide =
    common.hidden === "from tools"
      ? [...common.hide, ...common.slots.filter((other) => other !== slot)].map((path) => `${path}/`)
      : [];
  const settings = trialSettings(common.settings, hide, homedir(), common.readYaml);
  writeFileSync(join(agent, "workflows/settings.yaml"), settings);
  const own = Object.entries(process.env).filter(([name]) => !/^(?:XDG_\w+_HOME|GIT_\w+)$/.test(name));
  const places = { HOME: home, USERPROFILE: home, PI_CODING_AGENT_DIR: agent, TMPDIR: temporary };
  return { ...Object.fromEntries(own), ...places };
}

/**
 * Makes pi's agent folder for all trials: the user's models, settings, packages and workflows, and links to the keys.
 * @param {string} agent the folder to make
 * @param {string} own the user's agent folder
 * @param {import("@pi-workflows/pi-workflows/cli").Grant[]} grants the folders of workflows
 * @param {string[]} leftOut folders that are not copied
 */
export function makeAgentFolder(agent, own, grants, leftOut) {
  mkdirSync(join(agent, "workflows"), { recursive: true, mode: 0o700 });
  const ofUser = (/** @type {string} */ name) => join(own, name);
  if (existsSync(ofUser("models.json"))) writeFileSync(join(agent, "models.json"), readText(ofUser("models.json")));
  // A copy would break the renewal of logins.
  for (const name of ["auth.json", ...PACKAGES])
    if (existsSync(ofUser(name))) symlinkSync(ofUser(name), join(agent, name));
  if (existsSync(ofUser("settings.json")))
    writeFileSync(join(agent, "settings.json"), settingsOf(ofUser("settings.json"), own));
  // Workflows of the project stand before those of the user.
  for (const { path, within } of grants) {
    // Settings at the top of a project would be the user's in a trial; no workflow has a file of YAML there.
    copyFiles(path, join(agent, "workflows"), leftOut, within, /\.ya?ml$/i);
    copyFiles(join(path, "../agents"), join(agent, "agents"), leftOut, within);
  }
  // They refuse every tool call of the user's sessions too.
  for (const name of ["settings.yml", "limits.yaml", "limits.yml"].map((name) => `workflows/${name}`))
    if (existsSync(ofUser(name))) writeFileSync(join(agent, name), readText(ofUser(name)));
}

/**
 * Copies the files of a folder, if the folder exists, and follows links. Links that lead out of a project, pipes and
 * devices are left out, because pi would not read them.
 * @param {string} from
 * @param {string} to
 * @param {string[]} leftOut folders that are not copied
 * @param {string} [within] the project
 * @param {RegExp} [notAtTop] names of files that are not copied from the folder itself
 */
function copyFiles(from, to, leftOut, within, notAtTop) {
  const project = within === undefined ? undefined : realpathSync(within);
  let left = MAX_ENTRIES;
  const copyOne = (/** @type {string} */ path, /** @type {string} */ target, /** @type {number} */ depth) => {
    const real = unlessFails(() => realpathSync(path));
    left -= 1;
    if (real === undefined || (project !== undefined && !isBelow(real, project)) || leftOut.includes(real)) return;
    if (left < 0 || depth > MAX_DEPTH) throw new Failure(`${from} has too many files and folders.`);
    const stat = lstatSync(real);
    if (stat.isDirectory()) {
      mkdirSync(target, { recursive: true });
      for (const name of readdirSync(real)) copyOne(join(real, name), join(target, name), depth + 1);
    } else if (stat.isFile() && !(depth === 1 && notAtTop?.test(path))) {
      const { descriptor } = untrusted.openUserFile(real, { flags: constants.O_NOFOLLOW ?? 0, place: real });
      try {
        writeFileSync(target, untrusted.readToEnd(descriptor, stat.size, MAX_FILE), { mode: stat.mode & 0o777 });
      } finally {
        closeSync(descriptor);
      }
    }
  };
  copyOne(from, to, 0);
}

/**
 * Copies a folder as it is, with links and pipes, which Node cannot copy.
 * @param {string} from
 * @param {string} to a new folder
 */
const copy = (from, to) => promisify(execFile)("cp", ["-a", "--", from, to]);

/** Removes a folder, also if something in it cannot be written. @param {string} folder */
export function removeFolder(folder) {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    spawnSync("chmod", ["-R", "u+rwX", folder]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** pi's settings for another agent folder. @param {string} file @param {string} agentDir */
function settingsOf(file, agentDir) {
  try {
    const settings = JSON.parse(readText(file));
    const placed = (/** @type {string} */ source) =>
      /^\.{1,2}(\/|$)/.test(source) || source === "~" || source.startsWith("~/")
        ? resolve(agentDir, source.replace(/^~/, homedir()))
        : source;
    const packageOf = (/** @type {any} */ one) =>
      typeof one?.source === "string" ? { ...one, source: placed(one.source) } : one;
    if (Array.isArray(settings.packages))
      settings.packages = settings.packages.map((/** @type {any} */ one) =>
        typeof one === "string" ? placed(one) : packageOf(one),
      );
    return JSON.stringify(settings);
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${inWords(error)}`);
  }
}

/**
 * Runs pi by `pi-workflows run`.
 * @param {Planned} planned
 * @param {Task} task
 * @param {{ slot: string, env: NodeJS.ProcessEnv, results: string, common: Common, signal: AbortSignal }} place
 */
async function run({ variant }, task, { slot, env, results, common, signal }) {
  const session = sessionIn(slot);
  const inputs = variant === "none" ? [] : task.inputs.map(([name, value]) => `--input=${name}=${value}`);
  const options = [
    `--session=${session}`,
    `--result=${join(results, "result.json")}`,
    ...inputs,
    ...(common.model === undefined ? [] : [`--model=${common.model}`]),
    ...(task.budget === undefined ? [] : [`--budget=${task.budget}`]),
    `--pi=${programOf(slot, common)}`,
    ...(common["allow-commands"] ? ["--allow-commands"] : []),
  ];
  const name = variant === "none" ? "-" : variant;
  const child = spawn(process.execPath, [PROGRAM, "run", ...options, "--task-file=-", "--", name], {
    cwd: join(slot, "project"),
    env,
    // Ctrl+C reaches only the comparison.
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  child.stdin.on("error", () => {}).end(task.text);
  keep([child.stderr], join(results, "log.txt"));
  const started = performance.now();
  const end = () => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), GRACE).unref();
  };
  const { status, late } = await endOf(child, "close", end, task.timeout, signal);
  const left = processOf(session)?.pi;
  if (left !== undefined) await endProcess(left);
  keepSession(slot, results);
  return { status, isLate: late, ms: Math.round(performance.now() - started) };
}

/** The session of the trial in a slot: the trial's pi cannot reach the results. @param {string} slot */
export const sessionIn = (slot) => join(slot, "session/session.jsonl");

/** Copies the session of a trial, with those of its child agents, to its results. @param {string} slot @param {string} results */
function keepSession(slot, results) {
  try {
    mkdirSync(join(results, "session"));
    untrusted.inFolder(slot, "session", (from) => untrusted.inFolder(results, "session", (to) => copyFolder(from, to)));
  } catch {
    // The session is kept as far as it could be copied.
  }
}

/**
 * Writes the program that a trial runs as pi, beside the folder of the trial, and returns the program's path.
 * @param {string} slot
 * @param {Common} common
 */
function programOf(slot, { work, pi, hidden, hide, fixed }) {
  const all = hide.some((path) => isBelow(work, path)) ? hide : [...hide, work];
  const script =
    hidden === "from everything"
      ? enclosed(pi, { hidden: all, shown: [slot], fixed })
      : `#!/bin/sh\nexec ${pi.map(shellQuoted).join(" ")} "$@"\n`;
  writeFileSync(`${slot}-pi`, script, { mode: 0o700 });
  return `${slot}-pi`;
}

/**
 * Checks a copy of the project, with the parts of the task that the check may need beside it. If the system can confine
 * the check, the check may write only the copy and a home; it has the network.
 * @param {Task} task
 * @param {string} slot
 * @param {{ env: NodeJS.ProcessEnv, results: string, signal: AbortSignal }} place
 */
async function checkOf(task, slot, { env, results, signal }) {
  const place = join(slot, "checked");
  const [project, home] = ["project", "home"].map((name) => join(place, name));
  // Not below a writable folder: a confined command line sees its temporary folder at another path.
  const temporary = join(slot, "checked-tmp");
  for (const folder of [place, home, temporary]) mkdirSync(folder, { mode: 0o700 });
  await copy(join(slot, "project"), project);
  // A random name, which no link of the agent can lead to.
  const own = mkdtempSync(join(place, "task-"));
  for (const name of checkParts(task)) await copy(join(task.folder, name), join(own, name));
  const line = `exec ${shellQuoted(join(own, "check"))}`;
  const clean = { ...env, HOME: home, USERPROFILE: home, TMPDIR: temporary, PI_CODING_AGENT_DIR: undefined };
  const output = join(results, "check.txt");
  const whole = confined(line, place, { cwd: project, temporary, network: true, readOnly: [own] });
  return runScript(whole, { cwd: project, env: clean, output, time: task.checkTimeout, signal });
}

/** A command line, confined if the system can confine it. @type {typeof lineInFolder} */
function confined(line, folder, places) {
  try {
    canConfine(places.network);
  } catch {
    return line;
  }
  return lineInFolder(line, folder, places);
}

/**
 * Returns the result that `pi-workflows run` wrote, if it wrote one, and writes its report beside the result.
 * @param {string} results
 * @returns {any}
 */
function resultIn(results) {
  try {
    const result = JSON.parse(textOf(results, "result.json") ?? "");
    if (result.phases !== undefined) untrusted.replaceFile(results, "report.html", reportHtml(result));
    return result;
  } catch {
    return undefined;
  }
}

/** The figures of a run, unknown without its result. @param {any} result */
function figuresOf(result) {
  const usage = result?.usage;
  const number = (/** @type {unknown} */ value) => (typeof value === "number" && value >= 0 ? value : 0);
  const tokens = ["input", "output", "cacheRead", "cacheWrite"].reduce((all, name) => all + number(usage?.[name]), 0);
  const unknown = usage === undefined || usage.unknown === true ? true : undefined;
  return { unknown, turns: number(usage?.turns), tokens, cost: number(usage?.cost), unpriced: number(usage?.unpriced) };
}

/** @param {string} root @param {string} path */
const lastLine = (root, path) => textOf(root, path)?.trim().split("\n").at(-1) ?? "";
