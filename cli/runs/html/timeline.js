// The timeline of the report: one row for each phase, drawn as inline SVG over an axis that shortens long waits.
import { clock, counted, day, preciseDuration } from "../figures.js";
import { count, h, line, name, percent, swatch, time } from "./nodes.js";

/**
 * @typedef {"work" | "gate" | "pause" | "wait" | "open" | "visit"} Kind what happened in a part of a visit. `open`:
 *   nothing is recorded; `visit`: nothing is recorded of the whole run
 *
 * @typedef {{ key: string, name: string, pass: number, from: number, to: number, how: string }} Visit
 * @typedef {{ kind: Kind, from: number, to: number, reason: string }} Span
 *
 * @typedef {object} Stretch a part of the run in which one thing happens in one visit
 * @property {number} from
 * @property {number} to
 * @property {number} [visit] index of the visit
 * @property {Kind} kind
 * @property {string} reason
 * @property {number} x percentage of the width where it begins
 * @property {number} width in percent
 * @property {boolean} cut it is longer than it is drawn
 *
 * @typedef {{ key?: string, label: any, text: string }} Row a phase; without a key a heading
 */

/** Maximum numbers of drawn things. */
const DRAWN = { rows: 40, letters: 12, described: 6, gaps: 60 };

/** @type {Record<Kind, string>} */
export const KINDS = {
  work: "At work",
  gate: "Gate",
  wait: "Waiting for the user",
  pause: "Paused",
  open: "In the phase, nothing recorded",
  visit: "In the phase",
};

/** Kinds with a length that tells something; the others are shortened. */
const BUSY = new Set(["work", "gate", "visit"]);
/** In percent of the width that is to scale. */
const MIN_VISIT = 1;
const BUSY_CUT = 40;
const CUT = 4;
const ALL_CUTS = 50;
/** Less time than this is not worth a cut of others, in milliseconds. */
const SHORT = 10_000;
/** Shorter times are not cut, in milliseconds. */
const MIN_CUT = 1_000;

/** The endings of visits that are marked. @type {Record<string, string>} */
export const ENDINGS = {
  done: "done",
  skipped: "skipped by the user",
  again: "went back",
  ended: "ended with the run",
  current: "current",
};

/**
 * @param {Record<string, any>[]} visits
 * @param {Record<string, any>[]} phases used if there are no visits
 * @returns {Visit[]} in order of time
 */
export function visitsOf(visits, phases) {
  const lastVisits = () =>
    phases.map(({ passes, startedAt, endedAt, skipped, ...phase }) => ({
      ...phase,
      ...{ pass: passes, from: startedAt, to: endedAt ?? startedAt, how: skipped === true ? "skipped" : "" },
    }));
  return (visits.length > 0 ? visits : lastVisits()).flatMap(visitOf).sort((one, other) => one.from - other.from);
}

/** @param {Record<string, any>} fields @returns {Visit[]} */
function visitOf({ key, name, pass, how, ...fields }) {
  const [from, to] = [time(fields.from), time(fields.to)];
  if (from === undefined || to === undefined || to < from) return [];
  const texts = {
    key: typeof key === "string" ? key : "",
    name: line(name, 120),
    how: typeof how === "string" ? how : "",
  };
  // Takes up time, so that it has a place on the axis.
  return [{ ...texts, pass: count(pass), from, to: Math.max(to, from + 1) }];
}

/** The recorded kinds of spans, in the order of their precedence. @type {Kind[]} */
const RECORDED = ["gate", "work", "pause", "wait"];

/** @param {Record<string, any>[]} spans @returns {Span[]} */
export function spansOf(spans) {
  return spans.flatMap(({ kind, reason, ...fields }) => {
    const [from, to] = [time(fields.from), time(fields.to)];
    if (from === undefined || to === undefined || to <= from || !RECORDED.includes(kind)) return [];
    return [{ kind, from, to, reason: line(reason, 200) }];
  });
}

/**
 * Divides the time of the visits into stretches, and gives each one its place on the axis. At each time the visit that
 * began last counts.
 * @param {Visit[]} visits
 * @param {Span[]} spans
 */
function stretchesOf(visits, spans) {
  /** @type {{ from: number, to: number, visit?: number, kind?: Kind, reason?: string }[]} */
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
      const span = RECORDED.map((kind) => now.findLast((one) => one.kind === kind)).find(Boolean);
      const kind = span?.kind ?? (spans.length > 0 || visit === undefined ? "open" : "visit");
      const same = stretches.at(-1);
      if (same && same.visit === visit && same.kind === kind) same.to = to;
      else stretches.push({ from: before, to, visit, kind, reason: span?.reason ?? "", x: 0, width: 0, cut: false });
      before = to;
    }
    if (!open.delete(item)) open.add(item);
  }
  return placed(stretches);
}

/** Sets `x`, `width` and `cut`. @param {Stretch[]} stretches */
function placed(stretches) {
  const busy = stretches.filter(({ kind }) => BUSY.has(kind)).sort((one, other) => length(other) - length(one));
  let shownLength = busy.reduce((all, stretch) => all + length(stretch), 0);
  // A long one leaves no room for the others.
  for (const stretch of busy) {
    const rest = shownLength - length(stretch);
    if (rest < SHORT || length(stretch) <= 8 * rest) break;
    stretch.cut = true;
    shownLength = rest;
  }
  const longest = shownLength > 0 ? Math.max(MIN_CUT, shownLength / 20) : Infinity;
  for (const stretch of stretches) if (!BUSY.has(stretch.kind) && length(stretch) > longest) stretch.cut = true;
  const scaled = stretches.filter(({ cut }) => !cut).reduce((all, stretch) => all + length(stretch), 0) || 1;
  const cutWidth = (/** @type {Stretch} */ { kind }) => (BUSY.has(kind) ? BUSY_CUT : CUT);
  const ofCuts = Math.min(
    1,
    ALL_CUTS / (stretches.filter(({ cut }) => cut).reduce((all, stretch) => all + cutWidth(stretch), 0) || 1),
  );
  for (const stretch of stretches)
    stretch.width = stretch.cut ? ofCuts * cutWidth(stretch) : (100 * length(stretch)) / scaled;
  widenShortVisits(stretches);
  const all = stretches.reduce((sum, { width }) => sum + width, 0);
  let x = 0;
  for (const stretch of stretches) {
    stretch.width *= 100 / all;
    stretch.x = x;
    x += stretch.width;
  }
  return stretches;
}

/** Gives each visit a width at which it can be seen, if there are not too many. @param {Stretch[]} stretches */
function widenShortVisits(stretches) {
  const ofVisits = Map.groupBy(stretches, ({ visit }) => visit);
  ofVisits.delete(undefined);
  for (const parts of ofVisits.values()) {
    const widened = Math.min(MIN_VISIT, 50 / ofVisits.size) / parts.reduce((sum, { width }) => sum + width, 0);
    if (widened > 1) for (const part of parts) part.width *= widened;
  }
}

/** @param {Stretch} stretch */
const length = ({ from, to }) => to - from;

/** Returns the place of a time. @param {Stretch[]} stretches @param {number} at */
function placeOf(stretches, at) {
  const { from, to, x, width } = lastBegun(stretches, (stretch) => stretch.from <= at);
  return x + (width * (Math.min(Math.max(at, from), to) - from)) / (to - from);
}

/** Returns the time at a place. @param {Stretch[]} stretches @param {number} place */
function timeAt(stretches, place) {
  const { from, to, x, width } = lastBegun(stretches, (stretch) => stretch.x <= place);
  return from + (width > 0 ? Math.min(1, (place - x) / width) : 0) * (to - from);
}

/**
 * The last stretch that passes, of which all before it pass too.
 * @param {Stretch[]} stretches
 * @param {(stretch: Stretch) => boolean} passes
 */
function lastBegun(stretches, passes) {
  let [low, high] = [0, stretches.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (passes(stretches[middle])) low = middle;
    else high = middle - 1;
  }
  return stretches[low];
}

/**
 * The timeline with its legend; `undefined` if no times are known.
 * @param {Visit[]} visits
 * @param {Span[]} spans
 * @param {Row[]} rows the phases, in the order of the workflow
 */
export function timeline(visits, spans, rows) {
  if (visits.length === 0) return undefined;
  const stretches = stretchesOf(visits, spans);
  const place = (/** @type {number} */ at) => placeOf(stretches, at);
  const cuts = stretches.filter(({ cut }) => cut);
  const lettered = new Set(cuts.toSorted((one, other) => length(other) - length(one)).slice(0, DRAWN.letters));
  const letters = new Map(
    cuts.filter((cut) => lettered.has(cut)).map((cut, index) => [cut, String.fromCharCode(65 + index)]),
  );
  const { drawn, left } = chosen(rows, visits);
  const visitsOfPhase = Map.groupBy(visits, ({ key }) => key);
  const stretchesOfPhase = Map.groupBy(stretches, ({ visit }) => visits[visit ?? -1]?.key);
  const bands = [...letters.keys()].map(({ x, width }) =>
    h("rect.cut", { x: percent(x), width: percent(width), height: "100%" }),
  );
  const size = { width: "100%", height: 35 };
  return h(
    "figure.timeline",
    patterns(),
    drawn.map(({ key, label, text }) => {
      if (key === undefined)
        return h("div.row.heading", h("div.label", label), h("svg", { ...size, "aria-hidden": "true" }, bands));
      const [own, parts] = [visitsOfPhase.get(key) ?? [], stretchesOfPhase.get(key) ?? []];
      const picture = { ...size, role: "img", "aria-label": described(text, own) };
      return h("div.row", h("div.label", label), h("svg", picture, bands, drawing(own, parts, place)));
    }),
    h("div.row.axis", h("div.label"), axis(stretches, letters)),
    left > 0 &&
      h(
        "p.note",
        `The timeline shows the ${DRAWN.rows} phases with the longest visits; ${counted(left, "more phase")} not drawn.`,
      ),
    h("figcaption", legend(stretches), cutList(letters, cuts.length)),
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

/**
 * The rows that are drawn: those of the phases with the longest visits, with their headings.
 * @param {Row[]} rows
 * @param {Visit[]} visits
 */
function chosen(rows, visits) {
  /** @type {Map<string | undefined, number>} */
  const lengths = new Map();
  for (const { key, from, to } of visits) lengths.set(key, (lengths.get(key) ?? 0) + to - from);
  const visited = rows.filter(({ key }) => key !== undefined && lengths.has(key));
  const lengthOf = (/** @type {Row} */ { key }) => lengths.get(key) ?? 0;
  const kept = new Set(visited.toSorted((one, other) => lengthOf(other) - lengthOf(one)).slice(0, DRAWN.rows));
  // A heading stands before a phase that is drawn.
  const isDrawn = (/** @type {Row} */ row, /** @type {number} */ index) => {
    const after = rows.slice(index + 1);
    const next = after.findIndex(({ key }) => key === undefined);
    return row.key === undefined
      ? after.slice(0, next < 0 ? undefined : next).some((other) => kept.has(other))
      : kept.has(row);
  };
  return { drawn: rows.filter(isDrawn), left: visited.length - kept.size };
}

/** The bars of a row. @param {Visit[]} visits @param {Stretch[]} stretches @param {(at: number) => number} place */
function drawing(visits, stretches, place) {
  const cuts = stretches.filter(({ cut, kind }) => cut && BUSY.has(kind)).slice(0, DRAWN.gaps);
  return [
    stretches.map(({ kind, x, width }) =>
      h(`rect.${kind}`, { x: percent(x), width: percent(Math.max(width, 0.1)), y: 14, height: 14 }),
    ),
    visits.map(({ from }) => h("rect.begin", { x: percent(place(from)), width: 1.5, y: 9, height: 19 })),
    cuts.map(({ x, width }) => h("rect.gap", { x: percent(x + width / 2), width: 3, y: 12, height: 18 })),
    numbers(visits, place),
    visits.map((visit) => {
      const [from, to] = [place(visit.from), place(visit.to)];
      const covered = { x: percent(from), width: percent(Math.max(0.3, to - from)), height: "100%" };
      return h("rect.over", covered, h("title", sentence(visit)));
    }),
  ];
}

/**
 * The numbers of repeated visits and the mark of skipped ones, as far as there is room.
 * @param {Visit[]} visits
 * @param {(at: number) => number} place
 */
function numbers(visits, place) {
  let end = -Infinity;
  return visits.map((visit, index) => {
    const x = place(visit.from);
    const text = [visits.length > 1 && (visit.pass || index + 1), visit.how === "skipped" && "⤼"]
      .filter(Boolean)
      .join(" ");
    // Before the beginning of the visit where there is no room behind it.
    const before = x > 92;
    if (text === "" || x < end + (before ? 5 : 0)) return undefined;
    end = x + 2 + 1.6 * text.length;
    return h("text", { x: percent(x), dx: before ? -3 : 4, y: 11, "text-anchor": before ? "end" : "start" }, text);
  });
}

/** @param {Visit} visit */
const sentence = ({ pass, from, to, how }) =>
  `${pass > 0 ? `Visit ${pass}: ` : ""}${clock(from)}, ${preciseDuration(to - from)}${ENDINGS[how] ? `, ${ENDINGS[how]}` : ""}`;

/** The text alternative of a row. @param {string} text @param {Visit[]} visits */
function described(text, visits) {
  const some = visits.slice(0, DRAWN.described).map(sentence);
  if (visits.length > some.length) some.push(`${visits.length - some.length} more`);
  return `${text}: ${counted(visits.length, "visit")}. ${some.join("; ")}.`;
}

/** @param {Stretch[]} stretches @param {Map<Stretch, string>} letters */
function axis(stretches, letters) {
  const places = [0, 25, 50, 75, 100];
  const times = places.map((place) => timeAt(stretches, place));
  const days = times.map(day);
  const precise = times[4] - times[0] < 600_000;
  return h(
    "svg",
    { width: "100%", height: 46, "aria-hidden": "true" },
    [...letters].map(([{ x, width }, letter]) =>
      h("text.letter", { x: percent(x + width / 2), y: 11, "text-anchor": "middle" }, letter),
    ),
    places.map((place, index) => {
      const at = { x: percent(place), "text-anchor": place === 0 ? "start" : place === 100 ? "end" : "middle" };
      const isRare = place % 50 > 0;
      // A narrow screen shows every second one.
      const isNewDay = days[index] !== days[isRare ? index - 1 : index - 2];
      return h(
        isRare ? "g.tick.rare" : "g.tick",
        h("rect", { x: percent(Math.min(place, 99.8)), y: 15, width: 1, height: 4 }),
        h("text", { ...at, y: 31 }, clock(times[index]).slice(0, precise ? 8 : 5)),
        isNewDay && h("text", { ...at, y: 44 }, days[index]),
      );
    }),
  );
}

/** @param {Stretch[]} stretches */
function legend(stretches) {
  const items = Object.entries(KINDS).map(([kind, words]) => {
    const parts = stretches.filter((stretch) => stretch.kind === kind && stretch.visit !== undefined);
    const all = parts.reduce((sum, stretch) => sum + length(stretch), 0);
    return all > 0 && h("li", swatch(kind), ` ${words} `, h("span.muted", preciseDuration(all)));
  });
  return h("ul.legend", items, h("li", swatch("begin", { x: 12, width: 1.5, height: 14 }), " A visit begins"));
}

/** @param {Map<Stretch, string>} letters @param {number} all */
function cutList(letters, all) {
  if (all === 0) return undefined;
  const items = [...letters].map(([cut, letter]) => {
    const what = cut.visit === undefined ? "between visits" : KINDS[cut.kind].toLowerCase();
    return h("li", h("b", letter), ` ${preciseDuration(length(cut))} ${what}`, cut.reason && [": ", name(cut.reason)]);
  });
  const others = all > letters.size && h("li", `${counted(all - letters.size, "shorter time")} without a letter`);
  return h("ul.cuts", h("li", swatch("cut", { width: 26, height: 14 }), " Longer than drawn:"), items, others);
}
