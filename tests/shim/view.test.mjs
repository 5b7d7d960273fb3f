// The messages that a begun view leaves out, compared with pi's own compaction at the same entry.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { View, withoutEarlier } from "../../host-shim/view.js";

/** @typedef {import("../../host-shim/view.js").Messages} Messages */

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
    const left = withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session);
    assert.deepEqual(texts(left), ["SUMMARY", "three", "four"]);
    session.appendCompaction(summary, firstKept, 1);
    assert.deepEqual(texts(sent(session)), texts(left));
    // After it, nothing more is left out.
    assert.deepEqual(texts(withoutEarlier(sent(session), { firstKept, summary: "AGAIN", imagesOf: [] }, session)), [
      "AGAIN",
      "three",
      "four",
    ]);
  });

  test("has no messages if there are none after its entry", () => {
    const { session, say, summary } = begun();
    const firstKept = session.appendCustomEntry("test:begin", {});
    assert.deepEqual(texts(withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session)), ["SUMMARY"]);
    say("five");
    assert.deepEqual(texts(withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session)), [
      "SUMMARY",
      "five",
    ]);
  });

  test("keeps what other extensions add behind, and finds its beginning if they remove messages", () => {
    const { session, firstKept, summary } = begun();
    const [one, two, three, four] = sent(session);
    const begin = { firstKept, summary, imagesOf: [] };
    assert.deepEqual(texts(withoutEarlier([user("zero"), one, two, three, four, user("five")], begin, session)), [
      "SUMMARY",
      "three",
      "four",
      "five",
    ]);
    assert.deepEqual(texts(withoutEarlier([two, three, four], begin, session)), ["SUMMARY", "three", "four"]);
    assert.deepEqual(texts(withoutEarlier([one, two, four], begin, session)), ["SUMMARY", "four"]);
    // All are changed: as many as the session has.
    const changed = [one, two, three, four].map(
      (message) => /** @type {Messages[number]} */ ({ ...message, timestamp: 9 }),
    );
    assert.deepEqual(texts(withoutEarlier(changed, begin, session)), ["SUMMARY", "three", "four"]);
  });

  test("replaces the summary of a later compaction, and leaves another branch as it is", () => {
    const { session, say, firstKept, summary } = begun();
    const five = say("five");
    session.appendCompaction("the work of one to four", five, 1);
    assert.deepEqual(texts(withoutEarlier(sent(session), { firstKept, summary, imagesOf: [] }, session)), [
      "SUMMARY",
      "five",
    ]);
    session.resetLeaf();
    say("another branch");
    const messages = sent(session);
    assert.equal(withoutEarlier(messages, { firstKept, summary, imagesOf: [] }, session), messages);
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
    );
    const filter = () => handler({ messages: sent(session) }, { sessionManager: session });
    view.begin({ firstKept, summary, imagesOf: [] });
    assert.equal(filter().messages.length, 3);
    view.keepNewest("test:note", true);
    view.end();
    assert.deepEqual(texts(filter().messages), ["one", "three", "four"]);
    view.begin({ firstKept, summary, imagesOf: [] });
    view.reset();
    assert.equal(filter(), undefined);
  });
});
