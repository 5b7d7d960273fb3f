// Dialogs in the terminal of versions of pi in which one takes the place of another.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as soon } from "node:timers/promises";
import { dialogsFor, oneAtATime } from "../../host-shim/dialog-turns.js";

/** Stands in for pi's interface: it has one place, and what is replaced there never settles. */
function place() {
  /** @type {{ title: string, answer: (value: unknown) => void } | undefined} */
  let open;
  const shows = (/** @type {string} */ title, /** @type {AbortSignal | undefined} */ signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve(undefined);
      const answer = (/** @type {unknown} */ value) => {
        open = undefined;
        resolve(value);
      };
      signal?.addEventListener("abort", () => answer(undefined), { once: true });
      open = { title, answer };
    });
  const dialog = (/** @type {string} */ title, /** @type {unknown} */ _second, /** @type {any} */ options) =>
    shows(title, options?.signal);
  const custom = (/** @type {unknown} */ _factory, /** @type {any} */ options) =>
    options?.overlay ? new Promise(() => {}) : shows("custom", undefined);
  const ui = { select: dialog, confirm: dialog, input: dialog, editor: dialog, custom, theme: "dark" };
  return {
    ui: oneAtATime(/** @type {any} */ (ui)),
    get title() {
      return open?.title;
    },
    async answer(/** @type {unknown} */ value) {
      open?.answer(value);
      await soon();
    },
  };
}

suite("dialogs of several extensions", () => {
  test("are shown one after another, each with its answer", async () => {
    const terminal = place();
    const answers = [terminal.ui.select("a", ["x"]), terminal.ui.confirm("b", ""), terminal.ui.editor("c")];
    for (const title of ["a", "b", "c"]) {
      await soon();
      assert.equal(terminal.title, title);
      await terminal.answer(title);
    }
    assert.deepEqual(await Promise.all(answers), ["a", "b", "c"]);
    assert.equal(terminal.ui.theme, /** @type {any} */ ("dark"));
  });

  test("close by their signal, shown or not", async () => {
    const terminal = place();
    const [first, second] = [new AbortController(), new AbortController()];
    const answers = [
      terminal.ui.input("a", "", first),
      terminal.ui.confirm("b", "", second),
      terminal.ui.select("c", []),
    ];
    second.abort();
    assert.equal(await answers[1], false);
    await soon();
    assert.equal(terminal.title, "a");
    first.abort();
    assert.equal(await answers[0], undefined);
    await soon();
    assert.equal(terminal.title, "c");
    await terminal.answer("x");
    assert.equal(await answers[2], "x");
  });

  test("one whose place a component has taken is shown again", async () => {
    const terminal = place();
    const answer = terminal.ui.select("a", ["x"]);
    await soon();
    void terminal.ui.custom(/** @type {any} */ (undefined), { overlay: true });
    const component = terminal.ui.custom(/** @type {any} */ (undefined));
    assert.equal(terminal.title, "custom");
    await terminal.answer("done");
    assert.equal(await component, "done");
    assert.equal(terminal.title, "a");
    await terminal.answer("x");
    assert.equal(await answer, "x");
    void terminal.ui.custom(/** @type {any} */ (undefined), {});
    await terminal.answer("done");
    assert.equal(terminal.title, undefined);
  });

  test("only where pi loses them", () => {
    const uiContext = /** @type {any} */ ({});
    const others = Object.entries({ "1.4.0": "tui", "1.6.0": "tui", "1.3.0": "rpc", "0.87.1": "print" });
    for (const [version, mode] of others) assert.equal(dialogsFor(version, { mode, uiContext }), uiContext, version);
    for (const version of ["0.87.1", "1.3.0"])
      assert.notEqual(dialogsFor(version, { mode: "tui", uiContext }), uiContext, version);
    assert.equal(dialogsFor("1.3.0", { mode: "tui" }), undefined);
  });
});
