//! The time at which a limit of a model ends, in the words and headers of providers.
//!
//! | told | read as |
//! | --- | --- |
//! | `retry-after: 20`, `try again in 7m12.5s`, `"retryDelay": "34s"` | from now |
//! | `x-ratelimit-reset: 1764259200`, `limit reached\|1764259200` | seconds or milliseconds since 1970 |
//! | `2026-11-27T15:00:00Z`, `Fri, 27 Nov 2026 15:00:00 GMT` | that instant |
//! | `resets 3pm (Europe/Berlin)`, `try again at Nov 28th, 2026 3:02 PM` | the next such time; without a zone, of the user |

use regex_lite::{Captures, Regex};

/// A request to the model that failed, as pi tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelFailure {
    /// The words of pi and of the provider.
    pub message: String,
    /// The status of the provider's response, where pi hands it on.
    pub status: Option<u16>,
    /// The headers of that response, in lower case.
    pub headers: Vec<(String, String)>,
}

/// Returns the difference between the local time of a named zone, or of the user, and UTC at an instant, in minutes;
/// `None` for an unknown zone.
pub type UtcOffset<'a> = &'a dyn Fn(Option<&str>, u64) -> Option<i16>;

const SECOND: f64 = 1e3;
const DAY: i64 = 86_400_000;
/// The end of the year 9999: a later time counts as not told.
const LATEST: i64 = 253_402_300_799_999;
/// The time of day counts as that of today for this long after it has passed.
const JUST_PASSED: i64 = 600_000;

/// The headers with a time, the most exact first.
const HEADERS: [&str; 8] = [
    "retry-after-ms",
    "retry-after",
    "anthropic-ratelimit-unified-reset",
    "x-ratelimit-reset",
    "x-ratelimit-reset-after",
    "ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
];

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];

/// Abbreviations of zones that providers write, with the zones that the user's system knows.
const ZONES: [(&str, &[&str]); 6] = [
    ("America/Los_Angeles", &["PT", "PST", "PDT", "PACIFIC"]),
    ("America/Denver", &["MT", "MST", "MDT"]),
    ("America/Chicago", &["CT", "CST", "CDT"]),
    ("America/New_York", &["ET", "EST", "EDT", "EASTERN"]),
    ("Europe/Berlin", &["CET", "CEST"]),
    ("UTC", &["UTC", "GMT", "Z"]),
];

const AMOUNTS: &str = r"\b((?:(?:\d+(?:\.\d+)?|an?|one)\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\b[\s,]*(?:and\s+)?|\d+(?:\.\d+)?(?:ms|s|m|h|d))+)";
const BEFORE: &str = r"(?:again|retry|retrying|resets?|reset|refresh(?:es|ed)?|renew(?:s|ed)?|available|wait|until|restored)\b[^\n.;]{0,24}?";
const CLOCK: &str =
    r"(?:(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*([ap])\.?m\b\.?|(\d{1,2}):(\d{2})(?::\d{2})?|(midnight|noon))";
const ZONE: &str =
    r"\s*\(?\s*((?:UTC|GMT)?[+-]\d{1,2}(?::?\d{2})?|[A-Za-z]+/[A-Za-z_/]+|[A-Z]{2,5}\b|Pacific|Eastern|Z\b)?";

/// Returns the time that a failure tells, in milliseconds since 1970.
pub fn told(failure: &ModelFailure, now: u64, offset: UtcOffset) -> Option<u64> {
    let now = i64::try_from(now).ok()?;
    let by_header = || HEADERS.iter().find_map(|name| header(name, failure, now));
    let is_refusal = failure.status.is_some_and(|status| status >= 400);
    let at = is_refusal.then(by_header).flatten().or_else(|| in_words(&failure.message, now, offset))?;
    u64::try_from(at).ok().filter(|_| at <= LATEST)
}

fn header(name: &str, failure: &ModelFailure, now: i64) -> Option<i64> {
    let (_, value) = failure.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let value = value.trim();
    match value.parse::<f64>() {
        Ok(number) if name.ends_with("-ms") => after(number, now),
        Ok(number) => number_told(number, now),
        Err(_) => instant(value).or_else(|| amounts(&format!("{value} ")).and_then(|ms| after(ms, now))),
    }
}

/// A number of seconds from now, or an instant in seconds or milliseconds since 1970.
fn number_told(number: f64, now: i64) -> Option<i64> {
    match number {
        number if number >= 1e11 => at_instant(number),
        number if number >= 1e9 => at_instant(number * SECOND),
        seconds => after(seconds * SECOND, now),
    }
}

fn at_instant(ms: f64) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "within the bound")]
    (0.0..=LATEST as f64).contains(&ms).then_some(ms as i64)
}

fn after(ms: f64, now: i64) -> Option<i64> {
    let ms = if ms < 0.0 { 0.0 } else { ms };
    at_instant(ms).map(|ms| now.saturating_add(ms))
}

fn in_words(text: &str, now: i64, offset: UtcOffset) -> Option<i64> {
    field(text, now)
        .or_else(|| instant_told(text, offset))
        .or_else(|| relative(text, now))
        .or_else(|| on_day(text, now, offset))
        .or_else(|| at_clock(text, now, offset))
}

fn matched<'a>(pattern: &str, text: &'a str) -> Option<Captures<'a>> {
    Regex::new(&format!("(?i){pattern}")).ok()?.captures(text)
}

fn part<'a>(found: &Captures<'a>, index: usize) -> Option<&'a str> {
    found.get(index).map(|part| part.as_str()).filter(|part| !part.is_empty())
}

fn number(found: &Captures, index: usize) -> Option<i64> {
    part(found, index)?.parse().ok()
}

/// A field of JSON, and the form `limit reached|SECONDS`.
fn field(text: &str, now: i64) -> Option<i64> {
    let names = r#""?(?:retry_?-?(?:delay|after)(?:_?(ms|seconds))?|re?sets?_?-?(?:in_?seconds|in|at|time|after)|x-ratelimit-reset)\\?"?\s*[:=]\s*\\?"?(\d+(?:\.\d+)?)(ms|s)?\b"#;
    if let Some(found) = matched(names, text) {
        let number: f64 = part(&found, 2)?.parse().ok()?;
        // The beginning of a date is no number.
        let is_date = found.get(0).is_some_and(|all| text[all.end()..].starts_with(['-', ':']));
        if !is_date {
            let in_ms = part(&found, 1) == Some("ms") || part(&found, 3) == Some("ms");
            return if in_ms { after(number, now) } else { number_told(number, now) };
        }
    }
    let found = matched(r"limit[\w ]*\|\s*(\d{10,13})\b", text)?;
    number_told(part(&found, 1)?.parse().ok()?, now)
}

/// An instant in the form of RFC 3339 or of HTTP.
fn instant(text: &str) -> Option<i64> {
    let iso = humantime::parse_rfc3339(text).ok();
    let iso = iso.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let http = || {
        let found = matched(r"(\d{1,2}) ([a-z]{3})[a-z]* (\d{4}) (\d{2}):(\d{2}):(\d{2})", text)?;
        let day = days(number(&found, 3)?, month(part(&found, 2)?)?, number(&found, 1)?)?;
        Some(day * DAY + (number(&found, 4)? * 3600 + number(&found, 5)? * 60 + number(&found, 6)?) * 1000)
    };
    iso.and_then(|at| i64::try_from(at.as_millis()).ok()).or_else(http)
}

/// A whole date with its time behind a word that tells the end of a limit.
fn instant_told(text: &str, offset: UtcOffset) -> Option<i64> {
    let date = r#"["\s:=\\]{1,5}(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?"#;
    let found = matched(&format!("(?:{BEFORE}|(?:at|time)){date}{ZONE}"), text)?;
    let seconds = number(&found, 6).unwrap_or_default();
    let time = number(&found, 4)? * 3600 + number(&found, 5)? * 60 + seconds;
    let day = days(number(&found, 1)?, number(&found, 2)?, number(&found, 3)?)?;
    local(day, time * 1000, part(&found, 7), offset)
}

fn relative(text: &str, now: i64) -> Option<i64> {
    let asked = matched(&format!(r"requested (?:a )?{AMOUNTS}"), text);
    let found = asked.or_else(|| matched(&format!(r"(?:{BEFORE})(?:in|after|for|wait)?\s*[~≈]?\s*{AMOUNTS}"), text))?;
    after(amounts(part(&found, 1)?)?, now)
}

/// A duration like `7m12.5s` or `3 hours and 5 minutes`, in milliseconds.
fn amounts(text: &str) -> Option<f64> {
    let one = Regex::new(r"(?i)(\d+(?:\.\d+)?|\ban?\b|\bone\b)\s*([a-z]+)").ok()?;
    let mut sum = None;
    for found in one.captures_iter(text) {
        let count = part(&found, 1)?.parse().unwrap_or(1.0);
        let unit = match part(&found, 2)?.to_ascii_lowercase().as_str() {
            "ms" | "millisecond" | "milliseconds" => 1.0,
            unit => match unit.chars().next()? {
                's' => SECOND,
                'm' => 60.0 * SECOND,
                'h' => 3600.0 * SECOND,
                'd' => 86_400.0 * SECOND,
                'w' => 604_800.0 * SECOND,
                _ => return sum,
            },
        };
        sum = Some(sum.unwrap_or(0.0) + count * unit);
    }
    sum
}

/// A day of the year with a time: `Nov 28th, 2026 3:02 PM`, `Oct 7 at 3pm`.
fn on_day(text: &str, now: i64, offset: UtcOffset) -> Option<i64> {
    let date = r"\b([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4})\b)?(?:,|\s+at|\s+around)?\s+";
    let found = matched(&format!("{BEFORE}{date}{CLOCK}{ZONE}"), text)?;
    let (month, day) = (month(part(&found, 1)?)?, number(&found, 2)?);
    let (time, zone) = (clock(&found, 4)?, part(&found, 10));
    let at = |year| local(days(year, month, day)?, time, zone, offset);
    let this_year = year(now.div_euclid(DAY));
    match number(&found, 3) {
        Some(year) => at(year),
        None => at(this_year).filter(|at| *at > now - DAY).or_else(|| at(this_year + 1)),
    }
}

/// A time of day, perhaps of a day of the week.
fn at_clock(text: &str, now: i64, offset: UtcOffset) -> Option<i64> {
    let found =
        matched(&format!(r"{BEFORE}(?:\s(mon|tue|wed|thu|fri|sat|sun)[a-z]*,?(?:\s+at)?)?\s+{CLOCK}{ZONE}"), text)?;
    let (time, zone) = (clock(&found, 2)?, part(&found, 8));
    let here = i64::from(offset_of(zone, now, offset)?) * 60_000;
    let today = (now + here).div_euclid(DAY);
    let weekday = part(&found, 1).and_then(|name| {
        let name = name.to_ascii_lowercase();
        WEEKDAYS.iter().position(|known| *known == name)
    });
    let is_meant = |day: i64| weekday.is_none_or(|of| day.rem_euclid(7) == i64::try_from(of).unwrap_or_default());
    let days = (today..=today + 7).filter(|day| is_meant(*day));
    days.filter_map(|day| local(day, time, zone, offset)).find(|at| *at > now - JUST_PASSED)
}

/// The time since midnight that the groups of [`CLOCK`] from this index on tell, in milliseconds.
fn clock(found: &Captures, from: usize) -> Option<i64> {
    let half = part(found, from + 2).map(str::to_ascii_lowercase);
    let (hour, minute) = match (half, part(found, from + 5)) {
        (Some(half), _) => {
            let hour = number(found, from).filter(|hour| (1..=12).contains(hour))?;
            (hour % 12 + if half == "p" { 12 } else { 0 }, number(found, from + 1).unwrap_or_default())
        }
        (None, Some(word)) => (if word.eq_ignore_ascii_case("noon") { 12 } else { 24 }, 0),
        (None, None) => (number(found, from + 3)?, number(found, from + 4)?),
    };
    (hour <= 24 && minute < 60).then_some((hour * 60 + minute) * 60_000)
}

/// The instant of a local time of a day since 1970.
fn local(day: i64, time: i64, zone: Option<&str>, offset: UtcOffset) -> Option<i64> {
    let there = day * DAY + time;
    let first = there - i64::from(offset_of(zone, there, offset)?) * 60_000;
    Some(there - i64::from(offset_of(zone, first, offset)?) * 60_000)
}

/// The offset of a zone; `None` for a zone that the user's system does not know.
fn offset_of(zone: Option<&str>, at: i64, offset: UtcOffset) -> Option<i16> {
    let at = u64::try_from(at).unwrap_or_default();
    let Some(zone) = zone else { return offset(None, at) };
    if let Some(found) = matched(r"^(?:UTC|GMT)?([+-])(\d{1,2}):?(\d{2})?$", zone) {
        let minutes = number(&found, 2)? * 60 + number(&found, 3).unwrap_or_default();
        return i16::try_from(if part(&found, 1)? == "-" { -minutes } else { minutes }).ok();
    }
    let upper = zone.to_ascii_uppercase();
    match ZONES.iter().find(|(_, names)| names.contains(&upper.as_str())) {
        Some(("UTC", _)) => Some(0),
        Some((name, _)) => offset(Some(name), at),
        // A word behind the time is no zone.
        None if zone.contains(|char: char| char.is_ascii_lowercase()) && !zone.contains('/') => offset(None, at),
        None => offset(Some(zone), at),
    }
}

fn month(name: &str) -> Option<i64> {
    let name = name.get(..3)?.to_ascii_lowercase();
    let index = MONTHS.iter().position(|month| *month == name)?;
    i64::try_from(index + 1).ok()
}

/// The number of days from 1970-01-01 to a day of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // The year begins with March: the leap day is its last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468)
}

/// The year of a day since 1970.
fn year(day: i64) -> i64 {
    let guess = 1970 + day / 366;
    (guess..).take_while(|year| days(*year, 1, 1).is_some_and(|first| first <= day)).last().unwrap_or(guess)
}
