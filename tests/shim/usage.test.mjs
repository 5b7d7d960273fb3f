// The usage of the entries of sessions, made by the real pi.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { usageSince } from "../../host-shim/usage.js";

const STATE = "workflow:state";

/** @param {Partial<Record<"input" | "output" | "cacheRead" | "cacheWrite" | "reasoning", number>>} tokens */
const usage = (tokens, cost = 0) => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  ...tokens,
  cost: { total: cost },
});

/** @param {any} used */
const answer = (used, model = "m", calls = 0, stopReason = "stop") =>
  /** @type {any} */ ({
    role: "assistant",
    provider: "p",
    model,
    usage: used,
    stopReason,
    timestamp: 0,
    content: Array.from({ length: calls }, (_, index) => ({
      type: "toolCall",
      id: `${index}`,
      name: "read",
      arguments: {},
    })),
  });
const user = /** @type {any} */ ({ role: "user", content: "x", timestamp: 0 });
const result = (/** @type {any} */ used) =>
  /** @type {any} */ ({
    role: "toolResult",
    toolCallId: "0",
    toolName: "read",
    content: [],
    isError: false,
    usage: used,
    timestamp: 0,
  });

/** Sets the time of the newest entry, in milliseconds. @param {SessionManager} session @param {number} time */
const at = (session, time) => {
  /** @type {any} */ (session.getLeafEntry()).timestamp = new Date(time).toISOString();
};

suite("the usage of a session", () => {
  test("is added up by model, with answers without a price apart", () => {
    const session = SessionManager.inMemory("/tmp");
    session.appendMessage(answer(usage({ input: 99 }, 9)));
    session.appendCustomEntry(STATE, {});
    session.appendMessage(
      answer(usage({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 1 }, 0.5), "m", 2),
    );
    session.appendMessage(result(usage({ input: 10 }, 0.25)));
    session.appendMessage(answer(usage({ input: 5 }), "free"));
    session.appendMessage(answer(usage({}), "m"));
    session.appendCompaction("s", "x", 1, undefined, false, /** @type {any} */ (usage({ output: 7 }, 0.125)));
    const { models, toolCalls } = usageSince(session, STATE);
    const by = Object.fromEntries(models.map(({ model, ...rest }) => [model ?? "none", rest]));
    const none = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n, reasoning: 0n };
    assert.deepEqual(by, {
      "p/m": {
        ...none,
        answers: 2,
        input: 1n,
        output: 2n,
        cacheRead: 3n,
        cacheWrite: 4n,
        reasoning: 1n,
        cost: 0.5,
        unpriced: 1,
        unreported: 1,
      },
      "p/free": { ...none, answers: 1, input: 5n, cost: 0, unpriced: 1, unreported: 0 },
      none: { ...none, answers: 2, input: 10n, output: 7n, cost: 0.375, unpriced: 0, unreported: 0 },
    });
    assert.equal(toolCalls, 2);
  });

  test("has the time up to the agent's messages, and apart from it the time up to a message of the user", () => {
    const session = SessionManager.inMemory("/tmp");
    const steps = /** @type {const} */ ([
      [() => session.appendCustomEntry(STATE, {}), 1000],
      [() => session.appendMessage(user), 5000],
      [() => session.appendMessage(answer(usage({}), "m", 1)), 7000],
      [() => session.appendCustomEntry("other", {}), 7500],
      [() => session.appendMessage(result(undefined)), 8000],
      [() => session.appendMessage(answer(usage({}))), 10_000],
      [() => session.appendCustomEntry("other", {}), 10_500],
      [() => session.appendMessage(user), 90_000],
      [() => session.appendMessage(answer(usage({}))), 91_000],
    ]);
    const sums = [];
    for (const [append, time] of steps) {
      append();
      at(session, time);
      const { workMs, waitMs, newestMs } = usageSince(session, STATE);
      sums.push([workMs, waitMs, newestMs]);
    }
    assert.deepEqual(sums, [
      [0n, 0n, 1000n],
      [0n, 4000n, 5000n],
      [2000n, 4000n, 7000n],
      // Time that another entry interrupts is counted as a whole, up to the message that ends it.
      [2000n, 4000n, 7000n],
      [3000n, 4000n, 8000n],
      [5000n, 4000n, 10_000n],
      [5000n, 4000n, 10_000n],
      [5000n, 84_000n, 90_000n],
      [6000n, 84_000n, 91_000n],
    ]);
    // A state entry in the middle of a turn: the work goes on behind it.
    session.appendMessage(answer(usage({}), "m", 1));
    at(session, 92_000);
    session.appendCustomEntry(STATE, {});
    at(session, 93_000);
    session.appendMessage(result(undefined));
    at(session, 94_000);
    assert.equal(usageSince(session, STATE).workMs, 1000n);
  });

  test("has no time of an entry without one", () => {
    const session = SessionManager.inMemory("/tmp");
    assert.equal(usageSince(session, STATE).newestMs, undefined);
    session.appendCustomEntry(STATE, {});
    /** @type {any} */ (session.getEntries().at(-1)).timestamp = "rubbish";
    assert.equal(usageSince(session, STATE).newestMs, undefined);
  });

  test("is the same read at once or step by step, and on another branch", () => {
    const session = SessionManager.inMemory("/tmp");
    session.appendCustomEntry(STATE, {});
    const first = session.appendMessage(answer(usage({ input: 1 }, 1), "m", 1));
    assert.equal(usageSince(session, STATE).toolCalls, 1);
    session.appendCompaction("s", "x", 1, undefined, false, /** @type {any} */ (usage({ output: 7 }, 0.5)));
    const totals = () =>
      usageSince(session, STATE).models.map(({ model, answers, input, output, cost }) => [
        model,
        answers,
        input,
        output,
        cost,
      ]);
    for (let time = 0; time < 2; time += 1)
      assert.deepEqual(totals(), [
        ["p/m", 1, 1n, 0n, 1],
        [undefined, 1, 0n, 7n, 0.5],
      ]);
    session.appendMessage(answer(usage({ input: 2 }, 2)));
    for (let time = 0; time < 2; time += 1)
      assert.deepEqual(totals(), [
        ["p/m", 2, 3n, 0n, 3],
        [undefined, 1, 0n, 7n, 0.5],
      ]);
    session.branch(first);
    assert.deepEqual(totals(), [["p/m", 1, 1n, 0n, 1]]);
    session.appendMessage(answer(usage({ input: 4 }, 4)));
    assert.deepEqual(totals(), [["p/m", 2, 5n, 0n, 5]]);
    assert.deepEqual(usageSince(session, "none").models[0].input, 5n);
  });

  test("has the requests that keep the prompt cache apart, and counts other requests beside the answers as no answer", () => {
    const session = SessionManager.inMemory("/tmp");
    for (const [kind, used] of /** @type {const} */ ([
      ["cache_warm", usage({ cacheRead: 9 }, 0.5)],
      ["cache_warm", usage({ cacheRead: 1 })],
      ["cache_warm", null],
      ["other", usage({ input: 4 }, 0.25)],
    ])) {
      session.appendUsage(kind, "p", "m", /** @type {any} */ (used));
    }
    const { models, warmUps, warmTokens, warmCost } = usageSince(session, STATE);
    assert.deepEqual([warmUps, warmTokens, warmCost], [3, 10n, 0.5]);
    assert.deepEqual(
      models.map(({ model, answers, input, cost, unpriced }) => [model, answers, input, cost, unpriced]),
      [["p/m", 0, 4n, 0.25, 0]],
    );
    // Read again behind a message that was summed up before.
    session.appendMessage(answer(usage({ input: 1 }, 1)));
    assert.equal(usageSince(session, STATE).warmUps, 3);
    session.appendUsage("cache_warm", "p", "m", /** @type {any} */ (usage({})));
    for (let time = 0; time < 2; time += 1) assert.equal(usageSince(session, STATE).warmUps, 4);
  });

  /** The tokens, the cost and the unknown answers of one entry. @param {any} message */
  const only = (message) => {
    const session = SessionManager.inMemory("/tmp");
    session.appendMessage(message);
    const { models, workMs } = usageSince(session, STATE);
    assert.ok(workMs >= 0n);
    const [{ input, output, cost, unpriced, unreported }] = models;
    return [input, output, cost, unpriced, unreported];
  };

  test("is unknown where an answer has none", () => {
    const counts = { input: 3, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 8, cost: { total: 1 } };
    const odd = [undefined, null, 7, "x", [], {}, usage({}), usage({}, 0), { ...usage({}), cost: undefined }];
    for (const used of odd) assert.deepEqual(only(answer(used)), [0n, 0n, 0, 1, 1], JSON.stringify(used));
    for (const value of [-1, NaN, Infinity, 1e300, 2 ** 53, "5", null, {}, true]) {
      for (const field of ["input", "output", "cacheRead", "cacheWrite"]) {
        assert.deepEqual(only(answer({ ...counts, [field]: value })).slice(3), [1, 1], `${field} ${value}`);
      }
      assert.deepEqual(only(answer({ ...counts, cost: { total: value } })), [3n, 5n, 0, 1, 0], `cost ${value}`);
    }
    // An answer in the middle of which it was stopped has taken something.
    for (const stopReason of ["error", "aborted"]) {
      assert.deepEqual(only({ ...answer(usage({}), "m", 0, stopReason), content: [{ type: "text", text: "I beg" }] }), [
        0n,
        0n,
        0,
        1,
        1,
      ]);
      assert.deepEqual(only(answer(usage({}), "m", 1, stopReason)), [0n, 0n, 0, 1, 1]);
    }
  });

  test("is 0 where nothing was used, and known where it is reported", () => {
    for (const stopReason of ["error", "aborted"]) {
      for (const used of [usage({}), undefined, null]) {
        assert.deepEqual(only(answer(used, "m", 0, stopReason)), [0n, 0n, 0, 0, 0]);
        assert.deepEqual(only({ ...answer(used, "m", 0, stopReason), content: [{ type: "text", text: "" }] }), [
          0n,
          0n,
          0,
          0,
          0,
        ]);
      }
    }
    assert.deepEqual(only(answer(usage({ input: 7 }, 0.5))), [7n, 0n, 0.5, 0, 0]);
    assert.deepEqual(only(answer(usage({ cacheRead: 7 }, 0.5))), [0n, 0n, 0.5, 0, 0]);
    assert.deepEqual(only(answer({ input: 7, output: 2, cost: { total: 0.5 } })), [7n, 2n, 0.5, 0, 0]);
    // A tool that made no request to a model.
    assert.deepEqual(only(result(usage({}))), [0n, 0n, 0, 0, 0]);
    assert.deepEqual(only(result({ ...usage({}), output: "x" })), [0n, 0n, 0, 1, 1]);
  });

  test("has the cost that the provider has billed, also if it is 0 or the tokens are unknown", () => {
    const billed = (/** @type {any} */ total, tokens = {}) => ({
      ...usage(tokens),
      cost: { total, totalFromProvider: true },
    });
    assert.deepEqual(only(answer(billed(0, { input: 5 }))), [5n, 0n, 0, 0, 0]);
    assert.deepEqual(only(answer(billed(0.25, { input: 5 }))), [5n, 0n, 0.25, 0, 0]);
    assert.deepEqual(only(answer(billed(0.25))), [0n, 0n, 0.25, 0, 1]);
    for (const total of [undefined, null, -1, NaN, "1", 1e300])
      assert.deepEqual(only(answer(billed(total, { input: 5 }))).slice(3), [1, 0]);
    for (const totalFromProvider of [false, 1, "true", null]) {
      assert.deepEqual(
        only(answer({ ...usage({ input: 5 }), cost: { total: 0, totalFromProvider } })).slice(3),
        [1, 0],
      );
    }
  });

  test("is unknown for a summary that pi made without usage, and 0 for one of an extension", () => {
    for (const [fromHook, unknown] of [
      [false, 1],
      [true, 0],
    ]) {
      const session = SessionManager.inMemory("/tmp");
      session.appendCompaction("s", "x", 1, undefined, Boolean(fromHook), /** @type {any} */ (usage({})));
      assert.deepEqual(
        usageSince(session, STATE).models.map(({ unpriced, unreported }) => [unpriced, unreported]),
        [[unknown, unknown]],
      );
    }
  });

  test("has no time where the entries have none, and keeps large numbers within 64 bits", () => {
    const session = SessionManager.inMemory("/tmp");
    session.appendCustomEntry(STATE, {});
    for (const timestamp of [undefined, "yesterday", 7]) {
      /** @type {any} */ (session.getLeafEntry()).timestamp = timestamp;
      assert.equal(usageSince(session, STATE).newestMs, undefined);
    }
    const large = usage({ input: Number.MAX_SAFE_INTEGER, output: Number.MAX_SAFE_INTEGER }, Number.MAX_SAFE_INTEGER);
    session.appendMessage(answer(large));
    session.appendMessage(answer(large));
    const [{ input, output, cost }] = usageSince(session, STATE).models;
    assert.deepEqual([input, output, cost], [2n ** 54n - 2n, 2n ** 54n - 2n, 2 ** 54 - 2]);
  });
});
