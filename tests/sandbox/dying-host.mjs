// Confines a command line, starts it as an agent does, and is killed at once, later, or once the command line has made a
// file.
//
//   node dying-host.mjs FOLDER LINE MILLISECONDS|FILE [exit]      with `exit` it exits instead, and `hidden` is hidden
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SandboxSession } from "#sandbox";

const [folder, line, delay, exits] = process.argv.slice(2);
const session = new SandboxSession(() => ({ path: folder, name: "the agent's folder" }));
const limits = { writable: [`${folder}/`], hidden: exits ? ["hidden"] : [], network: true, notice: "" };
const confined = await session.command("call", line, limits, { cwd: folder, session: folder });
spawn("bash", ["-c", confined], { cwd: folder, detached: true, stdio: "ignore" });
const end = performance.now() + Number(delay);
while (Number.isNaN(end) ? !existsSync(join(folder, delay)) : performance.now() < end);
if (exits) process.exit();
process.kill(process.pid, "SIGKILL");
