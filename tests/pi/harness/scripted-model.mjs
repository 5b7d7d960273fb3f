// A scripted model: an HTTP server on loopback that implements as much of OpenAI's streaming chat
// completions as pi's `openai-completions` API needs, and keeps every request.

import { createServer } from "node:http";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "./pi.mjs";

/**
 * One answer of the model. `status` makes it an HTTP error with `text` as its message. `hang` sends `text` (if any) and
 * then neither ends nor closes; with "alive" it sends lines that keep the connection alive. Without `usage` the prompt counts a token for every four characters of the request.
 *
 * @typedef {object} Step
 * @property {string} [text]
 * @property {{ id?: string, name: string, arguments?: unknown, raw?: string }[]} [calls] `raw` is sent as the arguments as it is
 * @property {boolean} [cut] the answer ends because of its output limit
 * @property {number} [status]
 * @property {number} [delayMs]
 * @property {boolean | "alive"} [hang]
 * @property {{ prompt?: number, completion?: number, cacheRead?: number, cacheWrite?: number, reasoning?: number }}
 *   [usage] tokens reported to pi; `prompt` includes those of the cache, `completion` those of reasoning
 * @property {string} [answeredBy] the name of the model that the provider reports
 * @property {boolean} [unmetered] no usage is sent
 *
 * @typedef {object} ChatMessage
 * @property {string} role
 * @property {string | { type: string, text?: string }[] | null} [content]
 * @property {any[]} [tool_calls]
 * @property {string} [tool_call_id]
 *
 * @typedef {object} ChatRequest
 * @property {string} model
 * @property {ChatMessage[]} messages
 * @property {{ function: { name: string, description: string, parameters: any } }[]} [tools]
 *
 * @typedef {(request: ChatRequest, index: number) => Step | undefined | Promise<Step | undefined>} StepFunction
 * @typedef {Awaited<ReturnType<typeof startModel>>} ScriptedModel
 */

/** @type {Step} */
const SCRIPT_ENDED = { text: "(script ended)" };

/**
 * @param {Step[] | StepFunction} [script] after its last step, or where it returns nothing, the model answers
 *   "(script ended)"
 */
export async function startModel(script = []) {
  /** @type {StepFunction} */
  const stepFor = typeof script === "function" ? script : (_request, index) => script[index];
  /** @type {ChatRequest[]} */
  const requests = [];
  /** @type {number[]} */
  const sizes = [];
  /** @type {Error[]} */
  const faults = [];
  /** @type {Set<() => void>} */
  const watchers = new Set();
  const closing = new AbortController();

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (closing.signal.aborted) return;
      faults.push(error);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `the scripted model failed: ${error.stack}` } }));
    });
  });

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function answer(request, response) {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    /** @type {ChatRequest} */
    const chat = JSON.parse(body);
    const index = requests.push(chat) - 1;
    sizes.push(Buffer.byteLength(body));
    for (const watcher of watchers) watcher();
    const step = (await stepFor(chat, index)) ?? SCRIPT_ENDED;
    if (step.delayMs) await sleep(step.delayMs, undefined, { signal: closing.signal });
    if (step.status) {
      response.writeHead(step.status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: step.text ?? `scripted error ${step.status}` } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const head = {
      id: `scripted-${index}`,
      object: "chat.completion.chunk",
      created: 0,
      model: step.answeredBy ?? chat.model,
    };
    for (const chunk of chunks(step, index, body.length)) {
      response.write(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
    }
    if (!step.hang) response.end("data: [DONE]\n\n");
    if (step.hang !== "alive") return;
    const alive = setInterval(() => response.write(": keep-alive\n\n"), 100);
    response.on("close", () => clearInterval(alive));
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    /** Parsed bodies of all requests so far, oldest first. */
    requests,
    /** The sizes of the request bodies, in bytes. */
    sizes,
    /** Errors thrown by a script function; pi gets an HTTP 400. */
    faults,
    lastRequest: () => requests[requests.length - 1],
    /** Returns the text of all messages of request `index` (negative: from the end), including the system prompt. */
    messagesText: (/** @type {number} */ index = -1) =>
      (requests.at(index)?.messages ?? []).map(messageText).join("\n\n"),
    /** Returns the names of the tools in request `index`. */
    toolNames: (/** @type {number} */ index = -1) =>
      (requests.at(index)?.tools ?? []).map((tool) => tool.function.name),
    /** Resolves when `count` requests have arrived, answered or not. */
    waitForRequests: (
      /** @type {number} */ count,
      /** @type {{ timeoutMs?: number }} */ { timeoutMs = PATIENCE_MS } = {},
    ) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(check);
          reject(new Error(`the model got ${requests.length} of ${count} requests within ${timeoutMs} ms`));
        }, timeoutMs);
        const check = () => {
          if (requests.length < count) return;
          clearTimeout(timer);
          watchers.delete(check);
          resolve(undefined);
        };
        watchers.add(check);
        check();
      }),
    async close() {
      closing.abort();
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * @param {Step} step
 * @param {number} index
 * @param {number} requestLength
 */
function* chunks(step, index, requestLength) {
  const delta = (/** @type {object} */ fields, /** @type {string | null} */ reason = null) => ({
    choices: [{ index: 0, delta: fields, finish_reason: reason }],
  });
  yield delta({ role: "assistant", content: "" });
  // Several pieces, so that the reader of the stream has to join them.
  for (const piece of step.text?.match(/[^]{1,40}/g) ?? []) yield delta({ content: piece });
  if (step.hang) return;
  const calls = step.calls ?? [];
  for (const [position, call] of calls.entries()) {
    const opening = {
      id: call.id ?? `call_${index}_${position}`,
      type: "function",
      function: { name: call.name, arguments: "" },
    };
    yield delta({ tool_calls: [{ index: position, ...opening }] });
    yield delta({
      tool_calls: [{ index: position, function: { arguments: call.raw ?? JSON.stringify(call.arguments ?? {}) } }],
    });
  }
  yield delta({}, step.cut ? "length" : calls.length ? "tool_calls" : "stop");
  if (step.unmetered) return;
  const prompt = step.usage?.prompt ?? Math.ceil(requestLength / 4);
  const completion = step.usage?.completion ?? Math.ceil((step.text?.length ?? 0) / 4) + 1;
  const total = prompt + completion;
  const details = {
    prompt_tokens_details: { cached_tokens: step.usage?.cacheRead, cache_write_tokens: step.usage?.cacheWrite },
    completion_tokens_details: { reasoning_tokens: step.usage?.reasoning },
  };
  yield {
    choices: [],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total, ...details },
  };
}

/**
 * Returns the texts of one message of a request: the extension joins its own with those of the user beside them.
 *
 * @param {ChatMessage} message
 */
export function messageTexts({ content }) {
  return typeof content === "string" ? [content] : (content ?? []).map((part) => part.text ?? "");
}

/**
 * Returns the text of one message of a request.
 *
 * @param {ChatMessage} message
 */
export function messageText(message) {
  return messageTexts(message).join("\n");
}
