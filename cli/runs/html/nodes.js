// The elements and texts of the pages. These functions, the figures and the views run in the browser, where a value that
// is absent or of another kind is left out. Texts come from models and users: they only become text nodes.
import { clock, counted, day } from "../figures.js";

/** @typedef {{ tag: string, attributes: [string, any][], children: any[] }} Node an element that is not made yet */

/**
 * An element: `h("p.note", { id: "a" }, "text", …)`. Lists are joined, and `undefined`, `false` and `""` left out.
 * @param {string} name with its classes
 * @param {...any} parts perhaps its attributes, and its children
 * @returns {Node}
 */
export function h(name, ...parts) {
  const [tag, ...classes] = name.split(".");
  const hasAttributes = Object.prototype.toString.call(parts[0]) === "[object Object]" && !("tag" in parts[0]);
  const given = { class: classes.join(" "), ...(hasAttributes ? parts.shift() : {}) };
  const isThere = (/** @type {any} */ value) => value !== undefined && value !== false && value !== "";
  const attributes = Object.entries(given).filter(([, value]) => isThere(value));
  return { tag, attributes, children: parts.flat(9).filter(isThere) };
}

/**
 * Makes an element, or a text.
 * @param {any} node
 * @param {string} [space] its namespace
 * @returns {globalThis.Node}
 */
function made(node, space = "http://www.w3.org/1999/xhtml") {
  if (typeof node !== "object") return document.createTextNode(String(node));
  const own = node.tag === "svg" ? "http://www.w3.org/2000/svg" : space;
  const element = document.createElementNS(own, node.tag);
  for (const [name, value] of node.attributes) element.setAttribute(name, value);
  element.append(...node.children.map((/** @type {any} */ child) => made(child, own)));
  return element;
}

/** Draws the data in the page. @param {(data: any) => Node[]} view */
export function show(view) {
  document.body.append(
    ...view(JSON.parse(document.getElementById("data")?.textContent ?? "")).map((node) => made(node)),
  );
}

/** A text of at most so many characters, not cut within a pair of surrogates. @param {any} value @param {number} most */
export function shown(value, most) {
  const text = typeof value === "string" ? value.trim() : "";
  return text.length > most
    ? `${text
        .slice(0, most)
        .replace(/[\ud800-\udbff]$/, "")
        .trimEnd()}…`
    : text;
}

/** `shown` on one line. @param {any} value @param {number} most */
export const line = (value, most) =>
  shown(typeof value === "string" ? value.slice(0, most * 4).replace(/\s+/g, " ") : "", most);

/** One line of text with a direction of its own. @param {any} value @param {number} [most] */
export const name = (value, most = 120) => h("bdi", line(value, most));

/** A number that is not negative; `undefined` for everything else. @param {any} value @returns {number | undefined} */
export const number = (value) => (Number.isFinite(value) && value >= 0 ? value : undefined);

/** @param {any} value */
export const count = (value) => number(value) ?? 0;

/** A time in milliseconds that a calendar has. @param {any} value */
export const time = (value) => (count(value) <= 8.64e15 ? number(value) : undefined);

/** A record, empty for everything else. @param {any} value @returns {Record<string, any>} */
export const record = (value) => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : {});

/** The records in a list; empty for everything else. @param {any} value */
export const records = (value) => (Array.isArray(value) ? value.map(record) : []);

/** A date with its time. @param {number} ms */
export const date = (ms) => h("time", { datetime: new Date(ms).toISOString() }, `${day(ms)} ${clock(ms)}`);

/** A percentage of the width. @param {number} number */
export const percent = (number) => `${Number(number.toFixed(2))}%`;

/** A mark in a list of what the colours mean. @param {string} className @param {any} [shape] */
export const swatch = (className, shape = { x: 1, y: 1, width: 24, height: 12 }) =>
  h("svg", { width: 26, height: 14, "aria-hidden": "true" }, h(`rect.${className}`, shape));

/** A part of the page, named by its heading. @param {string} id @param {string} title @param {...any} children */
export const section = (id, title, ...children) =>
  h("section", { "aria-labelledby": id }, h("h2", { id }, title), children);

/** @param {number} left @param {string} noun @param {string} [plural] */
export const more = (left, noun, plural) =>
  left > 0 && h("p.note", `${counted(left, `more ${noun}`, plural && `more ${plural}`)}.`);

/**
 * A table; a narrow screen shows its rows as blocks. The first cell names its row; a row with one cell is a heading of
 * those below.
 * @param {(string | string[])[]} headings each the words, perhaps with classes: `["Visits", "n"]` or `"Visits:n"`
 * @param {(any[] | { cells: any[], of: string })[]} rows `of`: a class
 */
export function table(headings, rows) {
  const columns = headings.map((heading) => (typeof heading === "string" ? heading.split(":") : heading));
  const head = columns.map(([words, of]) => h("th", { scope: "col", role: "columnheader", class: of }, words));
  const body = rows.map((row) => {
    const { cells, of } = Array.isArray(row) ? { cells: row, of: undefined } : row;
    const [first, ...others] = cells;
    const span = others.length === 0 && columns.length;
    return h(
      "tr",
      { role: "row", class: of },
      h("th", { scope: "row", role: "rowheader", colspan: span }, first),
      others.map((cell, index) => {
        const [words, of] = columns[index + 1];
        return cell === ""
          ? h("td", { role: "cell" })
          : h("td", { role: "cell", "data-of": words, class: of }, h("div", cell));
      }),
    );
  });
  // The roles stay where a narrow screen shows rows as blocks.
  const groups = [
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
    h("tbody", { role: "rowgroup" }, body),
  ];
  return h("table.stack", { role: "table" }, groups);
}

/**
 * A section with a table of the first items and the number of the others; nothing without items.
 * @template T
 * @param {[id: string, title: string, noun: string, plural?: string]} words
 * @param {(string | string[])[]} headings
 * @param {T[]} items
 * @param {number} most
 * @param {(item: T) => any[]} row
 */
export const listed = ([id, title, noun, plural], headings, items, most, row) =>
  items.length > 0 &&
  section(id, title, table(headings, items.slice(0, most).map(row)), more(items.length - most, noun, plural));
