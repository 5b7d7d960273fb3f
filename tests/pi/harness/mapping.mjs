// A process that writes to a file through a shared mapping, and keeps it.

import { spawn } from "node:child_process";
import { once } from "node:events";

const WRITER = `import mmap, sys
with open(sys.argv[1], "r+b") as file:
    mapping = mmap.mmap(file.fileno(), 0)
for line in sys.stdin:
    mapping[0 : len(line) - 1] = line[:-1].encode()
    print(flush=True)
`;

/**
 * Returns a function that writes a line to the beginning of the file. From the second on, the file's times stay as they
 * are until the system writes the page to the disk.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} path
 */
export function mappingOf(t, path) {
  const writer = spawn("python3", ["-c", WRITER, path], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => writer.kill("SIGKILL"));
  return async (/** @type {string} */ text) => {
    writer.stdin.write(`${text}\n`);
    await once(writer.stdout, "data");
  };
}
