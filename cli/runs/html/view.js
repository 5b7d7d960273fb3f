// The report of a run, drawn from its JSON.
import { cost, counted, dollars, duration, grouped, preciseDuration, tokens, tokensOf } from "../figures.js";
import { count, date, h, line, listed, more, name, number } from "./nodes.js";
import { percent, record, records, section, shown, swatch, table, time } from "./nodes.js";
import { ENDINGS, KINDS, spansOf, timeline, visitsOf } from "./timeline.js";

/**
 * @typedef {ReturnType<typeof phaseOf>} Phase
 * @typedef {ReturnType<typeof usageOf>} Usage
 * @typedef {import("./timeline.js").Visit} Visit
 */

/** Maximum numbers of things, and of characters. */
const MAX = { phases: 300, bars: 30, visits: 150, pauses: 40, evidence: 200, outputs: 200, summaries: 60, models: 6 };
const LONGEST = { title: 160, task: 6_000, summary: 3_000, result: 300, tail: 1_500 };

/** The outcomes, each with its mark, its words and its class. @type {Record<string, [string, string, string]>} */
const OUTCOMES = {
  done: ["✓", "Done", "good"],
  stopped: ["⛔", "Stopped", "bad"],
  cancelled: ["✗", "Cancelled", "bad"],
  paused: ["Ⅱ", "Paused", ""],
  running: ["▸", "Not finished", ""],
  replaced: ["⇥", "Not finished: another run took its place", ""],
};

/** The rules that refuse tool calls. @type {Record<string, string>} */
const RULES = {
  tools: "Tools of the phase",
  write: "Paths that may be written",
  hide: "Hidden paths",
  sandbox: "Commands cannot be confined here",
  gate: "A gate is being checked",
  freshStart: "A fresh start is ahead",
  budget: "A budget is used up",
  seal: "Rules of the run that the files no longer give",
  pause: "The run is paused",
};

const TOKENS = { input: "Input", output: "Output", cacheRead: "Cache read", cacheWrite: "Cache written" };
const KINDS_OF_TOKENS = /** @type {(keyof typeof TOKENS)[]} */ (Object.keys(TOKENS));

/** The fields of a usage that are numbers. */
const SUMS = /** @type {const} */ ([
  "turns",
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "reasoning",
  "cost",
  "unpriced",
  "unreported",
  "toolCalls",
  "gateAttempts",
  "gateFailures",
  "workMs",
  "waitMs",
  "warmUps",
  "warmTokens",
  "warmCost",
]);

/** @param {any} data */
export function reportView(data) {
  const report = record(data);
  const phases = records(report.phases).map(phaseOf);
  const course = record(report.course);
  const visits = visitsOf(records(course.visits), records(report.phases));
  const recorded = usageOf([report.usage]);
  const usage = recorded.unknown ? usageOf(records(report.phases).map((phase) => phase.usage)) : recorded;
  return [
    head(report, visits),
    h(
      "main",
      totals(report, usage),
      courseSection(visits, spansOf(records(course.spans)), phases, records(course.visits).length > 0),
      bars(phases),
      phaseTable(phases, usage),
      listed(
        ["passed", "Passed over", "phase"],
        ["Phase", "Reason:wide"],
        records(report.passedOver),
        MAX.phases,
        (entry) => [["⤼ ", name(entry.name)], name(entry.because, LONGEST.result)],
      ),
      branches(records(report.branches)),
      gates(phases),
      refusals(usage, phases),
      outputs(phases),
      summaries(phases),
    ),
    foot(report),
  ];
}

/** @param {Record<string, any>} fields */
function phaseOf(fields) {
  const key = typeof fields.key === "string" ? fields.key : "";
  return {
    key,
    name: line(fields.name, 120) || line(key, 120) || "(no name)",
    nestedIn: line(fields.nestedIn, 120),
    depth: Math.min(3, Math.floor(count(fields.depth))),
    passes: count(fields.passes),
    outcome: line(fields.outcome, 80),
    skipped: fields.skipped === true,
    current: fields.current === true,
    usage: usageOf([fields.usage]),
    fields,
  };
}

/** The sum of usages; `unknown`: nothing is recorded. @param {any[]} values */
function usageOf(values) {
  const usages = values.map(record);
  const sums = SUMS.map((field) => [field, usages.reduce((sum, usage) => sum + count(usage[field]), 0)]);
  const counts = (/** @type {"refusals" | "models"} */ field) => {
    /** @type {Map<string, number>} */
    const all = new Map();
    for (const [name, times] of usages.flatMap((usage) => Object.entries(record(usage[field]))))
      if (count(times) > 0) all.set(name, (all.get(name) ?? 0) + count(times));
    return [...all].slice(0, 100);
  };
  const known = /** @type {Record<typeof SUMS[number], number>} */ (Object.fromEntries(sums));
  const unknown = usages.every((usage) => Object.keys(usage).length === 0);
  return { ...known, unknown, refusals: counts("refusals"), models: counts("models") };
}

/** All tokens. @param {Usage} usage */
const allTokens = (usage) => KINDS_OF_TOKENS.reduce((sum, field) => sum + usage[field], 0);

/** @param {Usage} usage */
const tokensText = (usage) => tokensOf(allTokens(usage), usage.unreported);

/** @param {Record<string, any>} report @param {Visit[]} visits */
function head({ outcome, pause, session, startedAt, endedAt, task, workflow, inputs }, visits) {
  const known = typeof outcome === "string" && Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome] : undefined;
  const [mark, words, className] = known ?? ["?", line(outcome, 100) || "Outcome unknown", ""];
  const title = line(task, LONGEST.title) || line(workflow, LONGEST.title) || "A run of a workflow";
  const whole = shown(task, LONGEST.task);
  const [started, ended] = [time(startedAt), time(endedAt)];
  const last = ended ?? visits.reduce((latest, { to }) => Math.max(latest, to), 0);
  const given = Object.entries(record(inputs)).slice(0, 20);
  const { cwd, file } = record(session);
  const facts = [
    ["Workflow", line(workflow, 200) && name(workflow, 200)],
    ["Started", started !== undefined && [date(started), h("span.muted", ` ${zone(started)}`)]],
    ["Ended", ended !== undefined && date(ended)],
    [
      ended === undefined ? "Time up to the last record" : "Time from start to end",
      started !== undefined && last > started && preciseDuration(last - started),
    ],
    ["Inputs", given.length > 0 && given.map(([input, value]) => h("div", name(input, 80), ": ", name(value, 200)))],
    ["Folder", line(cwd, 400) && name(cwd, 400)],
    ["Session file", line(file, 400) && name(file, 400)],
  ].filter(([, value]) => value);
  return h(
    "header",
    h("p.kicker", "Report of a run"),
    h("h1", h("bdi", title)),
    h(
      "p",
      { class: `outcome ${className}` },
      h("span.mark", { "aria-hidden": "true" }, mark),
      words,
      line(pause, LONGEST.result) && [": ", name(pause, LONGEST.result)],
    ),
    h(
      "dl.facts",
      facts.map(([term, value]) => [h("dt", term), h("dd", value)]),
    ),
    whole !== title && whole !== "" && h("details", h("summary", "The whole task"), h("p.text", h("bdi", whole))),
  );
}

/** `UTC+01:00`. @param {number} ms */
function zone(ms) {
  const minutes = -new Date(ms).getTimezoneOffset();
  const [hours, rest] = [Math.abs(minutes) / 60, Math.abs(minutes) % 60].map((part) =>
    String(Math.floor(part)).padStart(2, "0"),
  );
  return `UTC${minutes < 0 ? "−" : "+"}${hours}:${rest}`;
}

/** @param {Record<string, any>} report @param {Usage} usage */
function totals({ repeatedVisits, steps }, usage) {
  if (usage.unknown)
    return section("totals", "Totals", h("p", "Turns, tokens, cost and times of this run are not recorded."));
  const refused = usage.refusals.reduce((sum, [, times]) => sum + times, 0);
  const ofOutput = usage.reasoning > 0 ? ` (${tokens(usage.reasoning)} of it reasoning)` : "";
  const kinds = KINDS_OF_TOKENS.filter((field) => usage[field] > 0).map(
    (field) => `${TOKENS[field].toLowerCase()} ${tokens(usage[field])}${field === "output" ? ofOutput : ""}`,
  );
  if (usage.unreported > 0) kinds.push(`${counted(usage.unreported, "answer")} without usage`);
  const isPart = usage.unpriced > 0 && usage.cost > 0;
  const unpriced = `${counted(usage.unpriced, "turn")} without a price${usage.unreported > 0 ? " or usage" : ""}`;
  const warmCost = cost({ cost: usage.warmCost, unpriced: usage.warmCost > 0 ? 0 : 1 });
  const figures = /** @type {[any, string, any, any?][]} */ ([
    [true, "Turns", grouped(usage.turns), usage.toolCalls > 0 && counted(usage.toolCalls, "tool call")],
    [true, "Tokens", tokensText(usage), kinds.join(", ")],
    [
      true,
      "Cost",
      isPart ? [dollars(usage.cost), h("span.unknown", " + unknown")] : cost(usage),
      usage.unpriced > 0 && unpriced,
    ],
    [true, "At work", duration(usage.workMs)],
    [true, "Waiting for the user", duration(usage.waitMs)],
    [
      usage.warmUps > 0,
      "Prompt cache kept",
      counted(usage.warmUps, "request"),
      `${tokens(usage.warmTokens)} tokens, ${warmCost}, in no budget`,
    ],
    [
      number(repeatedVisits) !== undefined,
      "Repeated visits",
      grouped(count(repeatedVisits)),
      number(steps) !== undefined && counted(count(steps), "step"),
    ],
    [usage.gateAttempts > 0, "Gate attempts", grouped(usage.gateAttempts), `${grouped(usage.gateFailures)} failed`],
    [refused > 0, "Refused tool calls", grouped(refused)],
  ]).filter(([isShown]) => isShown);
  const entries = figures.map(([, term, value, more]) =>
    h(String(more).length > 60 ? "div.wide" : "div", h("dt", term), h("dd", value, more && h("span.more", more))),
  );
  return section("totals", "Totals", h("dl.figures", entries));
}

/**
 * @param {Visit[]} visits
 * @param {import("./timeline.js").Span[]} spans
 * @param {Phase[]} phases
 * @param {boolean} recorded
 */
function courseSection(visits, spans, phases, recorded) {
  const known = new Set(phases.map(({ key }) => key));
  const others = new Map(visits.filter(({ key }) => !known.has(key)).map((visit) => [visit.key, phaseOf(visit)]));
  // A phase that only the visits know comes last.
  const rows = inParts([...phases, ...others.values()], (phase) => ({
    key: phase.key,
    label: h(`div.d${phase.depth}`, phaseName(phase, 60)),
    text: line(phase.name, 60),
  }));
  const drawn = timeline(
    visits,
    spans,
    rows.map((row) => ("part" in row ? { label: row.part, text: "" } : row)),
  );
  if (!drawn) return section("course", "Course", h("p", "The times of the phases are not recorded."));
  const listedVisits = visits
    .slice(0, MAX.visits)
    .map(({ name: text, key, pass, from, to, how }) => [
      name(text || key),
      pass || "",
      date(from),
      preciseDuration(to - from),
      ENDINGS[how] ?? "",
    ]);
  const pauses = spans.filter(({ kind, reason }) => kind === "pause" || (kind === "wait" && reason !== ""));
  const rowsOfPauses = pauses
    .slice(0, MAX.pauses)
    .map(({ kind, from, to, reason }) => [KINDS[kind], date(from), preciseDuration(to - from), name(reason, 200)]);
  return section(
    "course",
    "Course",
    !recorded && h("p.course-note", "The single visits are not recorded: each bar begins with a phase's last visit."),
    drawn,
    h(
      "details",
      visits.length <= 12 ? { open: "open" } : {},
      h("summary", `${counted(visits.length, "visit")} in order of time`),
      table(["Phase", "Visit:n", "From:wide", "Duration:n", "Ending"], listedVisits),
      more(visits.length - listedVisits.length, "visit"),
    ),
    pauses.length > 0 && [
      h("h3", "Pauses and waiting"),
      table(["Kind", "From:wide", "Duration:n", "Reason:wide"], rowsOfPauses),
      more(pauses.length - rowsOfPauses.length, "entry", "entries"),
    ],
  );
}

/**
 * Rows for phases, with a heading before those of each nested workflow.
 * @template T
 * @param {Phase[]} phases
 * @param {(phase: Phase) => T} row
 */
function inParts(phases, row) {
  let nestedIn = "";
  return phases.flatMap((phase) => {
    const isNew = phase.nestedIn !== nestedIn && phase.nestedIn !== "";
    nestedIn = phase.nestedIn;
    return [...(isNew ? [{ part: ["Nested workflow ", name(nestedIn)] }] : []), row(phase)];
  });
}

/** @param {Phase} phase @param {number} [length] */
const phaseName = ({ name: text, current, skipped }, length) => [
  name(text, length),
  current && h("span.tag", "▸ current"),
  skipped && h("span.tag", "⤼ skipped by the user"),
];

/** Bars of the tokens and the cost of each phase. @param {Phase[]} phases */
function bars(phases) {
  const used = phases.filter(({ usage }) => allTokens(usage) > 0 || usage.cost > 0 || usage.unreported > 0);
  if (used.length === 0) return undefined;
  const kept = largest(used, MAX.bars, ({ usage }) => allTokens(usage));
  const mostTokens = Math.max(...kept.map(({ usage }) => allTokens(usage)));
  const mostCost = Math.max(...kept.map(({ usage }) => usage.cost));
  const kinds = KINDS_OF_TOKENS.filter((field) => kept.some(({ usage }) => usage[field] > 0));
  const bar = (/** @type {any[]} */ parts) => h("svg", { width: "100%", height: 14, "aria-hidden": "true" }, parts);
  const part = (/** @type {string} */ of, /** @type {number} */ x, /** @type {number} */ width) =>
    width > 0 && h(`rect.${of}`, { x: percent(x), width: percent(width), y: 1, height: 12 });
  const tokenBar = (/** @type {Usage} */ usage) => {
    let x = 0;
    const parts = kinds.map((field) => {
      const width = mostTokens > 0 ? (100 * usage[field]) / mostTokens : 0;
      x += width;
      return part(field, x - width, width);
    });
    return [tokensText(usage), bar(parts)];
  };
  const costBar = (/** @type {Usage} */ usage) =>
    usage.cost > 0 ? [cost(usage), bar([part("cost", 0, (100 * usage.cost) / mostCost)])] : cost(usage);
  return section(
    "bars",
    "Tokens and cost by phase",
    h(
      "ul.legend",
      kinds.map((field) => h("li", swatch(field), ` ${TOKENS[field]}`)),
    ),
    table(
      ["Phase", "Tokens:bar", "Cost:bar"],
      kept.map((phase) => [name(phase.name), tokenBar(phase.usage), costBar(phase.usage)]),
    ),
    more(used.length - kept.length, "phase"),
  );
}

/** The figures of each phase. */
const FIGURES = ["At work:n", "Waiting:n", "Turns:n", "Tokens:n", "Cost:n cost"];

/** @param {Phase[]} phases @param {Usage} total */
function phaseTable(phases, total) {
  if (phases.length === 0) return section("phases", "Phases", h("p", "The phases of this run are not recorded."));
  const kept = largest(phases, MAX.phases, ({ usage, passes }) => usage.workMs + passes);
  const all = [total, ...phases.map(({ usage }) => usage)];
  const isGated = all.some(({ gateAttempts }) => gateAttempts > 0);
  const isKnown = all.some(({ unknown }) => !unknown);
  const hasOutcomes = phases.some(({ outcome }) => outcome !== "");
  const figures = (/** @type {Usage} */ usage) => {
    const { gateAttempts, gateFailures, unknown, workMs, waitMs, turns } = usage;
    const failed = gateFailures > 0 ? ` (${gateFailures} failed)` : "";
    const known = [
      duration(workMs),
      waitMs > 0 ? duration(waitMs) : "",
      grouped(turns),
      tokensText(usage),
      cost(usage),
    ];
    return [
      ...(unknown ? FIGURES.map(() => "") : known),
      ...(isGated ? [gateAttempts > 0 ? `${gateAttempts}${failed}` : ""] : []),
      models(usage),
    ];
  };
  const row = (/** @type {any[]} */ first, /** @type {any} */ outcome, /** @type {Usage} */ usage) => [
    ...first,
    ...(hasOutcomes ? [outcome] : []),
    ...(isKnown ? figures(usage) : []),
  ];
  const headings = [
    "Phase",
    "Visits:n",
    ...(hasOutcomes ? ["Outcome:word"] : []),
    ...(isKnown ? [...FIGURES, ...(isGated ? ["Gate attempts:n wide"] : []), "Models:wide models"] : []),
  ];
  const rows = inParts(kept, (phase) =>
    row(
      [h(`div.d${phase.depth}`, phaseName(phase)), phase.passes || ""],
      phase.outcome && name(phase.outcome),
      phase.usage,
    ),
  ).map((cells) => ("part" in cells ? { cells: [cells.part], of: "part" } : cells));
  const sum = total.unknown ? [] : [{ cells: row(["The whole run", ""], "", total), of: "sum" }];
  return section("phases", "Phases", table(headings, [...rows, ...sum]), more(phases.length - kept.length, "phase"));
}

/** @param {Record<string, any>[]} entries */
const branches = (entries) =>
  listed(
    ["branches", "Branches", "branch", "branches"],
    ["Branch", "End:wide", "Time", "Session:wide"],
    entries,
    MAX.phases,
    ({ name: of, end, how, clockMs, session }) => [
      name(of),
      [line(end, 20), line(how, LONGEST.result)].filter(Boolean).join(": "),
      number(clockMs) === undefined ? "" : duration(clockMs),
      name(session, LONGEST.result),
    ],
  );

/** Names with a number of times. @param {any} of @param {number} times */
const withTimes = (of, times) => h("div", of, h("span.muted.times", ` × ${grouped(times)}`));

/** The models with their turns. @param {Usage} usage */
function models({ models }) {
  if (models.length === 0) return "";
  const left = models.length - MAX.models;
  return [
    models.length === 1
      ? h("div", name(models[0][0], 80))
      : models.slice(0, MAX.models).map(([model, turns]) => withTimes(name(model, 80), turns)),
    left > 0 && h("div", `${left} more`),
  ];
}

/** A line about the files that have changed, if some have. @param {any} changes @param {string} when */
function filesChanged(changes, when) {
  const { count: files, paths: named } = record(changes);
  const paths = Array.isArray(named) ? named.filter((path) => typeof path === "string") : [];
  const list = [": ", name(paths.join(", "), LONGEST.result), count(files) > paths.length && ", …"];
  return count(files) > 0 && h("div", `${counted(files, "file")} changed ${when}`, paths.length > 0 && list);
}

/** @param {Phase[]} phases */
function gates(phases) {
  const all = phases.flatMap((phase) => records(phase.fields.evidence).map((check) => ({ phase, check })));
  const headings = ["Check", "Phase", "Attempt:n", "Result:wide", "Duration:n"];
  return listed(["gates", "Evidence of gates", "check"], headings, all, MAX.evidence, ({ phase, check }) => {
    const [result, file] = [line(check.result, LONGEST.result), line(check.file, LONGEST.result)];
    const tail = shown(check.tail, LONGEST.tail);
    return [
      name(check.label, 200),
      name(phase.name),
      count(check.attempt) || "",
      [
        check.passed === true ? h("b.good", "✓ passed") : h("b.bad", "✗ failed"),
        result && [": ", name(result, LONGEST.result)],
        filesChanged(check.changedMeanwhile, "meanwhile"),
        filesChanged(check.changed, "since"),
        file && h("div.muted", "Its output: ", name(file, LONGEST.result)),
        tail && h("details", h("summary", "The end of the output"), h("pre", h("bdi", tail))),
      ],
      number(check.durationMs) === undefined ? "" : preciseDuration(check.durationMs),
    ];
  });
}

/** @param {Usage} usage @param {Phase[]} phases */
function refusals(usage, phases) {
  const words = /** @type {[string, string, string]} */ (["refusals", "Refused tool calls", "rule"]);
  return listed(words, ["Rule", "Calls:n", "Phases:wide"], usage.refusals, 100, ([rule, times]) => {
    const within = phases.flatMap((phase) =>
      phase.usage.refusals.flatMap(([of, times]) => (of === rule ? [withTimes(name(phase.name), times)] : [])),
    );
    const left = within.length > 10 && h("div", counted(within.length - 10, "more phase"));
    return [Object.hasOwn(RULES, rule) ? RULES[rule] : name(rule), grouped(times), [within.slice(0, 10), left]];
  });
}

/** @param {Phase[]} phases */
function outputs(phases) {
  const all = phases.flatMap((phase) =>
    Object.entries(record(phase.fields.outputs)).map(([output, value]) => ({ phase, output, value })),
  );
  const words = /** @type {[string, string, string]} */ (["outputs", "Outputs", "output"]);
  return listed(words, ["Phase", "Output", "Value:wide"], all, MAX.outputs, ({ phase, output, value }) => {
    const text = Array.isArray(value)
      ? value.map((item, index) => `${index + 1}. ${asText(item)}`).join("\n")
      : asText(value);
    return [name(phase.name), name(output), h("p.text", h("bdi", shown(text, LONGEST.summary)))];
  });
}

/** A value of an output. @param {any} value */
const asText = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** @param {Phase[]} phases */
function summaries(phases) {
  const all = phases.flatMap(({ name: of, fields: { summary } }) => {
    const text = shown(summary, LONGEST.summary);
    return text === "" ? [] : [[h("h3", name(of)), h("p.text", h("bdi", text))]];
  });
  const left = more(all.length - MAX.summaries, "summary", "summaries");
  return all.length > 0 && section("summaries", "Summaries", all.slice(0, MAX.summaries), left);
}

/** @param {Record<string, any>} report */
function foot(report) {
  const [run, fingerprint] = [line(report.taskId, 200), line(report.fingerprint, 200)];
  return h(
    "footer",
    h(
      "p",
      "Tokens, costs and turns are as pi reports them. The time at work is the time up to answers of the model and results of tools. Times of day are those of this computer.",
    ),
    run && h("p", "Run ", name(run, 200), fingerprint && [", fingerprint of the workflow ", name(fingerprint, 200)]),
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
