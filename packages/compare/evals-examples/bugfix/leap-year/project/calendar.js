const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns the number of days of a month, from 1 to 12. */
export function daysInMonth(year, month) {
  return month === 2 && year % 4 === 0 ? 29 : DAYS[month - 1];
}

/** Returns the number of a day in its year, from 1. */
export function dayOfYear(year, month, day) {
  let days = day;
  for (let before = 1; before < month; before += 1) days += daysInMonth(year, before);
  return days;
}

/** Returns the number of days of a year. */
export function daysInYear(year) {
  return year % 4 === 0 ? 366 : 365;
}
