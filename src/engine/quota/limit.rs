//! Recognises a limit of a model that ends by itself in the error of a request.
//!
//! Only errors are read, never an answer. An account without money or without the right to use the model is no limit that ends.

use regex_lite::Regex;

use super::super::context::Cx;
use super::told::{ModelFailure, UtcOffset, told};

/// Maximum length of a message that is read, in bytes.
const MAX_MESSAGE: usize = 8 << 10;

/// A limit that ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Its end, in milliseconds since 1970, if it was told.
    pub until: Option<u64>,
}

/// Words of a limit.
const LIMIT: [&str; 12] = [
    r"^\W*(?:error:? ?)?429\b",
    r#"(?:status|status code|http(?:/[\d.]+)?|code|error)\\?["']?[\s:=(]*429\b"#,
    r"\(429\)",
    r"rate[_ -]?limit",
    r"too ?many ?(?:requests|tokens, please wait)",
    r"usage[_ -]?limit",
    r"\b(?:\w+[- ]hour|hourly|daily|weekly|monthly|session) (?:usage |free |token |request )?limit",
    r"\b(?:hit|reached|exceeded) (?:your|the|this)(?: \w+){0,3} (?:usage|rate|requests?|tokens?|messages?|free|plan|spend)(?: \w+){0,3} limit\b",
    r"\blimit\W{1,3}(?:will reset|resets)",
    r"quota[\w ]{0,40}(?:exceed|exhaust|reached|refresh)|(?:exceed|exhaust|reach|used up)\w*[\w ']{0,40}quota",
    r"resource_?exhausted|throttl(?:ing|ed)",
    r"(?:requests|tokens) per (?:second|minute|min|hour|day)",
];

/// Words of an error that does not end by itself, also beside words of a limit.
const LASTS: [&str; 4] = [
    r"insufficient[_ ](?:quota|balance|funds|credits?)|credit balance|out of (?:credits|budget)|payment required",
    r"usage_not_included|not included in your plan|(?:account|key) (?:is |has been )?(?:suspended|deactivated|disabled)",
    r"request too large|too long|context[_ ](?:length|window)|maximum (?:context|prompt|output|token limit)|must be reduced",
    r"^\W*(?:error:? ?)?(?:400|401|402|404|413|422)\b",
];

/// Words that some providers use for an empty account, or a lack of rights, and others beside a limit: the limit ends only
/// if its end was told. The status 403 counts like these words.
const IN_DOUBT: &str = r"billing|check your plan|spend(?:ing)? limit|monthly budget|^\W*(?:error:? ?)?403\b";

/// The limit that the last request to the model has met.
pub fn limit_met(cx: &mut Cx) -> Option<Limit> {
    let failure = cx.host.model_failure();
    let failure = cx.unless_gone(failure)?;
    let host = cx.host;
    // If the session is gone, nothing is done with the time.
    let offset = |zone: Option<&str>, at| match zone {
        None => host.utc_offset(at).ok(),
        Some(zone) => host.zone_offset(zone, at).ok().flatten(),
    };
    limit(&failure, cx.unix_ms, &offset)
}

/// Returns the limit that the failure of a request tells; `None` for every other failure.
pub fn limit(failure: &ModelFailure, now: u64, offset: UtcOffset) -> Option<Limit> {
    let mut failure = failure.clone();
    let end = (0..=MAX_MESSAGE.min(failure.message.len())).rev().find(|end| failure.message.is_char_boundary(*end));
    failure.message.truncate(end.unwrap_or_default());
    let has = |patterns: &[&str]| {
        let is_in = |text: &&str| Regex::new(&format!("(?i){text}")).is_ok_and(|of| of.is_match(&failure.message));
        patterns.iter().any(is_in)
    };
    let is_limit = failure.status == Some(429) || has(&LIMIT);
    if !is_limit || has(&LASTS) || matches!(failure.status, Some(400..=402 | 404 | 413 | 422)) {
        return None;
    }
    let until = told(&failure, now, offset);
    let is_in_doubt = failure.status == Some(403) || has(&[IN_DOUBT]);
    (until.is_some() || !is_in_doubt).then_some(Limit { until })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-27 13:00:00 UTC, a Friday.
    const NOW: u64 = 1_795_784_400_000;
    const SECOND: u64 = 1000;
    const HOUR: u64 = 3_600_000;

    /// The user's local time is that of Berlin, in winter; New York's is five hours behind UTC.
    fn offset(zone: Option<&str>, _: u64) -> Option<i16> {
        match zone {
            None | Some("Europe/Berlin") => Some(60),
            Some("America/New_York") => Some(-300),
            Some("America/Los_Angeles") => Some(-480),
            Some(_) => None,
        }
    }

    fn of(message: &str) -> Option<Limit> {
        limit(&ModelFailure { message: message.to_owned(), ..ModelFailure::default() }, NOW, &offset)
    }

    /// The seconds until the end of a limit.
    #[track_caller]
    fn ends_in(message: &str, seconds: u64) {
        assert_eq!(of(message), Some(Limit { until: Some(NOW + seconds * SECOND) }), "{message}");
    }

    #[test]
    fn providers_tell_the_end_of_a_limit() {
        for (message, seconds) in [
            (
                "429 Rate limit reached for gpt-5 in organization org-1 on tokens per min (TPM): Limit 30000, Used 29500, Requested 2000. Please try again in 3s. Visit https://platform.openai.com/account/rate-limits to learn more. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing.",
                3,
            ),
            ("429 Rate limit reached for model `llama` on tokens per day (TPD). Please try again in 7m12.000s.", 432),
            ("You have hit your ChatGPT usage limit (plus plan). Try again in ~92 min.", 92 * 60),
            (
                r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_in_seconds":18000}}"#,
                18_000,
            ),
            (r#"{"error":{"type":"usage_limit_reached","resets_at":1795788000}}"#, 3600),
            ("Claude AI usage limit reached|1795788000", 3600),
            ("5-hour limit reached ∙ resets 3pm", 3600),
            ("5-hour limit reached ∙ resets 9am", 19 * 3600),
            ("You've hit your limit · resets 3pm (Europe/Berlin)", 3600),
            ("Your limit will reset at 3pm (America/New_York).", 7 * 3600),
            ("Weekly limit reached ∙ resets Nov 29 at 3pm", 49 * 3600),
            ("Weekly limit reached ∙ resets Mon 9:00 AM", 67 * 3600),
            (
                "You've hit your usage limit. Upgrade to Pro, visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at Nov 28th, 2026 3:02 PM.",
                25 * 3600 + 120,
            ),
            ("You've hit your usage limit. Try again in 2 days 1 hour 5 minutes.", 49 * 3600 + 300),
            (
                r#"429 {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: generate_content_free_tier_requests, limit: 20\nPlease retry in 34s.","status":"RESOURCE_EXHAUSTED"}}"#,
                34,
            ),
            (
                r#"429 {"error":{"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}"#,
                34,
            ),
            (
                r#"429 {"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-11-27 15:12:33"}}"#,
                4353,
            ),
            ("Server requested 3600s retry delay (max: 60s). 429 Too Many Requests", 3600),
            ("Sorry, you have been rate-limited. Please wait a minute before trying again.", 60),
            (
                "Monthly usage limit reached. Resets in 12 days. To continue using this model now, enable usage from your available balance",
                12 * 86_400,
            ),
            (
                r#"429 {"error":{"message":"Rate limit exceeded: free-models-per-day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Reset":"1795788000000"}}}}"#,
                3600,
            ),
            ("rate_limit_error: limit resets at 2026-11-27T14:00:00Z", 3600),
            (r#"{"type":"rate_limit_error","reset_at":"2026-11-27T15:00:00.123+01:00"}"#, 3600),
            ("Quota exceeded for this model. It resets at midnight Pacific time.", 19 * 3600),
            ("Too many requests, retry after 90 seconds", 90),
            ("429: try again at 15:30 UTC+2", 1800),
            ("usage limit reached, available again in an hour and 5 mins", 3900),
            ("5-hour limit reached, resets 2pm", 0),
            ("rate limit exceeded, retry in 1 second", 1),
            ("403 You have exceeded a secondary rate limit. Please retry in 60 seconds", 60),
        ] {
            ends_in(message, seconds);
        }
    }

    #[test]
    fn a_limit_may_come_without_its_end() {
        for message in [
            r#"429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 8,000 output tokens per minute"}}"#,
            "ThrottlingException: Too many tokens, please wait before trying again.",
            "429 Too Many Requests",
            "429",
            "You have reached the free message limit of this model.",
            "You have exceeded your plan limit.",
            "HTTP 429: slow down",
            "Error (429): no",
            "You've reached your usage limit for this period. Your quota will be refreshed in the next period.",
            "You have exceeded your daily quota",
            "limit reached, resets at 3pm (Mars/Olympus): usage limit",
            "rate limit exceeded, resets at 9:00 XQZ",
            "rate limit exceeded, reset in 1e999 s, resets_at: 99999999999999999999",
        ] {
            assert_eq!(of(message), Some(Limit { until: None }), "{message}");
        }
    }

    #[test]
    fn other_errors_are_no_limits_that_end() {
        for message in [
            "",
            "429 You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota: You exceeded your current quota. Try again in 20s.",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
            "402 Payment Required: rate limit",
            "413 Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000",
            "429 Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced",
            "prompt is too long: 429000 tokens > 200000 maximum",
            "This model's maximum context length is 8192 tokens, you requested 9000",
            "529 Overloaded",
            "500 Internal server error, request id 429",
            "connect ECONNREFUSED 127.0.0.1:4290",
            "The file limit.txt resets at 3pm",
            "400 rate limit is no parameter",
            "401 rate limit",
            "403 rate limit",
            "Image exceeded the maximum file size limit",
            "You have reached the limit of images, see your limit",
            "The prompt exceeded the maximum token limit",
        ] {
            assert_eq!(of(message), None, "{message}");
        }
    }

    #[test]
    fn headers_count_with_the_status_of_a_refusal() {
        let with = |status, headers: &[(&str, &str)]| {
            let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let message = "Too many requests, try again in 5s".to_owned();
            limit(&ModelFailure { message, status, headers }, NOW, &offset).unwrap().until.unwrap() - NOW
        };
        for (name, value, ms) in [
            ("retry-after", "20", 20_000),
            ("Retry-After", "0", 0),
            ("retry-after", "-5", 0),
            ("retry-after-ms", "1500", 1500),
            ("retry-after", "Fri, 27 Nov 2026 14:00:00 GMT", HOUR),
            ("x-ratelimit-reset", "1795788000", HOUR),
            ("x-ratelimit-reset", "1795788000000", HOUR),
            ("x-ratelimit-reset-requests", "6m0s", 360_000),
            ("anthropic-ratelimit-unified-reset", "2026-11-27T14:00:00Z", HOUR),
            ("retry-after", "soon", 5000),
            ("retry-after", "1e300", 5000),
            ("retry-after", "NaN", 5000),
        ] {
            assert_eq!(with(Some(429), &[(name, value)]), ms, "{name}: {value}");
            assert_eq!(with(Some(200), &[(name, value)]), 5000, "an answer that was given tells no limit");
        }
        let both = [("x-ratelimit-reset", "1795788000"), ("retry-after", "7")];
        assert_eq!(with(Some(429), &both), 7000);
        let failure = |status| ModelFailure { status: Some(status), ..ModelFailure::default() };
        assert_eq!(limit(&failure(429), NOW, &offset), Some(Limit { until: None }));
        assert_eq!(limit(&failure(403), NOW, &offset), None);
        let refused = |status, message: &str| {
            let message = message.to_owned();
            limit(&ModelFailure { message, ..failure(status) }, NOW, &offset).map(|limit| limit.until)
        };
        assert_eq!(refused(429, "Image exceeded the maximum file size limit"), Some(None));
        assert_eq!(refused(401, "rate limit, try again in 5s"), None);
        assert_eq!(refused(403, "rate limit"), None);
        assert_eq!(refused(403, "rate limit, try again in 5s"), Some(Some(NOW + 5000)));
    }

    #[test]
    fn times_that_passed_and_far_times_are_told_as_they_are() {
        let until = |message| of(message).unwrap().until;
        assert_eq!(until("429 resets at 2020-01-01T00:00:00Z"), Some(1_577_836_800_000));
        assert_eq!(until("429 resets at 9999-12-31T23:59:59Z"), Some(253_402_300_799_000));
        assert_eq!(until("429 resets at 10000-01-01T00:00:00Z"), None);
        assert_eq!(until("429 try again in 99999999999 days"), None);
    }

    #[test]
    fn no_message_is_too_much() {
        let long = "429 try again in ".repeat(20_000);
        assert!(of(&long).is_some());
        assert!(of(&"é".repeat(100_000)).is_none());
        assert!(of(&format!("{}usage limit", " ".repeat(100_000))).is_none(), "behind the bound");
        ends_in("429 \u{1b}[31mtry again in 3s\u{1b}[0m", 3);
    }
}
