// Distinguishes input of the user from reports of the terminal.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as tui from "@earendil-works/pi-tui";
import { TerminalWatch } from "../../host-shim/terminal-watch.js";

/**
 * Creates a watch over a terminal. `type` sends input to it and returns true if the input counts as the user's.
 *
 * @param {string} [mode]
 */
function watched(mode = "tui") {
  let heard = 0;
  /** @type {Set<(data: string) => unknown>} */
  const listeners = new Set();
  const ui = {
    onTerminalInput(/** @type {(data: string) => unknown} */ listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const context = /** @type {any} */ ({ mode, ui });
  const watch = new TerminalWatch(tui, () => (heard += 1));
  return {
    watch,
    context,
    listeners,
    type(/** @type {string} */ data) {
      const before = heard;
      for (const listener of listeners) assert.equal(listener(data), undefined, "the input goes on to pi as it is");
      return heard > before;
    },
  };
}

/** @type {[string, string][]} */
const TYPED = [
  ["a letter", "a"],
  ["a letter with an accent", "ä"],
  ["an emoji", "👋"],
  ["text of an input method", "にほん"],
  ["Enter", "\r"],
  ["Tab", "\t"],
  ["Backspace", "\x7f"],
  ["Escape", "\x1b"],
  ["Ctrl+C", "\x03"],
  ["Up", "\x1b[A"],
  ["Up in application mode", "\x1bOA"],
  ["Shift+Tab", "\x1b[Z"],
  ["Home", "\x1b[H"],
  ["Delete", "\x1b[3~"],
  ["F1", "\x1bOP"],
  ["F5", "\x1b[15~"],
  ["Ctrl+Right", "\x1b[1;5C"],
  ["Alt+a", "\x1ba"],
  ["Alt+Enter", "\x1b\r"],
  // In a terminal without kitty's protocol these keys have the prefix of a reply.
  ["Alt+]", "\x1b]"],
  ["Alt+P", "\x1bP"],
  ["Alt+_", "\x1b_"],
  ["Alt+^", "\x1b^"],
  ["Alt+[", "\x1b["],
  ["a paste", "\x1b[200~some text\x1b[201~"],
  ["a paste of what looks like a key release", "\x1b[200~90:62:3F:A5 \x1b[97;1:3u\x1b[201~"],
  ["a paste of an escape sequence", "\x1b[200~\x1b[?1;2c\x1b[201~"],
  ["a, kitty", "\x1b[97u"],
  ["a, kitty with a type", "\x1b[97;1:1u"],
  ["a held down, kitty", "\x1b[97;1:2u"],
  ["Ctrl+a, kitty", "\x1b[97;5u"],
  ["Escape, kitty", "\x1b[27u"],
  ["Up, kitty", "\x1b[1;1:1A"],
  ["F1, kitty", "\x1b[P"],
  ["Ctrl+Enter, modifyOtherKeys", "\x1b[27;5;13~"],
];

/** @type {[string, string][]} */
const SENT_BY_THE_TERMINAL = [
  ["a released, kitty", "\x1b[97;1:3u"],
  ["Up released, kitty", "\x1b[1;1:3A"],
  ["Delete released, kitty", "\x1b[3;1:3~"],
  ["Escape released, kitty", "\x1b[27;1:3u"],
  ["focus gained", "\x1b[I"],
  ["focus lost", "\x1b[O"],
  ["a mouse button", "\x1b[<0;10;5M"],
  ["a mouse button released", "\x1b[<0;10;5m"],
  ["the mouse moved", "\x1b[<35;10;5M"],
  ["the mouse wheel", "\x1b[<64;10;5M"],
  ["a mouse button, the old way", "\x1b[M !!"],
  ["primary device attributes", "\x1b[?62;1;4;22c"],
  ["secondary device attributes", "\x1b[>41;388;0c"],
  ["tertiary device attributes", "\x1bP!|00000000\x1b\\"],
  ["terminal version", "\x1bP>|XTerm(388)\x1b\\"],
  ["kitty's flags", "\x1b[?7u"],
  ["a mode", "\x1b[?2026;2$y"],
  ["status", "\x1b[0n"],
  ["colour scheme", "\x1b[?997;1n"],
  ["cursor position", "\x1b[12;40R"],
  ["cursor position, the DEC way", "\x1b[?12;40;1R"],
  ["cell size", "\x1b[6;20;10t"],
  ["window size", "\x1b[8;36;110t"],
  ["resized", "\x1b[48;36;110;720;1100t"],
  ["background colour", "\x1b]11;rgb:1e1e/1e1e/1e1e\x07"],
  ["foreground colour", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"],
  ["the clipboard", "\x1b]52;c;aGVsbG8=\x07"],
  ["kitty's graphics", "\x1b_Gi=31;OK\x1b\\"],
  ["a capability", "\x1bP1+r544e=787465726d\x1b\\"],
];

suite("input of the user is reported", () => {
  for (const [what, data] of TYPED) {
    test(what, () => {
      const { watch, context, type } = watched();
      watch.start(context);
      assert.equal(type(data), true);
    });
  }
});

suite("reports of the terminal are not", () => {
  for (const [what, data] of SENT_BY_THE_TERMINAL) {
    test(what, () => {
      const { watch, context, type } = watched();
      watch.start(context);
      assert.equal(type(data), false);
    });
  }
});

test("nothing is reported before the start and after the stop", () => {
  const { watch, context, type, listeners } = watched();
  assert.equal(type("a"), false);
  watch.start(context);
  watch.start(context);
  assert.equal(listeners.size, 1);
  assert.equal(type("a"), true);
  watch.stop();
  watch.stop();
  assert.equal(listeners.size, 0);
  assert.equal(type("a"), false);
  watch.start(context);
  assert.equal(type("a"), true);
});

test("there is no terminal input in other modes", () => {
  for (const mode of ["rpc", "json", "print"]) {
    const { watch, context, listeners } = watched(mode);
    watch.start(context);
    assert.equal(listeners.size, 0, mode);
    watch.stop();
  }
});
