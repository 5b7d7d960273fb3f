// A new folder of tasks.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { filesIn, writeNew } from "@pi-workflows/pi-workflows/cli";

/** The tasks of this package. */
const EXAMPLES = fileURLToPath(new URL("./evals-examples/bugfix", import.meta.url));
/** The tasks that a new folder of tasks gets. */
const FIRST = ["csv-quotes", "leap-year"];

/**
 * Writes a new folder of tasks, and returns the paths of its files.
 * @param {string} folder
 */
export function writeTasks(folder) {
  const files = FIRST.flatMap((task) =>
    filesIn(join(EXAMPLES, task)).map(({ path, text }) => ({
      path: `${task}/${path}`,
      text,
      executable: path === "check" || path === "setup",
    })),
  );
  return writeNew(folder, files);
}
