// The output formats of `check`: for users, for programs, for GitHub.
import { plainText } from "#sandbox";

import { forLog } from "./words.js";

/**
 * @typedef {import("../target/types/interfaces/pi-workflows-tools-workflows.js").Report} Checked
 * @typedef {{ field: string, path: string, folders: string[], reason?: string }} GitFolders the folders of git that a
 *   rule stands for
 * @typedef {Pick<Checked, "diagnostics" | "summary"> & { gitFolders: GitFolders[] }} Report
 */

/** @type {Record<string, (report: Report) => string>} */
export const FORMATS = {
  text: ({ diagnostics, ...report }) => [...diagnostics.map(({ text }) => `${text}\n`), ...end(report)].join("\n"),

  json: ({ diagnostics, summary, gitFolders }) => {
    const all = diagnostics.map(({ severity, file, place, message, help }) => ({
      severity,
      file,
      ...place,
      message,
      help,
    }));
    return `${JSON.stringify({ diagnostics: all, summary, gitFolders }, null, 2)}\n`;
  },

  github: ({ diagnostics, ...report }) =>
    [...diagnostics.map(annotation), forLog(plainText(end(report).join("\n")))].join("\n"),
};

/** @param {Pick<Report, "summary" | "gitFolders">} report */
const end = ({ summary, gitFolders }) => [
  ...gitFolders.map(({ field, path, folders, reason }) => {
    const named = folders.length > 0 ? folders.join(", ") : `nothing${reason ? `: ${reason}` : ""}`;
    return `\`${path}\` in \`${field}\` stands for ${named}`;
  }),
  summary,
  "",
];

/**
 * A workflow command of GitHub Actions.
 * @param {import("../target/types/interfaces/pi-workflows-tools-workflows.js").Diagnostic} diagnostic
 */
function annotation({ severity, file, place, message, help }) {
  const at = place ? { line: place.line, col: place.column, endColumn: place.endColumn } : {};
  const properties = Object.entries({ file, ...at }).map(([name, value]) => `${name}=${property(String(value))}`);
  return `::${severity} ${properties.join(",")}::${data(help ? `${message}\n${help}` : message)}`;
}

/** @param {string} text */
const data = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

/** @param {string} text */
const property = (text) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
