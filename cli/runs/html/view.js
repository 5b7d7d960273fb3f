// The report of a run, drawn from its data.
import { cost, counted, dollars, duration, grouped, preciseDuration, tokens, tokensOf } from "../figures.js";
import { bdi, date, first, h, inParts, listed, more, percent, phaseName, section, swatch, table } from "./nodes.js";
import { ENDINGS, timeline } from "./timeline.js";

/**
 * @typedef {import("./data.js").Report} Report
 * @typedef {import("./data.js").Phase} Phase
 * @typedef {import("./data.js").Usage} Usage
 * @typedef {import("./nodes.js").Row} Row
 */

/** Maximum numbers of shown items, and of the characters of a word that is not broken. */
const MAX = {
  phases: 300,
  bars: 30,
  visits: 150,
  pauses: 40,
  evidence: 200,
  outputs: 200,
  summaries: 60,
  models: 6,
  word: 24,
};

/** The outcomes, each with its mark, its words and its class. @type {Map<string, [string, string, string]>} */
const OUTCOMES = new Map([
  ["done", ["✓", "Done", "good"]],
  ["stopped", ["⛔", "Stopped", "bad"]],
  ["cancelled", ["✗", "Cancelled", "bad"]],
  ["paused", ["Ⅱ", "Paused", ""]],
  ["running", ["▸", "Not finished", ""]],
  ["lost", ["▸", "Not finished: its process has ended", ""]],
  ["replaced", ["⇥", "Not finished: another run took its place", ""]],
]);

/** The rules that refuse tool calls. */
const RULES = new Map([
  ["tools", "Tools of the phase"],
  ["write", "Paths that may be written"],
  ["hide", "Hidden paths"],
  ["sandbox", "Commands cannot be confined here"],
  ["gate", "A gate is being checked"],
  ["freshStart", "A fresh start is ahead"],
  ["budget", "A budget is used up"],
  ["seal", "Rules of the run that the files no longer give"],
  ["pause", "The run is paused"],
]);

const TOKENS = { input: "Input", output: "Output", cacheRead: "Cache read", cacheWrite: "Cache written" };
const KINDS_OF_TOKENS = /** @type {(keyof typeof TOKENS)[]} */ (Object.keys(TOKENS));

/** @param {Report} report */
export function reportView(report) {
  const { phases, usage } = report;
  const passedOver = listed(["passed", "Passed over", "phase"], report.passedOver, MAX.phases, [
    ["Phase", ({ name }) => ["⤼ ", bdi(name)]],
    ["Reason", ({ because }) => bdi(because), "wide"],
  ]);
  const parts = [totals(report), course(report), bars(phases), phaseTable(phases, usage), passedOver];
  const lists = [branches(report), gates(phases), refusals(usage, phases), outputs(phases), summaries(phases)];
  return [head(report), h("main", parts, lists), foot(report)];
}

/** All tokens. @param {Usage} usage */
const allTokens = (usage) => KINDS_OF_TOKENS.reduce((sum, field) => sum + usage[field], 0);

/** @param {Usage} usage */
const tokensText = (usage) => tokensOf(allTokens(usage), usage.unreported);

/** @param {Report} report */
function head({ outcome, pause, session, startedAt, endedAt, task, workflow, inputs, visits }) {
  const [mark, words, of] = OUTCOMES.get(outcome) ?? ["?", outcome || "Outcome unknown", ""];
  const title = document.title;
  const last = endedAt ?? visits.reduce((latest, { to }) => Math.max(latest, to), 0);
  const took = startedAt !== undefined && last > startedAt && preciseDuration(last - startedAt);
  const given = inputs.slice(0, 20).map(([input, value]) => h("div", bdi(input), ": ", bdi(value)));
  const facts = [
    ["Workflow", workflow && bdi(workflow)],
    ["Started", startedAt !== undefined && [date(startedAt), h("span.muted", ` ${zone(startedAt)}`)]],
    ["Ended", endedAt !== undefined && date(endedAt)],
    [endedAt === undefined ? "Time up to the last record" : "Time from start to end", took],
    ["Inputs", given.length > 0 && given],
    ["Folder", session.cwd && bdi(session.cwd)],
    ["Session file", session.file && bdi(session.file)],
  ].flatMap(([term, value]) => (value ? [h("dt", term), h("dd", value)] : []));
  const sign = h("span.mark", { "aria-hidden": "true" }, mark);
  return h(
    "header",
    h("p.kicker", "Report of a run"),
    h("h1", bdi(title)),
    h("p", { class: `outcome ${of}` }, sign, words, pause && [": ", bdi(pause)]),
    h("dl.facts", facts),
    task !== title && task !== "" && h("details", h("summary", "The whole task"), h("p.text", bdi(task))),
  );
}

/** `UTC+01:00`. @param {number} ms */
const zone = (ms) =>
  new Date(ms)
    .toTimeString()
    .replace(/^.*GMT(...)(..).*$/, "UTC$1:$2")
    .replace("-", "−");

/** @param {Report} report */
function totals({ usage, repeatedVisits, steps, proposed, quota }) {
  if (usage.unknown)
    return section("totals", "Totals", h("p", "Turns, tokens, cost and times of this run are not recorded."));
  const { turns, toolCalls, reasoning, unreported, unpriced, warmUps, gateAttempts, gateFailures } = usage;
  const refused = usage.refusals.reduce((sum, [, times]) => sum + times, 0);
  const kinds = KINDS_OF_TOKENS.filter((field) => usage[field] > 0).map((field) => {
    const ofOutput = field === "output" && reasoning > 0 ? ` (${tokens(reasoning)} of it reasoning)` : "";
    return `${TOKENS[field].toLowerCase()} ${tokens(usage[field])}${ofOutput}`;
  });
  if (unreported > 0) kinds.push(`${counted(unreported, "answer")} without usage`);
  const isPart = unpriced > 0 && usage.cost > 0;
  const costs = isPart ? [dollars(usage.cost), h("span.unknown", " + unknown")] : cost(usage);
  const withoutPrice = `${counted(unpriced, "turn")} without a price${unreported > 0 ? " or usage" : ""}`;
  const warmCost = usage.warmCost > 0 ? dollars(usage.warmCost) : "unknown";
  const warm = `${tokens(usage.warmTokens)} tokens, ${warmCost}, in no budget`;
  /** @type {[isShown: boolean, term: string, value: any, more?: string | false][]} */
  const figures = [
    [true, "Turns", grouped(turns), toolCalls > 0 && counted(toolCalls, "tool call")],
    [true, "Tokens", tokensText(usage), kinds.join(", ")],
    [true, "Cost", costs, unpriced > 0 && withoutPrice],
    [true, "At work", duration(usage.workMs)],
    [true, "Waiting for the user", duration(usage.waitMs)],
    [quota.waits > 0, "Waiting for limits of the model", duration(quota.waitedMs), counted(quota.waits, "wait")],
    [warmUps > 0, "Prompt cache kept", counted(warmUps, "request"), warm],
    [repeatedVisits !== undefined, "Repeated visits", grouped(repeatedVisits ?? 0), counted(steps, "transition")],
    [gateAttempts > 0, "Gate attempts", grouped(gateAttempts), `${grouped(gateFailures)} failed`],
    [refused > 0, "Refused tool calls", grouped(refused)],
    [proposed, "Proposed", "by the agent"],
  ];
  const entries = figures.flatMap(([isShown, term, value, more]) => {
    const of = String(more).length > 60 ? "div.wide" : "div";
    return isShown ? [h(of, h("dt", term), h("dd", value, more && h("span.more", more)))] : [];
  });
  return section("totals", "Totals", h("dl.figures", entries));
}

/** @param {Report} report */
function course({ visits, spans, phases }) {
  if (visits.length === 0) return section("course", "Course", h("p", "The times of the phases are not recorded."));
  const pauses = spans.filter(({ kind }) => kind === "pause");
  /** @type {[string, (item: { from: number, to: number }) => any, string?][]} */
  const times = [
    ["From", ({ from }) => date(from), "wide"],
    ["Duration", ({ from, to }) => preciseDuration(to - from), "n"],
  ];
  const visitTable = first(
    visits,
    MAX.visits,
    ["visit"],
    [
      ["Phase", ({ name }) => bdi(name)],
      ["Visit", ({ pass }) => pass || "", "n"],
      ...times,
      ["Ending", ({ how }) => ENDINGS.get(how)],
    ],
  );
  const pauseTable = first(
    pauses,
    MAX.pauses,
    ["entry", "entries"],
    [...times, ["Reason", ({ reason }) => bdi(reason), "wide"]],
  );
  const summary = h("summary", `${counted(visits.length, "visit")} in order of time`);
  return section(
    "course",
    "Course",
    timeline(visits, spans, phases),
    h("details", { open: visits.length <= 12 && "open" }, summary, visitTable),
    pauses.length > 0 && [h("h3", "Pauses"), pauseTable],
  );
}

/** Bars of the tokens and the cost of each phase. @param {Phase[]} phases */
function bars(phases) {
  const used = phases.filter(({ usage }) => allTokens(usage) > 0 || usage.cost > 0 || usage.unreported > 0);
  const kept = largest(used, MAX.bars, ({ usage }) => allTokens(usage));
  const mostTokens = Math.max(...kept.map(({ usage }) => allTokens(usage)));
  const mostCost = Math.max(...kept.map(({ usage }) => usage.cost));
  const kinds = KINDS_OF_TOKENS.filter((field) => kept.some(({ usage }) => usage[field] > 0));
  /** @param {[of: string, share: number][]} parts */
  const bar = (parts) => {
    let x = 0;
    const rects = parts.map(([of, share]) => {
      x += 100 * share;
      const place = { x: percent(x - 100 * share), width: percent(100 * share), y: 1, height: 12 };
      return share > 0 && h(`rect.${of}`, place);
    });
    return h("svg", { width: "100%", height: 14, "aria-hidden": "true" }, rects);
  };
  const legend = kinds.map((field) => h("li", swatch(field), ` ${TOKENS[field]}`));
  const tokenBar = (/** @type {Usage} */ usage) => bar(kinds.map((kind) => [kind, usage[kind] / (mostTokens || 1)]));
  /** @type {import("./nodes.js").Column<Phase>[]} */
  const columns = [
    ["Phase", ({ name }) => bdi(name)],
    ["Tokens", ({ usage }) => [tokensText(usage), tokenBar(usage)], "bar"],
    ["Cost", ({ usage }) => [cost(usage), usage.cost > 0 && bar([["cost", usage.cost / mostCost]])], "bar"],
  ];
  const left = more(used.length - kept.length, ["phase"]);
  const parts = [h("ul.legend", legend), table(columns, kept), left];
  return used.length > 0 && section("bars", "Tokens and cost by phase", parts);
}

/** @param {Phase[]} phases @param {Usage} total */
function phaseTable(phases, total) {
  if (phases.length === 0) return section("phases", "Phases", h("p", "The phases of this run are not recorded."));
  const kept = largest(phases, MAX.phases, ({ usage, passes }) => usage.workMs + passes);
  /** @type {(Row & { usage: Usage })[]} */
  const rows = [...inParts(kept), ...(total.unknown ? [] : [{ name: "The whole run", usage: total }])];
  /** @param {(usage: Usage) => any} text @returns {(row: { usage: Usage }) => any} */
  const known = (text) => (row) => !row.usage.unknown && text(row.usage);
  const gateText = (/** @type {Usage} */ { gateAttempts, gateFailures }) =>
    gateAttempts > 0 && `${gateAttempts}${gateFailures > 0 ? ` (${gateFailures} failed)` : ""}`;
  const figures = table(
    [
      ["Phase", phaseName],
      ["Visits", ({ passes }) => passes || "", "n"],
      [
        "Outcome",
        ({ outcome }) => outcome && h(outcome.length <= MAX.word ? "span.word" : "span", bdi(outcome)),
        "wide",
      ],
      // Branches work at the same time: the time is that of their group.
      ["At work", known(({ workMs }) => workMs > 0 && duration(workMs)), "n"],
      ["Waiting", known(({ waitMs }) => waitMs > 0 && duration(waitMs)), "n"],
      ["Turns", known(({ turns }) => grouped(turns)), "n"],
      ["Tokens", known(tokensText), "n"],
      ["Cost", known(cost), "n cost"],
      ["Gate attempts", known(gateText), "n wide"],
      ["Models", known(models), "wide models"],
    ],
    rows,
  );
  return section("phases", "Phases", figures, more(phases.length - kept.length, ["phase"]));
}

/** @param {Report} report */
const branches = ({ branches }) =>
  listed(["branches", "Branches", "branch", "branches"], branches, MAX.phases, [
    ["Branch", ({ name }) => bdi(name)],
    ["End", ({ end, how }) => [end, how].filter(Boolean).join(": "), "wide"],
    ["Time", ({ clockMs }) => clockMs !== undefined && duration(clockMs)],
    ["Session", ({ session }) => session && bdi(session), "wide"],
  ]);

/** A name with a number of times. @param {string} name @param {number} times */
const withTimes = (name, times) => h("div", bdi(name), h("span.muted.times", ` × ${grouped(times)}`));

/** The models with their turns. @param {Usage} usage */
function models({ models }) {
  if (models.length === 1) return h("div", bdi(models[0][0]));
  const left = models.length - MAX.models;
  const some = models.slice(0, MAX.models).map(([model, turns]) => withTimes(model, turns));
  return [some, left > 0 && h("div", `${left} more`)];
}

/** @param {Phase[]} phases */
function gates(phases) {
  const all = phases.flatMap(({ name, evidence }) => evidence.map((check) => ({ name, check })));
  const result = (/** @type {typeof all[number]} */ { check: { passed, result, file, tail } }) => [
    passed ? h("b.good", "✓ passed") : h("b.bad", "✗ failed"),
    result && [": ", bdi(result)],
    file && h("div.muted", "Its output: ", bdi(file)),
    tail && h("details", h("summary", "The end of the output"), h("pre", bdi(tail))),
  ];
  return listed(["gates", "Evidence of gates", "check"], all, MAX.evidence, [
    ["Check", ({ check }) => bdi(check.name)],
    ["Phase", ({ name }) => bdi(name)],
    ["Attempt", ({ check }) => check.attempt || "", "n"],
    ["Result", result, "wide"],
    ["Duration", ({ check }) => check.durationMs !== undefined && preciseDuration(check.durationMs), "n"],
  ]);
}

/** @param {Usage} usage @param {Phase[]} phases */
function refusals(usage, phases) {
  const phasesWith = (/** @type {string} */ rule) => {
    const all = phases.flatMap(({ name, usage }) =>
      usage.refusals.flatMap(([of, times]) => (of === rule ? [withTimes(name, times)] : [])),
    );
    return [all.slice(0, 10), all.length > 10 && h("div", counted(all.length - 10, "more phase"))];
  };
  return listed(["refusals", "Refused tool calls", "rule"], usage.refusals, 100, [
    ["Rule", ([rule]) => RULES.get(rule) ?? bdi(rule)],
    ["Calls", ([, times]) => grouped(times), "n"],
    ["Phases", ([rule]) => phasesWith(rule), "wide"],
  ]);
}

/** @param {Phase[]} phases */
function outputs(phases) {
  const all = phases.flatMap(({ name, outputs }) => outputs.map(([output, text]) => ({ name, output, text })));
  return listed(["outputs", "Outputs", "output"], all, MAX.outputs, [
    ["Phase", ({ name }) => bdi(name)],
    ["Output", ({ output }) => bdi(output)],
    ["Value", ({ text }) => h("p.text", bdi(text)), "wide"],
  ]);
}

/** @param {Phase[]} phases */
function summaries(phases) {
  const all = phases.filter(({ summary }) => summary !== "");
  const texts = all.slice(0, MAX.summaries).map(({ name, summary }) => [h("h3", bdi(name)), h("p.text", bdi(summary))]);
  const left = more(all.length - texts.length, ["summary", "summaries"]);
  return all.length > 0 && section("summaries", "Summaries", texts, left);
}

/** @param {Report} report */
function foot({ taskId, fingerprint }) {
  const of = fingerprint && [", fingerprint of the workflow ", bdi(fingerprint)];
  return h(
    "footer",
    h(
      "p",
      "Tokens, costs and turns are as pi reports them. The time at work is the time up to answers of the model and results of tools. Times of day are those of this computer.",
    ),
    taskId && h("p", "Run ", bdi(taskId), of),
  );
}

/**
 * The phases with the largest figures, in their order.
 * @param {Phase[]} phases
 * @param {number} most
 * @param {(phase: Phase) => number} figure
 */
function largest(phases, most, figure) {
  const kept = new Set(phases.toSorted((one, other) => figure(other) - figure(one)).slice(0, most));
  return phases.filter((phase) => kept.has(phase));
}
