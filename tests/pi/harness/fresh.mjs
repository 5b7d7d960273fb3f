// Answers of a model that works before and in a phase with `context: fresh`, and checks of the requests that it gets.

import assert from "node:assert/strict";
import { startRpc } from "./rpc.mjs";
import { messageText } from "./scripted-model.mjs";
import { stage } from "./stage.mjs";
import { TRAVEL, withTravel } from "./travel.mjs";

/** @typedef {import("./scripted-model.mjs").ChatRequest} ChatRequest */
/** @typedef {import("./scripted-model.mjs").ScriptedModel} ScriptedModel */
/** @typedef {import("./scripted-model.mjs").Step} Step */
/** @typedef {Step | ((request: ChatRequest) => Step | Promise<Step>)} Answer */
/** @typedef {Awaited<ReturnType<typeof startFresh>>} Fresh */

/** A call whose result is the earlier work. */
export const READ = { calls: [{ name: "read", arguments: { path: "big.txt" } }] };
export const REST = { text: "I rest." };
/** @type {import("./workflows.mjs").PhaseSpec} */
export const REVIEW = { id: "review", context: "fresh" };
export const QUIET = { autoContinue: false };
export const FILES = { "big.txt": `the old work ${"x".repeat(2000)}`, ...TRAVEL };

/** An answer that goes on with a summary. @param {string} [summary] */
export const next = (summary = "the results") => ({ calls: [call({ action: "next", summary })] });

/** A call of `workflow_step`. @param {Record<string, unknown>} input */
export const call = (input) => ({ name: "workflow_step", arguments: input });

/** The messages of a request without the system prompt. @param {ChatRequest | undefined} request */
export const said = (request) =>
  (request?.messages ?? []).filter(({ role }) => role !== "system" && role !== "developer");

/** The text of these messages. @param {ChatRequest | undefined} request */
export const text = (request) => said(request).map(messageText).join("\n\n");

/**
 * Starts pi in RPC mode with a model that gives the answers set by `play`, in order, and then rests. Requests without
 * tools, for a summary of the conversation, are answered apart.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} version
 * @param {Omit<import("./sandbox.mjs").SandboxOptions, "model"> & { extensions?: string[] }} options
 */
export async function startFresh(t, version, { extensions = [], ...options }) {
  /** @type {Answer[]} */
  let answers = [];
  /** The requests of the agent. @type {ChatRequest[]} */
  const requests = [];
  const { model, sandbox } = await stage(
    t,
    async (request) => {
      if (!request.tools?.length) return { text: "A summary." };
      requests.push(request);
      const answer = answers.shift() ?? REST;
      return typeof answer === "function" ? await answer(request) : answer;
    },
    { ...options, files: { ...FILES, ...options.files } },
  );
  const start = (/** @type {string[]} */ ...args) =>
    startRpc({
      version,
      sandbox,
      args,
      extension: [...extensions.map((name) => `${sandbox.project}/${name}`), ...withTravel(sandbox)],
    });
  /** Sets the next answers. @param {...Answer} next */
  const play = (...next) => void (answers = next);
  return { model, sandbox, play, requests, start };
}

/**
 * Checks that a request shows a phase with a fresh context and nothing of the earlier work.
 *
 * @param {ChatRequest | undefined} request
 * @param {string} phase its id
 */
export function assertFresh(request, phase) {
  const seen = text(request);
  const name = phase[0].toUpperCase() + phase.slice(1);
  assert.match(messageText(said(request)[0]), new RegExp(`The workflow phase 🔹 ${name} starts with a fresh context`));
  assert.match(seen, /\*\*Task:\*\* The task/);
  assert.match(seen, new RegExp(`Do ${phase} for The task`));
  assert.doesNotMatch(seen, /the old work|I rest|Start The/);
}

/** Texts of other extensions in tests. */
const OTHERS = /a memory|of another extension/;

/** Checks that providers accept each request. @param {ScriptedModel} model */
export function assertWellFormed(model) {
  assert.deepEqual(model.faults, []);
  for (const [index, request] of model.requests.entries()) {
    /** The calls without a result. @type {Set<string>} */
    let open = new Set();
    let last = "system";
    let words = "";
    for (const message of said(request)) {
      const { role, tool_calls: calls = [], tool_call_id: id } = message;
      const where = `request ${index}: ${role} after ${last}`;
      const before = role === "user" && last === "user" ? words : undefined;
      words = messageText(message);
      // Neighbours of one role are of other extensions.
      if (before !== undefined) assert.match(`${before}\n${words}`, OTHERS, `${where}: ${before}\n---\n${words}`);
      if (role === "tool") assert.ok(open.delete(String(id)), `${where}: a result without its call`);
      else assert.deepEqual([...open], [], `${where}: calls without results`);
      assert.ok(role !== "assistant" || (last !== "assistant" && last !== "system"), where);
      if (role === "assistant") open = new Set(calls.map((call) => call.id));
      last = role;
    }
    assert.deepEqual([...open], [], `request ${index}: calls without results at the end`);
    assert.notEqual(last, "assistant", `request ${index} ends with an answer`);
  }
}

/**
 * Checks that no extension failed, and the form of all requests; ends pi.
 *
 * @param {import("./rpc.mjs").Rpc} rpc
 * @param {ScriptedModel} model
 */
export async function close(rpc, model) {
  assert.deepEqual(rpc.extensionErrors(), []);
  assert.deepEqual(
    rpc.ui("notify").filter(({ notifyType }) => notifyType === "error"),
    [],
  );
  assertWellFormed(model);
  await rpc.close();
}
