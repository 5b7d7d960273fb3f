// Captures screens of the real pi, and writes each one between its marks in a page of the documentation.
//
//   node scripts/screens.mjs
//
// A scripted model plays the agent; tmux is the terminal.
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { PI_VERSIONS, REPO } from "../tests/pi/harness/pi.mjs";
import { makeSandbox } from "../tests/pi/harness/sandbox.mjs";
import { startModel } from "../tests/pi/harness/scripted-model.mjs";
import { startTui } from "../tests/pi/harness/tui.mjs";

/** The pages with screens. */
const PAGES = [
  join(REPO, "README.md"),
  ...readdirSync(join(REPO, "docs/reference")).map((name) => join(REPO, "docs/reference", name)),
];
const TYPO = '---\nid: typo\nname: Typo\nemoji: "✏️"\n---\n\nCorrect the spelling in {descripton}.\n';

const next = { action: "next", outcome: "small", summary: "src/clock.js:12 adds the zone twice." };
const model = await startModel([
  { calls: [{ name: "workflow_step", arguments: next }] },
  { text: "I look at the code.", hang: true },
]);
const sandbox = makeSandbox({
  model,
  modelConfig: { cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
});
cpSync(join(REPO, "workflows-examples"), join(sandbox.project, ".pi/workflows"), { recursive: true });
sandbox.writeFiles({
  ".pi/workflows/typos/workflow.yaml": "name: Typos\nloopble: false\nphases:\n  - typo.md\n",
  ".pi/workflows/typos/typo.md": TYPO,
});

/** @type {Record<string, string>} */
const screens = {};
try {
  const tui = await startTui({ version: PI_VERSIONS[0], sandbox, rows: 30 });
  const above = (/** @type {string} */ screen) => withoutFrame(screen);
  await tui.submit("/workflow :check");
  screens.check = above(await tui.waitFor("1 workflow is left out."));
  await tui.submit("/workflow");
  // pi draws the list below its title last.
  screens.picker = from(await tui.waitFor("↑↓ navigate"), "Which workflow?");
  await tui.press("Escape");
  await tui.submit("/workflow :panel");
  await tui.waitFor("The panel shows the phases of the next run.");
  await tui.submit("/workflow bugfix the clock is an hour late");
  await tui.waitFor("I look at the code.");
  screens.panel = from(await tui.screen(), /^ *Bug Fix > .* \[3\/4\]$/);
} finally {
  await sandbox.dispose();
  await model.close();
}

for (const [name, screen] of Object.entries(screens)) {
  const block = new RegExp(`(<!-- screen: ${name} -->\n)[^]*?(<!-- end -->)`);
  const page = PAGES.find((path) => block.test(readFileSync(path, "utf8")));
  if (!page) throw new Error(`No page has a mark for the screen ${name}.`);
  const text = readFileSync(page, "utf8").replace(
    block,
    (_, begin, end) => `${begin}\n\`\`\`text\n${screen}\n\`\`\`\n\n${end}`,
  );
  writeFileSync(page, text);
}
console.log(
  Object.keys(screens)
    .map((name) => `${name}: captured`)
    .join("\n"),
);

/** Returns the part of a screen above the editor, without pi's information about the machine. @param {string} screen */
function withoutFrame(screen) {
  const lines = screen.split("\n").map((line) => line.trimEnd());
  const end = lines.findIndex((line) => /^─{20,}$/.test(line));
  const shown = lines.slice(0, end).filter((line) => !/^ *Warning: (fd|ripgrep) not found/.test(line));
  return tidy(shown);
}

/** Returns the part of a screen from a text on. @param {string} screen @param {string | RegExp} words */
function from(screen, words) {
  const lines = screen.split("\n").map((line) => line.trimEnd());
  const start = lines.findIndex((line) => (typeof words === "string" ? line.includes(words) : words.test(line)));
  if (start < 0) throw new Error(`There is no ${words} on this screen:\n${screen}`);
  return tidy(lines.slice(start))
    .replaceAll(sandbox.project, "~/project")
    .replace(/[⠋-⣿] Working/, "⠋ Working");
}

/** Removes empty lines at both ends and repeated empty lines. @param {string[]} lines */
function tidy(lines) {
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^\n+|\n+$/g, "");
}
