/**
 * Returns the difference between local time and UTC at an instant, in minutes, positive east of Greenwich. 0 for an
 * instant that the calendar does not have.
 * @param {bigint} unixMs
 */
export function utcOffset(unixMs) {
  const offset = -Math.round(new Date(Number(unixMs)).getTimezoneOffset());
  return Number.isNaN(offset) ? 0 : offset;
}
