// The report of a run as one HTML file: no scripts, no other files, nothing from a network.
import { cost, dollars, duration, preciseDuration, tokens, tokensOf } from "../figures.js";
import { page } from "./page.js";
import { table } from "./table.js";
import { Html, count, counted, date, html, line, name, number, record, records, shown, time, zone } from "./text.js";
import { ENDINGS, KINDS, spansOf, timeline, visitsOf } from "./timeline.js";

/**
 * @typedef {import("./table.js").Heading} Heading
 * @typedef {import("./table.js").Row} Row
 * @typedef {Record<string, unknown>} Fields
 * @typedef {ReturnType<typeof usageOf>} Usage
 *
 * @typedef {object} Phase
 * @property {string} key
 * @property {string} name
 * @property {string} nestedIn the workflow that it belongs to, if that is a nested one
 * @property {number} depth
 * @property {number} passes
 * @property {string} outcome
 * @property {boolean} skipped
 * @property {boolean} current
 * @property {Usage} usage
 * @property {Fields} fields
 */

/** Maximum numbers of things, and of characters. */
const MAX = {
  phases: 300,
  bars: 30,
  visits: 150,
  pauses: 40,
  evidence: 200,
  outputs: 200,
  summaries: 60,
  models: 6,
  inputs: 20,
  title: 160,
  task: 6_000,
  summary: 3_000,
  result: 300,
  tail: 1_500,
};

/**
 * The outcomes, each with its mark and class.
 *
 * @type {Record<string, [mark: string, words: string, className: string]>}
 */
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

const TOKENS = /** @type {const} */ ([
  ["input", "Input"],
  ["output", "Output"],
  ["cacheRead", "Cache read"],
  ["cacheWrite", "Cache written"],
]);

/**
 * Returns a report as HTML. Fields that are absent or of another kind are left out.
 *
 * @param {unknown} report
 * @returns {string}
 */
export function reportHtml(report) {
  const fields = record(report);
  const phases = records(fields.phases).map(phaseOf);
  const course = record(fields.course);
  const visits = visitsOf(records(course.visits), records(fields.phases));
  const spans = spansOf(records(course.spans));
  const recorded = usageOf(fields.usage);
  const usage = recorded.unknown ? summed(phases.map((phase) => phase.usage)) : recorded;
  const title = line(fields.task, MAX.title) || line(fields.workflow, MAX.title) || "A run of a workflow";
  const body = html`${head(fields, title, visits)}
    <main>
      ${totals(fields, usage)} ${courseSection(visits, spans, phases, records(course.visits).length > 0)}
      ${bars(phases)} ${phaseTable(phases, usage)} ${passedOver(records(fields.passedOver))}
      ${branches(records(fields.branches))} ${gates(phases)} ${refusals(usage, phases)} ${outputs(phases)}
      ${summaries(phases)}
    </main>
    ${foot(fields)}`;
  return page(title, body);
}

/** @param {Fields} fields @returns {Phase} */
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
    usage: usageOf(fields.usage),
    fields,
  };
}

/** @param {unknown} value */
function usageOf(value) {
  const usage = record(value);
  const counts = (/** @type {unknown} */ names) => {
    const known = Object.entries(record(names)).flatMap(([name, times]) =>
      count(times) > 0 ? [/** @type {[string, number]} */ ([name, count(times)])] : [],
    );
    return known.slice(0, 100);
  };
  return {
    /** Nothing is recorded. */
    unknown: Object.keys(usage).length === 0,
    turns: count(usage.turns),
    input: count(usage.input),
    output: count(usage.output),
    cacheRead: count(usage.cacheRead),
    cacheWrite: count(usage.cacheWrite),
    reasoning: count(usage.reasoning),
    cost: count(usage.cost),
    unpriced: count(usage.unpriced),
    unreported: count(usage.unreported),
    toolCalls: count(usage.toolCalls),
    refusals: counts(usage.refusals),
    gateAttempts: count(usage.gateAttempts),
    gateFailures: count(usage.gateFailures),
    workMs: count(usage.workMs),
    waitMs: count(usage.waitMs),
    warmUps: count(usage.warmUps),
    warmTokens: count(usage.warmTokens),
    warmCost: count(usage.warmCost),
    models: counts(usage.models),
  };
}

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

/** @param {Usage[]} usages @returns {Usage} */
function summed(usages) {
  const total = usageOf({});
  /** @type {Record<"refusals" | "models", Map<string, number>>} */
  const names = { refusals: new Map(), models: new Map() };
  for (const usage of usages) {
    if (!usage.unknown) total.unknown = false;
    for (const field of SUMS) total[field] += usage[field];
    for (const field of /** @type {const} */ (["refusals", "models"])) {
      for (const [name, times] of usage[field]) names[field].set(name, (names[field].get(name) ?? 0) + times);
    }
  }
  return { ...total, refusals: [...names.refusals].slice(0, 100), models: [...names.models].slice(0, 100) };
}

/** All tokens. @param {Usage} usage */
const allTokens = (usage) => TOKENS.reduce((sum, [field]) => sum + usage[field], 0);

/** @param {Usage} usage */
const tokensText = (usage) => tokensOf(allTokens(usage), usage.unreported);

/** @param {Fields} fields @param {string} title @param {import("./timeline.js").Visit[]} visits */
function head(fields, title, visits) {
  const outcome = typeof fields.outcome === "string" ? fields.outcome : "";
  const [mark, words, className] = Object.hasOwn(OUTCOMES, outcome)
    ? OUTCOMES[outcome]
    : ["?", line(outcome, 100) || "Outcome unknown", ""];
  const pause = line(fields.pause, 300);
  const session = record(fields.session);
  const [started, ended] = [time(fields.startedAt), time(fields.endedAt)];
  const last = ended ?? visits.reduce((latest, { to }) => Math.max(latest, to), 0);
  const task = shown(fields.task, MAX.task);
  const inputs = Object.entries(record(fields.inputs)).slice(0, MAX.inputs);
  const facts = /** @type {[string, unknown][]} */ ([
    ["Workflow", line(fields.workflow, 200) && name(fields.workflow, 200)],
    ["Started", started !== undefined && html`${date(started)} <span class="muted">${zone(started)}</span>`],
    ["Ended", ended !== undefined && date(ended)],
    [
      ended === undefined ? "Time up to the last record" : "Time from start to end",
      started !== undefined && last > started && preciseDuration(last - started),
    ],
    [
      "Inputs",
      inputs.length > 0 && inputs.map(([input, value]) => html`<div>${name(input, 80)}: ${name(value, 200)}</div>`),
    ],
    ["Folder", line(session.cwd, 400) && name(session.cwd, 400)],
    ["Session file", line(session.file, 400) && name(session.file, 400)],
  ]).filter(([, value]) => value);
  return html`<header>
    <p class="kicker">Report of a run</p>
    <h1><bdi>${title}</bdi></h1>
    <p class="outcome ${className}">
      <span class="mark" aria-hidden="true">${mark}</span>${words}${pause && html`: ${name(pause, 300)}`}
    </p>
    <dl class="facts">
      ${facts.map(
        ([term, value]) =>
          html`<dt>${term}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    ${
      task !== title &&
      task !== "" &&
      html`<details>
        <summary>The whole task</summary>
        <p class="text"><bdi>${task}</bdi></p>
      </details>`
    }
  </header>`;
}

/** @param {Fields} fields @param {Usage} usage */
function totals(fields, usage) {
  if (usage.unknown) {
    return html`<section aria-labelledby="totals">
      <h2 id="totals">Totals</h2>
      <p>Turns, tokens, cost and times of this run are not recorded.</p>
    </section>`;
  }
  const refused = usage.refusals.reduce((sum, [, times]) => sum + times, 0);
  const ofOutput = usage.reasoning > 0 ? ` (${tokens(usage.reasoning)} of it reasoning)` : "";
  const kinds = TOKENS.filter(([field]) => usage[field] > 0).map(
    ([field, words]) => `${words.toLowerCase()} ${tokens(usage[field])}${field === "output" ? ofOutput : ""}`,
  );
  const isPart = usage.unpriced > 0 && usage.cost > 0;
  /** @type {[string, unknown, unknown?][]} */
  const figures = [
    ["Turns", usage.turns.toLocaleString("en-US"), usage.toolCalls > 0 && counted(usage.toolCalls, "tool call")],
    [
      "Tokens",
      tokensText(usage),
      [...kinds, ...(usage.unreported > 0 ? [`${counted(usage.unreported, "answer")} without usage`] : [])].join(", "),
    ],
    [
      "Cost",
      isPart ? html`${dollars(usage.cost)} <span class="unknown">+ unknown</span>` : cost(usage),
      usage.unpriced > 0 &&
        `${counted(usage.unpriced, "turn")} without a price${usage.unreported > 0 ? " or usage" : ""}`,
    ],
    ["At work", duration(usage.workMs)],
    ["Waiting for the user", duration(usage.waitMs)],
  ];
  if (usage.warmUps > 0)
    figures.push([
      "Prompt cache kept",
      counted(usage.warmUps, "request"),
      `${tokens(usage.warmTokens)} tokens, ${cost({ cost: usage.warmCost, unpriced: usage.warmCost > 0 ? 0 : 1 })}, in no budget`,
    ]);
  const repeated = number(fields.repeatedVisits);
  if (repeated !== undefined)
    figures.push([
      "Repeated visits",
      repeated.toLocaleString("en-US"),
      number(fields.steps) !== undefined && counted(count(fields.steps), "step"),
    ]);
  if (usage.gateAttempts > 0)
    figures.push([
      "Gate attempts",
      usage.gateAttempts.toLocaleString("en-US"),
      `${usage.gateFailures.toLocaleString("en-US")} failed`,
    ]);
  if (refused > 0) figures.push(["Refused tool calls", refused.toLocaleString("en-US")]);
  return html`<section aria-labelledby="totals">
    <h2 id="totals">Totals</h2>
    <dl class="figures">
      ${figures.map(([term, value, more]) => html`<div${String(more).length > 60 && html` class="wide"`}><dt>${term}</dt><dd>${value}${more && html`<span class="more">${more}</span>`}</dd></div>`)}
    </dl>
  </section>`;
}

/**
 * @param {import("./timeline.js").Visit[]} visits
 * @param {import("./timeline.js").Span[]} spans
 * @param {Phase[]} phases
 * @param {boolean} recorded
 */
function courseSection(visits, spans, phases, recorded) {
  const drawn = timeline(visits, spans, rowsOf(phases, visits));
  if (!drawn)
    return html`<section aria-labelledby="course">
      <h2 id="course">Course</h2>
      <p>The times of the phases are not recorded.</p>
    </section>`;
  return html`<section aria-labelledby="course">
    <h2 id="course">Course</h2>
    ${!recorded && html`<p class="course-note">The single visits are not recorded: each bar begins with a phase's last visit.</p>`}
    ${drawn} ${visitTable(visits)} ${pauseTable(spans)}
  </section>`;
}

/**
 * The rows of the timeline. A phase that only the visits know comes last.
 * @param {Phase[]} phases
 * @param {import("./timeline.js").Visit[]} visits
 */
function rowsOf(phases, visits) {
  const known = new Set(phases.map(({ key }) => key));
  const others = new Map(
    visits.filter(({ key }) => !known.has(key)).map(({ key, name }) => [key, phaseOf({ key, name })]),
  );
  /** @type {import("./timeline.js").Row[]} */
  const rows = [];
  let nestedIn = "";
  for (const phase of [...phases, ...others.values()]) {
    if (phase.nestedIn !== nestedIn && phase.nestedIn !== "")
      rows.push({ label: html`Nested workflow ${name(phase.nestedIn, 60)}`, text: "" });
    nestedIn = phase.nestedIn;
    rows.push({
      key: phase.key,
      label: html`<div class="d${phase.depth}">${phaseName(phase, 60)}</div>`,
      text: line(phase.name, 60),
    });
  }
  return rows;
}

/** @param {Phase} phase @param {number} [length] */
function phaseName({ name: text, current, skipped }, length) {
  return html`${name(text, length)}${current && html`<span class="tag">▸ current</span>`}${skipped && html`<span class="tag">⤼ skipped by the user</span>`}`;
}

/** @param {import("./timeline.js").Visit[]} visits */
function visitTable(visits) {
  const headings = /** @type {Heading[]} */ ([
    ["Phase"],
    ["Visit", "n"],
    ["From", "wide"],
    ["Duration", "n"],
    ["Ending"],
  ]);
  const rows = visits.slice(0, MAX.visits).map(({ name: text, key, pass, from, to, how }) => ({
    cells: [name(text || key), pass || "", date(from), preciseDuration(to - from), ENDINGS[how] ?? ""],
  }));
  return html`<details${visits.length <= 12 && new Html(" open")}><summary>${counted(visits.length, "visit")} in order of time</summary>
${table(headings, rows)}
${more(visits.length - rows.length, "visit")}
</details>`;
}

/** The pauses, and waiting with a reason. @param {import("./timeline.js").Span[]} spans */
function pauseTable(spans) {
  const listed = spans.filter(({ kind, reason }) => kind === "pause" || (kind === "wait" && reason !== ""));
  if (listed.length === 0) return undefined;
  const headings = /** @type {Heading[]} */ ([["Kind"], ["From", "wide"], ["Duration", "n"], ["Reason", "wide"]]);
  const rows = listed.slice(0, MAX.pauses).map(({ kind, from, to, reason }) => ({
    cells: [KINDS[kind], date(from), preciseDuration(to - from), name(reason, 200)],
  }));
  return html`<h3>Pauses and waiting</h3>
    ${table(headings, rows)} ${more(listed.length - rows.length, "entry", "entries")}`;
}

/** Bars of the tokens and the cost of each phase. @param {Phase[]} phases */
function bars(phases) {
  const used = phases.filter(({ usage }) => allTokens(usage) > 0 || usage.cost > 0 || usage.unreported > 0);
  if (used.length === 0) return undefined;
  const { kept, left } = largest(used, MAX.bars, ({ usage }) => allTokens(usage));
  const [mostTokens, mostCost] = [
    Math.max(...kept.map(({ usage }) => allTokens(usage))),
    Math.max(...kept.map(({ usage }) => usage.cost)),
  ];
  const kinds = TOKENS.filter(([field]) => kept.some(({ usage }) => usage[field] > 0));
  const tokenBar = (/** @type {Usage} */ usage) => {
    let x = 0;
    const parts = kinds.map(([field]) => {
      const width = mostTokens > 0 ? (100 * usage[field]) / mostTokens : 0;
      x += width;
      return (
        width > 0 && html`<rect class="${field}" x="${place(x - width)}" width="${place(width)}" y="1" height="12" />`
      );
    });
    return html`${tokensText(usage)}<svg width="100%" height="14" aria-hidden="true">${parts}</svg>`;
  };
  const costBar = (/** @type {Usage} */ usage) =>
    html`${cost(usage)}${usage.cost > 0 && html`<svg width="100%" height="14" aria-hidden="true"><rect class="cost" width="${place((100 * usage.cost) / mostCost)}" y="1" height="12" /></svg>`}`;
  const rows = kept.map((phase) => ({ cells: [name(phase.name), tokenBar(phase.usage), costBar(phase.usage)] }));
  return html`<section aria-labelledby="bars">
    <h2 id="bars">Tokens and cost by phase</h2>
    <ul class="legend">
      ${kinds.map(
        ([field, words]) =>
          html`<li>
            <svg width="26" height="14" aria-hidden="true">
              <rect class="${field}" x="1" y="1" width="24" height="12" />
            </svg>
            ${words}
          </li>`,
      )}
    </ul>
    ${table([["Phase"], ["Tokens", "bar"], ["Cost", "bar"]], rows)} ${more(left, "phase")}
  </section>`;
}

/** @param {number} number */
const place = (number) => `${Number(number.toFixed(2))}%`;

/** The figures of each phase. @type {Heading[]} */
const FIGURES = [
  ["At work", "n"],
  ["Waiting", "n"],
  ["Turns", "n"],
  ["Tokens", "n"],
  ["Cost", "n cost"],
];

/** @param {Phase[]} phases @param {Usage} total */
function phaseTable(phases, total) {
  if (phases.length === 0)
    return html`<section aria-labelledby="phases">
      <h2 id="phases">Phases</h2>
      <p>The phases of this run are not recorded.</p>
    </section>`;
  const { kept, left } = largest(phases, MAX.phases, ({ usage, passes }) => usage.workMs + passes);
  const gated = phases.some(({ usage }) => usage.gateAttempts > 0) || total.gateAttempts > 0;
  const known = !total.unknown || phases.some(({ usage }) => !usage.unknown);
  const headings = /** @type {Heading[]} */ ([["Phase"], ["Visits", "n"]]);
  const withOutcomes = phases.some(({ outcome }) => outcome !== "");
  if (withOutcomes) headings.push(["Outcome"]);
  if (known) headings.push(...FIGURES);
  if (known && gated) headings.push(["Gate attempts", "n wide"]);
  if (known) headings.push(["Models", "wide models"]);
  const figures = (/** @type {Usage} */ usage) => {
    if (!known) return [];
    const gates =
      usage.gateAttempts > 0
        ? `${usage.gateAttempts}${usage.gateFailures > 0 ? ` (${usage.gateFailures} failed)` : ""}`
        : "";
    const all = usage.unknown
      ? FIGURES.map(() => "")
      : [
          duration(usage.workMs),
          usage.waitMs > 0 ? duration(usage.waitMs) : "",
          usage.turns.toLocaleString("en-US"),
          tokensText(usage),
          cost(usage),
        ];
    return [...all, ...(gated ? [gates] : []), models(usage)];
  };
  /** @type {Row[]} */
  const rows = [];
  let nestedIn = "";
  for (const phase of kept) {
    if (phase.nestedIn !== nestedIn && phase.nestedIn !== "")
      rows.push({ cells: [html`Nested workflow ${name(phase.nestedIn)}`], className: "part" });
    nestedIn = phase.nestedIn;
    rows.push({
      cells: [
        html`<div class="d${phase.depth}">${phaseName(phase)}</div>`,
        phase.passes || "",
        ...(withOutcomes ? [phase.outcome && name(phase.outcome)] : []),
        ...figures(phase.usage),
      ],
    });
  }
  if (!total.unknown)
    rows.push({ cells: ["The whole run", "", ...(withOutcomes ? [""] : []), ...figures(total)], className: "sum" });
  return html`<section aria-labelledby="phases">
    <h2 id="phases">Phases</h2>
    ${table(headings, rows)} ${more(left, "phase")}
  </section>`;
}

/** The entries that were passed over. @param {Fields[]} entries */
function passedOver(entries) {
  if (entries.length === 0) return undefined;
  const rows = entries
    .slice(0, MAX.phases)
    .map((entry) => ({ cells: [html`⤼ ${name(entry.name)}`, name(entry.because, MAX.result)] }));
  return html`<section aria-labelledby="passed">
    <h2 id="passed">Passed over</h2>
    ${table([["Phase"], ["Reason", "wide"]], rows)} ${more(entries.length - rows.length, "phase")}
  </section>`;
}

/** @param {Fields[]} entries */
function branches(entries) {
  if (entries.length === 0) return undefined;
  const rows = entries.slice(0, MAX.phases).map(({ name: of, end, how, clockMs, session }) => {
    const words = [line(end, 20), line(how, MAX.result)].filter((word) => word !== "").join(": ");
    return {
      cells: [
        name(of),
        html`${words}`,
        number(clockMs) === undefined ? "" : duration(count(clockMs)),
        name(session, MAX.result),
      ],
    };
  });
  return html`<section aria-labelledby="branches">
    <h2 id="branches">Branches</h2>
    ${table([["Branch"], ["End", "wide"], ["Time"], ["Session", "wide"]], rows)}
    ${more(entries.length - rows.length, "branch", "branches")}
  </section>`;
}

/** The models with their turns. @param {Usage} usage */
function models({ models }) {
  const listed = models
    .slice(0, MAX.models)
    .map(
      ([model, turns]) =>
        html`<div>
          ${name(model, 80)}${models.length > 1 && html` <span class="muted times">× ${turns.toLocaleString("en-US")}</span>`}
        </div>`,
    );
  return listed.length === 0
    ? ""
    : [...listed, models.length > listed.length && html`<div>${models.length - listed.length} more</div>`];
}

/** A line about the files that have changed, if some have. @param {unknown} changes @param {string} when */
function filesChanged(changes, when) {
  const { count: files, paths: named } = record(changes);
  const paths = Array.isArray(named) ? named.filter((path) => typeof path === "string") : [];
  return (
    count(files) > 0 &&
    html`<div>
      ${counted(count(files), "file")} changed
      ${when}${paths.length > 0 && html`: ${name(paths.join(", "), MAX.result)}${count(files) > paths.length && ", …"}`}
    </div>`
  );
}

/** @param {Phase[]} phases */
function gates(phases) {
  const all = phases.flatMap((phase) => records(phase.fields.evidence).map((check) => ({ phase, check })));
  if (all.length === 0) return undefined;
  const headings = /** @type {Heading[]} */ ([
    ["Check"],
    ["Phase"],
    ["Attempt", "n"],
    ["Result", "wide"],
    ["Duration", "n"],
  ]);
  const rows = all.slice(0, MAX.evidence).map(({ phase, check }) => {
    const passed = check.passed === true;
    const result = line(check.result, MAX.result);
    const tail = typeof check.tail === "string" ? shown(check.tail.slice(-MAX.tail), MAX.tail) : "";
    const output =
      tail &&
      html`<details>
        <summary>The end of the output</summary>
        <pre><bdi>${tail}</bdi></pre>
      </details>`;
    const file = line(check.file, MAX.result);
    const place = file && html`<div class="muted">Its output: ${name(file, MAX.result)}</div>`;
    const changes = [filesChanged(check.changedMeanwhile, "meanwhile"), filesChanged(check.changed, "since")];
    const verdict = html`<b class="${passed ? "good" : "bad"}">${passed ? "✓ passed" : "✗ failed"}</b
      >${result && html`: ${name(result, MAX.result)}`}${changes}${place}${output}`;
    return {
      cells: [
        name(check.label, 200),
        name(phase.name),
        count(check.attempt) || "",
        verdict,
        number(check.durationMs) === undefined ? "" : preciseDuration(count(check.durationMs)),
      ],
    };
  });
  return html`<section aria-labelledby="gates">
    <h2 id="gates">Evidence of gates</h2>
    ${table(headings, rows)} ${more(all.length - rows.length, "check")}
  </section>`;
}

/** @param {Usage} usage @param {Phase[]} phases */
function refusals(usage, phases) {
  if (usage.refusals.length === 0) return undefined;
  const rows = usage.refusals.map(([rule, times]) => {
    const within = phases.flatMap((phase) =>
      phase.usage.refusals.filter(([name]) => name === rule).map(([, times]) => ({ phase, times })),
    );
    const listed = within
      .slice(0, 10)
      .map(
        ({ phase, times }) =>
          html`<div>${name(phase.name)} <span class="muted times">× ${times.toLocaleString("en-US")}</span></div>`,
      );
    const rest =
      within.length > listed.length && html`<div>${counted(within.length - listed.length, "more phase")}</div>`;
    return {
      cells: [Object.hasOwn(RULES, rule) ? RULES[rule] : name(rule), times.toLocaleString("en-US"), [...listed, rest]],
    };
  });
  return html`<section aria-labelledby="refusals">
    <h2 id="refusals">Refused tool calls</h2>
    ${table([["Rule"], ["Calls", "n"], ["Phases", "wide"]], rows)}
  </section>`;
}

/** @param {Phase[]} phases */
function outputs(phases) {
  const all = phases.flatMap((phase) =>
    Object.entries(record(phase.fields.outputs)).map(([output, value]) => ({ phase, output, value })),
  );
  if (all.length === 0) return undefined;
  const text = (/** @type {unknown} */ value) =>
    Array.isArray(value) ? value.map((item, index) => `${index + 1}. ${item}`).join("\n") : String(value);
  const rows = all.slice(0, MAX.outputs).map(({ phase, output, value }) => ({
    cells: [name(phase.name), name(output), html`<p class="text"><bdi>${shown(text(value), MAX.summary)}</bdi></p>`],
  }));
  return html`<section aria-labelledby="outputs">
    <h2 id="outputs">Outputs</h2>
    ${table([["Phase"], ["Output"], ["Value", "wide"]], rows)} ${more(all.length - rows.length, "output")}
  </section>`;
}

/** @param {Phase[]} phases */
function summaries(phases) {
  const all = phases.flatMap(({ name, fields }) =>
    typeof fields.summary === "string" && fields.summary.trim() !== "" ? [{ name, text: fields.summary }] : [],
  );
  if (all.length === 0) return undefined;
  const some = all.slice(0, MAX.summaries);
  return html`<section aria-labelledby="summaries">
    <h2 id="summaries">Summaries</h2>
    ${some.map(
      ({ name: phase, text }) =>
        html`<h3>${name(phase)}</h3>
          <p class="text"><bdi>${shown(text, MAX.summary)}</bdi></p>`,
    )}
    ${more(all.length - some.length, "summary", "summaries")}
  </section>`;
}

/** @param {Fields} fields */
function foot(fields) {
  const [run, fingerprint] = [line(fields.taskId, 200), line(fields.fingerprint, 200)];
  return html`<footer>
    <p>
      Tokens, costs and turns are as pi reports them. The time at work is the time up to answers of the model and
      results of tools. Times of day are those of the computer that made this report.
    </p>
    ${run && html`<p>Run ${name(run, 200)}${fingerprint && html`, fingerprint of the workflow ${name(fingerprint, 200)}`}</p>`}
  </footer>`;
}

/**
 * The phases with the largest figures, in their order.
 *
 * @param {Phase[]} phases
 * @param {number} number
 * @param {(phase: Phase) => number} figure
 */
function largest(phases, number, figure) {
  const kept = new Set([...phases].sort((one, other) => figure(other) - figure(one)).slice(0, number));
  return { kept: phases.filter((phase) => kept.has(phase)), left: phases.length - kept.size };
}

/** @param {number} left @param {string} noun @param {string} [plural] */
const more = (left, noun, plural) =>
  left > 0 && html`<p class="note">${counted(left, `more ${noun}`, plural && `more ${plural}`)}.</p>`;
