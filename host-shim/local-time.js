/**
 * Returns the difference between local time and UTC at an instant, in minutes, positive east of Greenwich. 0 for an
 * instant that the calendar does not have.
 * @param {bigint} unixMs
 */
export function utcOffset(unixMs) {
  const offset = -Math.round(new Date(Number(unixMs)).getTimezoneOffset());
  return Number.isNaN(offset) ? 0 : offset;
}

/**
 * Returns the difference between the local time of a zone and UTC at an instant, in minutes, positive east of Greenwich;
 * `undefined` for a zone that the system does not know, and for an instant that the calendar does not have.
 * @param {string} zone a name of the IANA database
 * @param {bigint} unixMs
 */
export function zoneOffset(zone, unixMs) {
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    const name = format.formatToParts(Number(unixMs)).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    const size = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
    return sign === "-" ? -size : size;
  } catch {
    return undefined;
  }
}
