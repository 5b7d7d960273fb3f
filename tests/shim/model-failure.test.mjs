// The failure of the request to the model with which the agent ended last.

import assert from "node:assert/strict";
import { test } from "node:test";
import { zoneOffset } from "../../host-shim/local-time.js";
import { ModelFailures } from "../../host-shim/model-failure.js";

/** A pi that delivers events. */
function started() {
  /** @type {Record<string, (event: any) => void>} */
  const handlers = {};
  const failures = new ModelFailures();
  const pi = { on: (/** @type {string} */ name, /** @type {(event: any) => void} */ on) => (handlers[name] = on) };
  failures.watch(/** @type {any} */ (pi));
  const failed = (/** @type {unknown} */ errorMessage) => ({ role: "assistant", stopReason: "error", errorMessage });
  return { handlers, failures, failed };
}

test("a failure has the message, and the response to its own request", () => {
  const { handlers, failures, failed } = started();
  assert.equal(failures.last, undefined);
  handlers.turn_start({});
  handlers.after_provider_response({ status: 429, headers: { "Retry-After": "20" } });
  handlers.agent_end({ messages: [failed("429 slow down")] });
  assert.deepEqual(failures.last, { message: "429 slow down", status: 429, headers: [["retry-after", "20"]] });
  handlers.turn_start({});
  handlers.agent_end({ messages: [failed("429 again"), { role: "toolResult" }] });
  assert.deepEqual(failures.last, { message: "429 again", status: undefined, headers: [] });
  handlers.agent_end({ messages: [failed("429"), { role: "assistant", stopReason: "stop" }] });
  assert.equal(failures.last, undefined);
});

test("whatever pi tells is taken", () => {
  const { handlers, failures, failed } = started();
  for (const messages of [undefined, null, 7, [], [null], [{ role: "assistant" }]]) {
    handlers.agent_end({ messages });
    assert.equal(failures.last, undefined);
  }
  for (const headers of [undefined, null, "x", 7]) {
    handlers.after_provider_response({ status: "429", headers });
    handlers.agent_end({ messages: [failed(undefined)] });
    assert.deepEqual(failures.last, { message: "", status: undefined, headers: [] });
  }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`h${index}`, "x".repeat(1000)]));
  handlers.after_provider_response({ status: 70_000, headers: { ...many } });
  handlers.agent_end({ messages: [failed(`\ud800${"x".repeat(100_000)}`)] });
  const { message, status, headers } = failures.last ?? assert.fail();
  assert.deepEqual([message.length, message[0], status, headers.length], [8192, "\ufffd", undefined, 64]);
  assert.deepEqual(headers[1], ["h1", "x".repeat(256)]);
});

test("the offset of a zone at an instant", () => {
  const winter = BigInt(Date.UTC(2026, 0, 1));
  const summer = BigInt(Date.UTC(2026, 6, 1));
  assert.deepEqual([zoneOffset("Europe/Berlin", winter), zoneOffset("Europe/Berlin", summer)], [60, 120]);
  assert.deepEqual([zoneOffset("America/St_Johns", winter), zoneOffset("UTC", winter)], [-210, 0]);
  for (const zone of ["", "Mars/Olympus", "x".repeat(1000), "\u0000"])
    assert.equal(zoneOffset(zone, winter), undefined);
  assert.equal(zoneOffset("UTC", 2n ** 63n), undefined);
});
