// The interface to a session, compared with pi's own view of the same session.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { isNew, newestEntries, newestMessage, userMessages, writeFile } from "../../host-shim/session.js";

const NOTE = "test:note";

/** Returns a generator of pseudo-random numbers below a bound. @param {number} seed */
function numbers(seed) {
  return (/** @type {number} */ bound) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
}

/** Returns the newest message of pi's own projection. @param {SessionManager} session */
function projected(session) {
  const entries = session.buildSessionProjection().entries;
  const newest = entries.findLast(
    ({ sourceEntry, messages }) =>
      sourceEntry.type === "custom_message" && sourceEntry.customType === NOTE && messages.length > 0,
  );
  if (!newest) return undefined;
  const { content, display } = /** @type {any} */ (newest.messages[0]);
  const text = typeof content === "string" ? content : content.map((/** @type {any} */ part) => part.text).join("\n");
  return { customType: NOTE, content: text, display };
}

suite("the newest message", () => {
  test("is the one of pi's projection, after compactions, edits and moves to other branches", () => {
    let found = 0;
    for (let seed = 1; seed <= 400; seed += 1) {
      const below = numbers(seed);
      const session = SessionManager.inMemory("/tmp");
      /** @type {string[]} */
      const ids = [];
      const some = () => ids[below(ids.length)];
      const steps = [
        () => ids.push(session.appendMessage({ role: "user", content: "Hello", timestamp: 0 })),
        () => ids.push(session.appendCustomMessageEntry(NOTE, `note ${ids.length}`, below(2) === 0)),
        () =>
          ids.push(
            session.appendCustomMessageEntry(
              NOTE,
              [
                { type: "text", text: "a" },
                { type: "text", text: "b" },
              ],
              true,
            ),
          ),
        () => ids.push(session.appendCustomMessageEntry("test:other", "other", true)),
        () => ids.push(session.appendCustomEntry(NOTE, { an: "entry" })),
        () => ids.length && ids.push(session.appendCompaction("summary", some(), 1)),
        () => ids.push(session.appendCompaction("summary", null, 1)),
        () => ids.length && session.appendContextEdit(some(), below(2) ? null : { content: "edited" }),
        () => ids.length && session.branch(some()),
        () => session.resetLeaf(),
      ];
      for (let step = 0; step < 25; step += 1) {
        // pi refuses some edits, for example of entries on other branches.
        try {
          steps[below(below(4) ? 6 : steps.length)]();
        } catch {}
        const wanted = projected(session);
        assert.deepEqual(newestMessage(session, NOTE), wanted, `seed ${seed}, step ${step}`);
        if (wanted) found += 1;
      }
    }
    assert.ok(found > 1000, `only ${found} were found at all`);
  });

  test("is found without reading entries before it", () => {
    let asked = 0;
    const session = {
      getLeafEntry: () => ({
        id: "2",
        parentId: "1",
        type: "custom_message",
        customType: NOTE,
        content: "b",
        display: true,
      }),
      getEntry: () => void (asked += 1),
    };
    assert.equal(newestMessage(/** @type {any} */ (session), NOTE)?.content, "b");
    assert.equal(asked, 0);
  });
});

test("entries are those of the branch, newest first, from one to another", () => {
  const session = SessionManager.inMemory("/tmp");
  for (let n = 0; n < 5; n += 1) {
    session.appendCustomEntry(NOTE, n);
    session.appendCustomEntry("test:other", n);
  }
  session.appendCustomEntry(NOTE);
  assert.deepEqual(newestEntries(session, NOTE, 0, 100), ["null", "4", "3", "2", "1", "0"]);
  assert.deepEqual(newestEntries(session, NOTE, 2, 2), ["3", "2"]);
  assert.deepEqual(newestEntries(session, NOTE, 0, 0), []);
  session.appendCustomEntry("test:end");
  session.appendCustomEntry(NOTE, "last");
  assert.deepEqual(newestEntries(session, NOTE, 0, 100, "test:end"), ['"last"']);
  assert.deepEqual(newestEntries(session, "test:end", 0, 100, "test:end"), ["null"]);
  assert.deepEqual(newestEntries(session, NOTE, 0, 2, "test:none"), ['"last"', "null"]);
});

test("each entry is read once, for any number of continued searches and types", () => {
  const COUNT = 100_000;
  let asked = 0;
  const session = {
    getLeafEntry: () => ({ id: "0", parentId: "1", type: "custom", customType: NOTE, data: 0 }),
    getEntry: (/** @type {string} */ id) => {
      asked += 1;
      const next = Number(id) + 1;
      const customType = next % 2 ? "test:other" : NOTE;
      return { id, parentId: next < COUNT ? String(next) : null, type: "custom", customType, data: {} };
    },
  };
  const leaf = session.getLeafEntry();
  session.getLeafEntry = () => leaf;
  const begun = performance.now();
  let found = 0;
  for (let skip = 0, some; (some = newestEntries(/** @type {any} */ (session), NOTE, skip, 4)).length > 0; skip += 4) {
    found += some.length;
  }
  assert.equal(newestEntries(/** @type {any} */ (session), "test:other", 1000, 1, "test:none").length, 1);
  assert.equal(newestEntries(/** @type {any} */ (session), "test:other", 0, 1, NOTE).length, 0);
  assert.equal(found, COUNT / 2 + 1);
  assert.equal(asked, COUNT - 1);
  assert.ok(performance.now() - begun < 5000);
});

test("data that is too long is replaced by spaces, without converting all of it to JSON", () => {
  const session = SessionManager.inMemory("/tmp");
  const many = Array.from({ length: 1_000_000 }, () => ({ a: "x".repeat(10) }));
  many.push(/** @type {any} */ ({ toJSON: () => assert.fail("it was looked at") }));
  for (const data of ["x".repeat(9 * 2 ** 20), "\n".repeat(5 * 2 ** 20), many]) {
    session.appendCustomEntry(NOTE, data);
    const [json] = newestEntries(session, NOTE, 0, 1);
    assert.equal(json.length, 8 * 2 ** 20);
    assert.throws(() => JSON.parse(json), SyntaxError);
  }
});

test("long data up to the maximum length is returned", () => {
  const session = SessionManager.inMemory("/tmp");
  for (const data of [
    "x".repeat(8 * 2 ** 20 - 2),
    "\n".repeat(4 * 2 ** 20 - 1),
    Array(2 ** 21).fill(1),
    Array(2 ** 20 - 1).fill({ a: 1 }),
  ]) {
    session.appendCustomEntry(NOTE, data);
    assert.deepEqual(JSON.parse(newestEntries(session, NOTE, 0, 1)[0]), data);
  }
});

suite("the user's messages", () => {
  const since = { customType: NOTE, name: "run", value: "b" };
  const say = (/** @type {SessionManager} */ session, /** @type {string} */ content) =>
    session.appendMessage(/** @type {any} */ ({ role: "user", content, timestamp: 0 }));
  const texts = (/** @type {SessionManager} */ session, limit = 9) =>
    userMessages(session, since, limit).map(({ text }) => text);

  test("are those behind the first entry with the field, whatever the times of the entries are", () => {
    const session = SessionManager.inMemory("/tmp");
    say(session, "0");
    session.appendCustomEntry(NOTE, { run: "a" });
    say(session, "1");
    session.appendCustomEntry("other", { run: "b" });
    say(session, "2");
    assert.deepEqual(texts(session), []);
    session.appendCustomEntry(NOTE, { run: "b" });
    assert.deepEqual(texts(session), []);
    say(session, "3");
    for (const data of [undefined, null, 7, "b", [], { run: 7 }, { other: "b" }, { run: "b" }])
      session.appendCustomEntry(NOTE, data);
    const left = say(session, "4");
    session.appendCustomEntry(NOTE, { run: "b" });
    for (const times of [(/** @type {number} */ index) => -index, (/** @type {number} */ index) => index, () => NaN]) {
      session
        .getEntries()
        .forEach(
          (entry, index) =>
            (entry.timestamp = Number.isNaN(times(index))
              ? "rubbish"
              : new Date(1e12 + 1e6 * times(index)).toISOString()),
        );
      assert.deepEqual(texts(session), ["4", "3"]);
      assert.deepEqual(texts(session, 1), ["4"]);
      assert.deepEqual(texts(session, 0), []);
    }
    session.branch(left);
    assert.deepEqual(texts(session), ["4", "3"]);
    session.appendCustomEntry(NOTE, { run: "c" });
    say(session, "5");
    assert.deepEqual(texts(session), ["5", "4", "3"]);
  });
});

test("where the branch names an entry that is missing, those before it in the file follow", () => {
  const entry = (/** @type {string} */ id, /** @type {string | null} */ parentId, /** @type {object} */ more = {}) => ({
    type: "custom",
    customType: NOTE,
    id,
    parentId,
    data: id,
    ...more,
  });
  const other = { customType: "test:other" };
  const session = (/** @type {any[]} */ entries) =>
    /** @type {any} */ ({
      getLeafEntry: () => entries.at(-1),
      getEntry: (/** @type {string} */ id) => entries.find((entry) => entry.id === id),
      getEntries: () => entries,
    });
  const all = (/** @type {any[]} */ ...entries) => newestEntries(session(entries), NOTE, 0, 10, undefined);
  assert.deepEqual(all(entry("a", null), entry("b", "a"), entry("d", "c"), entry("e", "d")), [
    '"e"',
    '"d"',
    "",
    '"b"',
    '"a"',
  ]);
  // Entries of the type only before it, only after it, and none.
  assert.deepEqual(all(entry("a", null), entry("d", "c", other)), ["", '"a"']);
  assert.deepEqual(all(entry("a", null, other), entry("d", "c")), ['"d"']);
  assert.deepEqual(all(entry("a", null, other), entry("d", "c", other)), []);
  // In pieces, and up to another type.
  const cut = session([entry("a", null), entry("b", "a", other), entry("d", "c")]);
  assert.deepEqual(newestEntries(cut, NOTE, 1, 1, undefined), [""]);
  assert.deepEqual(newestEntries(cut, NOTE, 2, 5, undefined), ['"a"']);
  assert.deepEqual(newestEntries(cut, NOTE, 0, 9, "test:other"), ['"d"']);
  // A session with a gap is not new.
  const message = { type: "message" };
  assert.equal(isNew(session([entry("b", null, message), entry("c", "b", message)])), true);
  assert.equal(isNew(session([entry("b", "a", message), entry("c", "b", message)])), false);
  // Entries that name each other across a gap end.
  assert.deepEqual(all(entry("a", "d"), entry("d", "c")), ['"d"', "", '"a"']);
});

suite("the file of a session", () => {
  test("is written before the first message, and pi appends to it; its leaf stays", (t) => {
    const folder = mkdtempSync(join(tmpdir(), "session-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const session = SessionManager.create("/tmp", folder);
    const file = session.getSessionFile() ?? "";
    const first = session.appendCustomEntry(NOTE, { a: 1 });
    session.appendCustomEntry(NOTE, { a: 2 });
    session.branch(first);
    assert.equal(existsSync(file), false);
    writeFile(session);
    assert.equal(session.getLeafId(), first);
    session.appendCustomEntry(NOTE, { a: 3 });
    session.appendMessage({ role: "user", content: "Hello", timestamp: 0 });
    writeFile(session);
    const stored = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(stored, [session.getHeader(), ...session.getEntries()]);
    assert.deepEqual(SessionManager.open(file).getBranch(), session.getBranch());
    assert.equal(session.getBranch().length, 3);
  });

  test("is not written for a session that has none; where it cannot be, the session goes on without", (t) => {
    writeFile(SessionManager.inMemory("/tmp"));
    const folder = mkdtempSync(join(tmpdir(), "session-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const session = SessionManager.create("/tmp", join(folder, "sessions"));
    session.appendCustomEntry(NOTE, { a: 1 });
    rmSync(join(folder, "sessions"), { recursive: true });
    assert.throws(() => writeFile(session), /it does not exist$/);
    assert.deepEqual(session.getEntries().length, 1);
    const other = /** @type {any} */ ({ getSessionFile: () => join(folder, "other.jsonl") });
    assert.throws(() => writeFile(other), { message: "pi does not offer it" });
    assert.equal(existsSync(join(folder, "other.jsonl")), false);
  });
});
