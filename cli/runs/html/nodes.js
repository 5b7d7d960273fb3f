// The elements of the pages. These functions, the figures and the views run in the browser. Texts come from models and
// users: they only become text nodes.
import { clock, counted, day } from "../figures.js";

/**
 * A phase, or a row that may have nothing but a name.
 * @typedef {Pick<import("./data.js").Phase, "name"> & Partial<import("./data.js").Phase> & { part?: any }} Row
 */

const OF_SVG = ["svg", "pattern", "path", "g", "rect", "text", "title"];

/**
 * Makes an element: `h("p.note", { id: "a" }, "text", …)`. Lists are joined, and `undefined`, `false` and `""` left out.
 * @param {string} name with its classes
 * @param {...any} parts its attributes, if any, and its children
 * @returns {Element}
 */
export function h(name, ...parts) {
  const [tag, ...classes] = name.split(".");
  const space = OF_SVG.includes(tag) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const element = document.createElementNS(space, tag);
  const isThere = (/** @type {any} */ value) => value !== undefined && value !== false && value !== "";
  const given = parts[0]?.constructor === Object ? parts.shift() : {};
  for (const [name, value] of Object.entries({ class: classes.join(" "), ...given }))
    if (isThere(value)) element.setAttribute(name, value);
  element.append(...parts.flat(9).filter(isThere));
  return element;
}

/** Draws the data in the page. @param {(data: any) => Element[]} view */
export function show(view) {
  document.body.append(...view(JSON.parse(document.getElementById("data")?.textContent ?? "")));
}

/**
 * The phases, with a heading before those of each nested workflow.
 * @template {{ nestedIn?: string }} T
 * @param {T[]} phases
 * @returns {(T & { part?: any })[]}
 */
export const inParts = (phases) =>
  phases.map((phase, index) => {
    const isNew = phase.nestedIn && phase.nestedIn !== phases[index - 1]?.nestedIn;
    return isNew ? { ...phase, part: ["Nested workflow ", bdi(phase.nestedIn)] } : phase;
  });

/** A text with a direction of its own. @param {string} text */
export const bdi = (text = "") => h("bdi", text);

/** A date with its time. @param {number} ms */
export const date = (ms) => h("time", { datetime: new Date(ms).toISOString() }, `${day(ms)} ${clock(ms)}`);

/** A percentage of the width. @param {number} number */
export const percent = (number) => `${Number(number.toFixed(2))}%`;

/** A mark in the legend of the colours. @param {string} className @param {any} [shape] */
export const swatch = (className, shape = { x: 1, y: 1, width: 24, height: 12 }) =>
  h("svg", { width: 26, height: 14, "aria-hidden": "true" }, h(`rect.${className}`, shape));

/** A part of the page, named by its heading. @param {string} id @param {string} title @param {...any} children */
export const section = (id, title, ...children) =>
  h("section", { "aria-labelledby": id }, h("h2", { id }, title), children);

/** @param {number} left @param {[noun: string, plural?: string]} nouns */
export const more = (left, [noun, plural]) =>
  left > 0 && h("p.note", `${counted(left, `more ${noun}`, plural && `more ${plural}`)}.`);

/** The name of a phase; without a key it is the whole run. @param {Row} row */
export const phaseName = ({ key, name, depth = 0, current, skipped }) =>
  h(
    key === undefined ? "div.sum" : `div.d${depth}`,
    bdi(name),
    current && h("span.tag", "▸ current"),
    skipped && h("span.tag", "⤼ skipped by the user"),
  );

/**
 * A column of a table; `of`: the classes of its cells.
 * @template T
 * @typedef {[heading: string, cell: (item: T) => any, of?: string]} Column
 */

/**
 * A table; a narrow screen shows its rows as blocks. The first cell names its row. An empty column is left out.
 * @template {object} T
 * @param {Column<NoInfer<T>>[]} columns
 * @param {(T & { part?: any })[]} items `part`: a heading above the row
 */
export function table(columns, items) {
  const isEmpty = (/** @type {any} */ cell) => [cell].flat(9).every((part) => !part && part !== 0);
  const kept = columns
    .map(([heading, cellOf, of]) => ({ heading, of, cells: items.map(cellOf) }))
    .filter(({ cells }) => !cells.every(isEmpty));
  const head = kept.map(({ heading, of }) => h("th", { scope: "col", role: "columnheader", class: of }, heading));
  const row = (/** @type {any[]} */ ...cells) => h("tr", { role: "row" }, cells);
  const ofRow = { scope: "row", role: "rowheader" };
  const rows = items.map(({ part }, index) => {
    const [name, ...others] = kept.map(({ heading, of, cells }) => ({ heading, of, cell: cells[index] }));
    const cells = others.map(({ heading, of, cell }) => {
      if (isEmpty(cell)) return h("td", { role: "cell" });
      return h("td", { role: "cell", "data-of": heading, class: of }, h("div", cell));
    });
    const above = part && row(h("th.part", { ...ofRow, colspan: kept.length }, part));
    return [above, row(h("th", ofRow, name.cell), cells)];
  });
  // The roles stay where a narrow screen shows rows as blocks.
  const groups = [h("thead", { role: "rowgroup" }, row(head)), h("tbody", { role: "rowgroup" }, rows)];
  return h("table.stack", { role: "table" }, groups);
}

/**
 * A table of the first items, and the number of the others.
 * @template {object} T
 * @param {T[]} items
 * @param {number} most
 * @param {[noun: string, plural?: string]} nouns
 * @param {Column<NoInfer<T>>[]} columns
 */
export const first = (items, most, nouns, columns) => [
  table(columns, items.slice(0, most)),
  more(items.length - most, nouns),
];

/**
 * A section with a table of the first items and the number of the others; nothing without items.
 * @template {object} T
 * @param {[id: string, title: string, noun: string, plural?: string]} words
 * @param {T[]} items
 * @param {number} most
 * @param {Column<NoInfer<T>>[]} columns
 */
export const listed = ([id, title, ...nouns], items, most, columns) =>
  items.length > 0 && section(id, title, first(items, most, nouns, columns));
