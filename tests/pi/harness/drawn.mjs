// Workflows and a model that are drawn from a seed: the same seed gives the same files and the same answers.

import { setTimeout as sleep } from "node:timers/promises";
import { branchOf } from "./branches.mjs";
import { messageText } from "./scripted-model.mjs";
import { phaseFile } from "./workflows.mjs";

/** @typedef {ReturnType<typeof draws>} Draws */
/** @typedef {import("./scripted-model.mjs").ChatRequest} ChatRequest */
/** @typedef {import("./scripted-model.mjs").Step} Step */

/** Returns a source of numbers that these values alone decide. @param {...(string | number)} of */
export function draws(...of) {
  let state = [...of.join("/")].reduce((hash, sign) => Math.imul(hash ^ sign.charCodeAt(0), 0x01000193), 0x811c9dc5);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** @template T @param {readonly T[]} list @returns {T} */
  const pick = (list) => list[Math.floor(next() * list.length)];
  return {
    chance: (/** @type {number} */ part) => next() < part,
    /** A whole number between these, both included. */
    whole: (/** @type {number} */ least, /** @type {number} */ most) => least + Math.floor(next() * (most - least + 1)),
    pick,
    /** One of the keys, as often as its number says. */
    weighted: (/** @type {Record<string, number>} */ weights) => {
      let left = next() * Object.values(weights).reduce((sum, weight) => sum + weight, 0);
      return Object.keys(weights).find((key) => (left -= weights[key]) < 0) ?? Object.keys(weights)[0];
    },
  };
}

/** The command of gates and steps: its exit status is the next sign of a drawn text, and it notes each run. */
export const CHECK = "sh check.sh";

/** The file of `CHECK`. @param {Draws} draw */
export function checkFile(draw) {
  const signs = Array.from({ length: 60 }, () => (draw.chance(0.25) ? 1 : 0)).join("");
  return `n=$(grep -c "^$1 " checks.log 2>/dev/null)\ns=$(printf ${signs} | cut -c $((n + 1)))\necho "$1 $s" >> checks.log\nexit $s\n`;
}

/** The prices of the drawn models, in US dollars for a million tokens: a token costs a tenth of a cent or more. */
export const PRICES = { cost: { input: 1000, output: 2000, cacheRead: 100, cacheWrite: 0 } };

/** Fields of a drawn budget. @param {Draws} draw @param {number} turns about the number of turns that it allows */
function budget(draw, turns) {
  const bounds = { turns, cost: turns * 0.03, time: Math.ceil(turns / 8) };
  const measure = draw.weighted({ turns: 5, cost: 3, time: 1 });
  return { [measure]: /** @type {any} */ (bounds)[measure] };
}

/** @param {Draws} draw @param {number} share @param {() => object} fields */
const sometimes = (draw, share, fields) => (draw.chance(share) ? fields() : {});

/**
 * Returns the files of a drawn workflow, below a folder with workflows.
 *
 * @param {Draws} draw
 * @param {string} key
 * @returns {Record<string, string>}
 */
export function drawnWorkflow(draw, key) {
  /** @type {Record<string, string>} */
  const files = {};
  let count = 0;
  /** A bound: this number, or the input of each drawn workflow, which is from 1 to 3. */
  const bound = (/** @type {unknown} */ number) => (draw.chance(0.3) ? "input.bound" : number);
  const phase = (/** @type {string} */ folder, isBranch = false) => {
    const id = `p${++count}`;
    const bad = isBranch
      ? "stop"
      : draw.pick([
          { to: "loop", max: bound(draw.whole(1, 3)) },
          "stop",
          "done",
          { to: id, max: bound(2), then: "next" },
        ]);
    files[`${folder}/${id}.md`] = phaseFile({
      id,
      ...sometimes(draw, 0.4, () => ({
        tools: draw.pick([{ blacklist: ["edit", "write"] }, { whitelist: ["read", "ls"] }, { blacklist: ["bash"] }]),
      })),
      ...(isBranch || draw.chance(0.25) ? { write: [] } : {}),
      ...sometimes(draw, 0.3, () => ({ summary: "required" })),
      ...sometimes(draw, isBranch ? 0 : 0.2, () => ({ context: "fresh" })),
      ...sometimes(draw, 0.4, () => ({ outcomes: { good: "next", bad } })),
      ...sometimes(draw, 0.3, () => ({
        outputs: { size: { type: "choice", options: ["small", "large"] }, why: { type: "text" } },
      })),
      ...sometimes(draw, 0.3, () => ({
        gate: [{ run: `${CHECK} ${id}`, name: id }],
        gateAttempts: bound(draw.whole(1, 3)),
      })),
      ...sometimes(draw, 0.25, () => ({
        budget: budget(draw, draw.whole(2, 6)),
        ...sometimes(draw, 0.5, () => ({ onBudget: draw.pick(isBranch ? ["next"] : ["next", "next", "stop"]) })),
      })),
    });
    return `${id}.md`;
  };
  const some = (/** @type {number} */ least, /** @type {number} */ most, /** @type {() => unknown} */ make) =>
    Array.from({ length: draw.whole(least, most) }, make);
  const entry = () => {
    const id = `e${++count}`;
    const outcomes = {
      ok: "next",
      ...sometimes(draw, 0.5, () => ({ failed: draw.pick([{ to: "loop", max: bound(2) }, "next"]) })),
    };
    switch (draw.weighted({ phase: 60, step: 12, ask: 6, branches: 12, each: 6, nested: 8 })) {
      case "step":
        return { run: `${CHECK} ${id}`, id, outcomes, ...sometimes(draw, 0.2, () => ({ timeout: "input.limit" })) };
      case "ask":
        return {
          ask: "Go on?",
          id,
          outcomes: {
            ...sometimes(draw, 0.3, () => ({ first: { to: "next", when: { "input.bound": [1, 2] } } })),
            yes: "next",
            no: draw.pick(["stop", "loop"]),
          },
        };
      case "branches": {
        const phases = some(2, 4, () => phase(key, true));
        return { id, phases, parallel: bound(true), ...sometimes(draw, 0.5, () => ({ need: 1 })) };
      }
      case "each":
        return { id, phases: some(1, 2, () => phase(key)), each: ["one", "two"] };
      case "nested": {
        const inner = `${key}-${id}`;
        const phases = /** @type {string[]} */ (some(1, 2, () => phase(inner)));
        const giving = phases.find((file) => files[`${inner}/${file}`].includes("\noutputs: "));
        write(inner, {
          phases,
          ...(giving && { outputs: { size: `output.${giving.slice(0, -3)}.size` } }),
          ...sometimes(draw, 0.3, () => ({ budget: budget(draw, 5) })),
        });
        if (!giving) return { subworkflow: inner };
        const large = { phase: phase(key), when: { [`output.${inner}.size`]: "large" } };
        return { id, phases: [{ subworkflow: inner }, large] };
      }
      default:
        return phase(key);
    }
  };
  const write = (/** @type {string} */ folder, /** @type {object} */ fields) => {
    const texts = { name: `The ${folder}`, commandName: folder, initialMessage: "Start: {description}" };
    const number = { type: "number", min: 1 };
    const inputs = {
      bound: { ...number, max: 3, default: draw.whole(1, 3) },
      limit: { ...number, max: 99, default: 99 },
    };
    files[`${folder}/workflow.yaml`] = JSON.stringify({ ...texts, inputs, ...fields }, null, 2);
  };
  write(key, {
    phases: some(2, 5, entry),
    ...sometimes(draw, 0.5, () => ({ budget: budget(draw, draw.whole(4, 24)) })),
    autoContinue: !draw.chance(0.1),
  });
  return files;
}

/** The exact calls of the newest prompt in view, as objects. @param {ChatRequest} request @returns {any[]} */
function callsInView({ messages }) {
  const shown = messages.map(messageText).map((text) => text.slice(Math.max(0, text.lastIndexOf("[Workflow path: "))));
  const newest = shown.findLast((text) => /^\s*workflow_step \{/m.test(text)) ?? "";
  return [...newest.matchAll(/^\s*workflow_step (\{.*\})$/gm)].map(([, call]) => JSON.parse(call));
}

/** A right call: the exact one with values of the agent's own. @param {Draws} draw @param {ChatRequest} request @param {number} index */
function rightCall(draw, request, index) {
  const call = draw.pick([{ action: "next" }, ...callsInView(request)].slice(-4));
  /** @param {any} value @returns {any} */
  const own = (value) => {
    if (typeof value === "string") return /^<.*>$/.test(value) ? `Found ${index}.` : value;
    if (Array.isArray(value)) return value.map(own);
    return typeof value === "object"
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, own(inner)]))
      : value;
  };
  return own(call);
}

/** The names of the files that the answer to request INDEX writes, with the call's position. */
export const WRITTEN = /^written-(\d+)-(\d+)\.txt$/;

/**
 * The answers of a model, each with its weights for one that is good, careless and lost.
 *
 * @type {Record<string, [weights: number[], make: (right: any, index: number, draw: Draws) => Step]>}
 */
const ANSWERS = (() => {
  const step = (/** @type {any} */ input) => ({ name: "workflow_step", arguments: input });
  const raw = (/** @type {string} */ text) => ({ name: "workflow_step", arguments: {}, raw: text });
  const bash = (/** @type {string} */ command) => ({ name: "bash", arguments: { command } });
  const write = (/** @type {number} */ index, /** @type {number} */ position) => ({
    name: "write",
    arguments: { path: `written-${index}-${position}.txt`, content: "x" },
  });
  const shell = (/** @type {number} */ index, /** @type {number} */ position) =>
    bash(`echo x > written-${index}-${position}.txt || true`);
  const calls = (/** @type {any[]} */ ...list) => ({ calls: list });
  return {
    "the right call": [[55, 32, 8], (right) => calls(step(right))],
    "a file": [[10, 8, 5], (_, index) => calls(write(index, 0))],
    "a command": [[10, 8, 5], (_, index) => calls(shell(index, 0))],
    "a file and a command": [[4, 3, 2], (_, index) => calls(write(index, 0), shell(index, 1))],
    "a command and the right call": [[3, 3, 2], (right, index) => calls(shell(index, 0), step(right))],
    "the right call and more": [[2, 4, 3], (right, index) => calls(step(right), write(index, 1), shell(index, 2))],
    "two moves": [[2, 5, 4], (right) => calls(step(right), step(right))],
    "a move and a loop": [[0, 2, 2], (right) => calls(step(right), step({ action: "loop" }))],
    "another spelling": [
      [4, 6, 4],
      (right) =>
        calls(
          step({
            ...right,
            action: "Next ",
            ...(right.outcome && { outcome: [right.outcome.toUpperCase()] }),
            ...(right.outputs && { outputs: JSON.stringify(right.outputs) }),
          }),
        ),
    ],
    "a tool that is none": [
      [1, 4, 8],
      (right, _, draw) => calls({ name: draw.pick(["workflow-step", "next"]), arguments: right }),
    ],
    "a tool that is none beside a file": [
      [0, 2, 3],
      (_, index) => calls(write(index, 0), { name: "none", arguments: {} }),
    ],
    "arguments that do not fit": [[1, 3, 5], (_, index) => calls({ name: "bash", arguments: { line: `${index}` } })],
    "broken arguments": [[1, 3, 6], () => calls(raw('{"action": "next", "summary": "I fou'))],
    "arguments as a text": [[1, 3, 4], (right) => calls(raw(JSON.stringify(JSON.stringify(right))))],
    "the call as a text": [[1, 3, 6], (right) => ({ text: `workflow_step ${JSON.stringify(right)}` })],
    "an outcome that is none": [[1, 3, 5], (right) => calls(step({ ...right, outcome: "perhaps" }))],
    "outputs that are none": [[1, 3, 5], (right) => calls(step({ ...right, outputs: { size: "none" } }))],
    "the example": [[1, 2, 4], (right) => calls(step({ ...right, summary: "<what you found or did>" }))],
    "the status": [[1, 3, 4], () => calls(step({ action: "status" }))],
    "a loop": [[1, 3, 4], () => calls(step({ action: "loop" }))],
    "to cancel": [[0, 2, 2], () => calls(step({ action: "cancel" }))],
    "the same command": [[1, 4, 8], () => calls(bash("echo same"))],
    "the same command twice": [[0, 2, 3], () => calls(bash("echo same"), bash("echo same"))],
    "text alone": [[2, 5, 8], () => ({ text: "I think about it." })],
    nothing: [[0, 2, 4], () => ({ text: "" })],
    "a text that is cut": [[1, 2, 4], () => ({ text: "I begin to", cut: true })],
    "a call that is cut": [[1, 2, 4], () => ({ ...calls(raw('{"action": "ne')), cut: true })],
    "an error": [[0.5, 1, 1.5], () => ({ status: 500 })],
    "no usage": [[0.3, 0.5, 0.5], (right) => ({ ...calls(step(right)), unmetered: true })],
  };
})();

/** The name of the session's own agent beside those of branches. */
export const SESSION = "";

/**
 * A request, and the answer to it: `begun` and `ended` are their places in the order of all.
 *
 * @typedef {{ agent: string, request: ChatRequest, kind: string, step: Step, begun: number, ended: number }} Turn
 */

/**
 * A model that is drawn from a seed, for the session and its branches. Each agent draws for itself, so that branches
 * beside each other give the same answers in any order.
 *
 * @param {string | number} seed
 * @param {number} most the number of requests after which it only says that it rests
 */
export function drawnModel(seed, most) {
  const nature = draws(seed, "nature");
  const [manner, delayMs] = [nature.whole(0, 2), nature.chance(0.15) ? 150 : 0];
  /** The answers that each agent has given, and the kind that it gives for some time. @type {Map<string, { count: number, spell?: string }>} */
  const agents = new Map();
  /** @type {Turn[]} */
  const log = [];
  let order = 0;

  /** @type {import("./scripted-model.mjs").StepFunction} */
  const answer = async (request, index) => {
    const agent = branchOf(request) ?? SESSION;
    const known = agents.get(agent) ?? { count: 0 };
    agents.set(agent, known);
    const draw = draws(seed, agent, known.count++);
    const told = messageText(request.messages.at(-1) ?? { role: "" });
    const isOver = /→ (DONE|STOPPED|the end of the branch)|The workflow is paused|has ended|cancelled:/.test(told);
    if (known.count > 1 && draw.chance(0.03)) known.spell = draw.pick(Object.keys(ANSWERS));
    else if (draw.chance(0.04)) known.spell = undefined;
    const weights = Object.fromEntries(Object.entries(ANSWERS).map(([name, [list]]) => [name, list[manner]]));
    const rests = index >= most || (isOver && draw.chance(0.75));
    const kind = rests ? "text alone" : (known.spell ?? draw.weighted(weights));
    const right = rightCall(known.spell ? draws(seed, agent) : draw, request, known.spell ? 0 : index);
    const prompt = draw.whole(5, 30);
    const usage = { prompt, completion: draw.whole(1, 20), cacheRead: draw.whole(0, prompt - 5) };
    const turn = { agent, request, kind, step: ANSWERS[kind][1](right, index, draw), begun: order++, ended: Infinity };
    log.push(turn);
    if (delayMs) await sleep(delayMs);
    turn.ended = order++;
    return Object.assign(turn.step, { usage });
  };
  return { answer, log, delayMs };
}

/** Returns the least duration of turns, in milliseconds. @param {Turn[]} turns @param {number} delayMs */
export function amounts(turns, delayMs) {
  const priced = turns.flatMap(({ step }) => (step.status || step.unmetered || !step.usage ? [] : [step.usage]));
  const sum = (/** @type {(usage: any) => number} */ of) => priced.reduce((total, usage) => total + of(usage), 0);
  const { input, output, cacheRead } = PRICES.cost;
  return {
    turns: turns.length,
    time: (turns.length * delayMs) / 1000,
    cost: sum((it) => (it.prompt - it.cacheRead) * input + it.completion * output + it.cacheRead * cacheRead) / 1e6,
  };
}
