// Looks at a file system that does not answer: each thread that looks opens a pipe to which nobody writes. Prints, as JSON, the
// reason why each look failed and the number of threads that began, and at its end "released".
//
//   node hanging-host.mjs FOLDER COUNT [exit|meanwhile]      with `exit` it exits at the end, with `meanwhile` while it looks, else it
//   has nothing left to do
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import threads from "node:worker_threads";
import { SandboxSession } from "#sandbox";

const [folder, count, exits] = process.argv.slice(2);
const [pipe, begun] = ["pipe", "begun"].map((name) => join(folder, name));
spawnSync("mkfifo", [pipe]);
writeFileSync(begun, "");
const preload = `import fs from "node:fs";
fs.appendFileSync(${JSON.stringify(begun)}, "x");
fs.openSync(${JSON.stringify(pipe)}, "r");`;
const execArgv = [`--import=data:text/javascript;base64,${Buffer.from(preload).toString("base64")}`];
class Hanging extends threads.Worker {
  /** @param {URL} url @param {import("node:worker_threads").WorkerOptions} options */
  constructor(url, options) {
    super(url, { ...options, execArgv });
  }
}
Object.assign(threads, { Worker: Hanging });
syncBuiltinESMExports();
// No thread loads what it names.
process.env.NODE_OPTIONS = "--import=./not-there.mjs";

const session = new SandboxSession(() => ({ path: folder, name: "the agent's folder" }));
const limits = { writable: [], network: true, notice: "" };
const reasons = [];
for (let at = 0; at < Number(count); at += 1) {
  const abort = new AbortController();
  const call = session.command("call", "true", limits, { cwd: folder, session: folder, signal: abort.signal });
  const reason = call.catch(({ message }) => message);
  await sleep(1200);
  if (exits === "meanwhile") process.exit();
  abort.abort();
  reasons.push(await reason);
}
process.once("exit", () => writeSync(1, "released"));
session.end();
writeSync(1, `${JSON.stringify({ reasons, threads: readFileSync(begun, "utf8").length })}\n`);
if (exits) process.exit();
