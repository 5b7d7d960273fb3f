// The HTML report and the page of a comparison: their structure, hostile texts, missing fields, its size; and how
// Chromium shows it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { answerOf } from "../../packages/compare/answer.js";
import { comparisonHtml } from "../../packages/compare/html.js";
import { reportHtml } from "../../cli/runs/html/page.js";
import { duration, preciseDuration, tokens } from "../../cli/runs/figures.js";
import { line, text } from "../../cli/runs/html/data.js";
import { visible } from "../../cli/words.js";
import { ALL, LONG, some } from "../pi/harness/extent.mjs";
import { startBrowser } from "./browser.mjs";
import { comparison } from "../../packages/compare/tests/comparison-samples.mjs";
import { ATTACKS, branched, hostile, huge, ordinary, reference, uneven } from "./report-samples.mjs";

process.env.TZ = "UTC";

const SAMPLES = { ordinary, branched, hostile, huge, uneven, reference };

/** All elements and attributes of pages that are drawn. */
const ELEMENTS =
  "header main section footer figure figcaption h1 h2 h3 p b bdi span div time dl dt dd ul li table thead tbody tr th td details summary pre a svg pattern path g rect text title".split(
    " ",
  );
const ATTRIBUTES =
  "class id aria-labelledby aria-hidden aria-label role scope colspan datetime data-of href viewBox preserveAspectRatio open width height x y dx d text-anchor patternUnits patternTransform".split(
    " ",
  );

const PAGE =
  /^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '([^']*)'; style-src '([^']*)'; base-uri 'none'; form-action 'none'">\n(?:<meta [^<>]*>\n){3}<title>[^<]*<\/title>\n<style>([^<]*)<\/style>\n<\/head>\n<body>\n<noscript><p>[^<]*<\/p><\/noscript>\n<script type="application\/json" id="data">([^<]*)<\/script>\n<script>((?:(?!<\/script|<!--)[^])*)<\/script>\n<\/body>\n<\/html>\n$/;

/**
 * Draws a page as a browser does, with elements that only keep what they get, and returns their source.
 * @param {string} page
 */
function drawn(page) {
  assert.ok(page.isWellFormed());
  assert.doesNotMatch(page, /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
  const [all, ofScript, ofStyle, style, data, script] = PAGE.exec(page) ?? [];
  assert.ok(all, "the frame of a page");
  for (const [text, digest] of [
    [script, ofScript],
    [style, ofStyle],
  ])
    assert.equal(`sha256-${createHash("sha256").update(text).digest("base64")}`, digest);
  const body = new Drawn("body");
  new Function("document", script)({
    body,
    title: /<title>([^<]*)<\/title>/.exec(page)?.[1].replaceAll("&lt;", "<").replaceAll("&amp;", "&"),
    getElementById: () => ({ textContent: data }),
    createElementNS: (/** @type {string} */ _, /** @type {string} */ tag) => new Drawn(tag),
  });
  return body.children.map(sourceOf).join("");
}

/** An element that only keeps what it gets. */
class Drawn {
  /** @type {[string, any][]} */
  attributes = [];
  /** @type {any[]} */
  children = [];
  /** @param {string} tag */
  constructor(tag) {
    this.tag = tag;
  }
  /** @param {string} name @param {any} value */
  setAttribute = (name, value) => void this.attributes.push([name, value]);
  /** @param {any[]} children */
  append = (...children) => void this.children.push(...children);
}

/** @param {Drawn | string | number} node @returns {string} */
function sourceOf(node) {
  const escaped = (/** @type {any} */ text) =>
    String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  if (!(node instanceof Drawn)) return escaped(node);
  assert.ok(ELEMENTS.includes(node.tag), node.tag);
  for (const [name] of node.attributes) assert.ok(ATTRIBUTES.includes(name), name);
  const attributes = node.attributes.map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
  return `<${node.tag}${attributes}>${node.children.map(sourceOf).join("")}</${node.tag}>`;
}

/** The text of a page that is drawn, its elements on lines of their own. @param {string} page */
const read = (page) =>
  drawn(page)
    .replace(/<[^>]*>/g, "\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replace(/\s*\n\s*/g, "\n");

/** @param {string} source @param {string} element */
const all = (source, element) =>
  [...source.matchAll(new RegExp(`<${element}(?: [^>]*)?>([^]*?)</${element}>`, "g"))].map(([, inner]) =>
    inner.replace(/<[^>]*>/g, ""),
  );

test("a report has every part, in order", () => {
  const report = { ...ordinary(), quota: { waits: 2, waitedMs: 3 * 3_600_000 } };
  const source = drawn(reportHtml(report));
  const text = read(reportHtml(report));
  assert.deepEqual(all(source, "h1"), ["The clock in the status bar is an hour late after the change to summer time"]);
  assert.deepEqual(all(source, "h2"), [
    "Totals",
    "Course",
    "Tokens and cost by phase",
    "Phases",
    "Passed over",
    "Evidence of gates",
    "Refused tool calls",
    "Summaries",
  ]);
  for (const part of [
    ...[
      "\nDone\n",
      "\nWorkflow\nrpir\n",
      "\n2026-11-20 09:12:30\nUTC+00:00\n",
      "\n2026-11-21 02:44:46\n",
      "\n17h 32m\n",
      "\n/home/user/clock\n",
    ],
    ...[
      "\nTurns\n107\n212 tool calls\n",
      "\nTokens\n2.24M\ninput 255.1k, output 73.8k (28.7k of it reasoning), cache read 1.72M, cache written 188.6k\n",
    ],
    ...[
      "\nCost\n$3.66\n+ unknown\n21 turns without a price\n",
      "\nAt work\n1h 13m\n",
      "\nWaiting for the user\n16h 19m\n",
      "\nWaiting for limits of the model\n3h\n2 waits\n",
      "\nRepeated visits\n2\n12 transitions\n",
    ],
    ...[
      "\nNested workflow\nimplement-review\n",
      "\nA\n14h 12m waiting for the user\n",
      "\nB\n2h 5m paused:\nthe agent did nothing in 3 automatic continuations\n",
    ],
    ...[
      "\n10 visits in order of time\n",
      "\nInputs\nzone\n:\nEurope/Zurich\ndry\n:\nfalse\n",
      "\n⤼\nTranslate\ninput.dry is false, not true\n",
      "\nReview\n3\nclean\n12m\n21\n464.1k\nunknown\n",
      "\nChangelog\n⤼ skipped by the user\n",
      "\nexample/large\n× 41\nexample/small\n× 17\n",
    ],
    ...[
      "\n✗ failed\n:\nexit status 1\nThe end of the output\nnot ok 12 - summer time begins\n",
      "\nPaths that may be written\n2\nPlan\n× 2\n",
      "\nThe zone is added twice: once in `clock.js`",
    ],
    "\nRun\ntask-7f3a\n, fingerprint of the workflow\n3:9b1c7e52\n",
  ]) {
    assert.ok(text.includes(part), part);
  }
});

test("the timeline has a text alternative for each phase, and a legend", () => {
  const source = drawn(reportHtml(ordinary()));
  const labels = [...source.matchAll(/role="img"[^>]*aria-label="([^"]*)"/g)].map(([, label]) => label);
  assert.deepEqual(labels, [
    "Research: 1 visit. Visit 1: 09:12:30, 10m 35s, done.",
    "Plan: 1 visit. Visit 1: 09:23:05, 14h 19m, done.",
    "Implement: 3 visits. Visit 1: 23:42:45, 22m 25s, done; Visit 2: 00:10:10, 2h 21m, done; Visit 3: 02:35:18, 4m 6s, done.",
    "Review: 3 visits. Visit 1: 00:05:10, 5m, went back; Visit 2: 02:31:18, 4m, went back; Visit 3: 02:39:24, 3m, done.",
    "Changelog: 1 visit. Visit 1: 02:42:24, 12s, skipped by the user.",
    "Hand over: 1 visit. Visit 1: 02:42:36, 2m 10s, done.",
  ]);
  const [figure] = /** @type {RegExpExecArray} */ (/<figure[^]*<\/figure>/.exec(source));
  const legend = all(/** @type {RegExpExecArray} */ (/<ul class="legend">[^]*?<\/ul>/.exec(figure))[0], "li").map(
    (words) => words.trim(),
  );
  assert.deepEqual(legend, [
    "At work 1h 7m",
    "Gate 5m 19s",
    "Waiting for the user 14h 14m",
    "Paused 2h 5m",
    "A visit begins",
  ]);
  const bars = [...figure.matchAll(/<rect class="(work|gate|wait|pause)" x="([\d.]+)%" width="([\d.]+)%"/g)];
  assert.ok(bars.length > 20, String(bars.length));
  for (const [bar, , x, width] of bars)
    assert.ok(Number(x) >= 0 && Number(width) > 0 && Number(x) + Number(width) < 100.01, bar);
  const waits = bars.filter(([, kind]) => kind === "wait").map(([, , , width]) => Number(width));
  assert.ok(Math.max(...waits) < 6, "a night takes little of the width");
});

test("branches are in the course beside their group, without a time at work, and no outcome is broken", () => {
  const source = drawn(reportHtml(branched()));
  const bars = (/** @type {string} */ name) => {
    const [row = ""] = source.match(new RegExp(`<svg[^>]*aria-label="${name}[^]*?</svg>`)) ?? [];
    return [...row.matchAll(/<rect class="(work|wait|branch)" x="([\d.]+)%" width="([\d.]+)%"/g)].map(
      ([, kind, x, width]) => [kind, Math.round(Number(x)), Math.round(Number(width))],
    );
  };
  const [first, last] = bars("Reviews: 2 visits");
  const [start, width] = [Number(last[1]), Number(last[2])];
  assert.deepEqual([first[0], last[0]], ["work", "work"]);
  // The branches begin with their group, and are as long as they took.
  for (const [name, share] of /** @type {const} */ ([
    ["Bugs: 2 visits", [7 / 10, 4 / 6]],
    ["Tests: 2 visits", [1, 1]],
  ])) {
    const [one, two] = bars(name);
    assert.deepEqual(one, ["branch", 0, Math.round(Number(first[2]) * share[0])]);
    assert.deepEqual(two, ["branch", start, Math.round(width * share[1])]);
  }
  assert.deepEqual(
    bars("Go on\\?: 1 visit").map(([kind]) => kind),
    ["wait"],
  );
  const legend = all(/** @type {RegExpExecArray} */ (/<figcaption>[^]*?<\/ul>/.exec(source))[0], "li");
  assert.deepEqual(
    legend.map((words) => words.trim()),
    ["At work 16m", "Waiting for the user 2m", "In branches 27m", "A visit begins"],
  );
  assert.match(read(reportHtml(branched())), /\n7 visits in order of time\n/);
  const [, table] = source.split('id="phases"');
  const rows = [...table.matchAll(/<tr[^>]*><th scope="row"[^]*?<\/tr>/g)].map(([row]) => [
    all(row, "bdi")[0],
    /data-of="At work"[^>]*><div>([^<]*)/.exec(row)?.[1],
    /<span class="word"><bdi>([^<]*)/.exec(row)?.[1],
  ]);
  assert.deepEqual(rows.slice(0, 5), [
    ["Reviews", "16m", "needs-another-look"],
    ["Bugs", undefined, "clean"],
    ["Tests", undefined, "unsatisfactory"],
    ["Go on?", undefined, undefined],
    ["The whole run", "16m", undefined],
  ]);
  assert.match(reportHtml(branched()), /\.word\{overflow-wrap:normal\}/);
});

test("every table has headings of its columns and rows", () => {
  const source = drawn(reportHtml(ordinary()));
  const tables = [...source.matchAll(/<table[^]*?<\/table>/g)].map(([table]) => table);
  assert.equal(tables.length, 7);
  for (const table of tables) {
    const columns = all(table, "th").length - table.split('scope="row"').length + 1;
    for (const [row] of table.matchAll(
      /<tr(?: class="sum")? role="row"><th scope="row" role="rowheader">[^]*?<\/tr>/g,
    )) {
      assert.equal(row.split('role="cell"').length, columns, row);
    }
  }
});

test("no text leaves its place", () => {
  const report = hostile();
  const text = read(reportHtml(report));
  assert.equal(visible(reportHtml(report), false), reportHtml(report));
  for (const attack of ATTACKS.filter((attack) => attack.length < 100 && !/[^ -~]/.test(attack)))
    assert.ok(text.includes(attack), attack);
  assert.ok(text.includes("safe \\u{202e}elif gpj.exe\\u{2066} mixed \u05d0\u05d1\u05d2"));
  assert.ok(text.includes("ab[31mcd\ufffde\ufffdf"));
  for (const attack of ATTACKS) {
    const one = { ...ordinary(), task: attack, pause: attack, outcome: attack, workflow: attack, fingerprint: attack };
    read(reportHtml(JSON.parse(JSON.stringify(one).replaceAll('"Research"', JSON.stringify(attack)))));
  }
});

test("a field of any kind, or none, is no error", LONG, () => {
  const { phases, course, ...rest } = ordinary();
  const small = () =>
    structuredClone({
      ...rest,
      phases: phases.slice(1, 3),
      course: { visits: course.visits.slice(1, 3), spans: course.spans.slice(2, 6) },
    });
  /** @type {unknown[]} */
  const values = [
    undefined,
    null,
    true,
    -1,
    NaN,
    Infinity,
    8.64e15,
    1e300,
    "",
    "x",
    [null, 7, "x", [], {}],
    { toString: 1 },
  ];
  for (const value of [...values, "</style>"]) read(reportHtml(value));
  for (const path of some(paths(small()))) {
    for (const value of values) {
      const report = small();
      const place = path.slice(0, -1).reduce((/** @type {any} */ part, key) => part[key], report);
      place[/** @type {string} */ (path.at(-1))] = value;
      assert.doesNotThrow(() => drawn(reportHtml(report)), `${path.join(".")}: ${String(JSON.stringify(value))}`);
    }
  }
  const broken = {
    ...ordinary(),
    startedAt: -1,
    endedAt: "soon",
    usage: { turns: NaN, cost: -5, models: { a: "many" } },
  };
  assert.doesNotMatch(read(reportHtml(broken)), /NaN|undefined|Infinity|\[object/);
  for (const sample of Object.values(SAMPLES))
    assert.doesNotMatch(read(reportHtml(sample())), /NaN|undefined|Infinity|\[object/);
});

/** The paths to all values within a value. @param {any} value @returns {string[][]} */
function paths(value) {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((key) => [[key], ...paths(value[key]).map((path) => [key, ...path])]);
}

test("a run of the reference says what is not recorded", () => {
  const text = read(reportHtml(reference()));
  for (const part of [
    "Turns, tokens, cost and times of this run are not recorded.",
    "The times of the phases are not recorded.",
    "Not finished",
    "▸ current",
  ])
    assert.ok(text.includes(part), part);
  assert.ok(!text.includes("$0.00") && !text.includes("At work\n"));
});

test("the cost of answers without a price is never zero", () => {
  const costs = (/** @type {object} */ usage) =>
    /Cost\n([^]*?)\n(?:\d+ turns? without|At work)/.exec(read(reportHtml({ usage })))?.[1];
  assert.equal(costs({ turns: 2, unpriced: 2, cost: 0 }), "unknown");
  assert.equal(costs({ turns: 3, unpriced: 2, cost: 0.5 }), "$0.50\n+ unknown");
  assert.equal(costs({ turns: 3, cost: 0.001 }), "$0.001");
  assert.equal(costs({ turns: 3, cost: 0 }), "$0.00");
});

test("the tokens of answers without usage are never zero, and requests that keep the prompt cache are apart", () => {
  const tokens = (/** @type {object} */ usage) => /Tokens\n([^]*?)\nCost/.exec(read(reportHtml({ usage })))?.[1];
  assert.equal(tokens({ turns: 2, unreported: 2, unpriced: 2 }), "unknown\n2 answers without usage");
  assert.equal(
    tokens({ turns: 2, unreported: 1, unpriced: 1, output: 7 }),
    "7 + unknown\noutput 7, 1 answer without usage",
  );
  const warm = read(reportHtml({ usage: { turns: 1, input: 5, warmUps: 2, warmTokens: 50_000, warmCost: 0.5 } }));
  assert.match(warm, /Tokens\n5\n[^]*Prompt cache kept\n2 requests\n50\.0k tokens, \$0\.50, in no budget\n/);
});

/** A comparison whose names and texts attack the page. */
const attacked = () => comparison((text) => `${text} ${ATTACKS.join(" ")}`);

test("the page of a comparison has every figure as text, and no text leaves its place", () => {
  const text = read(comparisonHtml(comparison()));
  for (const part of [
    "\nbugfix-v2\n20 of 20\n39\u00a0% to 100\u00a0%\n0\nnone\n",
    "\n17 of 20\n",
    "\n9 of 20\n",
    "“bugfix-v2” solved 4 tasks more often than “none”",
    "6 tasks that differ, all one way, would.",
    "\nrounded-shares\n2 of 4\n✓\n1: solved\n",
  ])
    assert.ok(text.includes(part), `${part} ${text}`);
  const hostile = read(comparisonHtml(attacked()));
  assert.ok(hostile.includes(line(60)(`bugfix ${ATTACKS.join(" ")}`)));
  assert.match(read(comparisonHtml(answerOf([], "/"))), /No trial has ended/);
});

test("a report of any run has a size", () => {
  const report = huge();
  const start = performance.now();
  const source = reportHtml(report);
  assert.ok(performance.now() - start < 10_000);
  assert.ok(source.length < 16_000_000, `${source.length} characters`);
  const text = read(source);
  for (const part of [
    "9,850 more visits.",
    "4,700 more phases.",
    "4,960 more phases not drawn.",
    "4,970 more phases.",
    "4,800 more checks.",
    "4,940 more summaries.",
  ])
    assert.ok(text.includes(part), part);
});

test("visits of a millisecond and of three days show in one timeline", () => {
  const source = drawn(reportHtml(uneven()));
  const [figure] = /** @type {RegExpExecArray} */ (/<figure[^]*<\/figure>/.exec(source));
  const widths = [...figure.matchAll(/<rect class="over" x="[\d.]+%" width="([\d.]+)%"/g)]
    .map(([, width]) => Number(width))
    .sort((one, other) => one - other);
  assert.equal(widths.length, 7);
  assert.ok(widths[0] > 0.5 && widths[6] < 70, widths.join(" "));
  assert.match(figure, /<b>A<\/b> 3d at work/);
});

test("figures are short, and texts end at their bound", () => {
  assert.deepEqual([0, 950, 12_345, 999_949, 999_950, 4_560_000].map(tokens), [
    "0",
    "950",
    "12.3k",
    "999.9k",
    "1.00M",
    "4.56M",
  ]);
  const durations = [0, 0.2, 1, 999, 1000, 61_000, 3_600_000, 97_200_000, 1e12];
  assert.deepEqual(durations.map(preciseDuration), [
    "0s",
    "1ms",
    "1ms",
    "999ms",
    "1s",
    "1m 1s",
    "1h",
    "1d 3h",
    "11574d 1h",
  ]);
  assert.deepEqual(durations.map(duration), ["0s", "0s", "0s", "0s", "1s", "1m 1s", "1h", "1d 3h", "11574d 1h"]);
  assert.equal(text(3)("abc"), "abc");
  assert.equal(text(3)("abcd"), "abc…");
  assert.equal(text(3)("ab\ud83d\ude00"), "ab…");
  assert.equal(line(9)(" a\r\n\tb\u2028c "), "a b c");
});

/** Chromium is installed on Linux only, see scripts/setup.mjs. */
const IN_BROWSER = { skip: ALL && process.platform === "linux" ? false : "runs in `npm run test:all` on Linux" };

/** The words of outcomes that are broken without a hyphen. It runs in the page. */
const BROKEN_OUTCOMES = `[...document.querySelectorAll("td[data-of=Outcome] bdi")].flatMap(({ firstChild }) =>
  [...firstChild.data.matchAll(/[^-]+-?/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(firstChild, index);
    range.setEnd(firstChild, index + word.length);
    return range.getClientRects().length > 1;
  }).map(([word]) => word))`;

/** The contrast of each text with its background, where it is too low. It runs in the page. */
const LOW_CONTRAST = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => { const [r, g, b] = channels(color).map((value) => { const part = value / 255; return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (element) => { for (let at = element; at; at = at.parentElement) { const color = getComputedStyle(at).backgroundColor; if ((channels(color)[3] ?? 1) > 0) return color; } return getComputedStyle(document.body).backgroundColor; };
  const low = [];
  for (const element of document.querySelectorAll("body *:not(title, script, noscript)")) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(element.closest("svg") ? style.fill : style.color), light(ground(element))].sort((a, b) => b - a);
    if ((one + 0.05) / (other + 0.05) < 4.5) low.push(element.outerHTML.slice(0, 200));
  }
  return low;
})()`;

test("Chromium shows reports without requests or overflow, light and dark, and prints them", IN_BROWSER, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-report-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const browser = await startBrowser();
  t.after(() => browser.close());
  const pages = {
    ...Object.fromEntries(Object.entries(SAMPLES).map(([name, sample]) => [name, reportHtml(sample())])),
    comparison: comparisonHtml(comparison()),
    attacked: comparisonHtml(attacked()),
  };
  for (const [name, source] of Object.entries(pages)) {
    const url = pathToFileURL(join(folder, `${name}.html`)).href;
    writeFileSync(join(folder, `${name}.html`), source);
    const page = await browser.open(url, { width: 1280, scheme: "light" });
    /** @type {Record<string, Buffer>} */
    const pictures = {};
    for (const width of [1280, 820, 600, 360]) {
      for (const scheme of /** @type {const} */ (["light", "dark"])) {
        await page.resize({ width, scheme });
        const [needed, there] = await page.evaluate(
          "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
        );
        assert.ok(needed <= width && there === width, `${name}: ${needed} of ${width} pixels`);
        if (width === 1280) assert.deepEqual(await page.evaluate(LOW_CONTRAST), [], `${name}, ${scheme}`);
        if (name === "branched") assert.deepEqual(await page.evaluate(BROKEN_OUTCOMES), [], `at ${width} pixels`);
        pictures[`${width}-${scheme}`] = await page.picture();
      }
    }
    assert.equal(new Set(Object.values(pictures).map((picture) => picture.toString("base64"))).size, 8, name);
    assert.equal(await page.evaluate("window.broken"), undefined);
    assert.equal(
      await page.evaluate(
        "document.scripts.length + document.querySelectorAll('img, iframe, link, base, [onload], [onerror]').length",
      ),
      2,
    );
    const pdf = await page.print();
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    const requests = page.events
      .filter(({ method }) => method === "Network.requestWillBeSent")
      .map(({ params }) => params.request.url);
    assert.deepEqual(requests, [url]);
    const others = page.events.filter(({ method }) =>
      /^(?:Log\.entryAdded|Runtime\.(?:consoleAPICalled|exceptionThrown)|Page\.javascriptDialogOpening)$/.test(method),
    );
    assert.deepEqual(others, []);
  }
});

test("the browser of these tests runs scripts and reports requests", IN_BROWSER, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pi-workflows-report-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const browser = await startBrowser();
  t.after(() => browser.close());
  const file = join(folder, "a.html");
  writeFileSync(
    file,
    '<!doctype html><img src="none.png" onerror="window.broken = 1"><div style="width:2000px">wide</div><p style="color:#aaa">pale</p>',
  );
  const page = await browser.open(pathToFileURL(file).href, { width: 360, scheme: "light" });
  assert.equal(await page.evaluate("window.broken"), 1);
  assert.equal(page.events.filter(({ method }) => method === "Network.requestWillBeSent").length, 2);
  assert.ok((await page.evaluate("document.documentElement.scrollWidth")) >= 2000);
  assert.equal((await page.evaluate(LOW_CONTRAST)).length, 1);
});
