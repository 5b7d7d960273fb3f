// Confines a command line, starts it as pi does, and is killed at once, later, or once the command line has made a
// file.
//
//   node dying-host.mjs FOLDER LINE MILLISECONDS|FILE [exit]      with `exit` it exits instead, and `hidden` is hidden
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Confinement } from "../../host-shim/sandbox/index.js";

const [folder, line, delay, exits] = process.argv.slice(2);
const codingAgent = {
  getAgentDir: () => folder,
};
const confinement = new Confinement(/** @type {any} */ ({ on() {} }), /** @type {any} */ ({ codingAgent }), true);
const event = { toolName: "bash", toolCallId: "call", input: { command: line } };
const context = { cwd: folder, isProjectTrusted: () => true, sessionManager: { getSessionId: () => folder } };
const refused = confinement.confine(
  event,
  { writable: [`${folder}/`], hidden: exits ? ["hidden"] : [], network: true, notice: "" },
  /** @type {any} */ (context),
);
if (refused !== undefined) throw new Error(String(refused));
spawn("bash", ["-c", event.input.command], { cwd: folder, detached: true, stdio: "ignore" });
const end = performance.now() + Number(delay);
while (Number.isNaN(end) ? !existsSync(join(folder, delay)) : performance.now() < end);
if (exits) process.exit();
process.kill(process.pid, "SIGKILL");
