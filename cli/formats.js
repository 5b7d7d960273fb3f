// The output formats of `check`: for users, for programs, for GitHub.

/** @typedef {import("../target/types/interfaces/pi-workflows-tools-workflows.js").Report} Report */

/** @type {Record<string, (report: Report) => string>} */
export const FORMATS = {
  text: ({ diagnostics, summary }) => [...diagnostics.map(({ text }) => `${text}\n`), summary, ""].join("\n"),

  json: ({ diagnostics, summary }) => {
    const all = diagnostics.map(({ severity, file, place, message, help }) => ({
      severity,
      file,
      ...place,
      message,
      help,
    }));
    return `${JSON.stringify({ diagnostics: all, summary }, null, 2)}\n`;
  },

  github: ({ diagnostics, summary }) => [...diagnostics.map(annotation), summary, ""].join("\n"),
};

/** A workflow command. @param {import("../target/types/interfaces/pi-workflows-tools-workflows.js").Diagnostic} diagnostic */
function annotation({ severity, file, place, message, help }) {
  const at = place ? { line: place.line, col: place.column, endColumn: place.endColumn } : {};
  const properties = Object.entries({ file, ...at }).map(([name, value]) => `${name}=${property(String(value))}`);
  return `::${severity} ${properties.join(",")}::${data(help ? `${message}\n${help}` : message)}`;
}

/** @param {string} text */
const data = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

/** @param {string} text */
const property = (text) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
