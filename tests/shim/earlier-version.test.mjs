// A component that was built for an earlier minor version of the interface runs in this version's loader.

import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { INTERFACE_VERSION } from "../../host-shim/interface.js";
import { INDEX } from "../guests/hello.mjs";
import { VERSIONS } from "../pi/harness/extent.mjs";
import { REPO } from "../pi/harness/pi.mjs";
import { startRpc } from "../pi/harness/rpc.mjs";
import { stage } from "../pi/harness/stage.mjs";
import { builtGuest, loadInto, plainGuest, standIn } from "./pi-stand-in.mjs";

const STORED = join(REPO, "tests/guests/version-0.1");

suite("a component of version 0.1", () => {
  test("registers, handles events and commands, and restores its state", async () => {
    const pi = loadInto(standIn(), builtGuest(STORED));
    assert.ok(pi.registered.has("command hello") && pi.registered.has("tool greet"));
    await pi.tool("greet", { name: "Ann" });
    assert.ok(
      pi.entries.some(({ customType }) => customType === "hello:greeting"),
      JSON.stringify(pi.entries),
    );
    assert.match(JSON.stringify(pi.did()), /1 greeting/);
    assert.equal(pi.emit("tool_call", { toolName: "read", toolCallId: "1", input: {} }), undefined);
  });

  for (const version of VERSIONS) {
    test(`runs in pi ${version}`, async (t) => {
      const { sandbox } = await stage(t, [
        { calls: [{ name: "greet", arguments: { name: "Ann" } }] },
        { text: "Greeted." },
      ]);
      const home = join(sandbox.root, "stored");
      cpSync(STORED, home, { recursive: true });
      writeFileSync(join(home, "index.cjs"), INDEX);
      const rpc = await startRpc({ version, sandbox, extension: home });
      await rpc.promptAndSettle("Greet Ann");
      assert.match(JSON.stringify(await rpc.entries()), /hello:greeting/);
      assert.deepEqual(rpc.extensionErrors(), []);
      await rpc.close();
    });
  }
});

/**
 * Loads a guest that exports a version of the interface, and returns the version that its `init` gets.
 *
 * @param {string} version
 */
function initOf(version) {
  /** @type {string | undefined} */
  let given;
  const guest = plainGuest(() => ({ init: (/** @type {any} */ host) => (given = host.interfaceVersion) }));
  loadInto(standIn(), (imports) => ({ [`pi:extension/guest@${version}`]: Object.values(guest(imports))[0] }));
  return given;
}

test("a component of this version, or an earlier minor one, is told the version that it knows; others are refused with both numbers", () => {
  const [major, minor] = INTERFACE_VERSION.split(".").map(Number);
  for (const version of [INTERFACE_VERSION, `${major}.${minor - 1}.0`, `${major}.${minor}.7`])
    assert.equal(initOf(version), version);
  for (const version of [`${major}.${minor + 1}.0`, `${major + 1}.0.0`, `${INTERFACE_VERSION}-rc.1`, "1", ""]) {
    assert.throws(() => initOf(version), {
      message: `The component implements pi:extension ${version}, pi's side implements ${INTERFACE_VERSION}.`,
    });
  }
});
