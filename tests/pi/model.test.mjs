// A model that is drawn from a seed plays the examples and drawn workflows. Of each run the bounds, the prompts, the sums,
// the reason for its end and what its phases forbid are looked up in pi's own entries and in the requests.
//
// A seed is one run of one workflow: `npm run test:model -- --seed 1234` plays that one, and shows it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { childFiles, parentFiles } from "./harness/branches.mjs";
import {
  CHECK,
  PRICES,
  SESSION,
  WRITTEN,
  amounts,
  checkFile,
  drawnModel,
  drawnWorkflow,
  draws,
} from "./harness/drawn.mjs";
import { ALL } from "./harness/extent.mjs";
import { NODE, PI_VERSIONS, REPO, readSession, runPrint } from "./harness/pi.mjs";
import { startRpc } from "./harness/rpc.mjs";
import { makeSandbox } from "./harness/sandbox.mjs";
import { messageText, startModel } from "./harness/scripted-model.mjs";

/** The first and the last seed. */
const [FIRST, LAST] = (process.env.SEEDS ?? (ALL ? "1-300" : "1-5")).split("-").map(Number);

/** The number of requests after which the model only rests; then its run pauses. */
const MOST = 120;
/** The message of the user with which a run goes on. */
const GO_ON = "Go on.";
const EXAMPLES = join(REPO, "workflows-examples");

/**
 * The course of an agent, in order: `answer` is the number of the request, -1 where pi has stopped before it.
 *
 * @typedef {{ key: string, step: number, path: any[], paused: any, active: boolean, cancelled: boolean, continuations: number }} State
 * @typedef {{ state: State } | { answer: number, stop: string, calls: any[], usage: any, text: string }
 *   | { result: any, text: string, of: number, position: number } | { prompt: string } | { told: string, as: string }} Item
 *
 * The records of a run: the courses of the agents, one for each session, with their names; the drawn model with its turns; the rules
 * of the files; the bound and the exit status of the process in print mode.
 *
 * @typedef {{ courses: [agent: string, course: Item[]][], log: import("./harness/drawn.mjs").Turn[], delayMs: number, key: string,
 *   rules: ReturnType<typeof rulesOf>, project: string, dialogs: { title: string, answer: any }[], bound: object, code?: number | null }} Played
 */

/** The files of all examples, for a folder with workflows. */
function exampleFiles() {
  const files = readdirSync(EXAMPLES, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files.map(({ parentPath, name }) => relative(EXAMPLES, join(parentPath, name)));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(EXAMPLES, path), "utf8")]));
}

/**
 * The rules of workflows and phases, as the files have them.
 * @param {Record<string, string>} files
 * @param {import("./harness/sandbox.mjs").Pace} pace
 */
function rulesOf(files, pace) {
  const workflow = (/** @type {string} */ key) => {
    const name = Object.keys(files).find((path) => `/${path}`.endsWith(`/${key}/workflow.yaml`)) ?? "";
    return { folder: dirname(name), ...parse(files[name]) };
  };
  /** The entry at a path, its phase if it is one of the agent, and the budgets around it by their names. @param {any[]} path @returns {any} */
  const at = (path) => {
    let scope = workflow(path[0].workflowKey);
    let entry = scope;
    /** @type {[string, object][]} */
    const budgets = [];
    path.forEach(({ workflowKey, phaseIndex }, depth) => {
      if (entry.subworkflow) entry = scope = workflow(workflowKey);
      if (entry.budget) budgets.push([keyOf(path.slice(0, depth + 1)).replace(/:\d+$/, ""), entry.budget]);
      entry = entry.phases[phaseIndex];
    });
    const file = entry.phase ?? entry;
    if (typeof file !== "string") return { entry, budgets };
    const phase = { write: scope.write, ...parse(files[join(scope.folder, file)].split(/^---$/m)[1]) };
    return { entry, phase, budgets };
  };
  return { at, workflow, pace };
}

/** Returns true if a phase allows this tool, for a file that no `write` names. @param {any} phase @param {string} tool */
const allows = ({ tools, write }, tool) =>
  !tools?.blacklist?.includes(tool) && (tools?.whitelist?.includes(tool) ?? true) && write === undefined;

const keyOf = (/** @type {any[]} */ path) =>
  path.map(({ workflowKey, phaseIndex, item = "" }) => `${workflowKey}@${item}:${phaseIndex}`).join("/");

/** @param {any[]} entries @param {number[]} failed the requests of this agent that failed, in order @returns {Item[]} */
function courseOf(entries, failed) {
  return entries.flatMap(({ type, customType, data, content, message = {} }) => {
    /** @type {Item[]} */
    const items = [];
    const text = messageText(message) || (message.errorMessage ?? "");
    if (customType === "workflow:state") {
      const { currentPath: path, globalStepCount: step, active, cancelled, progress } = data;
      const { paused, continuations = 0 } = progress;
      items.push({ state: { key: keyOf(path), path, step, paused: paused?.reason, active, cancelled, continuations } });
    } else if (type === "custom_message") items.push({ told: messageText({ role: "", content }), as: customType });
    else if (message.role === "user") items.push({ prompt: text });
    else if (message.role === "toolResult") {
      const [, of, position] = /^call_(\d+)_(\d+)/.exec(message.toolCallId)?.map(Number) ?? [];
      items.push({ result: message, text, of, position });
    } else if (message.role === "assistant") {
      const { stopReason: stop, responseId, usage } = message;
      // An answer that failed has no id; one that was stopped before its request has none either.
      const answer = responseId?.replace("scripted-", "") ?? (stop === "error" ? failed.shift() : undefined) ?? -1;
      const calls = message.content.filter((/** @type {any} */ part) => part.type === "toolCall");
      items.push({ answer: Number(answer), stop, calls, usage, text });
    }
    return items;
  });
}

/** @template {string} K @param {Item[]} course @param {K} kind @returns {Extract<Item, Record<K, any>>[]} */
const only = (course, kind) => /** @type {any} */ (course.filter((item) => kind in item));

const lastState = (/** @type {Item[]} */ course) => only(course, "state").at(-1)?.state;

/** Returns true for an answer that the model has given: pi asks again for one that failed. @param {Item} item */
const isGiven = (item) => "answer" in item && item.answer >= 0 && item.stop !== "error";

const hasMoved = (/** @type {any} */ { details }) => Boolean(details?.advanced || details?.looped);

/** A line for each item. @param {Played} played */
const shown = ({ courses, log }) =>
  courses.flatMap(([agent, course]) => [
    `──── ${agent || "the session"}`,
    ...course.map((item) => {
      const calls = "calls" in item && JSON.stringify(item.calls.map(({ name, arguments: input }) => [name, input]));
      const line =
        "state" in item
          ? `── ${item.state.key} step ${item.state.step} ${item.state.active ? "" : "ended"} ${JSON.stringify(item.state.paused ?? "")}`
          : "answer" in item
            ? `${item.answer} ${log[item.answer]?.kind}: ${item.stop} ${calls} ${item.text}`
            : "result" in item
              ? `     ${item.result.isError ? "✗" : "="} ${item.text}`
              : "prompt" in item
                ? `> ${item.prompt}`
                : `  (${item.as}) ${item.told}`;
      return line.slice(0, 300).replaceAll("\n", "⏎");
    }),
  ]);

/** The invariants of each run. @type {Record<string, (played: Played) => void>} */
const HOLDS = {
  "pi has each answer once, with its usage"({ log, courses }) {
    const answers = courses.flatMap(([, course]) => only(course, "answer").filter(({ answer }) => answer >= 0));
    const numbers = answers.map(({ answer }) => answer);
    assert.equal(new Set(numbers).size, numbers.length);
    // The answer that a branch was to get when all branches ended is not there. Of an answer that the end of a budget of
    // time has cut off pi has that it was aborted.
    const lost = log.filter(({ agent }, number) => agent === SESSION && !numbers.includes(number));
    const cut = only(courses[0][1], "answer").filter(({ answer, stop }) => answer < 0 && stop === "aborted");
    assert.deepEqual(lost.slice(cut.length), []);
    for (const { answer, stop, usage } of answers) {
      const { step } = log[answer];
      if (!step.status && !step.unmetered && stop !== "aborted")
        assert.deepEqual([usage.input + usage.cacheRead, usage.output], [step.usage?.prompt, step.usage?.completion]);
    }
  },

  "each phase's prompt was sent before the phase was left"({ log, rules, courses }) {
    for (const [, course] of courses) {
      let at = /** @type {State | undefined} */ (undefined);
      let answer = -1;
      for (const item of course) {
        if ("answer" in item && item.answer >= 0) answer = item.answer;
        if (!("state" in item)) continue;
        const { phase } = at?.active && (item.state.step !== at.step || !item.state.active) ? rules.at(at.path) : {};
        const signs = [` ${phase?.name}]\n`, `**Progress:** Step ${at?.step} (`];
        const texts = log[answer]?.request.messages.map(messageText) ?? [];
        const isSent = !phase || texts.some((text) => signs.every((sign) => text.includes(sign)));
        assert.ok(isSent, `${at?.key} at step ${at?.step} was left by answer ${answer}, which had no prompt of it`);
        at = item.state;
      }
    }
  },

  "nothing was done that a phase forbids"({ log, rules, courses, project }) {
    for (const file of readdirSync(project)) {
      const [, request, position] = WRITTEN.exec(file)?.map(Number) ?? [];
      if (request === undefined) continue;
      const isOf = (/** @type {Item} */ item) => "answer" in item && item.answer === request;
      const [, course] = courses.find(([, items]) => items.some(isOf)) ?? assert.fail(`${file} is of no answer`);
      const tool = log[request].step.calls?.[position].name ?? "";
      const end = course.findIndex((item) => "result" in item && item.of === request && item.position === position);
      const before = lastState(course.slice(0, course.findIndex(isOf)));
      assert.ok(before?.active && !before.paused, `${file} was written behind the end, or in a pause`);
      // Behind a move in the same answer the rules of both phases hold.
      for (const { path, key } of [before, lastState(course.slice(0, end)) ?? before]) {
        const { phase } = rules.at(path);
        assert.ok(phase && allows(phase, tool), `${file} was written with ${tool} in ${key}, which forbids it`);
      }
    }
  },

  "no budget is passed by more than a turn of each agent"({ log, rules, courses, delayMs, bound }) {
    /** The turns within each budget, by its place. @type {Map<string, { budget: object, turns: import("./harness/drawn.mjs").Turn[] }>} */
    const places = new Map([["the process", { budget: bound, turns: log }]]);
    for (const [, course] of courses) {
      let state = /** @type {State | undefined} */ (undefined);
      for (const item of course) {
        if ("state" in item) state = item.state;
        if (!("answer" in item) || item.answer < 0 || !state?.active) continue;
        const { phase, budgets } = rules.at(state.path);
        const own = phase?.budget ? [[`${state.key} at step ${state.step}`, phase.budget]] : [];
        for (const [place, budget] of [...budgets, ...own]) {
          if (!places.has(place)) places.set(place, { budget, turns: [] });
          places.get(place)?.turns.push(log[item.answer]);
        }
      }
    }
    for (const [place, { budget, turns }] of places)
      for (const [measure, limit] of Object.entries(budget)) {
        /** @type {Record<string, number>} */
        const beyond = {};
        for (const { agent, step, begun } of turns) {
          const spent = amounts(
            turns.filter(({ ended }) => ended < begun),
            delayMs,
          );
          if (step.status || spent[/** @type {"turns"} */ (measure)] < limit - 1e-9) continue;
          beyond[agent] = (beyond[agent] ?? 0) + 1;
          assert.ok(
            beyond[agent] <= 1,
            `${beyond[agent]} requests of “${agent}” beyond ${limit} (${measure}) of ${place}`,
          );
        }
      }
  },

  "calls without news end"({ rules, courses }) {
    const bound = rules.pace.max_repeats ?? 20;
    for (const [agent, course] of courses) {
      const { late, atPause } = repetition(course, bound);
      assert.ok(late <= 1, `${late} answers of “${agent}” behind ${bound} calls without news`);
      const paused = lastState(course)?.paused;
      if (paused?.kind === "repeats")
        assert.ok(Math.min(atPause, paused.times) >= bound, `${atPause} calls without news, not ${paused.times}`);
    }
  },

  "the end of a run ends the agent's run"({ courses }) {
    for (const [agent, course] of courses) {
      const end = course.findIndex((item) => "state" in item && !item.state.active);
      // Nobody reads a closing answer of a branch.
      const most = agent === SESSION ? 1 : 0;
      const more = end < 0 ? 0 : course.slice(end).filter(isGiven).length;
      assert.ok(more <= most, `${more} answers of “${agent}” behind the end`);
    }
  },

  "the run has ended, or is paused, for a reason that is true"(played) {
    const { log, rules, key, dialogs, project, delayMs, code } = played;
    const [[, course]] = played.courses;
    const state = lastState(course);
    const root = rules.workflow(key);
    assert.ok(state && log.length < MOST + 40, `the run has not ended after ${MOST} requests`);
    if (code !== undefined) assert.equal(code === 0, !state.cancelled && !state.active, `exit status ${code}`);
    const cancels = dialogs.filter(({ title }) => /^Cancel/.test(title));
    const isCancelled = only(course, "result").some(({ result }) => result.details?.cancelled === true);
    assert.equal(isCancelled, cancels.at(-1)?.answer === true && !state.active, "only the user's yes cancels a run");
    if (!state.active) return;
    const { kind, times, of, name, spent, limit, measure, why } = state.paused ?? {};
    if (!kind) return assert.equal(root.autoContinue, false, "the run is active, and would go on by itself");

    const { entry, phase } = rules.at(state.path);
    const log_ = existsSync(join(project, "checks.log")) ? readFileSync(join(project, "checks.log"), "utf8") : "";
    const runs = log_.split("\n").map((line) => line.split(" "));
    const hasFailed = (/** @type {string[]} */ ...names) =>
      names.some((name) => runs.findLast(([of]) => of === name)?.[1] === "1");
    const isNotAgreed = dialogs.length === 0 || !/^(yes|true)/i.test(String(dialogs.at(-1)?.answer));
    const results = only(course, "result").map(({ result }) => result);
    const taken = amounts(log, delayMs);
    // A request that was aborted before the model got it may have failed.
    const failed = played.courses
      .flatMap(([, run]) => only(run, "answer"))
      .filter(({ answer, stop }) => answer < 0 && stop !== "aborted");
    const all = {
      turns: taken.turns + failed.length,
      cost: Math.round(taken.cost * 1e6),
      time: Infinity,
    };
    const isCut = (/** @type {Item[]} */ run) => only(run, "answer").at(-1)?.stop === "length";
    const lastRuns = agentRuns(course)
      .filter((run) => !isCut(run))
      .slice(-times);
    const given = only(
      course.slice(
        0,
        course.findLastIndex((item) => "state" in item),
      ),
      "answer",
    ).filter(isGiven);
    /** @type {Record<string, () => unknown>} */
    const isTrue = {
      budget: () => spent >= limit && spent <= all[/** @type {"turns"} */ (measure)],
      repeats: () => true, // Above.
      idle: () => times === (rules.pace.max_idle ?? 3) && lastRuns.length === times && !lastRuns.some(hasWorked),
      cutOff: () => times > (rules.pace.max_idle ?? 3) && given.slice(-times).every((answer) => isCut([answer])),
      limit: () => times === (rules.pace.max_per_phase ?? 10) && state.continuations === times,
      gate: () => times <= (phase.gateAttempts ?? 3) && hasFailed(name, "tests"),
      question: () => isNotAgreed,
      outputs: () => times === 5 && results.filter(({ details }) => details?.error === "outputs required").length >= 5,
      loops: () => results.filter(hasMoved).length >= 20,
      way: () => results.filter(hasMoved).length >= times,
      modelError: () => log.at(-1)?.step.status === 500,
      unknownCost: () => log.some(({ step }) => step.unmetered),
      step: () =>
        /the end of a budget/.test(why)
          ? rules.at(only(course, "state").findLast((item) => item.state.key !== state.key)?.state.path ?? []).phase
              ?.onBudget
          : entry.parallel || hasFailed(entry.id, "tests"),
      cancel: () => code !== undefined,
      running: () => results.filter(({ toolName }) => toolName === "workflow_step").length >= 10,
    };
    assert.ok(isTrue[kind]?.(), JSON.stringify([state.paused, of, all, dialogs.at(-1)]));
  },
};

/** The agent's runs, each from its prompt on: without a user interface a reminder is one. @param {Item[]} course @returns {Item[][]} */
function agentRuns(course) {
  /** @type {Item[][]} */
  const runs = [];
  for (const item of course) {
    const isReminder = "told" in item && item.as === "workflow:reminder" && (runs.at(-1)?.length ?? 0) > 1;
    if ("prompt" in item || isReminder) runs.push([]);
    runs.at(-1)?.push(item);
  }
  return runs;
}

/** Returns true if calls of an agent's run were carried out, or moved the run. @param {Item[]} run */
const hasWorked = (run) =>
  only(run, "result").some(({ result }) => (result.toolName === "workflow_step" ? hasMoved(result) : !result.isError));

/**
 * The calls in a row without news when the run paused, at most, and the answers behind so many, at least.
 *
 * @param {Item[]} course
 * @param {number} bound 0 for none
 */
function repetition(course, bound) {
  let state = /** @type {State | undefined} */ (undefined);
  let [least, most, atPause, late, latest] = [0, 0, 0, 0, 0];
  let seen = new Set();
  let [isCut, isLeft] = [false, false];
  const begin = () => ([least, most, late] = [0, 0, 0]);
  const inputs = new Map(only(course, "answer").flatMap(({ calls }) => calls.map((call) => [call.id, call.arguments])));
  for (const item of course) {
    const hasCalls = "answer" in item && isGiven(item) && item.stop !== "length" && item.calls.length > 0;
    if (hasCalls && bound > 0 && least >= bound) latest = Math.max(latest, (late += 1));
    // The agent is told before the run pauses, and answers once more.
    if ("told" in item && /^Your last \d+ tool calls? brought/.test(item.told) && least >= bound) late -= 1;
    if ("prompt" in item && item.prompt === GO_ON) begin();
    if ("state" in item) {
      const isMoved = item.state.key !== state?.key || item.state.step !== state.step;
      if (isMoved) [seen, isLeft] = [new Set(), true];
      if (item.state.paused && !state?.paused) atPause = most;
      if (isMoved || (!item.state.paused && state?.paused)) begin();
      state = item.state;
    }
    if ("answer" in item) [isCut, isLeft] = [item.stop === "length", false];
    // Of an answer that is cut off, the answer counts, and not its calls. The calls of an answer that moves the run
    // belong to the phase that was left.
    if (!("result" in item) || isCut || isLeft) continue;
    const { toolName, toolCallId, isError, details } = item.result;
    const call = JSON.stringify([toolName, inputs.get(toolCallId), item.text]);
    const isStep = toolName === "workflow_step" && !isError;
    const isOld = isError || (!isStep && seen.has(call));
    seen.add(call);
    // A call of workflow_step has news if a gate was checked or the run moved; where that is not told, it may have.
    least = isOld || (isStep && details?.error) ? least + 1 : 0;
    most = isOld || (isStep && !hasMoved(item.result)) ? most + 1 : 0;
  }
  return { late: latest, atPause };
}

/** The usage of a run by the entries of pi: of the session up to the end of the run, and of all branches. @param {Played["courses"]} courses */
function usageOf(courses) {
  const sum = { turns: 0, input: 0, output: 0, cacheRead: 0, cost: 0, toolCalls: 0 };
  for (const [agent, course] of courses) {
    // The closing answer belongs to the run: the last state is that of the message at its end.
    const hasEnded = agent === SESSION && !lastState(course)?.active;
    const end = hasEnded ? course.findLastIndex((item) => "state" in item) : course.length;
    for (const { answer, stop, usage, calls } of only(course.slice(0, end), "answer")) {
      // An answer that was stopped before its request is none; pi 0.87.1 tells it as one that failed.
      if (answer >= 0 || stop !== "aborted") sum.turns += 1;
      sum.toolCalls += calls.length;
      for (const field of /** @type {const} */ (["input", "output", "cacheRead"])) sum[field] += usage[field];
      sum.cost += usage.cost.total * 1e6;
    }
  }
  return { ...sum, cost: Math.round(sum.cost) };
}

/** A pi with all workflows, for many seeds. @param {string} version */
async function open(version) {
  /** @type {ReturnType<typeof drawnModel> | undefined} */
  let drawn;
  const model = await startModel((request, index) => drawn?.answer(request, index));
  const examples = exampleFiles();
  const files = { "package.json": JSON.stringify({ scripts: { test: `${CHECK} tests` } }) };
  const settings = { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } };
  const sandbox = makeSandbox({ model, modelConfig: PRICES, globalFiles: examples, files, settings });
  const folder = join(sandbox.agent, "workflows");
  /** @type {import("./harness/rpc.mjs").Rpc | undefined} */
  let rpc;
  /** The usage of the runs by the entries of pi, by task. @type {Map<string, any>} */
  const taken = new Map();

  /** @param {number} seed @returns {Promise<{ faults: string[], end: string }>} */
  async function play(seed) {
    const draw = draws(seed, "run");
    const names = Object.keys(examples).filter((name) => /^[^_/]+\/workflow.yaml$/.test(name));
    const isExample = seed % 3 === 0;
    const key = isExample ? dirname(draw.pick(names)) : `drawn-${seed}`;
    const own = isExample ? {} : drawnWorkflow(draw, key);
    const bounds = () => ({
      max_per_phase: draw.whole(2, 8),
      max_idle: draw.whole(1, 3),
      max_repeats: draw.whole(3, 8),
    });
    const pace = { delay_seconds: 0, ...(isExample ? {} : bounds()) };
    sandbox.setPace(pace);
    const rules = rulesOf({ ...examples, ...own }, pace);
    for (const [place, kept] of /** @type {const} */ ([
      [sandbox.project, /^package.json$/],
      [folder, /^(?!drawn-)/],
    ]))
      for (const name of readdirSync(place)) if (!kept.test(name)) rmSync(join(place, name), { recursive: true });
    for (const [name, text] of Object.entries(own)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    sandbox.writeFiles({ "check.sh": checkFile(draw) });
    drawn = drawnModel(seed, MOST);
    model.requests.length = 0;
    /** @type {Played["dialogs"]} */
    const dialogs = [];
    const onDialog = (/** @type {any} */ { method, title, options = [] }) => {
      const yes = options.find((/** @type {string} */ option) => /^yes/i.test(option)) ?? options.at(-1);
      const answers = { confirm: [true, false], select: [yes, options[0]], input: ["Because.", undefined] };
      const [good, bad] = answers[/** @type {"select"} */ (method)] ?? [];
      const answer = draw.chance(0.75) ? good : draw.chance(0.5) ? bad : undefined;
      dialogs.push({ title, answer });
      return answer;
    };

    const prompt = `/workflow ${key} Seed ${seed}`;
    /** @type {any[]} */
    let entries;
    let bound = {};
    let code;
    if (draw.chance(0.1)) {
      await rpc?.close();
      rpc = undefined;
      bound = draw.chance(0.5) ? { turns: draw.whole(2, 12) } : {};
      const args = Object.values(bound).flatMap((turns) => ["--workflow-budget", `turns=${turns}`]);
      ({ code } = await runPrint({ version, sandbox, prompt, args }));
      entries = readSession(sandbox, parentFiles(sandbox).at(-1));
    } else {
      rpc ??= await startRpc({ version, sandbox });
      const begun = rpc.records.length;
      await rpc.send({ type: "new_session" });
      rpc.onDialog(onDialog);
      for (let prompts = 1; ; prompts += 1) {
        await rpc.prompt(prompts === 1 ? prompt : draw.chance(0.5) ? GO_ON : "/workflow :resume");
        entries = await atRest(rpc, rules.workflow(key).autoContinue === false);
        const { active, paused } = lastState(courseOf(entries, [])) ?? {};
        const goesOn = active && prompts < 4 && !/budget|unknown|step|question/.test(paused?.kind ?? "");
        if (!goesOn || draw.chance(0.5)) break;
      }
      const errors = rpc.records.slice(begun).filter(({ type }) => type === "extension_error");
      assert.deepEqual(errors, []);
    }

    const { log, delayMs } = drawn;
    const failed = (/** @type {string} */ agent) =>
      log.flatMap((turn, number) => (turn.agent === agent && turn.step.status ? [number] : []));
    /** @type {Played["courses"]} */
    const courses = [[SESSION, courseOf(entries, failed(SESSION))]];
    const children = (parentFiles(sandbox).at(-1) ?? "").replace(/\.jsonl$/, ".children");
    for (const child of childFiles(sandbox).filter((path) => dirname(path) === children)) {
      const all = readSession(sandbox, child);
      const first = only(courseOf(all, []), "answer").find(({ answer }) => answer >= 0);
      const agent = log[first?.answer ?? -1]?.agent ?? child;
      courses.push([agent, courseOf(all, failed(agent))]);
    }
    taken.set(`Seed ${seed}`, usageOf(courses));
    const played = { courses, log, delayMs, key, rules, project: sandbox.project, dialogs, bound, code };
    if (FIRST === LAST) console.log(Object.entries(own).flat().join("\n"), shown(played).join("\n"), dialogs);
    const faults = model.faults.splice(0).map(String);
    for (const [name, holds] of Object.entries(HOLDS))
      try {
        holds(played);
      } catch (error) {
        faults.push(`${name}: ${/** @type {any} */ (error).message}`);
      }
    const { paused, active } = lastState(courses[0][1]) ?? {};
    return { faults, end: active ? (paused?.kind ?? "waits") : "ended" };
  }

  /** The seeds whose sums in `pi-workflows runs` are not those of pi's entries. */
  function wrongSums() {
    const options = /** @type {const} */ ({ cwd: sandbox.project, env: sandbox.env(), encoding: "utf8" });
    const text = execFileSync(NODE, [join(REPO, "cli/pi-workflows.js"), "runs", "--format", "json"], options);
    const { runs } = /** @type {{ runs: any[] }} */ (JSON.parse(text));
    return [...taken].flatMap(([task, sums]) => {
      const { turns, input, output, cacheRead, cost, toolCalls } = runs.find((run) => run.task === task)?.usage ?? {};
      const found = { turns, input, output, cacheRead, cost: Math.round(cost * 1e6), toolCalls };
      const fault = `the sums are not pi's: ${JSON.stringify([found, sums])}`;
      return isDeepStrictEqual(found, sums) ? [] : [{ seed: Number(task.slice(5)), fault }];
    });
  }

  const close = async () => {
    await sandbox.dispose();
    await model.close();
  };
  return { play, wrongSums, close };
}

/** The entries of a session whose run has ended, is paused, or waits for the user. @param {import("./harness/rpc.mjs").Rpc} rpc @param {boolean} waits */
async function atRest(rpc, waits) {
  let entries = await rpc.entries();
  for (const begun = performance.now(); performance.now() - begun < 60_000;) {
    const { isStreaming } = await rpc.state();
    const state = lastState(courseOf(entries, []));
    const isOver = !isStreaming && (!state?.active || state.paused || waits);
    await sleep(20);
    const before = entries.length;
    entries = await rpc.entries();
    if (isOver && entries.length === before && !(await rpc.state()).isStreaming) return entries;
  }
  throw new Error("the run neither ends nor pauses");
}

suite("a model that is drawn from a seed", { concurrency: 2 }, () => {
  for (const [parity, version] of PI_VERSIONS.entries()) {
    const all = Array.from({ length: LAST - FIRST + 1 }, (_, n) => FIRST + n);
    const seeds = all.filter((seed) => seed % PI_VERSIONS.length === parity);
    const options = { skip: seeds.length === 0, timeout: seeds.length * 10_000 + 120_000 };
    test(`pi ${version}: ${seeds.length} seeds up to ${seeds.at(-1)}`, options, async (t) => {
      /** @type {string[]} */
      const failed = [];
      /** @type {Record<string, number>} */
      const ends = {};
      let pi = await open(version);
      t.after(() => pi.close());
      const note = (/** @type {number} */ seed, /** @type {string[]} */ faults) =>
        void failed.push(`seed ${seed} (npm run test:model -- --seed ${seed}):\n  ${faults.join("\n  ")}`);
      const compareSums = () => pi.wrongSums().forEach(({ seed, fault }) => note(seed, [fault]));
      for (const seed of seeds) {
        const broken = (/** @type {Error} */ { stack }) => ({ faults: [String(stack)], end: "broken" });
        const { faults, end } = await pi.play(seed).catch(broken);
        ends[end] = (ends[end] ?? 0) + 1;
        if (faults.length === 0) continue;
        note(seed, faults);
        compareSums();
        // The next seed has a pi of its own.
        await pi.close();
        pi = await open(version);
      }
      compareSums();
      t.diagnostic(JSON.stringify(ends));
      assert.equal(failed.length, 0, failed.join("\n"));
    });
  }
});
