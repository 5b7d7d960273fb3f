// The number of passes through each phase, and the summary of the latest one (differences 39 and 40).

/** @typedef {import("./place.mjs").State} State */
/** @typedef {import("./place.mjs").Place} Place */
/** @typedef {State["currentPath"]} Path */
/** @typedef {{ path: Path, passes: number, summary?: { name: string, text: string, step: number } }} Visit */

/** The maximum size of a summary in the message at the end of a run. */
const MAX_LINES = 8;
const MAX_CHARACTERS = 600;

export class Visits {
  /** @type {Map<string, Visit>} */
  #visits;

  /** @param {Map<string, Visit>} [visits] */
  constructor(visits = new Map()) {
    this.#visits = visits;
  }

  copy() {
    return new Visits(new Map([...this.#visits].map(([key, visit]) => [key, { ...visit }])));
  }

  /** Records that a phase begins. @param {State} state */
  begin({ currentPath: path }) {
    const key = keyOf(path);
    const visit = this.#visits.get(key) ?? { path, passes: 0 };
    this.#visits.set(key, { ...visit, passes: visit.passes + 1 });
  }

  /** Returns the number of times that the current phase was begun. @param {State} state */
  pass({ currentPath }) {
    return this.#visits.get(keyOf(currentPath))?.passes ?? 1;
  }

  /**
   * Records the summary of a phase.
   * @param {Place} place the place of the phase
   * @param {unknown} summary
   */
  handOver({ state, phase }, summary) {
    const visit = this.#visits.get(keyOf(state.currentPath));
    if (!visit || typeof summary !== "string" || summary.trim() === "") return;
    const name = `${phase.emoji} ${phase.name}`;
    visit.summary = { name, text: summary.trim(), step: state.globalStepCount };
  }

  /**
   * Returns the summaries for a context prompt.
   * @param {{ state: State, workflows: Place["workflows"] }} place
   */
  results({ state, workflows }) {
    const sections = this.#groups(state.currentPath, workflows).flatMap(({ name, phases }) => [
      ...(name === undefined ? [] : [`### ${name}`]),
      ...phases.map(({ title, text }) => `${name === undefined ? "###" : "####"} ${title}\n${text}`),
    ]);
    return sections.length > 0 ? ["**Results so far:**", ...sections].join("\n\n") : "";
  }

  /**
   * Returns the summaries for the message at the end of a run.
   * @param {State} state
   * @param {Place["workflows"]} workflows
   */
  lines({ currentPath }, workflows) {
    return this.#groups(currentPath, workflows).flatMap(({ name, phases }) => [
      ...(name === undefined ? [] : [`- ${name}`]),
      ...phases.map(({ title, text }) => item(name === undefined ? "" : "  ", title, excerpt(text))),
    ]);
  }

  /**
   * Returns the summaries, oldest first. Those of a nested workflow that the run has left form one group.
   * @param {Path} current
   * @param {Place["workflows"]} workflows
   */
  #groups(current, workflows) {
    /** @type {{ key: string, name: string | undefined, phases: { title: string, text: string }[] }[]} */
    let groups = [];
    const handed = [...this.#visits]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, { path, summary }]) => (summary ? [{ path, ...summary }] : []));
    for (const { path, name: phase, text } of handed.sort((a, b) => a.step - b.step)) {
      const other = path.findIndex((part, at) => keyOf([part]) !== keyOf(current.slice(at, at + 1)));
      const outer = path.slice(0, Math.min(other < 0 ? path.length : other, path.length - 1) + 1);
      const [name, ...scopes] = path
        .slice(outer.length)
        .map(({ workflowKey }) => workflows.get(workflowKey)?.fields.name ?? "(a workflow that is gone)");
      const key = `${keyOf(outer)} ${name}`;
      const group = groups.find((group) => group.key === key) ?? { key, name, phases: [] };
      group.phases.push({ title: [...scopes, phase].join(" > "), text });
      groups = [...groups.filter((other) => other !== group), group];
    }
    return groups;
  }
}

/** @param {Path} path */
const keyOf = (path) => path.map(({ workflowKey, phaseIndex }) => `${workflowKey}:${phaseIndex}`).join("/");

/**
 * Formats a list item; several lines are put below the title.
 * @param {string} indent
 * @param {string} title
 * @param {string[]} lines
 */
function item(indent, title, lines) {
  const text = lines.length === 1 ? ` ${lines[0]}` : lines.map((line) => `\n${indent}  ${line}`).join("");
  return `${indent}- ${title}:${text}`;
}

/** Truncates a summary to its first lines. @param {string} text */
function excerpt(text) {
  const characters = [...text];
  const cut = characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS).join("")}… (cut)` : text;
  const lines = cut
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `… ${more} more ${more === 1 ? "line" : "lines"}`] : lines;
}
