// One of several processes in a project that confine command lines: runs some, one after the other, which read the hidden
// names. Prints what those that failed or have read something wrote, as JSON. With 0 command lines it begins one that it does
// not run, and ends it, and then itself, with its standard input.
//
//   node sharing-host.mjs FOLDER COUNT HIDDEN WRITABLE [LISTS]      HIDDEN and WRITABLE in JSON; LISTS has the lists
import { spawn } from "node:child_process";
import { once } from "node:events";
import { SandboxSession } from "#sandbox";
import { placeholders } from "../../sandbox/placeholders.js";

const [folder, count, hidden, writable, lists] = process.argv.slice(2);
placeholders.folder = lists;
/** @type {import("#sandbox").Limits} */
const limits = {
  writable: JSON.parse(writable).map((/** @type {string} */ path) => `${folder}/${path}`),
  hidden: JSON.parse(hidden),
  network: true,
  notice: "",
};
const at = { cwd: folder, session: `${folder} ${process.pid}` };
const READ = `cat ${limits.hidden?.join(" ")} 2>/dev/null | grep .`;
const session = new SandboxSession(() => ({ path: `${folder}/none`, name: "the agent's folder" }));
session.begin(folder);

for (let index = 0; index < Number(count); index += 1) {
  let output = "";
  try {
    const line = `${READ}; sleep 0.0$((RANDOM % 5)); ${READ}; exit 0`;
    const confined = await session.whenFree(() => session.command(String(index), line, limits, at));
    const shell = spawn("bash", ["-c", confined], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (data) => (output += data));
    const [status] = await once(shell, "close");
    if (status !== 0) output ||= `status ${status}`;
  } catch (/** @type {any} */ error) {
    output = error.message;
  }
  session.ended(String(index));
  console.log(output === "" ? "" : JSON.stringify(output));
}
if (count === "0") {
  await session.whenFree(() => session.command("call", "true", limits, at));
  console.log("began");
  process.stdin.resume();
  await once(process.stdin, "end");
}
session.end();
