// The documentation: links and paths are valid, the pages are short, and the contents list all of them.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";

import { REPO } from "../pi/harness/pi.mjs";

const MAX_README = 10_000;

/** Maximum length of a page for authors, in bytes. */
const MAX_PAGE = 20_000;

const CONTENTS = "docs/README.md";

/** Pages for work on the package itself: the contents list the page and not its sections. */
const FOR_CONTRIBUTORS = ["docs/architecture.md", "docs/interface.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/** The Markdown pages for readers. Phase files are excluded: their links are for an agent. */
const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "fuzz/README.md",
  "sandbox/README.md",
  "workflows-examples/README.md",
].concat(listed("docs/**/*.md"), listed("skills/**/*.md"));

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
      .replace(/``.*?``|`[^`\n]*`/g, "")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, target]) => target);
}

/** Returns the headings of a page. @param {string} page */
function headings(page) {
  return [...prose(page).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading]) => heading);
}

/** Returns the anchors that GitHub generates for the headings of a page. @param {string} page */
function anchors(page) {
  const words = headings(page).map((heading) =>
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
  assert.match(String(broken("README.md", "docs/reference/gates.md#no-heading")), /no heading/);
  assert.match(String(broken("docs/reference/gates.md", "../../../outside.md")), /there is no/);
  assert.equal(broken("docs/reference/commands-in-pi.md", "#the-tool-workflow_step"), undefined);
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

test("every page and section of the reference that the source names exists", () => {
  const sources = [
    "src/**",
    "cli/**",
    "host-shim/*.js",
    "sandbox/*.js",
    "scripts/**",
    "schemas/*",
    "tests/diagnostics/*",
  ];
  const named = sources
    .flatMap(listed)
    .flatMap((file) =>
      [...readFileSync(join(REPO, file), "utf8").matchAll(/(?:"([^"\n]+)" in )?(docs\/reference[\w/-]*\.md)/g)].map(
        ([, heading, page]) => ({ file, page, heading }),
      ),
    );
  assert.ok(named.length >= 5, String(named.length));
  assert.deepEqual(
    named.filter(
      ({ page, heading }) => !existsSync(join(REPO, page)) || (heading && !headings(page).includes(heading)),
    ),
    [],
  );
});

test("every file of the package that the skill names exists", () => {
  const skill = readFileSync(join(REPO, "skills/workflow-authoring/SKILL.md"), "utf8");
  const named = [...skill.matchAll(/\.\.\/\.\.\/([\w./-]+)/g)].map(([, path]) => path);
  assert.ok(named.includes("docs/recipes.md"), String(named));
  assert.deepEqual(
    named.filter((path) => !existsSync(join(REPO, path))),
    [],
  );
});

// A comma without quotes makes a second key without a value.
test("every block of YAML can be read, and each of its keys has a value", () => {
  /** @param {unknown} value @param {string} path @returns {string[]} */
  const empty = (value, path) => {
    if (value === null) return [path];
    return typeof value === "object"
      ? Object.entries(value ?? {}).flatMap(([key, of]) => empty(of, `${path}.${key}`))
      : [];
  };
  const blocks = PAGES.flatMap((page) =>
    [...readFileSync(join(REPO, page), "utf8").matchAll(/^( *)```yaml\n([^]*?)^ *```$/gm)].map(([, , text]) => {
      const value = parse(text);
      return value === null ? [] : empty(value, page);
    }),
  );
  assert.ok(blocks.length > 40, String(blocks.length));
  assert.deepEqual(blocks.flat(), []);
});

test("the pages are short", () => {
  const most = (/** @type {string} */ page) => (page === "README.md" ? MAX_README : MAX_PAGE);
  const pages = ["README.md", ...listed("docs/**/*.md")].filter((page) => page !== "docs/architecture.md");
  const long = pages.map((page) => ({ page, size: statSync(join(REPO, page)).size }));
  assert.deepEqual(
    long.filter(({ page, size }) => size > most(page)),
    [],
  );
});

test("the contents list every page, and every section of the pages for users", () => {
  assert.ok(links("README.md").includes(CONTENTS));
  const listedLinks = links(CONTENTS).map((link) => relative(REPO, join(REPO, dirname(CONTENTS), link)));
  const pages = PAGES.filter((page) => page !== CONTENTS && !/^(skills|fuzz|sandbox)\//.test(page));
  const sections = pages
    .filter((page) => page !== "README.md" && !FOR_CONTRIBUTORS.includes(page))
    .flatMap((page) => {
      const levels = [...prose(page).matchAll(/^(#{1,6}) /gm)].map(([, { length }]) => length);
      return anchors(page).flatMap((anchor, index) => (levels[index] === 2 ? [`${page}#${anchor}`] : []));
    });
  assert.ok(sections.length > 50, String(sections.length));
  assert.deepEqual(
    [...pages, ...sections].filter((target) => !listedLinks.includes(target)),
    [],
  );
});
