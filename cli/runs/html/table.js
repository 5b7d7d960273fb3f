// The tables of HTML pages; a narrow screen shows their rows as blocks.
import { html } from "./text.js";

/**
 * @typedef {[words: string, className?: string]} Heading
 * @typedef {{ cells: unknown[], className?: string }} Row the first cell names the row; a row with one cell is a
 *   heading of those below
 *
 * @param {Heading[]} headings
 * @param {Row[]} rows
 */
export function table(headings, rows) {
  // The roles stay where a narrow screen shows rows as blocks.
  return html`<table class="stack" role="table">
    <thead role="rowgroup">
      <tr role="row">
        ${headings.map(([words, className]) => html`<th scope="col" role="columnheader" ${className && html` class="${className}"`}>${words}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(({ cells: [first, ...cells], className }) => {
        const span = cells.length === 0 && html` colspan="${headings.length}"`;
        const others = cells.map((cell, index) => {
          const [words, className] = headings[index + 1];
          return cell === ""
            ? html`<td role="cell"></td>`
            : html`<td role="cell" data-of="${words}" ${className && html` class="${className}"`}>
                <div>${cell}</div>
              </td>`;
        });
        return html`<tr role="row" ${className && html` class="${className}"`}>
          <th scope="row" role="rowheader" ${span}>${first}</th>
          ${others}
        </tr> `;
      })}
    </tbody>
  </table>`;
}
