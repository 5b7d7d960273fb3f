// Times, tokens and costs of runs on one line; pages have these functions too.

const UNITS = /** @type {const} */ ([
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
]);

/** Returns a duration in its two largest units, in whole seconds: `0s`, `3m 20s`, `3d 4h`. @param {number} ms */
export function duration(ms) {
  const first = UNITS.findIndex(([, unit]) => ms >= unit);
  if (first < 0) return "0s";
  const [[large, inLarge], small] = [UNITS[first], UNITS[first + 1]];
  const rest = small ? Math.floor((ms % inLarge) / small[1]) : 0;
  return `${Math.floor(ms / inLarge)}${large}${small && rest > 0 ? ` ${rest}${small[0]}` : ""}`;
}

/** Returns a duration, in milliseconds if it is less than a second: `12ms`. @param {number} ms */
export function preciseDuration(ms) {
  return ms > 0 && ms < 1000 ? `${Math.max(1, Math.round(ms))}ms` : duration(ms);
}

/** @param {number} value */
export const grouped = (value) => value.toLocaleString("en-US");

/** `1 turn`, `2,000 turns`. @param {number} number @param {string} noun @param {string} [plural] */
export const counted = (number, noun, plural = `${noun}s`) => `${grouped(number)} ${number === 1 ? noun : plural}`;

/** Returns a number of tokens: `950`, `12.3k`, `4.56M`. @param {number} tokens */
export function tokens(tokens) {
  if (tokens < 1_000) return String(Math.round(tokens));
  return tokens < 999_950 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(2)}M`;
}

/** Returns a cost in US dollars: `$0.42`, or `$0.0019` if it is less than a cent. @param {number} dollars */
export function dollars(dollars) {
  return `$${dollars > 0 && dollars < 0.01 ? dollars.toFixed(dollars < 0.0001 ? 6 : 4).replace(/0+$/, "") : dollars.toFixed(2)}`;
}

/**
 * Returns the tokens of a usage; `unknown` or `12.3k + unknown` if answers have none.
 * @param {number} known
 * @param {number} unreported
 */
export function tokensOf(known, unreported) {
  if (unreported === 0) return tokens(known);
  return known === 0 ? "unknown" : `${tokens(known)} + unknown`;
}

/**
 * Returns the cost of a usage: `$0.42`, and if models have no prices `unknown` or `$0.42 + unknown`.
 * @param {{ cost: number, unpriced: number }} usage
 */
export function cost({ cost, unpriced }) {
  if (unpriced === 0) return dollars(cost);
  return cost === 0 ? "unknown" : `${dollars(cost)} + unknown`;
}

const two = (/** @type {number} */ part) => String(part).padStart(2, "0");

/**
 * Returns the day of a time in the local time zone, `2026-11-22`; `?` if the calendar does not have it.
 * @param {number} ms
 */
export function day(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? "?"
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the time of the day in the local time zone: `10:28:05`. @param {number} ms */
export function clock(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime())
    ? "?"
    : `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
