// Random files of a workflow `w`, valid and invalid, beside two valid workflows.

import { ODD_SCALARS, comment, idleLine, paragraphs, sentence, textValue, wordValue } from "./yaml-text.mjs";

/** @typedef {import("./choices.mjs").Choices} Choices */
/** @typedef {Record<string, string | Uint8Array>} Files from paths like `global/w/workflow.yaml` */

/** The first four are names of tools; the others are unusual YAML. */
const TOOL_NAMES = "read|edit|bash|mcp__x|Edit|007|1.0|yes|~|null|'a b'|\"é\"|2024-01-01|0x1f|1e21|[a]|{a: b}".split(
  "|",
);

/** Invalid UTF-8. */
const BAD_BYTES = Buffer.of(0xc3, 0x28, 0xf0, 0x9f, 0x41);

/** Nests `w`, so that a `w` that the user cannot start is run too. */
const OUTER = `name: Outer
commandName: outer
initialMessage: Begin
roleInstruction: "phase {phaseId}, not {blockedToolsList}"
blockReasonTemplate: "{phaseName}: {toolName} is not in {allowedTools}"
phases:
  - subworkflow: w
  - a.md
`;
const INNER = "name: Inner\nshow: workflows\nphases: [a.md]\n";
const PHASE = "---\nid: sound\nname: Sound\nemoji: S\n---\nDo what is sound.\n";

/**
 * @param {Choices} choices
 * @returns {Files}
 */
export function makeFiles(choices) {
  const phaseFiles = choices.weighted([
    [3, ["p.md"]],
    [2, ["p.md", "q.md"]],
    [1, ["p.md", "sub/q.md"]],
  ]);
  /** @type {Files} */
  const files = {
    "global/outer/workflow.yaml": OUTER,
    "global/outer/a.md": PHASE,
    "global/inner/workflow.yaml": INNER,
    "global/inner/a.md": PHASE,
    "global/w/workflow.yaml": dressed(choices, workflowYaml(choices, phaseFiles)),
  };
  for (const [index, file] of phaseFiles.entries()) {
    files[`global/w/${file}`] = dressed(choices, phaseFile(choices, index));
  }
  const unsound = choices.weighted([
    [9, undefined],
    [1, "global/w/workflow.yaml"],
    [1, "global/w/p.md"],
  ]);
  if (unsound) files[unsound] = mutated(choices, /** @type {string} */ (files[unsound]));
  const first = Buffer.from(files["global/w/p.md"]);
  if (choices.chance(0.02)) files["global/w/p.md"] = Buffer.concat([first, BAD_BYTES]);
  return files;
}

/**
 * @param {Choices} choices
 * @param {string[]} phaseFiles
 */
function workflowYaml(choices, phaseFiles) {
  const text = (/** @type {string} */ usual) => () => textValue(choices, usual, 0);
  const long = () => textValue(choices, choices.chance(0.5) ? paragraphs(choices) : sentence(choices), 0);
  const one = (/** @type {string} */ values) => () => ` ${choices.pick(values.split(" "))}\n`;
  const commandName = choices.weighted([
    [18, "w-1"],
    [0.3, "w 1"],
    [1, "W_2"],
    [0.3, "ü"],
    [0.5, "007"],
  ]);
  /** @type {[field: string, probability: number, value: () => string][]} */
  const fields = [
    ["name", 0.99, text(choices.chance(0.8) ? "Some Work" : sentence(choices))],
    ["commandName", 0.98, () => wordValue(choices, commandName)],
    ["initialMessage", 0.98, long],
    ["show", 0.15, one('user workflows workflows "workflows" all ~ true [user]')],
    ["loopable", 0.3, one('true false False FALSE no off ~ "false" 0')],
    ["sessionNamePrefix", 0.25, text(choices.pick(["P: ", "", "🔍 "]))],
    ["sessionNameMaxLength", 0.3, one('0 7 12 1e1 0x10 0o10 010 "9" ~ -1 2.5 .inf .nan true 1_0 +5')],
    ["roleInstruction", 0.25, long],
    ["advanceReminder", 0.25, long],
    ["blockReasonTemplate", 0.25, long],
    ["completionMessage", 0.25, long],
    ["notDoneReminder", 0.25, long],
    [
      "inputs",
      0.06,
      () =>
        choices.pick([
          ` {scope: {type: choice, options: [api, web], default: api}}\n`,
          " {dry: {type: flag}, note: {type: text}}\n",
          " {scope: {type: list}}\n",
        ]),
    ],
    ["onMaxLoops", 0.06, one('next pause "pause" ~ done 7')],
    ["unknownField", 0.15, () => ` ${choices.pick(ODD_SCALARS)}\n`],
    ["phases", 0.99, () => phases(choices, phaseFiles)],
  ];
  return mapping(choices, fields);
}

/**
 * @param {Choices} choices
 * @param {string[]} phaseFiles
 */
function phases(choices, phaseFiles) {
  const odd =
    "./p.md|../w/p.md|p.md/|P.md|missing.md|../../x.md|/etc/passwd|p.md |sub\\q.md|7|~|[p.md]|{file: p.md}".split("|");
  const nested = ["subworkflow: inner", "{subworkflow: inner}", '"subworkflow": "inner"'];
  const ways = [
    "{subworkflow: inner, when: {input.scope: api}}",
    "{subworkflow: inner, when: {outcome.phase-0: ok}}",
    "{phase: p.md}",
    "{phase: p.md, when: {input.scope: [web]}}",
    "{subworkflow: inner, with: {a: b}}",
  ];
  const broken = ["subworkflow: nowhere", "subworkflow: [inner]", "subworkflow: ''"];
  const entries = phaseFiles.map((file) =>
    choices.weighted([
      [6, file],
      [1, `"${file}"`],
      [1, `'${file}'`],
    ]),
  );
  if (choices.chance(0.25)) entries.splice(choices.between(0, entries.length), 0, choices.pick(nested));
  if (choices.chance(0.06)) entries.push(choices.pick(ways));
  if (choices.chance(0.08)) entries.push(choices.pick(choices.pick([odd, broken, ODD_SCALARS])));
  const indent = choices.pick(["", "  ", "    "]);
  const line = (/** @type {string} */ entry) => `${indent}- ${entry}${comment(choices)}\n${idleLine(choices)}`;
  const inBrackets = entries.map((entry) => (/^"?subw/.test(entry) ? `{${entry}}` : entry));
  const separator = choices.pick([", ", ", ", ",", " , ", ",\n  ", choices.pick([",\n\t", ",\n"])]);
  return choices.weighted([
    [6, () => `\n${entries.map(line).join("")}`],
    [2, () => ` [${inBrackets.join(separator)}${choices.pick(["", "", ",", "\n", "\n  "])}]\n`],
    [0.1, () => ` ${choices.pick(ODD_SCALARS)}\n`],
  ])();
}

/**
 * @param {Choices} choices
 * @param {number} index
 */
function phaseFile(choices, index) {
  const text = (/** @type {string} */ usual) => () => textValue(choices, usual, 0);
  const names = () => {
    const some = TOOL_NAMES.slice(0, choices.chance(0.8) ? 4 : undefined);
    const list = choices.list(choices.between(0, 3), () => choices.pick(some));
    const separator = choices.pick([", ", ", ", ",", ",\n      ", choices.pick([",\n      ", ",\n"])]);
    const dash = choices.weighted([
      [9, "- "],
      [1, "-   "],
      [0.5, "-\t"],
    ]);
    return choices.weighted([
      [4, () => ` [${list.join(separator)}${choices.pick(["", "", ","])}]\n`],
      [4, () => `\n${list.map((name) => `    ${dash}${name}\n`).join("")}`],
      [0.5, () => ` ${choices.pick(ODD_SCALARS)}\n`],
    ])();
  };
  const tools = () =>
    choices.weighted([
      [5, () => `\n  ${choices.pick(["blacklist", "whitelist"])}:${names()}`],
      [2, () => ` {${choices.pick(["blacklist", "whitelist"])}: [read, edit]}\n`],
      [0.5, () => `\n  blacklist:${names()}  whitelist:${names()}`],
      [0.1, () => `\n  blocklist:${names()}`],
      [0.5, () => ` ${choices.pick(ODD_SCALARS)}\n`],
    ])();
  const id = choices.weighted([
    [18, `phase-${index}`],
    [0.3, "phase-0"],
    [0.4, `0${index + 1}`],
    [0.2, String(index)],
  ]);
  /** @type {[field: string, probability: number, value: () => string][]} */
  const fields = [
    ["id", 0.99, () => wordValue(choices, id)],
    ["name", 0.99, text(choices.chance(0.7) ? `Phase ${index}` : sentence(choices))],
    ["emoji", 0.99, text(choices.pick(["🔹", "⚙️", "👩‍💻", "🔹", "⚙️", "👩‍💻", "*", "1️⃣", ":x:"]))],
    ["tools", 0.5, tools],
    ["availableProfiles", 0.3, () => names()],
    ["description", 0.1, () => textValue(choices, paragraphs(choices), 0)],
    [
      "outcomes",
      0.06,
      () =>
        choices.pick([
          " {ok: next}\n",
          ' {"ok": next, bad: loop, end: done}\n',
          ` {again: ${id}}\n`,
          " {ok: nowhere}\n",
          " [ok]\n",
        ]),
    ],
  ];
  const opening = choices.chance(0.97)
    ? "---\n"
    : choices.pick(["--- \n", "--- \n", "\n---\n", "----\n", "---\n\n", ""]);
  const closing = choices.chance(0.97) ? "---\n" : choices.pick(["---", "--- \n", "----\n", "...\n", "", " ---\n"]);
  const body = choices.weighted([
    [20, () => `\n# Do ${index}\n\n${paragraphs(choices)}\n`],
    [2, () => `Do ${index}: {taskId} {phaseName}\n\n---\n\nid: x\n`],
    [0.2, () => ""],
    [0.2, () => " \n\n"],
  ])();
  return opening + mapping(choices, fields) + closing + body;
}

/**
 * @param {Choices} choices
 * @param {[field: string, probability: number, value: () => string][]} fields
 */
function mapping(choices, fields) {
  let text = "";
  for (const [field, probability, value] of fields) {
    if (!choices.chance(probability)) continue;
    const styles = [`"${field}"`, `'${field}'`, `? ${field}\n`, `${field} `];
    const key = choices.chance(0.92) ? field : choices.pick(styles);
    const alias = text.includes("&anchor ") && choices.chance(0.2);
    const usual = alias ? " *anchor\n" : value();
    const odd = choices.chance(0.008) ? ` ${choices.pick(ODD_SCALARS)}\n` : usual;
    text += `${idleLine(choices)}${key}:${odd}`;
    if (choices.chance(0.003)) text += `${field}:${value()}`;
  }
  return text;
}

/**
 * Adds byte order marks, Windows line ends and the like, as editors and tools do.
 * @param {Choices} choices
 * @param {string} text
 */
function dressed(choices, text) {
  if (choices.chance(0.08) && !text.startsWith("---")) text = `---\n${text}`;
  if (choices.chance(0.15)) text = text.trimEnd();
  if (choices.chance(0.1)) text = text.replaceAll("\n", "\r\n");
  if (choices.chance(0.05)) text = `\ufeff${text}`;
  return text;
}

const SNIPPETS = [
  ..."\n|\n  | |  |: |:|- |-|#| #|'|\"|[|]|{|}|,|>|? |!|&a |*a|%|@|`|\\|~|\t|0|1|.|é|🚀|---\n|...\n|\n\n".split("|"),
  ...["|", "|-\n   ", ">+\n   ", "<<: ", "yes", "null", "a: b\n"],
];

/**
 * @param {Choices} choices
 * @param {string} text
 */
function mutated(choices, text) {
  const characters = [...text];
  for (let rest = choices.between(1, 3); rest > 0; rest -= 1) {
    const at = choices.between(0, characters.length);
    choices.weighted([
      [1, () => characters.splice(at, choices.between(1, 4))],
      [2, () => characters.splice(at, 0, choices.pick(SNIPPETS))],
      [2, () => characters.splice(at, 1, choices.pick(SNIPPETS))],
      [1, () => characters.splice(0, characters.length, ...changedLines(choices, characters.join("")))],
    ])();
  }
  return characters.join("");
}

/**
 * Removes a line of a text, or repeats it elsewhere.
 * @param {Choices} choices
 * @param {string} text
 */
function changedLines(choices, text) {
  const lines = text.split("\n");
  const at = choices.between(0, lines.length - 1);
  const changed = choices.chance(0.5)
    ? lines.toSpliced(at, 1)
    : lines.toSpliced(choices.between(0, lines.length), 0, lines[at]);
  return changed.join("\n");
}
