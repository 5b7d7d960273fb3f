// The profile for `sandbox-exec`. Only macOS can run it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { profile, seatbeltLine } from "../../sandbox/seatbelt.js";

const SANDBOX = {
  writable: ["/p/docs"],
  readOnly: ["/p/docs/linked"],
  network: true,
  cwd: "/p",
  temporary: "/t",
  hidden: ["/home/.ssh"],
  fixed: ["/home/link"],
  unreadable: [],
  kept: [],
  standIns: { file: "", folder: "" },
};

test("a profile allows what is listed after it has denied everything", () => {
  const rules = profile(SANDBOX).split("\n");
  const order = [
    "(deny file-write*)",
    '(allow file-write* (subpath "/t"))',
    '(allow file-write* (subpath "/p/docs"))',
    '(deny file-write* (subpath "/p/docs/linked"))',
  ];
  const places = order.map((rule) => rules.indexOf(rule));
  assert.ok(
    !places.includes(-1) && places.every((place, index) => index === 0 || place > places[index - 1]),
    rules.join("\n"),
  );
  assert.equal(rules.at(-2), '(deny file-read* file-write* (subpath "/home/.ssh"))');
  assert.equal(rules.at(-1), '(deny file-write* (literal "/home/link"))');
  assert.ok(!rules.includes("(deny network*)"));
});

test("a profile without network, and one that may write everything", () => {
  assert.equal(
    profile({ ...SANDBOX, network: false })
      .split("\n")
      .findLast((rule) => rule.includes("network")),
    "(deny network*)",
  );
  const rules = profile({ ...SANDBOX, writable: ["/"] }).split("\n");
  assert.deepEqual(
    rules.filter((rule) => rule.includes("file-")),
    [
      '(deny file-write* (subpath "/p/docs/linked"))',
      '(deny file-read* file-write* (subpath "/home/.ssh"))',
      '(deny file-write* (literal "/home/link"))',
    ],
  );
});

test("a profile hides paths, whatever is writable, and the folders above them keep their names", () => {
  const rules = profile({ ...SANDBOX, writable: ["/"], unreadable: ["/p/tests/acceptance", "/p/.env"] }).split("\n");
  for (const path of ["/p/tests/acceptance", "/p/.env"])
    assert.ok(rules.includes(`(deny file-read* file-write* (subpath "${path}"))`), rules.join("\n"));
  for (const path of ["/p", "/p/tests"])
    assert.ok(rules.includes(`(deny file-write-unlink (literal "${path}"))`), rules.join("\n"));
  assert.ok(!rules.includes('(deny file-write-unlink (literal "/"))'));
});

test("paths and command lines are quoted", () => {
  const line = seatbeltLine("echo 'x'", { ...SANDBOX, writable: [`/a "b" \\ 'c'`] });
  assert.ok(line.includes(String.raw`(subpath "/a \"b\" \\ '\''c'\''")`), line);
  assert.ok(line.endsWith(` -c -- 'echo '\\''x'\\''' "$0"`), line);
});
