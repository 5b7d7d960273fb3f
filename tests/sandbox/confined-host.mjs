// Runs command lines confined, one after the other, as an agent does. Prints their results as JSON.
//
//   node confined-host.mjs FOLDER LIMITS LINE...      LIMITS in JSON; a list has the writable paths; `agent` is the
//   agent's folder, and `meanwhile` a line that runs, not confined, after each confined line was made;
//   `then` has the limits of the lines behind the first; `shell` is the host's shell, and `programs` its folder of programs
import { spawnSync } from "node:child_process";
import { SandboxSession } from "#sandbox";

const [folder, given, ...lines] = process.argv.slice(2);
const limits = Array.isArray(JSON.parse(given)) ? { writable: JSON.parse(given) } : JSON.parse(given);
const { agent = folder, programs, shell } = limits;
const session = new SandboxSession(
  () => ({ path: agent, name: "the agent's folder", programs }),
  () => ({ path: shell, prefix: limits.prefix }),
);
session.begin(folder);

const results = [];
for (const [index, line] of lines.entries()) results.push(await result(line, index));

/** @param {string} line @param {number} index */
async function result(line, index) {
  const id = String(index);
  let confined;
  try {
    const own = index > 0 ? limits.then : undefined;
    const signs = ["read-only file system", "operation not permitted"];
    const all = { hidden: [], network: true, ...limits, ...own, notice: "NOTICE", signs };
    confined = await session.whenFree(() => session.command(id, line, all, { cwd: folder, session: folder }));
  } catch (/** @type {any} */ error) {
    return { refused: error.message };
  }
  if (limits.meanwhile) spawnSync("sh", ["-c", limits.meanwhile]);
  const { status, stdout, stderr } = spawnSync(shell ?? "/bin/bash", ["-c", confined], {
    cwd: folder,
    encoding: "utf8",
    // As pi's own: with a socket as standard input, bash may read ~/.bashrc.
    stdio: ["ignore", "pipe", "pipe"],
  });
  const notice = session.notice(id, stderr);
  session.ended(id);
  return { status, stdout, stderr, notice };
}
session.end();
console.log(JSON.stringify(results));
