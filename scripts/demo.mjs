// Starts the real pi with this package and the example workflows, in a temporary project.
//
//   npm run demo                          a scripted model plays the agent: no key, no network
//   npm run demo -- --model PROVIDER/ID   the user's own pi configuration and models
//
// Without a terminal it plays one workflow and prints its progress; exits with 0 only if the run reached DONE.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { REPO, piCommand } from "../tests/pi/harness/pi.mjs";
import { startRpc } from "../tests/pi/harness/rpc.mjs";
import { startModel } from "../tests/pi/harness/scripted-model.mjs";
import { demoAgent } from "./demo/agent.mjs";
import { demoSandbox } from "./demo/project.mjs";
import { scriptFor } from "./usage.mjs";

const COMMAND = "/workflow quick Add a greeting";
const TIMEOUT_MS = 600_000;

scriptFor("demo", process.argv.slice(2));
const { model: chosen } = parseArgs({ options: { model: { type: "string" } } }).values;
const interactive = Boolean(process.stdin.isTTY && process.stdout.isTTY);

const scripted = chosen ? undefined : await startModel(demoAgent({ paceMs: interactive ? 700 : 0 }));
const sandbox = demoSandbox(scripted);

const options = {
  // A model of the user needs the user's environment: keys, settings, sign-ins.
  sandbox: chosen ? { ...sandbox, env: () => /** @type {any} */ (process.env) } : sandbox,
  trust: true,
  args: chosen ? ["--model", chosen] : [],
};

/** Starts pi for the user, with a hint about the command to enter. */
async function play() {
  const hint = join(REPO, "scripts/demo/hint.js");
  const [node, ...parameters] = piCommand({ ...options, extension: [REPO, hint] });
  const env = { ...process.env, ...options.sandbox.env(), TERM: process.env.TERM, PI_WORKFLOWS_DEMO: COMMAND };
  const pi = spawn(node, parameters, { cwd: sandbox.project, env, stdio: "inherit" });
  const [code] = await once(pi, "exit");
  return code ?? 1;
}

/** Plays the workflow and prints each phase. */
async function show() {
  const rpc = await startRpc(options);
  console.log(`> ${COMMAND}`);
  const settled = rpc.waitForSettled({ timeoutMs: TIMEOUT_MS });
  await rpc.prompt(COMMAND);
  await settled;
  let done = false;
  for (const record of rpc.records) {
    if (record.type === "extension_ui_request" && record.method === "setStatus" && record.statusText) {
      console.log(`  status  ${record.statusText}`);
    }
    if (record.type === "message_end" && record.message.role === "assistant") {
      for (const { type, text } of record.message.content)
        if (type === "text" && text) console.log(`  agent   ${text}`);
    }
    if (record.type === "tool_execution_end") {
      const [first] = String(record.result.content?.[0]?.text ?? "").split("\n");
      console.log(`  ${record.isError ? "refused" : "tool   "} ${record.toolName}: ${first}`);
    }
    if (record.type === "entry_appended" && record.entry.customType === "workflow:state") {
      const { active, cancelled } = record.entry.data;
      done ||= !active && !cancelled;
    }
    if (record.type === "entry_appended" && record.entry.customType === "workflow:complete") {
      console.log(`\n${record.entry.data.content}`);
    }
  }
  console.log(done ? "\nThe run reached DONE." : "\nThe run did not reach DONE.");
  return done ? 0 : 1;
}

try {
  process.exitCode = await (interactive ? play() : show());
} finally {
  await sandbox.dispose();
  await scripted?.close();
}
