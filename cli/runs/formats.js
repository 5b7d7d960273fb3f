// The output formats of `runs` and `stats`: for users and for programs.
import { cell, columns } from "./columns.js";
import { clock, cost, day, duration } from "./figures.js";
import { statsText } from "./stats.js";

/** @typedef {import("./find.js").Run} Run */

/** The headings of the columns of `runs`. */
const HEADINGS = ["run", "started", "outcome", "workflow", "phase", "at work", "waiting", "cost", "project", "task"];

/** Columns that a narrow terminal leaves out, in this order. */
const SPARE = ["waiting", "phase", "cost", "at work", "started"];

/**
 * Formats of `runs`; `hasProjects` adds the project of each run, and `width` is that of a terminal.
 * @type {Record<string, (runs: Run[], hasProjects: boolean, width?: number) => string>}
 */
export const RUN_FORMATS = {
  text: (runs, hasProjects, width) => {
    if (runs.length === 0) return "No runs.\n";
    const rows = [HEADINGS, ...runs.map(row)].map((row) =>
      hasProjects ? row : row.toSpliced(HEADINGS.indexOf("project"), 1),
    );
    const spare = SPARE.map((heading) => HEADINGS.indexOf(heading));
    return `${columns(rows, width, -1, spare).join("\n")}\n`;
  },

  json: (runs) => {
    const all = runs.map(({ outcome, pid, state, usage, session, storedAt, lastAt }) => {
      const { taskId, workflow, task, startedAt, steps, pause, fingerprint, phaseKey, phaseName } = state;
      const hasEnded = ["done", "stopped", "cancelled"].includes(outcome);
      return {
        taskId,
        workflow,
        task,
        outcome,
        pid,
        pause,
        phase: { key: phaseKey, name: phaseName },
        startedAt,
        ...(hasEnded ? { endedAt: state.endedAt ?? storedAt } : { lastAt }),
        fingerprint,
        steps,
        usage,
        session,
      };
    });
    return `${JSON.stringify({ runs: all }, null, 2)}\n`;
  },
};

/** Returns the cells below the `HEADINGS`. @param {Run} run */
function row({ state, outcome, pid, usage, session }) {
  const { taskId, startedAt, workflow, task } = state;
  return [
    cell(taskId, 40),
    `${day(startedAt)} ${clock(startedAt).slice(0, 5)}`,
    pid === undefined ? outcome : `${outcome} (${pid})`,
    cell(workflow, 40),
    cell(state.phaseTitle, 40),
    ...(usage ? [duration(usage.workMs), duration(usage.waitMs), cost(usage)] : ["unknown", "unknown", "unknown"]),
    cell(session.cwd, 200),
    cell(task, 60),
  ];
}

/** Formats of `stats`. @type {Record<string, (versions: import("./stats.js").Version[], width?: number) => string>} */
export const STATS_FORMATS = {
  text: statsText,
  json: (versions) => {
    const workflows = versions.map((version) => ({
      ...version,
      phases: version.phases.map(({ title: _, ...phase }) => phase),
    }));
    return `${JSON.stringify({ workflows }, null, 2)}\n`;
  },
};
