// Confines command lines as an agent does, and exchanges files and folders at fixed moments: before and after the line was made, and
// when everything is mounted, before the first process of the sandbox compares it. Prints the results as JSON.
//
//   node raced-host.mjs FOLDER SCHEDULES      SCHEDULES in JSON: each with the folder of its project in FOLDER
import { spawn, spawnSync } from "node:child_process";
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxSession } from "#sandbox";

/**
 * @typedef {object} Schedule
 * @property {string} project
 * @property {string} prepare a line that fills it
 * @property {string[]} writable
 * @property {string[]} hidden
 * @property {string} [agent] the agent's folder, which is kept
 * @property {string[]} protect files that must stay as they are
 * @property {{ listed?: string, computed?: string, mounted?: string }} lines run at these moments
 */

const [folder, schedules] = process.argv.slice(2);
/** The line of the comparison before which the first process waits. */
const BEFORE = "m=\nIFS=";
/** Reads and writes whatever can be reached. */
const TRY = `exec 2>/dev/null; echo began; chmod -R u+rwX . ~; cat $(find . ~ -name 'secret*'); for f in $(find . ~ -type f); do echo written >>$f; done
for d in $(find . ~ -type d); do echo written >$d/new; mv $d/protected $d/moved; done; true`;

/** @param {Schedule} schedule */
async function play({ project, prepare, writable, hidden, agent, protect, lines }) {
  const root = join(folder, project);
  mkdirSync(join(root, "control"), { recursive: true });
  const at = (/** @type {string} */ line = ":") => spawnSync("sh", ["-c", line], { cwd: root });
  at(prepare);
  process.env.HOME = join(root, "home");
  const opened = protect.map((path) => openSync(join(root, path), "r"));
  const seen = () => opened.map((file) => [readFileSync(`/proc/self/fd/${file}`, "utf8"), fstatSync(file).nlink]);
  const before = JSON.stringify(seen());
  const session = new SandboxSession(() => ({ path: join(root, agent ?? "none"), name: "the agent's folder" }));
  const limits = {
    writable: writable.map((path) => (path === "/" ? path : join(root, path))),
    hidden,
    keepsAgentFolder: agent !== undefined,
    network: true,
    notice: "",
  };
  at(lines.listed);
  let confined;
  let output = "";
  try {
    confined = await session.whenFree(() => session.command("call", TRY, limits, { cwd: root, session: root }));
  } catch (/** @type {any} */ error) {
    output = error.message;
  }
  at(lines.computed);
  const wait = `echo mounted >&2; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -e ${root}/control/go ] && break; sleep 0.05; done\n`;
  if (confined !== undefined) {
    const command = lines.mounted ? confined.replace(BEFORE, wait + BEFORE) : confined;
    // The first process writes that all is mounted before it gives its errors away.
    const line = command.replace(`exec 2>/dev/null\n${wait}`, `${wait}exec 2>/dev/null\n`);
    const shell = spawn("bash", ["-c", line], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let isMounted = false;
    for (const stream of [shell.stdout, shell.stderr])
      stream.on("data", (data) => {
        output += data;
        if (isMounted || !output.includes("mounted\n")) return;
        isMounted = true;
        at(lines.mounted);
        writeFileSync(join(root, "control/go"), "");
      });
    await new Promise((resolve) => shell.on("close", resolve));
  }
  session.end();
  const changed = JSON.stringify(seen()) !== before;
  opened.forEach((file) => closeSync(file));
  return { output, changed, outside: readdirSync(join(root, "outside")) };
}

const results = [];
for (const schedule of JSON.parse(schedules)) results.push(await play(schedule));
console.log(JSON.stringify(results));
process.exit();
