// The timeline of the report: one row for each phase, drawn as inline SVG over an axis that shortens long waits.
import { clock, counted, day, preciseDuration } from "../figures.js";
import { bdi, h, inParts, percent, phaseName, swatch } from "./nodes.js";

/**
 * @typedef {import("./data.js").Report["visits"][number]} Visit
 * @typedef {import("./data.js").Report["spans"][number]} Span
 * @typedef {import("./nodes.js").Row} Row
 *
 * @typedef {object} Stretch a part of the run in which one thing happens in one visit
 * @property {number} from
 * @property {number} to
 * @property {number} [visit] index of the visit
 * @property {string} kind
 * @property {string} reason
 * @property {number} x percentage of the width where it begins
 * @property {number} width in percent
 * @property {boolean} cut true if the stretch is drawn shorter than its time
 */

/** Maximum numbers of drawn things. */
const DRAWN = { rows: 40, letters: 12, described: 6, gaps: 60 };

/**
 * The activity in a part of a visit. `open`: nothing is recorded; `visit`: nothing is recorded of the whole run;
 * `branch`: the visit is beside others.
 */
const KINDS = new Map([
  ["work", "At work"],
  ["gate", "Gate"],
  ["wait", "Waiting for the user"],
  ["pause", "Paused"],
  ["open", "In the phase, nothing recorded"],
  ["visit", "In the phase"],
  ["branch", "In branches"],
]);

/** The kinds whose stretches are drawn to scale; stretches of other kinds are shortened. */
const BUSY = new Set(["work", "gate", "visit"]);
/** Widths in percent of the width that is to scale. */
const MIN_VISIT = 1;
const BUSY_CUT = 40;
const CUT = 4;
const ALL_CUTS = 50;
/** The least time for which others are cut, in milliseconds. */
const SHORT = 10_000;
/** The least time that is cut, in milliseconds. */
const MIN_CUT = 1_000;

/** The endings of visits that are marked. */
export const ENDINGS = new Map([
  ["done", "done"],
  ["skipped", "skipped by the user"],
  ["again", "went back"],
  ["ended", "ended with the run"],
  ["current", "current"],
]);

/** The time of a stretch. @param {{ from: number, to: number }} stretch */
const length = ({ from, to }) => to - from;

/** @template T @param {T[]} items @param {(item: T) => number} figure */
const sum = (items, figure) => items.reduce((all, item) => all + figure(item), 0);

/**
 * Divides the time of the visits into stretches, and gives each one its place on the axis. At each time the visit that
 * began last counts.
 * @param {Visit[]} visits
 * @param {Span[]} spans
 */
function stretchesOf(visits, spans) {
  /** @type {{ from: number, to: number, visit?: number, kind?: string, reason?: string }[]} */
  const all = [...visits.map(({ from, to }, visit) => ({ from, to, visit })), ...spans];
  const changes = all.flatMap((item) => [item.from, item.to].map((at) => ({ at, item })));
  const last = visits.reduce((latest, { to }) => Math.max(latest, to), 0);
  /** @type {Set<typeof all[number]>} */
  const open = new Set();
  /** @type {Stretch[]} */
  const stretches = [];
  let before = visits[0].from;
  for (const { at, item } of changes.sort((one, other) => one.at - other.at)) {
    const to = Math.min(at, last);
    if (to > before) {
      const now = [...open];
      const visit = now.findLast((one) => one.visit !== undefined)?.visit;
      const span = now.findLast((one) => one.kind !== undefined);
      const kind = span?.kind ?? (spans.length > 0 || visit === undefined ? "open" : "visit");
      const same = stretches.at(-1);
      if (same && same.visit === visit && same.kind === kind) same.to = to;
      else stretches.push({ from: before, to, visit, kind, reason: span?.reason ?? "", x: 0, width: 0, cut: false });
      before = to;
    }
    if (!open.delete(item)) open.add(item);
  }
  cutLong(stretches);
  place(stretches);
  return stretches;
}

/** Sets `cut`. @param {Stretch[]} stretches */
function cutLong(stretches) {
  const busy = stretches.filter(({ kind }) => BUSY.has(kind)).sort((one, other) => length(other) - length(one));
  let shown = sum(busy, length);
  // A long stretch leaves no room for the others.
  for (const stretch of busy) {
    const rest = shown - length(stretch);
    if (rest < SHORT || length(stretch) <= 8 * rest) break;
    stretch.cut = true;
    shown = rest;
  }
  const longest = shown > 0 ? Math.max(MIN_CUT, shown / 20) : Infinity;
  for (const stretch of stretches) stretch.cut ||= !BUSY.has(stretch.kind) && length(stretch) > longest;
}

/** Sets `x` and `width`. @param {Stretch[]} stretches */
function place(stretches) {
  const scaled = sum(stretches, (stretch) => (stretch.cut ? 0 : length(stretch))) || 1;
  const cutWidth = (/** @type {Stretch} */ { cut, kind }) => (cut ? (BUSY.has(kind) ? BUSY_CUT : CUT) : 0);
  const ofCuts = Math.min(1, ALL_CUTS / (sum(stretches, cutWidth) || 1));
  for (const stretch of stretches)
    stretch.width = stretch.cut ? ofCuts * cutWidth(stretch) : (100 * length(stretch)) / scaled;
  // Each visit can be seen, if there are not too many.
  const ofVisits = Map.groupBy(stretches, ({ visit }) => visit);
  ofVisits.delete(undefined);
  for (const parts of ofVisits.values()) {
    const widened = Math.min(MIN_VISIT, 50 / ofVisits.size) / sum(parts, ({ width }) => width);
    if (widened > 1) for (const part of parts) part.width *= widened;
  }
  const all = sum(stretches, ({ width }) => width);
  let x = 0;
  for (const stretch of stretches) {
    stretch.width *= 100 / all;
    stretch.x = x;
    x += stretch.width;
  }
}

/**
 * The timeline with its legend.
 * @param {Visit[]} visits
 * @param {Span[]} spans
 * @param {Row[]} phases in the order of the workflow; a phase that only the visits name comes last
 */
export function timeline(visits, spans, phases) {
  const inOrder = visits.filter(({ isOfBranch }) => !isOfBranch);
  const stretches = stretchesOf(inOrder, spans);
  /** Returns the place of a time. @param {number} at */
  const placeOf = (at) => {
    const { from, to, x, width } = stretches.findLast((stretch) => stretch.from <= at) ?? stretches[0];
    return x + (width * (Math.max(from, Math.min(at, to)) - from)) / (to - from);
  };
  const besides = visits
    .filter(({ isOfBranch }) => isOfBranch)
    .map(({ key, from, to }) => {
      const [x, end] = [placeOf(from), placeOf(to)];
      return { key, from, to, visit: -1, kind: "branch", reason: "", x, width: end - x, cut: false };
    });
  const cuts = stretches.filter(({ cut }) => cut);
  const lettered = new Set(cuts.toSorted((one, other) => length(other) - length(one)).slice(0, DRAWN.letters));
  const letters = cuts
    .filter((cut) => lettered.has(cut))
    .map((cut, index) => ({ cut, letter: String.fromCharCode(65 + index) }));
  const visitsOf = Map.groupBy(visits, ({ key }) => key);
  const stretchesOfPhase = Map.groupBy(stretches, ({ visit }) => inOrder[visit ?? -1]?.key);
  for (const [key, own] of Map.groupBy(besides, ({ key }) => key)) stretchesOfPhase.set(key, own);
  const known = new Set(phases.map(({ key }) => key));
  /** @type {Row[]} */
  const others = [...visitsOf].flatMap(([key, [{ name }]]) => (known.has(key) ? [] : [{ key, name }]));
  const visited = [...phases, ...others].filter(({ key = "" }) => visitsOf.has(key));
  const longest = visited.toSorted((one, other) => lengthOf(other) - lengthOf(one)).slice(0, DRAWN.rows);
  const left = visited.length - longest.length;
  const bands = () =>
    letters.map(({ cut: { x, width } }) => h("rect.cut", { x: percent(x), width: percent(width), height: "100%" }));
  const size = { width: "100%", height: 35 };
  function lengthOf(/** @type {Row} */ { key = "" }) {
    return sum(visitsOf.get(key) ?? [], length);
  }
  return h(
    "figure.timeline",
    patterns(),
    inParts(visited.filter((row) => longest.includes(row))).map(({ part, key = "", ...row }) => {
      const [own, parts] = [visitsOf.get(key) ?? [], stretchesOfPhase.get(key) ?? []];
      const picture = { ...size, role: "img", "aria-label": described(row.name, own) };
      const heading = h("div.row.heading", h("div.label", part), h("svg", { ...size, "aria-hidden": "true" }, bands()));
      const bars = h("svg", picture, bands(), drawing(own, parts, placeOf));
      return [part && heading, h("div.row", h("div.label", phaseName({ key, ...row })), bars)];
    }),
    h("div.row.axis", h("div.label"), axis(stretches, letters)),
    left > 0 &&
      h(
        "p.note",
        `The timeline shows the ${DRAWN.rows} phases with the longest visits; ${counted(left, "more phase")} not drawn.`,
      ),
    h("figcaption", legend([...stretches, ...besides]), cutList(letters, cuts.length)),
  );
}

/** Returns the fill patterns of the bars of gates and of waiting. */
function patterns() {
  const units = { patternUnits: "userSpaceOnUse" };
  const wait = { id: "p-wait", width: 6, height: 6, patternTransform: "rotate(45)", ...units };
  const gate = { id: "p-gate", width: 5, height: 5, ...units };
  return h(
    "svg.patterns",
    { "aria-hidden": "true", width: 0, height: 0 },
    h("pattern", wait, h("path.hatch", { d: "M1 0v6" })),
    h("pattern", gate, h("rect.gate-ground", { width: 5, height: 5 }), h("path.gate-line", { d: "M0 2.5h5" })),
  );
}

/** The bars of a row. @param {Visit[]} visits @param {Stretch[]} stretches @param {(at: number) => number} placeOf */
function drawing(visits, stretches, placeOf) {
  const cuts = stretches.filter(({ cut, kind }) => cut && BUSY.has(kind)).slice(0, DRAWN.gaps);
  const places = visits.map((visit) => ({ visit, x: placeOf(visit.from), end: placeOf(visit.to) }));
  let end = -Infinity;
  // The numbers of repeated visits and the mark of skipped ones, as far as there is room.
  const numbers = places.map(({ visit: { pass, how }, x }, index) => {
    const marks = [visits.length > 1 && (pass || index + 1), how === "skipped" && "⤼"].filter(Boolean).join(" ");
    // Before the beginning of the visit where there is no room behind it.
    const isBefore = x > 92;
    if (marks === "" || x < end + (isBefore ? 5 : 0)) return undefined;
    end = x + 2 + 1.6 * marks.length;
    const anchor = { dx: isBefore ? -3 : 4, "text-anchor": isBefore ? "end" : "start" };
    return h("text", { x: percent(x), y: 11, ...anchor }, marks);
  });
  return [
    stretches.map(({ kind, x, width }) =>
      h(`rect.${kind}`, { x: percent(x), width: percent(Math.max(width, 0.1)), y: 14, height: 14 }),
    ),
    places.map(({ x }) => h("rect.begin", { x: percent(x), width: 1.5, y: 9, height: 19 })),
    cuts.map(({ x, width }) => h("rect.gap", { x: percent(x + width / 2), width: 3, y: 12, height: 18 })),
    numbers,
    places.map(({ visit, x, end }) => {
      const covered = { x: percent(x), width: percent(Math.max(0.3, end - x)), height: "100%" };
      return h("rect.over", covered, h("title", sentence(visit)));
    }),
  ];
}

/** @param {Visit} visit */
function sentence({ pass, from, to, how }) {
  const ending = ENDINGS.get(how);
  return `${pass > 0 ? `Visit ${pass}: ` : ""}${clock(from)}, ${preciseDuration(to - from)}${ending ? `, ${ending}` : ""}`;
}

/** The text alternative of a row. @param {string} text @param {Visit[]} visits */
function described(text, visits) {
  const some = visits.slice(0, DRAWN.described).map(sentence);
  if (visits.length > some.length) some.push(`${visits.length - some.length} more`);
  return `${text.slice(0, 60)}: ${counted(visits.length, "visit")}. ${some.join("; ")}.`;
}

/** @param {Stretch[]} stretches @param {{ cut: Stretch, letter: string }[]} letters */
function axis(stretches, letters) {
  const places = [0, 25, 50, 75, 100];
  const times = places.map((place) => {
    const { from, to, x, width } = stretches.findLast((stretch) => stretch.x <= place) ?? stretches[0];
    return from + (width > 0 ? Math.min(1, (place - x) / width) : 0) * (to - from);
  });
  const days = times.map(day);
  const isPrecise = times[4] - times[0] < 600_000;
  return h(
    "svg",
    { width: "100%", height: 46, "aria-hidden": "true" },
    letters.map(({ cut: { x, width }, letter }) =>
      h("text.letter", { x: percent(x + width / 2), y: 11, "text-anchor": "middle" }, letter),
    ),
    places.map((place, index) => {
      const at = { x: percent(place), "text-anchor": place === 0 ? "start" : place === 100 ? "end" : "middle" };
      // A narrow screen shows every second time.
      const isRare = place % 50 > 0;
      const isNewDay = days[index] !== days[isRare ? index - 1 : index - 2];
      return h(
        isRare ? "g.tick.rare" : "g.tick",
        h("rect", { x: percent(Math.min(place, 99.8)), y: 15, width: 1, height: 4 }),
        h("text", { ...at, y: 31 }, clock(times[index]).slice(0, isPrecise ? 8 : 5)),
        isNewDay && h("text", { ...at, y: 44 }, days[index]),
      );
    }),
  );
}

/** @param {Stretch[]} stretches */
function legend(stretches) {
  const items = [...KINDS].map(([kind, words]) => {
    const all = sum(stretches, (stretch) =>
      stretch.kind === kind && stretch.visit !== undefined ? length(stretch) : 0,
    );
    return all > 0 && h("li", swatch(kind), ` ${words} `, h("span.muted", preciseDuration(all)));
  });
  return h("ul.legend", items, h("li", swatch("begin", { x: 12, width: 1.5, height: 14 }), " A visit begins"));
}

/** @param {{ cut: Stretch, letter: string }[]} letters @param {number} all */
function cutList(letters, all) {
  const items = letters.map(({ cut, letter }) => {
    const during = cut.visit === undefined ? "between visits" : KINDS.get(cut.kind)?.toLowerCase();
    return h("li", h("b", letter), ` ${preciseDuration(length(cut))} ${during}`, cut.reason && [": ", bdi(cut.reason)]);
  });
  const others = all > letters.length && h("li", `${counted(all - letters.length, "shorter time")} without a letter`);
  return (
    all > 0 && h("ul.cuts", h("li", swatch("cut", { width: 26, height: 14 }), " Longer than drawn:"), items, others)
  );
}
