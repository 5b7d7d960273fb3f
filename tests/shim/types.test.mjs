// `tsc` checks the shim against the types of wit/extension.wit: it reports every change of the interface that the shim
// does not follow. The types step of `npm test` shows that there are no errors without a change.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { types } from "@bytecodealliance/jco";
import ts from "typescript";
import { LONG } from "../pi/harness/extent.mjs";
import { REPO } from "../pi/harness/pi.mjs";

const WIT = readFileSync(join(REPO, "wit/extension.wit"), "utf8");
const GENERATED = join(REPO, "target/types");

/**
 * Returns the errors that `tsc` reports in the shim for an interface.
 * @param {string} wit
 */
async function errorsWith(wit) {
  const folder = mkdtempSync(join(tmpdir(), "types-test-"));
  writeFileSync(join(folder, "extension.wit"), wit);
  const files = await types(join(folder, "extension.wit"), { worldName: "extension", instantiation: "sync" });
  rmSync(folder, { recursive: true });
  const changed = new Map(
    Object.entries(files).map(([name, content]) => [join(GENERATED, name), Buffer.from(content).toString()]),
  );

  const { config } = ts.readConfigFile(join(REPO, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: ["host-shim/load.js"] },
    ts.sys,
    REPO,
  );
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) => {
    const content = changed.get(name);
    if (content === undefined) return getSourceFile(name, ...rest);
    return ts.createSourceFile(name, content, rest[0]);
  };
  const program = ts.createProgram([join(REPO, "host-shim/load.js")], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${basename(file?.fileName ?? "")}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

test("tsc reports every change of the interface that the shim does not follow", LONG, async () => {
  /** Each change, and the error that it causes. @type {[from: string, to: string, error: RegExp][]} */
  const changes = [
    // Imports: another name, another type of a parameter or a result, a new one, one that is gone.
    ["cancel-request: func(", "abandon-request: func(", /^extension.js: .*'cancelRequest' does not exist/],
    ["stop: func(id: u64);", "stop: func(id: string);", /^timers.js: .*'string' is not assignable to .*'bigint'/],
    [
      "has-ui: func() -> result<bool, error>;",
      "has-ui: func() -> result<string, error>;",
      /^context.js: Type 'boolean' is not assignable to type 'string'/,
    ],
    [
      "unchanged: func() -> bool;",
      "unchanged: func() -> bool;\n    write-file: func(path: string);",
      /^files.js: .*writeFile/,
    ],
    ["    get-flag: func(name: string) -> result<bool, error>;\n", "", /^actions.js: .*"getFlag"/],
    // Exports: another name, one more parameter.
    ["run-command: func(", "execute-command: func(", /^commands.js: .*"runCommand"/],
    [
      "timer: func(at: moment, id: u64);",
      "timer: func(at: moment, id: u64, count: u32);",
      /^timers.js: Expected 5 arguments, but got 4/,
    ],
    // Types: another case of an event, an error or an answer, a new field.
    ["        session-tree,", "        session-branch,", /^events.js: .*'session_tree' does not exist/],
    ["        outside-root,", "        above-root,", /^files.js: .*"outside-root"/],
    ["        no-ui,", "        no-user,", /^dialogs.js: .*"no-ui"/],
    ["        carries-calls: bool,", "        carries-calls: bool,\n        depth: u32,", /^tools.js: .*depth/],
  ];
  let wit = WIT;
  for (const [from, to] of changes) {
    assert.ok(wit.includes(from), from);
    wit = wit.replaceAll(from, to);
  }
  const errors = await errorsWith(wit);
  for (const [, to, error] of changes)
    assert.ok(
      errors.some((line) => error.test(line)),
      `${to}\n${errors.join("\n")}`,
    );
});
