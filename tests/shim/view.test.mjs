// The messages that a begun view leaves out, compared with pi's own compaction at the same entry.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SessionManager, convertToLlm } from "@earendil-works/pi-coding-agent";
import { View, withOwnJoined, withoutEarlier } from "../../host-shim/view.js";

/** @typedef {import("../../host-shim/view.js").Messages} Messages */
/** @typedef {Messages[number]} Message */

/** The types of the guest's messages. */
const OWN = new Set(["test:note"]);

/** A session of two messages, an entry, and two more messages. */
function begun() {
  const session = SessionManager.inMemory("/tmp");
  const say = (/** @type {string} */ content) => session.appendMessage({ role: "user", content, timestamp: 0 });
  say("one");
  session.appendCustomMessageEntry("test:note", "two", false);
  const firstKept = session.appendCustomEntry("test:begin", {});
  say("three");
  session.appendCustomMessageEntry("test:note", "four", false);
  return { session, say, firstKept, summary: "SUMMARY" };
}

/** @param {Messages} messages */
const texts = (messages) =>
  messages.map((message) => ("summary" in message ? message.summary : "content" in message ? message.content : ""));

/** @param {SessionManager} session */
const sent = (session) =>
  /** @type {Messages} */ (session.buildSessionProjection().messages.filter(({ role }) => String(role) !== "system"));

const user = (/** @type {string} */ content) =>
  /** @type {Messages[number]} */ ({ role: "user", content, timestamp: 1 });

suite("a begun view", () => {
  test("shows the messages that pi shows after a compaction at its entry", () => {
    const { session, firstKept, summary } = begun();
    const left = withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session, OWN);
    assert.deepEqual(texts(left), ["SUMMARY", "three", "four"]);
    session.appendCompaction(summary, firstKept, 1);
    assert.deepEqual(texts(sent(session)), texts(left));
    // After it, nothing more is left out.
    assert.deepEqual(
      texts(withoutEarlier(sent(session), { firstKept, summary: "AGAIN", imagesOf: [] }, session, OWN)),
      ["AGAIN", "three", "four"],
    );
  });

  test("has no messages if there are none after its entry", () => {
    const { session, say, summary } = begun();
    const firstKept = session.appendCustomEntry("test:begin", {});
    assert.deepEqual(texts(withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session, OWN)), [
      "SUMMARY",
    ]);
    say("five");
    assert.deepEqual(texts(withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session, OWN)), [
      "SUMMARY",
      "five",
    ]);
  });

  test("keeps what other extensions add behind, and finds its beginning if they remove messages", () => {
    const { session, firstKept, summary } = begun();
    const [one, two, three, four] = sent(session);
    const begin = { firstKept, summary, imagesOf: [] };
    assert.deepEqual(texts(withoutEarlier([user("zero"), one, two, three, four, user("five")], begin, session, OWN)), [
      "SUMMARY",
      "three",
      "four",
      "five",
    ]);
    assert.deepEqual(texts(withoutEarlier([two, three, four], begin, session, OWN)), ["SUMMARY", "three", "four"]);
    assert.deepEqual(texts(withoutEarlier([one, two, four], begin, session, OWN)), ["SUMMARY", "four"]);
    // All are changed: as many as the session has.
    const changed = [one, two, three, four].map(
      (message) => /** @type {Messages[number]} */ ({ ...message, timestamp: 9 }),
    );
    assert.deepEqual(texts(withoutEarlier(changed, begin, session, OWN)), ["SUMMARY", "three", "four"]);
  });

  test("replaces the summary of a later compaction, and leaves another branch as it is", () => {
    const { session, say, firstKept, summary } = begun();
    const five = say("five");
    session.appendCompaction("the work of one to four", five, 1);
    assert.deepEqual(texts(withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session, OWN)), [
      "SUMMARY",
      "five",
    ]);
    session.resetLeaf();
    say("another branch");
    const messages = sent(session);
    assert.equal(withoutEarlier(messages, { firstKept, summary, imagesOf: [] }, session, OWN), messages);
  });

  test("ends, and with it the filter has no effect", async () => {
    const { session, firstKept, summary } = begun();
    /** @type {any} */
    let handler;
    const view = new View(
      /** @type {any} */ ({
        on: (/** @type {string} */ name, /** @type {any} */ added) => {
          assert.equal(name, "context");
          assert.equal(handler, undefined, "added once");
          handler = added;
        },
      }),
      { convertToLlm },
    );
    const filter = () => handler({ messages: sent(session) }, { sessionManager: session });
    view.begin({ firstKept, summary, imagesOf: [] });
    assert.deepEqual(
      filter().messages.map((/** @type {any} */ { role, content }) => [role, content.length]),
      [["user", 3]],
      "the summary is one with what follows",
    );
    view.end();
    assert.equal(filter(), undefined);
  });

  test("has a message with the next request that pi stores later, once", () => {
    const { session } = begun();
    /** @type {any} */
    let handler;
    const pi = { on: (/** @type {string} */ _, /** @type {any} */ added) => (handler = added) };
    const view = new View(/** @type {any} */ (pi), { convertToLlm });
    const shown = () => texts(handler({ messages: sent(session) }, { sessionManager: session })?.messages ?? []);
    const note = (/** @type {string} */ content) =>
      view.send({ role: "custom", customType: "test:note", content, display: false, timestamp: 0 }, session);
    assert.equal(note("four"), false, "it is in view");
    assert.equal(note("five"), true);
    assert.deepEqual(shown(), ["one", "two", "three", "four", "five"]);
    session.appendCustomMessageEntry("test:note", "five", false);
    assert.deepEqual(shown(), [], "nothing is changed");
    view.end();
    session.appendCompaction("SUMMARY", null, 1);
    assert.deepEqual(shown(), []);
  });

  test("is never without its prompt, whatever another extension does to the messages", () => {
    const PROMPT = "The prompt of a phase that starts fresh, which is a long text.";
    const session = SessionManager.inMemory("/tmp");
    const say = (/** @type {string} */ content) =>
      session.appendMessage({ role: "user", content, timestamp: Date.now() });
    say("The task, which is so long that a text which contains it is this message.");
    session.appendCustomMessageEntry("test:note", "The prompt of the first phase, which is a long text too.", false);
    /** @type {any} */
    const call = { type: "toolCall", id: "c", name: "read", arguments: {} };
    /** @type {any} */
    const answer = { role: "assistant", content: [call], timestamp: 5 };
    session.appendMessage(answer);
    /** @type {any} */
    const result = { role: "toolResult", toolCallId: "c", toolName: "read", content: [], timestamp: 6 };
    session.appendMessage(result);
    const firstKept = session.appendCustomEntry("test:begin", {});
    say("Go on with it");
    session.appendCustomMessageEntry("test:note", PROMPT, false);
    const begin = { firstKept, summary: "SUMMARY", imagesOf: [] };
    const added = [user("a reminder of another extension"), user("and a second one")];
    const marked = (/** @type {Message} */ message) =>
      /** @type {Message} */ (
        "content" in message && typeof message.content === "string"
          ? { ...message, content: `<m>${message.content}</m>` }
          : { ...message, mark: true }
      );
    /** @type {[string, (messages: Messages) => Messages, number][]} */
    const handlers = [
      ["marks all, appends two", (all) => [...all.map(marked), ...added], 4],
      ["appends two", (all) => [...all, ...added], 4],
      ["puts two in front", (all) => [...added, ...all.map(marked)], 2],
      ["marks the user's", (all) => all.map((one) => (one.role === "user" ? marked(one) : one)), 2],
      ["makes new times", (all) => all.map((one) => ({ ...one, timestamp: 7 })), 2],
      // The old call and its result, without their roles, are no messages of the session any more.
      ["makes all the user's", (all) => all.map((one) => user(/** @type {any} */ (marked(one)).content ?? "")), 4],
      ["removes the calls", (all) => all.filter(({ role }) => role !== "assistant"), 2],
      ["moves a result to the end", (all) => [...all.filter(({ role }) => role !== "toolResult"), result], 2],
      ["removes all", () => [], 2],
      ["replaces all", () => added, 2],
      ["removes the prompt", (all) => all.slice(0, -1), 2],
    ];
    for (const [name, handler, count] of handlers) {
      const [summary, ...left] = withoutEarlier(handler(sent(session)), begin, session, OWN);
      assert.equal(texts([summary])[0], "SUMMARY", name);
      assert.ok(texts(left).join("\n").includes(PROMPT), `${name}: ${JSON.stringify(left)}`);
      assert.ok(!texts(left).join("\n").includes("The task"), `${name}: ${JSON.stringify(left)}`);
      assert.ok(!left.some(({ role }) => role === "toolResult"), `${name}: ${JSON.stringify(left)}`);
      assert.equal(left.length, count, `${name}: ${JSON.stringify(left)}`);
    }
  });
});

test("messages of the guest are one with those of the user beside them", () => {
  /** @type {any} */
  const parts = {
    u: user("u"),
    v: user("v"),
    o: { role: "custom", customType: "test:note", content: "o", display: false, timestamp: 2 },
    p: { role: "custom", customType: "test:note", content: [{ type: "text", text: "p" }], timestamp: 3 },
    x: { role: "custom", customType: "other:note", content: "x", display: false, timestamp: 4 },
    s: { role: "compactionSummary", summary: "s", tokensBefore: 0, timestamp: 5 },
    b: { role: "bashExecution", command: "b", output: "", exitCode: 0, timestamp: 6 },
    h: { role: "bashExecution", command: "h", output: "", excludeFromContext: true, timestamp: 6 },
    a: { role: "assistant", content: [], timestamp: 7 },
    e: { role: "assistant", content: [], stopReason: "error", timestamp: 7 },
    q: { role: "assistant", content: [], stopReason: "aborted", timestamp: 7 },
    r: { role: "toolResult", toolCallId: "c", content: [], timestamp: 8 },
  };
  /** @type {[string, string, boolean?][]} */
  const cases = [
    ["uo", "[2]"],
    ["ouv", "[3]"],
    ["uvo", "[3]"],
    ["uoxp", "[4]"],
    ["uxv", "uxv"],
    ["suo", "[3]"],
    ["su", "su"],
    ["su", "[2]", true],
    ["suao", "[2]ao"],
    ["aouaro", "a[2]aro"],
    ["bou", "[3]"],
    ["uho", "[2]"],
    ["uh", "uh"],
    ["uoeuqo", "[4]"],
    ["ueaq", "ueaq"],
    ["arouro", "ar[2]ro"],
    ["", ""],
  ];
  for (const [given, expected, begun = false] of cases) {
    const messages = [...given].map((name) => parts[name]);
    const joined = withOwnJoined(messages, OWN, begun, convertToLlm).map((message) => {
      const name = Object.keys(parts).find((name) => parts[name] === message);
      const { role, content } = /** @type {any} */ (message);
      assert.ok(name || role === "user");
      return name ?? `[${content.length}]`;
    });
    assert.equal(joined.join(""), expected, given);
  }
  const { role, content } = /** @type {any} */ (
    withOwnJoined([parts.u, parts.o, parts.p], OWN, false, convertToLlm)[0]
  );
  assert.deepEqual(
    [role, ...content.map((/** @type {any} */ { text }) => text)],
    ["user", "u", "o", "p"],
    "each text stays as it is, in order",
  );
});
