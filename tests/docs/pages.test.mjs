// The documentation: links and paths are valid, and the README is short.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

import { REPO } from "../pi/harness/pi.mjs";

const MAX_README = 10_000;

/** The Markdown pages for readers. Phase files are excluded: their links are for an agent. */
const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "fuzz/README.md",
  "sandbox/README.md",
  "workflows-examples/README.md",
].concat(listed("docs/*.md"), listed("skills/**/*.md"));

/** Returns the files of the repository that match a pattern. @param {string} pattern */
function listed(pattern) {
  const files = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", `:(glob)${pattern}`],
    { cwd: REPO, encoding: "utf8" },
  );
  return files.split("\0").filter((name) => name && existsSync(join(REPO, name)));
}

/** Returns a page without its code blocks. @param {string} page */
function prose(page) {
  return readFileSync(join(REPO, page), "utf8").replace(/^(```+).*\n[^]*?^\1$/gm, "");
}

/** Returns the targets of the links of a page. @param {string} page */
function links(page) {
  return [
    ...prose(page)
      .replace(/``.*?``|`[^`\n]*`(?!\])/g, "")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, target]) => target);
}

/** Returns the anchors that GitHub generates for the headings of a page. @param {string} page */
function anchors(page) {
  const headings = [...prose(page).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading]) => heading);
  const words = headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  return words.map((anchor, index) => {
    const before = words.slice(0, index).filter((other) => other === anchor).length;
    return before > 0 ? `${anchor}-${before}` : anchor;
  });
}

/**
 * Returns the error of a broken link of a page; `undefined` for a valid link.
 *
 * @param {string} page
 * @param {string} link
 */
function broken(page, link) {
  if (/^https?:/.test(link)) return undefined;
  const [path, anchor] = link.split("#");
  const target = path === "" ? page : relative(REPO, join(REPO, dirname(page), path));
  if (target.startsWith("..") || !existsSync(join(REPO, target))) return `${page}: there is no ${link}`;
  if (anchor !== undefined && !anchors(target).includes(anchor)) return `${page}: ${target} has no heading #${anchor}`;
  return undefined;
}

test("every link has an existing file and heading as its target", () => {
  const all = PAGES.flatMap((page) => links(page).map((link) => ({ page, link })));
  assert.ok(all.length > 40, String(all.length));
  assert.deepEqual(all.map(({ page, link }) => broken(page, link)).filter(Boolean), []);
});

test("a broken link is reported", () => {
  assert.match(String(broken("README.md", "docs/no-page.md")), /there is no/);
  assert.match(String(broken("README.md", "docs/reference.md#no-heading")), /no heading/);
  assert.match(String(broken("docs/reference.md", "../../outside.md")), /there is no/);
  assert.equal(broken("docs/reference.md", "#the-tool-workflow_step"), undefined);
});

test("every path of the repository that a page names exists", () => {
  const folders =
    /^(?:src|wit|host-shim|sandbox|cli|schemas|docs|skills|workflows-examples|scripts|tests|fuzz)\/[\w./-]*$/;
  const generated = /^host-shim\/component\//;
  const missing = [
    "docs/architecture.md",
    "docs/glossary.md",
    "docs/interface.md",
    "docs/performance.md",
    "docs/differences.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
  ].flatMap((page) => {
    const paths = [...prose(page).matchAll(/`([^`\n]+)`/g)]
      .map(([, span]) => span)
      .filter((span) => folders.test(span) && !generated.test(span));
    return paths.filter((path) => !existsSync(join(REPO, path))).map((path) => `${page}: ${path}`);
  });
  assert.deepEqual(missing, []);
});

test("the README is short, and links to every page of the documentation", () => {
  const { size } = statSync(join(REPO, "README.md"));
  assert.ok(size <= MAX_README, `${size} bytes`);
  const targets = links("README.md").map((link) => link.split("#")[0]);
  const pages = PAGES.filter((page) => page !== "README.md" && !/^(skills|fuzz|sandbox)\//.test(page));
  assert.deepEqual(
    pages.filter((page) => !targets.includes(page)),
    [],
  );
});
