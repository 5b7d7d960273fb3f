// `pi-workflows run`: runs a workflow in a pi without its terminal interface, and ends with the end of the run.
import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { createReadStream, existsSync, mkdirSync, statSync } from "node:fs";
import { constants } from "node:os";
import { basename, dirname, resolve } from "node:path";

import { plainText, untrusted } from "#sandbox";

import { shown } from "../command-line.js";
import { loadedByPi, packageFolder } from "../packages.js";
import { agentDir, placesOf } from "../places.js";
import { findRuns, isOpen } from "../runs/find.js";
import { forgetProcess, noteProcess, otherProcess, takeForProcess } from "../runs/process.js";
import { REPORT_FORMATS, reportOf, runOf } from "../runs/report.js";
import { newSessionFile } from "../runs/sessions.js";
import { Failure, inWords, inputsIn, pairs, quoted, shortened } from "../words.js";
import { openWorkflows } from "../workflows.js";
import { Agent, usedUp } from "./agent.js";
import { Conversation } from "./conversation.js";
import { EventFile, eventIn, eventOf } from "./events.js";
import { outputTo } from "./output.js";
import { Pi, earlyEnd, endProcess, onInterrupt, piCommand } from "./pi.js";
import { Progress, figures } from "./progress.js";

/** @typedef {import("../runs/find.js").Run} Run */
/** @typedef {import("./pi.js").PiRecord} PiRecord */

/** The functions that write the files of `--result` and `--summary`. @typedef {{ result?: (text: string) => void, summary?: (text: string) => void }} Outputs */

const STATUS = { done: 0, error: 1, paused: 3, stopped: 4, cancelled: 5, budget: 6, quota: 7, silent: 8 };
/** Kinds of pauses at the end of a budget, or because of an unknown cost or usage. */
const BUDGET_PAUSES = ["budget", "unknownCost"];
/** The kind of a pause because the model failed, and of one at a limit of the model. */
const MODEL_PAUSE = "modelError";
const QUOTA_PAUSE = "quota";
/** The kind of a pause because nothing new came of the agent, and the time after which it is stopped. */
const SILENT_PAUSE = "silent";
const SILENCE = "30m";
/** The time after which a run whose time is over is ended from outside, in milliseconds: a tool can ignore the end of its call. */
const LATE = 5000;
/** The time after which the line that changes is drawn again, in milliseconds. */
const REFRESH = 1000;

/**
 * The end of a run: the exit status, and one line; `seal` is the seal of the changed rules for which the run waits, `quotaUntil` the end
 * of the limit of the model at which it waits, in milliseconds since 1970; `behind` is the line where pi's errors were shown before it.
 * @typedef {{ status: number, outcome: Run["outcome"] | "error" | "interrupted" | "budget" | "quota" | "silent", text: string, seal?: string,
 *   quotaUntil?: number, behind?: string }} End
 */

/** The option in the text of a pause by which the user accepts changed rules. */
const ACCEPTS_RULES = /--accept-workflow-rules=([\w:]+)/;

/** @param {keyof typeof STATUS} outcome @param {string} text @returns {End} */
const end = (outcome, text) => ({ status: STATUS[outcome], outcome, text });

/**
 * Runs `pi-workflows run`, and returns the exit status.
 * @param {string[]} words
 * @param {import("../pi-workflows.js").Options} options
 */
export async function runWorkflow(words, options) {
  const decision = /** @type {const} */ (["accept-rules", "more"]).find((name) => options[name] !== undefined);
  // The user can accept unknown costs in advance.
  if (decision !== undefined && !options.continue && options.more !== "unknown")
    throw new Failure(`--${decision} needs --continue.`);
  if (!words[0] && !options.continue) throw new Failure("pi-workflows run needs a NAME.");
  const limits = options.budget === undefined ? {} : boundsOf("budget", options.budget);
  for (const name of /** @type {const} */ (["wait", "silence"])) {
    const time = options[name];
    if (time === undefined || (name === "silence" && time === "off")) continue;
    if (/[,+]/.test(time) || Number(boundsOf(name, `time=${time}`).timeMs) > MAX_WAIT)
      throw new Failure(`--${name} takes a time such as 6h or 90m, of at most 7 days.`);
  }
  const bounds = words[0] === "-" ? limits : undefined;
  /** @type {Given} */
  const given = options.continue ? { words: words.slice(1) } : await taskIn(words.slice(1), options);
  const prompt = bounds ? promptOfAgent(given, options) : await promptOf(words[0], given, options);
  const session = sessionOf(options);
  const outputs = {
    result: options.result === undefined ? undefined : outputTo(options.result, false),
    summary: options.summary === undefined ? undefined : outputTo(options.summary, true),
  };
  const worker = otherProcess(session, "this session", options["take-over"]);
  const before = options.continue ? [] : runsIn(session);
  if (bounds && statSync(session, { throwIfNoEntry: false })?.size) throw new Failure("- takes a new session.");
  if (before.some(isOpen)) throw new Failure("The session has a run that has not ended: --continue goes on with it.");
  if (options["events-full"] && options.events === undefined) throw new Failure("--events-full needs --events.");
  if (options.events !== undefined && bounds) throw new Failure("- takes no --events.");
  if (options.detach && options.events === "-") throw new Failure("--detach and --events - exclude each other.");
  if (options.detach) return detach(words, given.task, options, session);
  const progress = new Progress(options.quiet === true);
  const events =
    options.events === undefined ? undefined : new EventFile(options.events, (problem) => progress.always(problem));
  // The command that worked on the session was killed.
  if (worker?.pi !== undefined) await endProcess(worker.pi);
  const earlier = takeForProcess(session, "this session", options["take-over"]);
  /** @type {Headless | undefined} */
  let headless;
  let isOver = false;
  try {
    const known = new Set(before.map(({ state }) => state.taskId));
    headless = new Headless(
      session,
      (run) => !known.has(run.state.taskId),
      { progress, events },
      bounds === undefined,
      limits,
    );
    // The user of the command line gives these values, so those of inputs of the type `command` are allowed.
    const hasValues = !options.continue && !bounds && valuesIn(given.words, options.input).length > 0;
    const args = await argumentsOf(session, bounds ? { ...options, budget: undefined } : options, hasValues);
    const ended = await headless.run(options.pi, args, prompt);
    const newest = headless.newestRun();
    isOver = !newest || !isOpen(newest);
    const status = tellEnd(ended, headless, session, bounds && headless.agent, options, outputs);
    const run = newest?.state.taskId;
    events?.write({
      time: Date.now(),
      ...(run === undefined ? {} : { run }),
      type: "exit",
      status,
      outcome: ended.outcome,
    });
    return status;
  } finally {
    events?.close();
    if (!headless?.hasStarted) forgetProcess(session, earlier);
    else if (isOver) forgetProcess(session);
    else noteProcess(session, { ended: Date.now() });
  }
}

/**
 * Reports the end of a run, writes the files that the user wants, and returns the exit status.
 * @param {End} end
 * @param {Headless} headless
 * @param {string} session
 * @param {Agent | undefined} agent set for an agent without a workflow
 * @param {import("../pi-workflows.js").Options} options
 * @param {Outputs} outputs
 */
function tellEnd(end, headless, session, agent, options, outputs) {
  const { progress } = headless;
  progress.endGroup();
  const run = headless.newestRun();
  const took = run ?? agent;
  const ended = (options.quiet ? undefined : end.behind) ?? end.text;
  const text = took ? `${ended} · ${figures(took)}` : ended;
  if (end.status === STATUS.done) progress.line(text);
  else progress.always(text);
  if (run && end.status !== STATUS.done && isOpen(run))
    progress.always(
      `To go on: pi-workflows run --continue --session ${shellQuoted(session)}${optionsToGoOn(options)}${decisionFor(end, run)}`,
    );
  const problems = write(outputs, run, end, session, agent?.usage);
  for (const problem of problems) progress.always(problem);
  return end.status === STATUS.done && problems.length > 0 ? STATUS.error : end.status;
}

/** The option with the user's decision that a run needs to go on. @param {End} end @param {Run} run */
function decisionFor({ status, seal }, run) {
  if (seal !== undefined) return ` --accept-rules=${seal}`;
  if (status !== STATUS.budget) return "";
  return ` --more=${run.state.pause === "budget" ? "AMOUNT" : "unknown"}`;
}

/** The options that hold for one process only. @param {import("../pi-workflows.js").Options} options */
function optionsToGoOn({
  approve,
  "allow-commands": allowCommands,
  "allow-value": allowed = [],
  model,
  budget,
  wait,
  silence,
  pi,
}) {
  const flags = [...(approve ? ["--approve"] : []), ...(allowCommands ? ["--allow-commands"] : [])];
  const allows = allowed.map((value) => `--allow-value=${shellQuoted(value)}`);
  const values = Object.entries({ model, budget, wait, silence, pi }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellQuoted(value)}`],
  );
  return [...flags, ...allows, ...values].map((option) => ` ${option}`).join("");
}

/**
 * Starts the command again as a process of its own, and returns.
 * @param {string[]} words
 * @param {string | undefined} task
 * @param {import("../pi-workflows.js").Options} options
 * @param {string} session
 */
function detach(words, task, options, session) {
  try {
    piCommand(options.pi);
  } catch (error) {
    process.stderr.write(`${shown(inWords(error))}\n`);
    return STATUS.error;
  }
  const log = `${session}.log`;
  mkdirSync(dirname(session), { recursive: true });
  const output = untrusted.openToAppend(dirname(log), basename(log), 0o600);
  const file = options["task-file"] === undefined ? undefined : "-";
  const given = Object.entries({ ...options, detach: undefined, session, "task-file": file }).flatMap(
    ([name, value]) => {
      if (value === true) return [`--${name}`];
      return [value ?? []].flat().map((one) => `--${name}=${one}`);
    },
  );
  const child = spawn(process.execPath, [process.argv[1], "run", ...given, "--", ...words], {
    detached: true,
    stdio: [file === undefined ? "ignore" : "pipe", output, output],
  });
  child.stdin?.on("error", () => {}).end(task);
  child.unref();
  const shows = `"pi-workflows runs${options.session === undefined ? "" : ` --sessions ${shellQuoted(session)}`}" shows it.`;
  process.stdout.write(shown(`process ${child.pid}\nsession ${session}\nlog     ${log}\n${shows}\n`));
  return STATUS.done;
}

/** Lines of pi that tell no error: warnings, what it does as it starts, and lines that go on from these. */
const NO_ERROR = /^(?:\s|Warning:|Installing |Could not restore model |No models available)|^$/;

/** The first line of the highest rank tells the error of pi. @param {string} line */
const errorRank = (line) => (NO_ERROR.test(line) ? 0 : /Error:/.test(line) ? 2 : 1);

/** A pi that works on a run. */
class Headless {
  #session;
  #isMeant;
  /** The line of standard error that tells the error best, and the last line. */
  #firstError = "";
  #lastError = "";
  /** The seal of changed rules for which the run waits. @type {string | undefined} */
  #seal;
  /** The error with which the model's last answer failed. */
  #modelError = "";
  /** @type {Run | undefined} */
  #run;
  /** @type {NodeJS.Signals | undefined} */
  #interruptedBy;
  /** True if the agent has worked and come to rest. */
  #isAtRest = false;
  #isAtWork = false;
  #hasWorkflow;
  #limits;
  /** The bound that an agent without a workflow has used up. @type {string | undefined} */
  #usedUp;
  /** True if the run's time is over and its pi was ended. */
  #isLate = false;
  /** The time after which pi is ended from outside, in milliseconds. */
  #leftMs = Infinity;
  /** @type {Pi | undefined} */
  #pi;
  agent = new Agent();
  progress;
  #events;

  /**
   * @param {string} session
   * @param {(run: Run) => boolean} isMeant
   * @param {{ progress: Progress, events?: EventFile }} shown what gets the events of the run
   * @param {boolean} hasWorkflow
   * @param {import("../../target/types/interfaces/pi-workflows-tools-workflows.js").Bounds} limits the bounds of
   *   `--budget`
   */
  constructor(session, isMeant, { progress, events }, hasWorkflow, limits) {
    this.#hasWorkflow = hasWorkflow;
    this.#limits = limits;
    this.#session = session;
    this.#isMeant = isMeant;
    this.progress = progress;
    this.#events = events;
  }

  /** True if there was a pi that may have worked. */
  get hasStarted() {
    return this.#pi?.pid !== undefined;
  }

  /** The run, if it has begun. */
  newestRun() {
    this.#run = runsIn(this.#session).find(this.#isMeant) ?? this.#run;
    return this.#run;
  }

  /**
   * Runs a pi to its end.
   * @param {string | undefined} path the value of `--pi`
   * @param {string[]} args
   * @param {string} prompt
   * @returns {Promise<End>}
   */
  async run(path, args, prompt) {
    try {
      return this.#end(await this.#carryOut(piCommand(path), args, prompt));
    } catch (error) {
      return end("error", inWords(error));
    }
  }

  /**
   * @param {[string, ...string[]]} command
   * @param {string[]} args
   * @param {string} prompt
   */
  async #carryOut(command, args, prompt) {
    const isTerminal = this.#hasWorkflow && process.stdin.isTTY === true && process.stderr.isTTY === true;
    const asked = new AbortController();
    const conversation = isTerminal && new Conversation(this.progress, asked.signal, () => this.newestRun());
    const pi = new Pi(command, ["--mode", isTerminal ? "rpc" : "json", ...args], {
      onRecord: (record) => {
        this.agent.onRecord(record);
        if (!record) return;
        this.#onRecord(record);
        if (conversation) conversation.onRecord(pi, record);
      },
      onError: (text) => this.#onError(text, isTerminal),
    });
    if (isTerminal) pi.send({ id: "start", type: "prompt", message: prompt });
    // As an argument, the prompt could be taken for an option of pi or a file, and the system bounds its length.
    else pi.finish(prompt);
    this.#pi = pi;
    const offInterrupt = onInterrupt((name) => {
      if (this.#interruptedBy) return;
      this.#interruptedBy = name;
      asked.abort();
      pi.end();
    });
    // A run counts its own time at work.
    if (this.#limits.timeMs !== undefined && !this.#hasWorkflow) this.#leftMs = Number(this.#limits.timeMs) + LATE;
    let last = performance.now();
    const refresh = setInterval(() => {
      // The time in which this process did not run is no time of the run.
      const passed = Math.min(performance.now() - last, 2 * REFRESH);
      last = performance.now();
      this.#leftMs -= passed;
      if (this.#leftMs <= 0 && !this.#isLate) {
        this.#isLate = true;
        pi.end();
      }
      this.progress.tick(this.#isAtWork);
    }, REFRESH);
    try {
      noteProcess(this.#session, { pi: pi.pid });
      const ended = await pi.ended;
      if (!pi.isEnded) this.agent.onEnd();
      return ended;
    } catch (error) {
      pi.end();
      await pi.ended.catch(() => {});
      throw error;
    } finally {
      clearInterval(refresh);
      offInterrupt();
      asked.abort();
      this.progress.clear();
    }
  }

  /** @param {PiRecord} record */
  #onRecord(record) {
    const event = eventOf(record);
    if (event) return this.#onEvent(event);
    if (record.type === "agent_start") {
      [this.#isAtRest, this.#isAtWork] = [false, true];
      this.progress.begins();
    }
    if (record.type === "agent_end" || record.type === "agent_settled")
      [this.#isAtRest, this.#isAtWork] = [true, false];
    if (record.type === "turn_end") this.#modelError = String(record.message?.errorMessage ?? "");
    // After an answer without tool calls the agent comes to rest.
    if (record.type === "turn_end" && record.toolResults?.length > 0) this.#bound();
    if (record.type === "extension_ui_request" && record.method === "notify")
      this.progress.line(String(record.message ?? ""));
  }

  /** Ends an agent without a workflow that has used up a bound; a run bounds itself. */
  #bound() {
    if (this.#hasWorkflow || Object.keys(this.#limits).length === 0) return;
    this.#usedUp ??= usedUp(this.agent.usage, this.#limits);
    if (this.#usedUp !== undefined) this.#pi?.end();
  }

  /** @param {import("./events.js").RunEvent} event */
  #onEvent(event) {
    this.#events?.write(event);
    this.progress.event(event);
    if (event.type === "resumed") this.#leftMs = Infinity;
    const isTimeUp = event.type === "budget" && event.state === "usedUp" && event.measure === "time";
    if (isTimeUp || (event.type === "paused" && event.reason === SILENT_PAUSE)) this.#leftMs = LATE;
  }

  /** @param {string} text @param {boolean} isRpc true if pi hands events over as records */
  #onError(text, isRpc) {
    const event = isRpc ? undefined : eventIn(text);
    if (event) return this.#onEvent(event);
    const line = plainText(text).trim();
    if (line === "") return;
    this.#seal = ACCEPTS_RULES.exec(line)?.[1] ?? this.#seal;
    if (errorRank(plainText(text)) > errorRank(this.#firstError)) this.#firstError = line;
    this.#lastError = line;
    this.progress.line(line);
  }

  /** @param {import("./pi.js").PiEnd} piEnd @returns {End} */
  #end(piEnd) {
    const run = this.newestRun();
    if (this.#interruptedBy) {
      const status = 128 + constants.signals[this.#interruptedBy];
      return { status, outcome: "interrupted", text: `interrupted by ${this.#interruptedBy}` };
    }
    if (this.#isLate && !run)
      return end("budget", "the budget is used up: its time is over, and the agent has not answered");
    const hasEnded = piEnd.signal === null && (piEnd.status === 0 || piEnd.status === 1);
    // An error of pi begins with the reason; a crash ends with the reason.
    const told = (hasEnded && this.#firstError) || this.#lastError;
    if (!this.#hasWorkflow) {
      const { failure } = this.agent;
      if (this.#usedUp !== undefined) return end("budget", `the budget is used up: ${this.#usedUp}`);
      if (failure !== undefined) return end("error", shortened(failure));
      return this.#isAtRest && hasEnded ? end("done", "the agent has stopped") : end("error", earlyEnd(piEnd, told));
    }
    if (!run && !hasEnded) return end("error", earlyEnd(piEnd, told));
    if (!run) {
      const none = "no run was started";
      return { ...end("error", told === "" ? `${none}.` : `${none}: ${shortened(told)}`), behind: `${none}.` };
    }
    if (this.#seal !== undefined && isOpen(run))
      return { ...end("paused", `paused in ${run.state.phaseTitle}: its rules have changed`), seal: this.#seal };
    const ended = endOf(run);
    if (ended && (run.state.pause === MODEL_PAUSE || run.state.pause === QUOTA_PAUSE)) {
      const reason = this.#modelError === "" ? "" : `: ${shortened(this.#modelError)}`;
      const status = run.state.pause === MODEL_PAUSE ? STATUS.error : ended.status;
      return { ...ended, status, text: `${ended.text}${reason}` };
    }
    if (ended) return ended;
    if (!this.#isAtRest || !hasEnded) return end("error", earlyEnd(piEnd, told));
    return end("paused", `waits in ${run.state.phaseTitle}: its agent has stopped, and nothing goes on by itself`);
  }
}

/** The end of a run by its session; `undefined` if the run goes on. @param {Run} run @returns {End | undefined} */
function endOf(run) {
  const { outcome, state } = run;
  if (outcome === "done" || outcome === "cancelled") return end(outcome, outcome);
  if (outcome === "stopped") return end(outcome, "stopped by an outcome of a phase");
  if (outcome !== "paused") return undefined;
  const { pause, quota } = /** @type {{ pause?: string, quota?: { until?: number } }} */ (reportOf(run).data);
  const text = `paused in ${state.phaseTitle}${pause === undefined ? "" : `: ${pause}`}`;
  if (state.pause === QUOTA_PAUSE) return { ...end("quota", text), quotaUntil: quota?.until };
  const kind = BUDGET_PAUSES.includes(state.pause ?? "")
    ? "budget"
    : state.pause === SILENT_PAUSE
      ? "silent"
      : "paused";
  return { ...end(kind, text), outcome };
}

/** The session file of the run. @param {import("../pi-workflows.js").Options} options */
function sessionOf({ session, continue: goesOn, approve }) {
  if (!goesOn) return session === undefined ? newSessionFile(randomUUID(), approve) : resolve(session);
  if (session !== undefined && !statSync(session, { throwIfNoEntry: false })?.isFile())
    throw new Failure(`There is no session ${quoted(session)}.`);
  const { runs, problems } = findRuns({ sessions: session, approve });
  const open = session === undefined ? runs.filter(isOpen) : runs;
  if (open.length === 0)
    throw new Failure(
      session === undefined
        ? ["No run of this project is unfinished.", ...problems].join(" ")
        : `${quoted(session)} has no run.`,
    );
  const newest = runOf(open, undefined, session === undefined);
  if (!isOpen(newest)) throw new Failure(`The run ${quoted(newest.state.taskId)} is over: ${newest.outcome}.`);
  return newest.session.file;
}

/** The runs of a session file, newest first; none if the file cannot be read yet. @param {string} session */
function runsIn(session) {
  return existsSync(session) ? findRuns({ sessions: session }).runs : [];
}

/** The maximum of `--wait` and `--silence`, in milliseconds: the component takes no longer time. */
const MAX_WAIT = 7 * 86_400_000;

/** The maximum size of a file with a task, in bytes: the component takes no longer task. */
const MAX_TASK_FILE = 2 ** 20;

/** The words behind NAME: the task and the words before it. @typedef {{ task?: string, words: string[] }} Given */

/**
 * Separates the task from the words before the task, which are values of inputs.
 * @param {string[]} words the words behind NAME
 * @param {import("../pi-workflows.js").Options} options
 * @returns {Promise<Given>}
 */
async function taskIn(words, { "task-file": file }) {
  const task = file === undefined ? words.at(-1) : await readTask(file);
  if (task?.trim() === "") throw new Failure(`The task${file === undefined ? "" : ` in ${quoted(file)}`} is empty.`);
  return { task, words: file === undefined ? words.slice(0, -1) : words };
}

/** Reads a file with a task, or a pipe. @param {string} file or `-` for standard input */
async function readTask(file) {
  const name = file === "-" ? "Standard input" : shortened(file);
  /** @type {Buffer[]} */
  const chunks = [];
  let size = 0;
  try {
    for await (const chunk of file === "-" ? process.stdin : createReadStream(file)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_TASK_FILE) throw new Failure(`${name} has more than ${MAX_TASK_FILE} bytes.`);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw error instanceof TypeError ? new Failure(`${name} is not UTF-8.`) : error;
  }
}

/**
 * The prompt that starts or continues the run.
 * @param {string | undefined} name
 * @param {Given} words
 * @param {import("../pi-workflows.js").Options} options
 */
async function promptOf(name, { task, words }, { input = [], continue: goesOn, more, "task-file": file }) {
  if (goesOn) {
    if (input.length > 0 || file !== undefined)
      throw new Failure(`--continue takes no --${file === undefined ? "input" : "task-file"}.`);
    const message = [name, ...words].filter((word) => word !== undefined).join(" ");
    if (message !== "" && more !== undefined) throw new Failure("--more takes no message: it resumes the run.");
    return message === "" ? "/workflow :resume" : message;
  }
  if (name === undefined || /\s/.test(name) || name.startsWith(":"))
    throw new Failure(`${quoted(name ?? "")} is no name of a workflow.`);
  const wrong = words.find((word) => !/^[\w-]+=/.test(word));
  if (wrong !== undefined)
    throw new Failure(
      `${quoted(wrong)} is one word too many. Put the task in quotes, and values of inputs before it: NAME=VALUE.`,
    );
  const given = valuesIn(words, input);
  if (given.length > 0) {
    // Without inputs the workflow would take the values for its task.
    const { grants, packages } = await placesOf(undefined);
    openWorkflows(grants, packages).runThrough(name, "a task", given, [], [], []);
  }
  const escaped = (/** @type {string} */ value) => value.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, "$&$&");
  const written = given.map(([name, value]) => `${name}="${escaped(value)}"`);
  // Words behind `--` are no values of inputs.
  return `/workflow ${[name, ...written, "--", ...(task === undefined ? [] : [task])].join(" ")}`;
}

/** The values of inputs. @param {string[]} words the words between NAME and TASK @param {string[]} input */
const valuesIn = (words, input = []) => [...inputsIn(input), ...pairs("input", "NAME=VALUE", words)];

/** @param {string} option @param {string} text bounds in the form of `--budget` */
function boundsOf(option, text) {
  try {
    return openWorkflows([]).readBounds(text);
  } catch (error) {
    throw new Failure(`--${option}: ${inWords(error)}.`);
  }
}

/**
 * The prompt of an agent without a workflow.
 * @param {Given} words
 * @param {import("../pi-workflows.js").Options} options
 */
function promptOfAgent({ task, words }, { input = [], continue: goesOn, detach: isDetached, wait, silence }) {
  if (goesOn || isDetached) throw new Failure(`- and --${goesOn ? "continue" : "detach"} exclude each other.`);
  if (words.length > 0) throw new Failure(`${quoted(words[0])} is one word too many. Put the task in quotes.`);
  const other = Object.entries({ wait, silence, input: input[0] }).find(([, value]) => value !== undefined);
  if (other) throw new Failure(`- takes no --${other[0]}.`);
  if (task === undefined) throw new Failure("pi-workflows run - needs a TASK.");
  if (/^\s*[/!]/.test(task))
    throw new Failure(`A task without a workflow cannot begin with ${quoted(task.trim()[0])}.`);
  return task;
}

/**
 * The arguments of pi.
 * @param {string} session
 * @param {import("../pi-workflows.js").Options} options
 * @param {boolean} hasValues the command line gives values to inputs
 */
async function argumentsOf(session, options, hasValues) {
  const given = {
    "workflow-events": options["events-full"] ? "full" : "on",
    "workflow-silence": options.silence ?? SILENCE,
    "workflow-budget": options.budget,
    "accept-workflow-rules": options["accept-rules"],
    "workflow-budget-more": options.more,
    "workflow-wait": options.wait,
    "allow-workflow-value": options["allow-value"]?.join("\n"),
  };
  return [
    ...["--session", session],
    ...((await loadedByPi(agentDir())) ? [] : ["-e", packageFolder()]),
    ...(options.model === undefined ? [] : ["--model", options.model]),
    ...(options.approve ? ["--approve"] : []),
    ...(options["no-context-files"] ? ["--no-context-files"] : []),
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    // pi takes a word behind such a flag for its value.
    ...(hasValues ? ["--allow-workflow-inputs"] : []),
    ...(options["allow-commands"] ? ["--allow-workflow-commands"] : []),
  ];
}

/**
 * Writes the files that the user wants, and returns the errors.
 * @param {Outputs} outputs
 * @param {Run | undefined} run
 * @param {End} end
 * @param {string} session
 * @param {import("./agent.js").AgentUsage} [usage] of an agent without a workflow
 */
function write({ result, summary }, run, end, session, usage) {
  const report = run && reportOf(run);
  const data = { end, session, usage, ...(report ? JSON.parse(REPORT_FORMATS.json(report)) : {}) };
  const markdown = report ? `${REPORT_FORMATS.md(report)}\n` : `# ${plainText(end.text)}\n`;
  const texts = /** @type {const} */ ([
    ["result", result, `${JSON.stringify(data, null, 2)}\n`],
    ["summary", summary, markdown],
  ]);
  return texts.flatMap(([name, write, text]) => {
    try {
      write?.(text);
      return [];
    } catch (error) {
      return [`The ${name} cannot be written: ${inWords(error)}`];
    }
  });
}

/** A word, quoted for a shell. @param {string} word */
const shellQuoted = (word) => (/^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
