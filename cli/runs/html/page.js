// A whole HTML page, with nothing from a network: the data as JSON, and a script that draws it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { plainText } from "#sandbox";

import { visible } from "../../words.js";
import { line, reportData } from "./data.js";
import { STYLE } from "./style.js";

/** The length of all texts, in characters, after which only the beginning of each further text is kept. */
const MAX_TEXT = { all: 1_000_000, beginning: 100 };

/** The modules of each page. */
const COMMON = ["../figures.js", "./nodes.js"].map(own);

/** The report of a run. @param {unknown} report */
export function reportHtml(report) {
  const data = reportData(report);
  const title = line(160)(data.task) || data.workflow || "A run of a workflow";
  return page(title, data, "reportView", ["./timeline.js", "./view.js"].map(own));
}

/**
 * @param {string} title
 * @param {unknown} data
 * @param {string} view the function that draws the page
 * @param {URL[]} modules the modules of the view
 */
export function page(title, data, view, modules) {
  const script = `"use strict";{\n${[...COMMON, ...modules].map(source).join("")}show(${view});\n}`;
  let length = 0;
  const clean = (/** @type {string} */ _, /** @type {unknown} */ value) => {
    if (typeof value !== "string") return value;
    const part = value.slice(0, length > MAX_TEXT.all ? MAX_TEXT.beginning : undefined);
    length += part.length;
    return printable(part);
  };
  // No text can end the script or begin a comment in it.
  const json = JSON.stringify(data, clean).replaceAll("<", "\\u003c");
  const policy = `default-src 'none'; script-src ${digest(script)}; style-src ${digest(STYLE)}; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${printable(title).replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</title>
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

/** A module of this folder. @param {string} path */
function own(path) {
  return new URL(path, import.meta.url);
}

/** The text of a module as a part of one script, without comments. @param {URL} module */
function source(module) {
  return readFileSync(module, "utf8")
    .replaceAll("\r", "")
    .replace(/^import [^;]*;\n/gm, "")
    .replace(/^export /gm, "")
    .replace(/^ *(?:\/\*\*(?:(?!\*\/)[^])*\*\/|\/\/.*)\n/gm, "")
    .replace(/^\s+/gm, "");
}

/** The digest of a part of the page, for its policy. @param {string} text */
const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** A text without control characters, with invisible characters written out. @param {string} text */
const printable = (text) => visible(plainText(text.replace(/\r\n?/g, "\n")), false).toWellFormed();
