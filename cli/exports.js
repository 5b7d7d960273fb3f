// The exports of the command line for programs that measure workflows: finding workflows and pi, running a process with
// a note, and writing figures and pages.
import { fileURLToPath } from "node:url";

export { flag, runProgram, shown, text, texts } from "./command-line.js";
export { endProcess, onInterrupt, piCommand } from "./headless/pi.js";
export { saysYes } from "./headless/questions.js";
export { filesIn, writeNew } from "./new.js";
export { packageFolder } from "./packages.js";
export { agentDir, placesOf } from "./places.js";
export { columns } from "./runs/columns.js";
export { counted, dollars, duration, tokens } from "./runs/figures.js";
export { line } from "./runs/html/data.js";
export { bdi, h, section, table } from "./runs/html/nodes.js";
export { page, reportHtml } from "./runs/html/page.js";
export { forgetProcess, processOf, takeForProcess } from "./runs/process.js";
export { spread } from "./runs/stats.js";
export { Failure, formatOf, inWords, quoted, shortened } from "./words.js";
export { openWorkflows } from "./workflows.js";

/** The program `pi-workflows`, for Node. */
export const PROGRAM = fileURLToPath(new URL("./pi-workflows.js", import.meta.url));

/** @typedef {import("./command-line.js").Result} Result */
/** @template O @typedef {import("./command-line.js").Command<O>} Command */
/** @template {import("./command-line.js").Table} T @typedef {import("./command-line.js").OptionsOf<T>} OptionsOf */
/** @typedef {import("./places.js").Grant} Grant */
/** @typedef {import("./workflows.js").Workflows} Workflows */
/**
 * A column of a table: its heading, the content of a cell, and its class.
 * @template T
 * @typedef {import("./runs/html/nodes.js").Column<T>} Column
 */
