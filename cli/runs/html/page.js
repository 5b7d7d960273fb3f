// A whole HTML page, with nothing from a network: the data as JSON, and a script that draws it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { plainText } from "../../../host-shim/plain-text.js";
import { visible } from "../../words.js";
import { line, record } from "./nodes.js";
import { STYLE } from "./style.js";

/**
 * Longer texts are cut, in characters; no view shows as much. Of the end of an output the end stays. Behind so many in
 * all only the beginning of each text is left.
 */
const MAX_TEXT = { one: 10_000, tail: 1_500, all: 1_000_000, beginning: 100 };

/** The modules of each page. */
const COMMON = ["../figures.js", "./nodes.js"];

/**
 * The report of a run. Fields that are absent or of another kind are left out.
 * @param {unknown} report
 */
export function reportHtml(report) {
  const { task, workflow } = record(report);
  return page(line(clean(task), 160) || line(clean(workflow), 160) || "A run of a workflow", report, "reportView", [
    "./timeline.js",
    "./view.js",
  ]);
}

/**
 * @param {string} title
 * @param {unknown} data
 * @param {string} view the function that draws it
 * @param {string[]} modules those of the view
 */
export function page(title, data, view, modules) {
  const script = `"use strict";{\n${[...COMMON, ...modules].map(source).join("")}show(${view});\n}`;
  // In a script no text ends it, and none begins a comment.
  const json = JSON.stringify(clean(data) ?? null).replaceAll("<", "\\u003c");
  const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(STYLE)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</title>
<style>${STYLE}</style>
</head>
<body>
<noscript><p>A script in this file draws the page. It needs JavaScript, and nothing from a network.</p></noscript>
<script type="application/json" id="data">${json}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** The text of a module as a part of one script, without comments. @param {string} path */
function source(path) {
  return readFileSync(new URL(path, import.meta.url), "utf8")
    .replaceAll("\r", "")
    .replace(/^import [^;]*;\n/gm, "")
    .replace(/^export /gm, "")
    .replace(/^ *(?:\/\*\*(?:(?!\*\/)[^])*\*\/|\/\/.*)\n/gm, "")
    .replace(/^\s+/gm, "");
}

/** The digest of a part of the page, for its policy. @param {string} text */
const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/**
 * Data as it can be shown: texts without control characters, with what cannot be seen written out.
 * @param {any} value
 * @param {string} [key]
 * @param {{ length: number }} [before] the length of all texts
 * @returns {any}
 */
function clean(value, key, before = { length: 0 }) {
  if (typeof value === "string") {
    const most = before.length > MAX_TEXT.all ? MAX_TEXT.beginning : MAX_TEXT.one;
    const part = key === "tail" ? value.slice(-Math.min(most, MAX_TEXT.tail)) : value.slice(0, most);
    before.length += part.length;
    return visible(plainText(part.replace(/\r\n?/g, "\n")), false).toWellFormed();
  }
  if (Array.isArray(value)) return value.map((item) => clean(item, undefined, before));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [clean(name, undefined, before), clean(field, name, before)]),
  );
}
