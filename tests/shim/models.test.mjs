// A guest sets the model and the thinking level. The stand-in sets a model as pi does: after a while, with a level of
// its own and with events, for the handlers of which it waits.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { suite, test } from "node:test";
import { loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

const API = "pi:extension/api";
const CONTEXT = "pi:extension/context";

/** @param {string} name */
const model = (name) => ({
  provider: name.split("/")[0],
  id: name.slice(name.indexOf("/") + 1),
  apiKey: "secret",
  cost: { input: name.startsWith("c") ? 3 : 0, output: 0 },
  contextWindow: name.startsWith("c") ? 8000 : Number.NaN,
});
/** @param {string} name */
const named = (name) => ({ provider: name.split("/")[0], id: name.slice(name.indexOf("/") + 1) });
const MODELS = ["a/user", "a/big", "b/x/y:z", "c/paid"].map(model);

/**
 * @param {(imports: Record<string, any>) => Record<string, Function>} exports the guest's; `runCommand` and others
 * @param {object} [options]
 * @param {boolean} [options.granted]
 * @param {() => Promise<unknown>} [options.beforeLevel] what the handlers of others do before the guest gets the event
 *   of a level
 * @param {() => Promise<unknown>} [options.check] what pi does before it sets a model
 */
function loaded(exports, { granted = true, beforeLevel, check = () => sleep(5) } = {}) {
  const pi = standIn();
  /** The calls of pi, and the events that the guest got. @type {string[]} */
  const log = [];
  const now = { model: MODELS[0], level: "low" };
  const context = (/** @type {object} */ changes = {}) => {
    const fields = {
      get model() {
        return now.model;
      },
      modelRegistry: {
        getAll: () => MODELS,
        find: (/** @type {string} */ provider, /** @type {string} */ id) =>
          MODELS.find((known) => known.provider === provider && known.id === id),
        hasConfiguredAuth: (/** @type {{ provider: string }} */ { provider }) => provider !== "c",
      },
    };
    const all = { ...Object.getOwnPropertyDescriptors(fields), ...Object.getOwnPropertyDescriptors(changes) };
    return Object.defineProperties(pi.context(), all);
  };
  const setLevel = (/** @type {string} */ level) => {
    if (level === now.level) return;
    now.level = level;
    const emit = () => pi.emit("thinking_level_select", { level }, context());
    void (beforeLevel ? beforeLevel().then(emit) : emit());
  };
  const setModel = async (/** @type {any} */ to) => {
    await check();
    if (to.provider === "c") return false;
    now.model = to;
    setLevel("medium");
    await pi.emit("model_select", { model: to, source: "set" }, context());
    log.push(`model ${to.provider}/${to.id}`);
    return true;
  };
  Object.assign(pi.api, {
    setModel,
    getThinkingLevel: () => now.level,
    setThinkingLevel(/** @type {string} */ level) {
      log.push(`level ${level}`);
      setLevel(level);
    },
    sendUserMessage: (/** @type {string} */ text) => void log.push(`message ${text}`),
    sendMessage: (/** @type {{ content: string }} */ { content }) => void log.push(`note ${content}`),
  });
  const guest = plainGuest((imports) => ({
    init() {
      for (const event of ["session-start", "before-agent-start", "model-select", "thinking-level-select"])
        imports[API].on(event);
      imports[API].registerCommand({ name: "a", description: "runs a" });
    },
    handleEvent(/** @type {unknown} */ _, /** @type {any} */ { tag, val }) {
      if (tag === "model-select") log.push(`event ${val.model.id} ${val.byGuest}`);
      if (tag === "thinking-level-select") log.push(`event ${val.level} ${val.byGuest}`);
      if (tag === "before-agent-start") log.push("agent");
      return { tag: "none" };
    },
    ...exports(imports),
  }));
  loadInto(pi, guest, { models: granted });
  return { pi, log, context, now, setModel, setLevel };
}

/** @param {() => unknown} work @returns {unknown} */
function answer(work) {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** @param {(imports: Record<string, any>) => unknown} work */
const command = (work) => (/** @type {Record<string, any>} */ imports) => ({
  runCommand() {
    work(imports);
    return { tag: "done" };
  },
});

suite("the model and the thinking level", () => {
  test("are set in the order of the calls and before later messages, and pi waits for it", async () => {
    /** @type {unknown[]} */
    const told = [];
    const work = command(({ [API]: api, [CONTEXT]: context }) => {
      api.sendMessage({ customType: "t", content: "before", display: false }, false, undefined);
      api.setModel(named("a/big"));
      told.push(context.currentModel());
      api.setThinkingLevel("high");
      api.setModel(named("b/x/y:z"));
      api.setThinkingLevel("off");
      told.push(context.currentModel(), api.getThinkingLevel());
      api.sendUserMessage("go", undefined);
      api.sendMessage({ customType: "t", content: "after", display: false }, true, "steer");
    });
    const { pi, log, context, now } = loaded(work);
    const done = pi.command("a", "", context());
    assert.deepEqual(log, ["note before"]);
    await done;
    assert.deepEqual(log, [
      ...["note before", "event medium true", "event big true", "model a/big", "level high", "event high true"],
      ...[
        "event medium true",
        "event x/y:z true",
        "model b/x/y:z",
        "level off",
        "event off true",
        "message go",
        "note after",
      ],
    ]);
    assert.deepEqual(told, [named("a/big"), named("b/x/y:z"), "off"]);
    assert.deepEqual([now.model.id, now.level], ["x/y:z", "off"]);
  });

  test("can be read without a grant, and not set", async () => {
    /** @type {unknown[]} */
    const told = [];
    const work = command(({ [API]: api, [CONTEXT]: context }) => {
      told.push(context.currentModel(), api.getThinkingLevel(), context.models());
      told.push(
        answer(() => api.setModel(named("a/big"))),
        answer(() => api.setThinkingLevel("high")),
      );
    });
    const { pi, context, log } = loaded(work, { granted: false });
    await pi.command("a", "", context());
    const models = MODELS.map(({ provider, id }) => ({
      model: { provider, id },
      available: provider !== "c",
      priced: provider === "c",
      contextWindow: provider === "c" ? 8000 : 0,
    }));
    const refused = { tag: "failed", val: "The manifest does not grant it." };
    assert.deepEqual(told, [named("a/user"), "low", models, refused, refused]);
    assert.deepEqual(log, []);
  });

  test("are unknown", async () => {
    /** @type {unknown[]} */
    const told = [];
    const work = command(({ [API]: api, [CONTEXT]: context }) => {
      told.push(
        answer(() => api.setModel(named("d/none"))),
        answer(() => api.setThinkingLevel("other")),
      );
      told.push(context.currentModel(), api.getThinkingLevel());
    });
    const { pi, context, now } = loaded(work);
    Object.assign(now, { model: undefined, level: "ultra" });
    await pi.command("a", "", context());
    const failed = (/** @type {string} */ val) => ({ tag: "failed", val });
    assert.deepEqual(told, [
      failed("There is no model d/none."),
      failed("This thinking level cannot be set."),
      undefined,
      "other",
    ]);
  });

  test("without a key the user is told, and the level is set", async () => {
    const { pi, log, context } = loaded(
      command(({ [API]: api }) => {
        api.setModel(named("c/paid"));
        api.setThinkingLevel("high");
      }),
    );
    await pi.command("a", "", context());
    assert.deepEqual(log, ["level high", "event high true"]);
    assert.deepEqual(
      pi.did().filter(([name]) => name === "notify"),
      [["notify", "hello-guest: the model c/paid is not set, because there is no key for it.", "error"]],
    );
  });

  test("of a pi that fails: the user is told, and the rest is done", async () => {
    const fail = async () => {
      throw new Error("No API key");
    };
    const { pi, log, context } = loaded(
      command(({ [API]: api }) => {
        api.setModel(named("a/big"));
        api.sendUserMessage("go", undefined);
      }),
      { check: fail },
    );
    await pi.command("a", "", context());
    assert.deepEqual(log, ["message go"]);
    assert.deepEqual(
      pi.did().filter(([name]) => name === "notify"),
      [["notify", "hello-guest: No API key", "error"]],
    );
  });

  test("of a session that ends meanwhile: nothing is told", async () => {
    let gone = false;
    const { pi, context } = loaded(
      command(({ [API]: api }) => api.setModel(named("a/big"))),
      {
        async check() {
          gone = true;
          throw new Error("This extension ctx is stale");
        },
      },
    );
    const ending = context({
      get cwd() {
        if (gone) throw new Error("stale");
        return "/";
      },
    });
    await pi.command("a", "", ending);
    assert.deepEqual(
      pi.did().filter(([name]) => name === "notify"),
      [],
    );
  });

  test("that the user selects are not the guest's", async () => {
    const { log, setModel, setLevel } = loaded(() => ({}));
    await setModel(MODELS[1]);
    setLevel("max");
    assert.deepEqual(log, ["event medium false", "event big false", "model a/big", "event max false"]);
  });

  test("that the user selects while the guest's is being set are the user's", async () => {
    const { pi, log, context, setModel } = loaded(
      command(({ [API]: api }) => api.setModel(named("b/x/y:z"))),
      { check: () => sleep(20) },
    );
    const done = pi.command("a", "", context());
    const users = setModel(MODELS[1]);
    await Promise.all([done, users]);
    assert.ok(log.includes("event big false") && log.includes("event x/y:z true"), `${log}`);
  });

  test("that the user selects right before the guest's are set are not replaced by them", async () => {
    /** @type {unknown[]} */
    const told = [];
    const exports = (/** @type {Record<string, any>} */ { [API]: api, [CONTEXT]: context }) => ({
      runCommand() {
        api.setModel(named("b/x/y:z"));
        api.setThinkingLevel("high");
        return { tag: "done" };
      },
      handleEvent(/** @type {unknown} */ _, /** @type {any} */ { tag, val }) {
        if (tag === "model-select") told.push(val, context.currentModel());
        return { tag: "none" };
      },
    });
    const { pi, context, now, setModel } = loaded(exports, { check: () => sleep(20) });
    const users = setModel(MODELS[1]);
    await sleep(5);
    await Promise.all([users, pi.command("a", "", context())]);
    await sleep(60);
    const big = named("a/big");
    const other = named("b/x/y:z");
    assert.deepEqual(told, [
      { model: big, byGuest: false },
      big,
      { model: other, byGuest: true },
      big,
      { model: big, byGuest: true },
      big,
    ]);
    assert.deepEqual([now.model.id, now.level], ["big", "medium"]);
  });

  test("a level that the user selects before the guest's is set is not replaced by it", async () => {
    /** @type {unknown[]} */
    const told = [];
    const exports = (/** @type {Record<string, any>} */ { [API]: api }) => ({
      runCommand() {
        api.setModel(named("b/x/y:z"));
        api.setThinkingLevel("high");
        return { tag: "done" };
      },
      handleEvent(/** @type {unknown} */ _, /** @type {any} */ { tag, val }) {
        if (tag === "thinking-level-select" && !val.byGuest) told.push(val.level, api.getThinkingLevel());
        return { tag: "none" };
      },
    });
    const { pi, context, now, setLevel } = loaded(exports, { check: () => sleep(20) });
    const done = pi.command("a", "", context());
    setLevel("minimal");
    await done;
    await sleep(20);
    assert.deepEqual(told, ["minimal", "minimal"]);
    assert.deepEqual([now.model.id, now.level], ["x/y:z", "minimal"]);
  });

  test("are the guest's also if other handlers delay the event", async () => {
    const work = command(({ [API]: api }) => {
      api.setModel(named("a/big"));
      api.setThinkingLevel("high");
    });
    const { pi, log, context, setLevel } = loaded(work, { beforeLevel: () => sleep(10) });
    await pi.command("a", "", context());
    await sleep(30);
    assert.deepEqual(
      log.filter((line) => line.startsWith("event")),
      ["event big true", "event medium true", "event high true"],
    );
    setLevel("high");
    setLevel("low");
    await sleep(30);
    assert.equal(log.at(-1), "event low false");
  });

  test("can be set in the event of a selection", async () => {
    let left = 1;
    /** @type {string[]} */
    const events = [];
    const { setModel, now } = loaded(({ [API]: api }) => ({
      handleEvent(/** @type {unknown} */ _, /** @type {any} */ { tag, val }) {
        if (tag === "model-select" && left-- > 0) api.setModel(named("a/big"));
        if (val) events.push(`${tag} ${val.byGuest}`);
        return { tag: "none" };
      },
    }));
    await setModel(MODELS[2]);
    await sleep(30);
    assert.equal(now.model.id, "big");
    assert.deepEqual(
      events.filter((event) => event.startsWith("model")),
      ["model-select false", "model-select true"],
    );
  });

  test("that a timer sets are set before the agent starts", async () => {
    const { pi, log, context } = loaded(
      ({ [API]: api, "pi:extension/timers": timers }) => ({
        runCommand() {
          timers.start(1n, 1);
          return { tag: "done" };
        },
        timer: () => api.setModel(named("a/big")),
      }),
      { check: () => sleep(30) },
    );
    await pi.command("a", "", context());
    await sleep(10);
    await pi.emit("before_agent_start", {}, context());
    assert.deepEqual(log, ["event medium true", "event big true", "model a/big", "agent"]);
  });
});
