// The parts of child agents that need no pi: what can be started, the order of events, turns, and the interface of a
// child.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { setImmediate as tick, setTimeout as sleep } from "node:timers/promises";
import * as codingAgent from "@earendil-works/pi-coding-agent";
import { isChildOf } from "../../host-shim/children/session.js";
import { childUi } from "../../host-shim/children/ui.js";
import { Children } from "../../host-shim/children/children.js";
import { Turns } from "../../host-shim/turns.js";

/** @param {string} key */
const start = (key) =>
  /** @type {any} */ ({ key, label: `The ${key}`, session: undefined, entries: [], prompt: "Go", report: "x" });

/**
 * Children whose sessions cannot be opened, and the events that their component gets.
 *
 * @param {{ max: number } | undefined} grant
 * @param {object} [parent] the parts of their sessions
 */
function family(grant, parent = { origin: undefined }) {
  /** @type {any[]} */
  const events = [];
  const calls = /** @type {any} */ ({
    context: {
      cwd: "/no/such/project",
      isProjectTrusted: () => true,
      modelRegistry: { runtime: {} },
      sessionManager: { getSessionFile: () => undefined },
    },
    guarded: (/** @type {object} */ functions) => functions,
    call: async (
      /** @type {unknown} */ _context,
      /** @type {string} */ _name,
      /** @type {unknown} */ _at,
      /** @type {any} */ event,
    ) => void events.push(event),
  });
  const children = new Children(calls, grant, () => /** @type {any} */ (parent));
  return { events, children, api: children.imports() };
}

/** The parts of a session that hangs in a call from its start, and its manager. */
function hanging() {
  const sessionManager = codingAgent.SessionManager.inMemory("/");
  /** @type {(event: object) => void} */
  let listener = () => {};
  const nothing = () => {};
  const settingsManager = codingAgent.SettingsManager.inMemory();
  const session = {
    sessionManager,
    subscribe: (/** @type {typeof listener} */ given) => (listener = given),
    prompt: () => new Promise(nothing),
    abort: async () => {},
    extensionRunner: { emit: async () => {} },
    ...{ dispose: nothing, setActiveToolsByName: nothing, bindExtensions: async () => {} },
  };
  class Loader {
    packageManager = {};
    reload = async () => {};
    getExtensions = () => ({ extensions: [], errors: [], runtime: { flagValues: new Map() } });
  }
  const texts = ["Skills", "Prompts", "AgentsFiles", "SystemPrompt", "AppendSystemPrompt"];
  const empty = Object.fromEntries(texts.map((name) => [`get${name}`, () => []]));
  const resourceLoader = { ...empty, getExtensions: new Loader().getExtensions };
  const parent = {
    origin: { toTell: nothing, settings: {}, session: { settingsManager, resourceLoader }, others: [] },
    pi: { getThinkingLevel: nothing, getAllTools: () => [], getActiveTools: () => [] },
    codingAgent: {
      ...{ SessionManager: { inMemory: () => sessionManager }, SettingsManager: { inMemory: () => ({}) } },
      ...{ getAgentDir: nothing, DefaultResourceLoader: Loader, createAgentSession: async () => ({ session }) },
    },
  };
  const store = (/** @type {string} */ customType) => {
    sessionManager.appendCustomEntry(customType, { of: customType });
    listener({ type: "entry_appended", entry: sessionManager.getEntries().at(-1) });
  };
  return { parent, store };
}

suite("children", () => {
  test("tell what they store while they hang in a call", async () => {
    const { parent, store } = hanging();
    const { api, events, children } = family({ max: 1 }, parent);
    api.start(start("a"));
    for (let tries = 0; tries < 20; tries += 1) await tick();
    for (const customType of ["other", "x"]) {
      store(customType);
      await sleep(300);
    }
    children.endAll();
    const told = events.map(({ tag, val }) => [tag, val.newest]);
    assert.deepEqual(told, [["child-progress", '{"of":"x"}']]);
  });

  test("need a grant, have different keys, and are not more than it says", () => {
    assert.throws(() => family(undefined).api.start(start("a")), /does not grant/);
    assert.equal(family(undefined).children.isGranted, false);
    const { api } = family({ max: 2 });
    api.start(start("a"));
    assert.throws(() => api.start(start("a")), /with this key/);
    api.start(start("b"));
    assert.throws(() => api.start(start("c")), /No more than 2/);
  });

  test("end with a report before the wait for them is over", async () => {
    const { api, children, events } = family({ max: 4 });
    for (const key of ["a", "b"]) api.start(start(key));
    /** @type {string[]} */
    const shown = [];
    const over = children.wait("They work.", (text) => shown.push(text), new AbortController().signal);
    api.show("Still.\u0007");
    assert.equal(await over, false);
    assert.deepEqual(shown, ["They work.", "Still."]);
    assert.deepEqual(
      events.map(({ tag, val }) => [tag, val.report.key, val.outcome.tag]),
      [
        ["child-end", "a", "failed"],
        ["child-end", "b", "failed"],
      ],
    );
    assert.match(
      events[0].val.outcome.val,
      /could not be started: this version of pi does not show what the session was made of/,
    );
    api.show("Nobody waits.");
    assert.equal(shown.length, 2);
  });

  test("are aborted by the signal of the wait, and by their key", async () => {
    const { api, children, events } = family({ max: 4 });
    for (const key of ["a", "b"]) api.start(start(key));
    const controller = new AbortController();
    const over = children.wait("", () => {}, controller.signal);
    controller.abort();
    assert.equal(await over, true);
    assert.deepEqual(
      events.map(({ val }) => val.outcome.tag),
      ["aborted", "aborted"],
    );
    api.start(start("c"));
    api.abort("c");
    api.abort("nobody");
    assert.equal(await children.wait("", () => {}, new AbortController().signal), false);
    assert.equal(events.at(-1).val.outcome.tag, "aborted");
  });

  test("report nothing after the end of their session", async () => {
    const { api, children, events } = family({ max: 4 });
    api.start(start("a"));
    children.endAll();
    assert.equal(children.areEnding, true);
    await children.ended();
    await tick();
    assert.deepEqual(events, []);
    assert.equal(children.areEnding, false);
    api.start(start("a"));
    await children.wait("", () => {}, new AbortController().signal);
    assert.equal(events.length, 1, "the key is free again");
  });
});

suite("turns", () => {
  test("come one after another, and one that is given up holds nobody up", async () => {
    const turns = new Turns();
    /** @type {string[]} */
    const log = [];
    const take = async (/** @type {string} */ name, /** @type {AbortSignal} */ signal) => {
      const turn = turns.next(signal);
      await turn.ready;
      log.push(`${name}${signal.aborted ? " given up" : ""}`);
      await tick();
      log.push(`${name} over`);
      turn.end();
    };
    const controller = new AbortController();
    const all = [
      take("a", new AbortController().signal),
      take("b", controller.signal),
      take("c", new AbortController().signal),
    ];
    controller.abort();
    await Promise.all(all);
    assert.deepEqual(
      log.filter((line) => !line.startsWith("b")),
      ["a", "a over", "c", "c over"],
    );
    assert.ok(log.includes("b given up"));
  });
});

suite("the interface of a child", () => {
  /** A parent's interface that records its calls. */
  function parent() {
    /** @type {unknown[][]} */
    const log = [];
    const recorded =
      (/** @type {string} */ name, /** @type {unknown} */ result) =>
      (/** @type {unknown[]} */ ...parameters) => {
        log.push([name, ...parameters.slice(0, 2)]);
        return result;
      };
    const names = ["setStatus", "setWidget", "setTitle", "setEditorText", "setFooter", "notify"];
    const ui = {
      ...Object.fromEntries(names.map((name) => [name, recorded(name, undefined)])),
      select: recorded("select", "b"),
      confirm: recorded("confirm", true),
      input: recorded("input", "text"),
      theme: { name: "dark" },
    };
    return { log, context: /** @type {any} */ ({ ui }) };
  }

  test("has dialogs and notifications with its label, and nothing else", async () => {
    const { log, context } = parent();
    const ui = /** @type {any} */ (childUi(context, "Bugs\u0007", new Turns(), new AbortController().signal));
    assert.equal(await ui.select("Which?", ["a", "b"]), "b");
    assert.equal(await ui.confirm("Sure?", "Really"), true);
    assert.equal(await ui.input("Why?", ""), "text");
    ui.notify("Look", "info");
    for (const name of ["setStatus", "setWidget", "setTitle", "setEditorText", "setFooter"])
      assert.equal(ui[name]("x", "y"), undefined);
    assert.deepEqual(
      log.map(([name, title]) => `${name} ${title}`),
      ["select Bugs: Which?", "confirm Bugs: Sure?", "input Bugs: Why?", "notify Bugs: Look"],
    );
    assert.deepEqual({ ...ui }.theme, { name: "dark" });
  });

  test("closes its dialogs when the child is aborted", async () => {
    const { log, context } = parent();
    const controller = new AbortController();
    const turns = new Turns();
    const before = turns.next();
    const ui = childUi(context, "Bugs", turns, controller.signal);
    const waits = [ui.select("Which?", ["a"]), ui.confirm("Sure?", "")];
    controller.abort();
    assert.deepEqual(await Promise.all(waits), [undefined, false]);
    assert.deepEqual(log, []);
    before.end();
  });
});

test("only the session of a child of this session is opened again", (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "children-")));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const parent = join(root, "s.jsonl");
  const folder = join(root, "s.children");
  mkdirSync(folder);
  const header = (/** @type {object} */ fields) =>
    `${JSON.stringify({ type: "session", id: "1", parentSession: parent, ...fields })}\n`;
  const file = (/** @type {string} */ name, /** @type {string} */ text) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  assert.equal(isChildOf(parent, folder, file("a.jsonl", header({}))), true);
  const outside = join(root, "outside.jsonl");
  writeFileSync(outside, header({}));
  symlinkSync(outside, join(folder, "link.jsonl"));
  mkdirSync(join(folder, "folder.jsonl"));
  const others = [
    file("b.jsonl", header({ parentSession: "/other" })),
    file("c.jsonl", header({ type: "message" })),
    file("d.jsonl", "no JSON\n"),
    file("e.jsonl", ""),
    file("f.jsonl", `${" ".repeat(2 ** 20)}${header({})}`),
    outside,
    join(folder, "..", "outside.jsonl"),
    join(folder, "link.jsonl"),
    join(folder, "folder.jsonl"),
    join(folder, "missing.jsonl"),
    "",
  ];
  for (const other of others) assert.equal(isChildOf(parent, folder, other), false, other);
  const linked = join(root, "linked.children");
  symlinkSync(folder, linked);
  assert.equal(isChildOf(join(root, "linked.jsonl"), linked, join(linked, "a.jsonl")), false, "the folder is a link");
});
