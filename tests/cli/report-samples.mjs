// Reports of runs, as `reportHtml` gets them.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 10, 20, 9, 12, 30);

/** @typedef {Record<string, any>} Report */

/** A run with a loop, a nested workflow, gates, waiting, a night and a pause. @returns {Report} */
export function ordinary() {
  /** @type {any[]} */
  const visits = [];
  /** @type {any[]} */
  const spans = [];
  let now = START;
  /** @type {Record<string, number>} */
  const passes = {};
  const pass = (/** @type {string} */ kind, /** @type {number} */ ms, /** @type {string} */ reason = "") => {
    spans.push({ kind, from: now, to: now + ms, ...(reason && { reason }) });
    now += ms;
  };
  const visit = (
    /** @type {string} */ key,
    /** @type {string} */ name,
    /** @type {string} */ how,
    /** @type {[string, number, string?][]} */ ...parts
  ) => {
    const from = now;
    passes[key] = (passes[key] ?? 0) + 1;
    for (const [kind, ms, reason] of parts) pass(kind, ms, reason);
    visits.push({ key, name, pass: passes[key], from, to: now, how });
  };
  visit("rpir:0", "Research", "done", ["work", 7 * MINUTE], ["wait", 95 * SECOND], ["work", 2 * MINUTE]);
  visit(
    "rpir:1",
    "Plan",
    "done",
    ["work", 4 * MINUTE],
    ["wait", 14 * HOUR + 12 * MINUTE],
    ["work", 3 * MINUTE],
    ["gate", 40 * SECOND, "Is the plan approved?"],
  );
  visit(
    "rpir:2/implement-review:0",
    "Implement",
    "done",
    ["work", 16 * MINUTE],
    ["gate", 75 * SECOND, "npm test"],
    ["work", 4 * MINUTE],
    ["gate", 70 * SECOND, "npm test"],
  );
  visit("rpir:2/implement-review:1", "Review", "again", ["work", 5 * MINUTE]);
  visit(
    "rpir:2/implement-review:0",
    "Implement",
    "done",
    ["work", 9 * MINUTE],
    ["pause", 2 * HOUR + 5 * MINUTE, "the agent did nothing in 3 automatic continuations"],
    ["work", 6 * MINUTE],
    ["gate", 68 * SECOND, "npm test"],
  );
  visit("rpir:2/implement-review:1", "Review", "again", ["work", 4 * MINUTE]);
  visit("rpir:2/implement-review:0", "Implement", "done", ["work", 3 * MINUTE], ["gate", 66 * SECOND, "npm test"]);
  visit("rpir:2/implement-review:1", "Review", "done", ["work", 3 * MINUTE]);
  visit("rpir:3", "Changelog", "skipped", ["work", 12 * SECOND]);
  visit("rpir:4", "Hand over", "done", ["work", 100 * SECOND], ["wait", 30 * SECOND]);
  const used = (
    /** @type {number} */ turns,
    /** @type {number} */ size,
    /** @type {number} */ cost,
    /** @type {object} */ more = {},
  ) => ({
    turns,
    input: size * 3_100,
    output: size * 900,
    cacheRead: size * 21_000,
    cacheWrite: size * 2_300,
    reasoning: size * 350,
    cost,
    toolCalls: turns * 2,
    models: { "example/large": turns },
    ...more,
  });
  const times = (/** @type {string} */ key) => {
    const own = visits.filter((visit) => visit.key === key);
    const within = (/** @type {string} */ kind) =>
      spans
        .filter((span) => span.kind === kind && own.some(({ from, to }) => span.from >= from && span.to <= to))
        .reduce((sum, { from, to }) => sum + to - from, 0);
    return {
      passes: own.length,
      startedAt: own.at(-1)?.from,
      endedAt: own.at(-1)?.to,
      workMs: within("work") + within("gate"),
      waitMs: within("wait") + within("pause"),
    };
  };
  const phase = (
    /** @type {string} */ key,
    /** @type {string} */ name,
    /** @type {any} */ usage,
    /** @type {object} */ more = {},
  ) => {
    const { workMs, waitMs, ...rest } = times(key);
    const all = { ...usage, workMs, ...(waitMs > 0 && { waitMs }) };
    const [, nestedIn] = /\/(.*):\d+$/.exec(key) ?? [];
    return {
      key,
      name,
      depth: key.split("/").length - 1,
      ...(nestedIn && { nestedIn }),
      ...rest,
      skipped: false,
      current: false,
      usage: all,
      models: Object.keys(usage.models),
      evidence: [],
      ...more,
    };
  };
  const check = (
    /** @type {number} */ attempt,
    /** @type {boolean} */ passed,
    /** @type {string} */ result,
    /** @type {number} */ durationMs,
    /** @type {string} */ tail = "",
  ) => ({ name: "npm test", passed, result, durationMs, attempt, ...(tail && { tail }) });
  const phases = [
    phase("rpir:0", "Research", used(14, 11, 0.42), {
      summary: "The zone is added twice: once in `clock.js`, once in the formatter.\nThe tests cover only UTC.",
    }),
    phase("rpir:1", "Plan", used(9, 8, 0.31, { refusals: { write: 2 }, gateAttempts: 1 }), {
      summary: "Remove the addition in the formatter; add tests in three zones.",
      evidence: [
        {
          name: "Is the plan approved?",
          passed: true,
          result: "approved by the user",
          durationMs: 40_000,
          attempt: 1,
        },
      ],
    }),
    phase(
      "rpir:2/implement-review:0",
      "Implement",
      used(58, 44, 2.86, {
        refusals: { tools: 1, gate: 3 },
        gateAttempts: 4,
        gateFailures: 1,
        models: { "example/large": 41, "example/small": 17 },
      }),
      {
        summary: "The formatter takes the zone from the clock. 14 tests added.",
        evidence: [
          check(
            1,
            false,
            "exit status 1",
            75_000,
            "not ok 12 - summer time begins\n  expected 03:00, found 02:00\n# fail 1",
          ),
          check(2, true, "exit status 0", 70_000),
          check(3, true, "exit status 0", 68_000),
          check(4, true, "exit status 0", 66_000),
        ],
      },
    ),
    phase("rpir:2/implement-review:1", "Review", used(21, 17, 0, { unpriced: 21, models: { "local/reviewer": 21 } }), {
      summary: "No findings are left.",
      outcome: "clean",
    }),
    phase(
      "rpir:3",
      "Changelog",
      { turns: 1, input: 900, output: 40, cost: 0.004, models: { "example/small": 1 } },
      { skipped: true },
    ),
    phase("rpir:4", "Hand over", used(4, 2, 0.07), { summary: "Handed over." }),
  ];
  const sum = (/** @type {string} */ field) => phases.reduce((all, { usage }) => all + (usage[field] ?? 0), 0);
  const fields = [
    "turns",
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "reasoning",
    "cost",
    "unpriced",
    "toolCalls",
    "gateAttempts",
    "gateFailures",
    "workMs",
    "waitMs",
  ];
  return {
    taskId: "task-7f3a",
    workflow: "rpir",
    task: "The clock in the status bar is an hour late after the change to summer time",
    outcome: "done",
    startedAt: START,
    endedAt: now,
    fingerprint: "3:9b1c7e52",
    repeatedVisits: 2,
    steps: 12,
    phases,
    inputs: { zone: "Europe/Zurich", dry: "false" },
    passedOver: [{ key: "rpir:5", name: "Translate", because: "input.dry is false, not true" }],
    usage: {
      ...Object.fromEntries(fields.map((field) => [field, sum(field)])),
      refusals: { write: 2, tools: 1, gate: 3 },
      models: { "example/large": 68, "example/small": 18, "local/reviewer": 21 },
    },
    session: {
      file: "/home/user/.pi/agent/sessions/--home-user-clock--/2026-11-20T09-12-30-000Z_7f3a.jsonl",
      id: "7f3a",
      cwd: "/home/user/clock",
    },
    course: { visits, spans },
  };
}

/** Two rounds of a parallel group with two branches, and a question between them. @returns {Report} */
export function branched() {
  const at = (/** @type {number} */ minute) => START + minute * MINUTE;
  const visit = (
    /** @type {string} */ key,
    /** @type {string} */ name,
    /** @type {number} */ pass,
    /** @type {number} */ from,
    /** @type {number} */ to,
  ) => ({ key, name, pass, from: at(from), to: at(to), how: "done", isOfBranch: key.includes("/") });
  const phase = (
    /** @type {string} */ key,
    /** @type {string} */ name,
    /** @type {string} */ outcome,
    /** @type {any} */ usage,
  ) => ({
    key,
    name,
    depth: key.split("/").length - 1,
    passes: 2,
    startedAt: at(12),
    endedAt: at(18),
    skipped: false,
    current: false,
    outcome,
    usage,
    evidence: [],
  });
  const used = (/** @type {number} */ turns) => ({ turns, input: 4_000, output: 300, models: { "p/m": turns } });
  const [bugs, tests] = ["panel:0/panel//0:0", "panel:0/panel//0:1"];
  return {
    taskId: "branched",
    workflow: "panel",
    task: "Review the export",
    outcome: "done",
    startedAt: at(0),
    endedAt: at(18),
    steps: 3,
    repeatedVisits: 3,
    usage: { ...used(12), workMs: 16 * MINUTE, waitMs: 2 * MINUTE },
    phases: [
      phase("panel:0", "Reviews", "needs-another-look", { workMs: 16 * MINUTE }),
      phase(bugs, "Bugs", "clean", used(6)),
      phase(tests, "Tests", "unsatisfactory", used(6)),
      phase("panel:1", "Go on?", "", { waitMs: 2 * MINUTE }),
    ],
    branches: [
      { key: bugs, name: "Bugs", end: "done", how: "clean", clockMs: 4 * MINUTE },
      { key: tests, name: "Tests", end: "done", how: "unsatisfactory", clockMs: 6 * MINUTE },
    ],
    course: {
      visits: [
        visit("panel:0", "Reviews", 1, 0, 10),
        visit(bugs, "Bugs", 1, 0, 7),
        visit(tests, "Tests", 1, 0, 10),
        visit("panel:1", "Go on?", 1, 10, 12),
        visit("panel:0", "Reviews", 2, 12, 18),
        visit(bugs, "Bugs", 2, 12, 16),
        visit(tests, "Tests", 2, 12, 18),
      ],
      spans: [
        { kind: "work", from: at(0), to: at(10) },
        { kind: "wait", from: at(10), to: at(12) },
        { kind: "work", from: at(12), to: at(18) },
      ],
    },
  };
}

/** Texts that would leave their place in HTML, run a script, or change what is beside them. */
export const ATTACKS = [
  "</style><script>window.broken = 1; alert(1)</script>",
  '"><img src=x onerror="window.broken = 1">',
  "'><svg onload='window.broken = 1'>",
  "</title></head><body onload=window.broken=1>",
  '--><iframe src="https://example.org/"></iframe><!--',
  "<link rel=stylesheet href=https://example.org/x.css><style>@import url(https://example.org/y.css)</style>",
  "<meta http-equiv=refresh content='0;url=https://example.org/'><base href=https://example.org/>",
  "</pre></td></table></bdi><h1>Approved</h1>",
  "&lt;b&gt; &amp; &#x3c;script&#x3e;",
  "safe \u202Eelif gpj.exe\u2066 mixed \u05d0\u05d1\u05d2",
  "a\0b\u001b[31mc\u0007\u009bd\ud800e\udffff",
  "\uD83D".repeat(40),
  "word".repeat(200),
  "e" + "\u0301".repeat(200),
];

/** A run whose every text is an attack. @returns {Report} */
export function hostile() {
  let next = 0;
  const attack = () => ATTACKS[next++ % ATTACKS.length];
  const usage = () => ({
    turns: 3,
    input: 100,
    output: 10,
    cost: 0.1,
    workMs: 1000,
    models: { [attack()]: 3, ["__proto__"]: 1 },
    refusals: { [attack()]: 1, constructor: 2 },
    gateAttempts: 2,
    gateFailures: 1,
  });
  const phases = ATTACKS.map((text, index) => ({
    key: `${text}:0/${text}:${index}`,
    name: text,
    depth: 1,
    nestedIn: text,
    passes: 2,
    startedAt: START + index * MINUTE,
    endedAt: START + index * MINUTE + 50 * SECOND,
    skipped: index % 3 === 0,
    current: index === 4,
    outcome: text,
    usage: usage(),
    models: [text],
    summary: text,
    evidence: [{ name: text, passed: index % 2 === 0, result: text, durationMs: 10, attempt: 1, tail: text }],
  }));
  return {
    taskId: attack(),
    workflow: attack(),
    task: `${ATTACKS.join(" ")}\n${"long ".repeat(20_000)}`,
    outcome: attack(),
    pause: attack(),
    startedAt: START,
    fingerprint: attack(),
    usage: usage(),
    repeatedVisits: 1,
    steps: 2,
    phases,
    inputs: Object.fromEntries(ATTACKS.map((text) => [text, text])),
    passedOver: ATTACKS.map((text) => ({ key: text, name: text, because: text })),
    session: { file: attack(), id: attack(), cwd: attack() },
    course: {
      visits: phases.map(({ key, name, startedAt, endedAt }) => ({
        key,
        name,
        pass: 1,
        from: startedAt,
        to: endedAt,
        how: attack(),
      })),
      spans: phases.map(({ startedAt, endedAt }) => ({
        kind: "pause",
        from: startedAt,
        to: endedAt,
        reason: attack(),
      })),
    },
  };
}

/** 5,000 phases, 10,000 visits of a millisecond up to three days. @returns {Report} */
export function huge() {
  const text = "A long text. ".repeat(8_000);
  let now = START;
  /** @type {any[]} */
  const visits = [];
  /** @type {any[]} */
  const spans = [];
  for (let index = 0; index < 10_000; index += 1) {
    const length = index % 997 === 0 ? 72 * HOUR : index % 3 === 0 ? 1 : (index % 50) * SECOND;
    visits.push({
      key: `w:${index % 5_000}`,
      name: index % 2 === 0 ? `Phase ${index % 5_000}` : text,
      pass: 1 + Math.floor(index / 5_000),
      from: now,
      to: now + length,
      how: "done",
    });
    for (const [kind, from, to] of [
      ["work", 0, 0.6],
      ["gate", 0.6, 0.7],
      ["wait", 0.7, 1],
    ])
      spans.push({ kind, from: now + Number(from) * length, to: now + Number(to) * length, reason: text });
    now += length;
  }
  const phases = Array.from({ length: 5_000 }, (_, index) => ({
    key: `w:${index}`,
    name: index % 2 === 0 ? `Phase ${index}` : text,
    depth: 0,
    passes: 2,
    startedAt: START,
    endedAt: START + 1,
    skipped: false,
    current: false,
    outcome: text,
    summary: text,
    usage: {
      turns: 2,
      input: index,
      output: 5,
      cost: 0.01,
      workMs: index * 10,
      models: Object.fromEntries(Array.from({ length: 20 }, (_, model) => [`m${model}`, 1])),
    },
    evidence: [{ name: text, passed: true, result: text, durationMs: 1, attempt: 1, tail: text }],
  }));
  return {
    taskId: "huge",
    workflow: "w",
    task: text,
    outcome: "paused",
    pause: text,
    startedAt: START,
    usage: { turns: 10_000, input: 5, output: 5, cost: 50, workMs: 1 },
    repeatedVisits: 5_000,
    steps: 10_000,
    phases,
    passedOver: phases.map(({ key }) => ({ key, name: text, because: text })),
    course: { visits, spans },
  };
}

/** Visits of a millisecond beside one of three days, all at work. @returns {Report} */
export function uneven() {
  let now = START;
  const visits = [1, 1, 40 * SECOND, 72 * HOUR, 1, 3 * SECOND, 1].map((ms, index) => {
    const from = now;
    now += ms;
    return {
      key: `w:${index % 4}`,
      name: `Phase ${index % 4}`,
      pass: 1 + Math.floor(index / 4),
      from,
      to: now,
      how: "done",
    };
  });
  const phases = [0, 1, 2, 3].map((index) => ({
    key: `w:${index}`,
    name: `Phase ${index}`,
    depth: 0,
    passes: 2,
    skipped: false,
    current: index === 2,
    usage: {},
    evidence: [],
  }));
  return {
    taskId: "uneven",
    workflow: "w",
    task: "Uneven",
    outcome: "running",
    startedAt: START,
    usage: {},
    repeatedVisits: 1,
    steps: 7,
    phases,
    course: { visits, spans: visits.map(({ from, to }) => ({ kind: "work", from, to })) },
  };
}

/** A run of the reference implementation: no progress, no usage. @returns {Report} */
export function reference() {
  return {
    taskId: "old",
    workflow: "bugfix",
    task: "The clock is late",
    outcome: "running",
    startedAt: START,
    steps: 2,
    phases: [{ key: "bugfix:2", name: "bugfix:2", depth: 0, passes: 0, skipped: false, current: true, evidence: [] }],
    session: { file: "/home/user/s.jsonl", id: "s", cwd: "/home/user/clock" },
  };
}
