// Measures `pi-workflows runs` on many session files, compared with only reading their bytes.
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findRuns } from "../../cli/runs/find.js";
import { statsOf } from "../../cli/runs/stats.js";
import { inTurns, median, spread, table, time, verdict } from "./measure.mjs";

const SESSIONS = 1000;
const ROUNDS = 9;

/** The length of a session file, in bytes. */
const SIZE = 2 ** 20;

/** Maximum of the time of `runs`, of the time of reading. */
const MOST = 3;

/** The part of the sessions that have runs, each with this number of phases that take this number of messages. */
const WITH_RUNS = 0.5;
const FILE = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
const PHASES = 8;
const MESSAGES = 24;

/** @param {string} [sessions] */
export default async function runs(sessions) {
  const count = sessions ? Number(sessions) : SESSIONS;
  const folder = mkdtempSync(join(tmpdir(), "bench-runs-"));
  try {
    for (let index = 0; index < count; index += 1) {
      const project = join(folder, `--project-${index % 10}--`);
      mkdirSync(project, { recursive: true });
      writeFileSync(join(project, `${index}.jsonl`), session(index, index < count * WITH_RUNS, index % 10 === 0));
    }
    /** @type {import("../../cli/runs/find.js").Run[]} */
    let found = [];
    const values = await inTurns(ROUNDS, {
      reading: () => time(() => readAll(folder)),
      runs: () => time(() => ({ runs: found } = findRuns({ sessions: folder }))),
    });
    const stats = time(() => statsOf(found));
    console.log(`${count} sessions of 1 MB, ${found.length} runs; median and middle half of ${ROUNDS}, in ms.\n`);
    console.log(
      `${table(
        ["", "time"],
        [
          ["reading the bytes", spread(values.reading, 0)],
          ["the runs", spread(values.runs, 0)],
          ["their figures", stats.toFixed(0)],
        ],
      )}\n`,
    );
    return verdict([
      [
        `the runs of ${count} sessions, of the time of reading the bytes`,
        median(values.runs) / median(values.reading),
        MOST,
      ],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} folder */
function readAll(folder) {
  const chunk = Buffer.allocUnsafe(2 ** 18);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  )) {
    const fd = openSync(join(folder, name), "r");
    while (readSync(fd, chunk, 0, chunk.length, null) > 0);
    closeSync(fd);
  }
}

/**
 * Returns the text of a session file.
 * @param {number} index
 * @param {boolean} hasRuns
 * @param {boolean} isOpen its last run is still going
 */
function session(index, hasRuns, isOpen) {
  let length = 0;
  let id = 0;
  const start = Date.UTC(2026, 0, 1) + index * 3_600_000;
  const lines = [
    JSON.stringify({
      type: "session",
      version: 3,
      id: `session-${index}`,
      timestamp: new Date(start).toISOString(),
      cwd: "/project",
    }),
  ];
  const append = (/** @type {any} */ entry, /** @type {any} */ rest = {}) => {
    id += 1;
    const place = {
      id: `e${id}`,
      parentId: id === 1 ? null : `e${id - 1}`,
      timestamp: new Date(start + id * 1000).toISOString(),
    };
    const line = JSON.stringify({ ...entry, ...place, ...rest });
    length += line.length + 1;
    lines.push(line);
  };
  for (let run = 0; length < SIZE; run += 1) {
    /** @type {Record<string, any>} */
    const visits = {};
    for (let phase = 0; phase < PHASES && length < SIZE; phase += 1) {
      if (hasRuns) append(state(index, run, phase, visits, start + id * 1000));
      for (let message = 0; message < MESSAGES; message += 1) append({ type: "message" }, { message: answer(message) });
    }
    if (hasRuns && !(isOpen && length >= SIZE))
      append(state(index, run, PHASES - 1, visits, start + id * 1000, { active: false, completionNotified: true }));
  }
  return `${lines.join("\n")}\n`;
}

/** An answer and a tool's result in turns, the result with some of a file. @param {number} index */
function answer(index) {
  if (index % 2)
    return {
      role: "toolResult",
      toolCallId: "call",
      toolName: "read",
      content: [{ type: "text", text: FILE.slice(0, index % 4 === 1 ? 1000 : 20_000) }],
      isError: false,
    };
  const usage = { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0, totalTokens: 1100, cost: { total: 0.01 } };
  return {
    role: "assistant",
    provider: "p",
    model: "m",
    usage,
    stopReason: "toolUse",
    content: [
      { type: "text", text: "I read it. ".repeat(20) },
      { type: "toolCall", id: "call", name: "read", arguments: { path: "file" } },
    ],
  };
}

/**
 * @param {number} session
 * @param {number} run
 * @param {number} phase
 * @param {Record<string, any>} visits
 * @param {number} now
 * @param {object} [fields]
 */
function state(session, run, phase, visits, now, fields) {
  const usage = { turns: 4, input: 4000, output: 400, cost: 0.04, toolCalls: 4, workMs: 8000, models: { "p/m": 4 } };
  for (const visit of Object.values(visits)) visit.endedAt ??= now;
  visits[`flow:${phase}`] ??= {
    name: `Phase ${phase}`,
    startedAt: now,
    passes: 1,
    usage,
    summary: { id: "a", name: "A", text: "It is done. ".repeat(30), step: phase },
  };
  const data = {
    active: true,
    workflowKey: "flow",
    currentPath: [{ workflowKey: "flow", phaseIndex: phase }],
    globalStepCount: phase,
    taskId: `wf-${session}-${run}`,
    taskDescription: "The task",
    startedAt: now,
    completionNotified: false,
    cancelled: false,
    progress: { version: 1, seal: { version: 1, hash: "0123456789abcdef" }, visits },
  };
  return { type: "custom", customType: "workflow:state", data: { ...data, ...fields } };
}
