// A whole HTML page: no scripts, no other files, nothing from a network.
import { STYLE } from "./style.js";
import { Html, html } from "./text.js";

/** Forbids scripts, and everything from elsewhere. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * @param {string} title
 * @param {Html} body
 * @param {string} [style] besides the common one; no text of it may come from a report
 */
export function page(title, body, style = "") {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <style>
          ${new Html(STYLE + style)}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `.source;
}
