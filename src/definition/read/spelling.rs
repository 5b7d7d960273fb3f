//! The letters of names and paths, as a reader of the file sees them.

use crate::definition::diagnostic::meant;
use crate::definition::model::{
    CHECK_FIELDS, ENTRY_FIELDS, Field, Kind, Needed, Phase, Workflow, is_space, nearest, trim,
};

/// Returns true if a character is invisible and changes a name all the same. Joiners are part of words and of emojis.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Letters of other scripts, and the Latin ones that look like them.
const LOOK_ALIKES: [(&str, &str); 2] =
    [("асеһіјкмоԛрѕтиухԁԝѵ", "acehijkmoqpstuuxdwv"), ("αγεικνορτυχωıℓ", "ayeikvoptuxwil")];

/// Returns a name in lower case with Latin letters in the place of look-alikes, without invisible characters.
fn as_seen(name: &str) -> String {
    let seen = name.chars().filter(|&c| !is_invisible(c) && !is_space(c) && !c.is_control() && !is_joiner(c));
    seen.flat_map(|c| {
        let c = match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            c => c,
        };
        c.to_lowercase().map(|c| {
            let mut pairs = LOOK_ALIKES.iter().flat_map(|(others, latin)| others.chars().zip(latin.chars()));
            pairs.find(|(other, _)| *other == c).map_or(c, |(_, latin)| latin)
        })
    })
    .collect()
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Returns a name as a reader sees it, without `_` and `-`.
fn joined(name: &str) -> String {
    as_seen(name).chars().filter(|c| !matches!(c, '_' | '-')).collect()
}

/// Like `joined`, without an `s` at the end of the name.
fn plain(name: &str) -> String {
    let name = joined(name);
    name.strip_suffix('s').unwrap_or(&name).to_owned()
}

/// Keys of files that are no rules, though some are spelt like a rule; written as [`plain`] returns them. A test checks
/// that each is a warning.
pub(crate) const METADATA: [&str; 40] = [
    "author",
    "base",
    "category",
    "code",
    "comment",
    "copyright",
    "created",
    "date",
    "group",
    "homepage",
    "icon",
    "item",
    "keyword",
    "kind",
    "lang",
    "language",
    "license",
    "maintainer",
    "note",
    "owner",
    "page",
    "priority",
    "rate",
    "reference",
    "repository",
    "seed",
    "side",
    "since",
    "site",
    "size",
    "stage",
    "state",
    "statu",
    "tag",
    "team",
    "todo",
    "tone",
    "type",
    "updated",
    "version",
];

/// Names that other programs and people use for rules, without the names in [`meant`].
#[rustfmt::skip]
const OTHER_NAMES: [(&[&str], &str); 10] = [
    (&["whitelist", "allowedtool", "allowtool", "toolallowlist", "toolwhitelist", "allowlist", "allow", "allowed",
        "enabledtool", "onlytool"], "tools.whitelist"),
    (&["blacklist", "deniedtool", "denytool", "disallowedtool", "disallowtool", "blockedtool", "blocktool",
        "forbiddentool", "excludedtool", "excludetool", "disabledtool", "tooldenylist", "toolblocklist", "toolblacklist",
        "denylist", "blocklist", "deny", "denied", "disallow", "forbid", "forbidden"], "tools.blacklist"),
    (&["onmaxloop"], "outcomes"),
    (&["ongatefail"], "gate"),
    (&["cost", "maxcost", "maxspend", "spendlimit"], "budget"),
    (&["hidden", "unreadable", "protected", "secret", "denyread", "noread", "read", "readable", "ignore"], "hide"),
    (&["tool", "toolvisibility", "permission", "permissionmode", "allowedcommand"], "tools"),
    (&["readonly", "noedit", "nowrite", "writable", "writeable", "writablepath", "writepath", "allowwrite", "allowedpath",
        "mode", "acces", "filesystem"], "write"),
    (&["internet", "internetacces", "networkacces", "net", "online", "offline", "alloweddomain", "allowedhost",
        "nonetwork", "web"], "network"),
    (&["isolation", "container", "docker", "unsafe"], "sandbox"),
];

/// Returns the fields at any depth, each with the rule that it stands for or in; `None` for a field outside of rules.
fn fields() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let own = Phase::FIELDS.iter().chain(Workflow::FIELDS);
    let own = own.chain(ENTRY_FIELDS.iter()).chain(CHECK_FIELDS.iter());
    own.flat_map(|field| {
        let rule = is_rule(field).then_some(field.name);
        let inner: &[Field] = match field.kind {
            Kind::Mapping { fields, .. } => fields,
            _ => &[],
        };
        let inner = inner.iter().map(move |inner| (inner.name, rule));
        std::iter::once((field.name, rule)).chain(inner)
    })
}

/// Returns true if a field is a rule for the agent, or decides on the way of a run.
fn is_rule(field: &Field) -> bool {
    field.needed == Needed::Not && !field.may_be_empty() && !matches!(field.kind, Kind::Text | Kind::FreeText)
        || field.name == "onBudget"
}

/// Returns the rule that a key means: a key with another spelling or in another place, or another name for the rule.
pub(crate) fn rule_meant(key: &str) -> Option<&'static str> {
    let (full, name) = (joined(key), plain(key));
    if let Some((_, rule)) = OTHER_NAMES.iter().find(|(names, _)| names.contains(&&*name)) {
        return Some(rule);
    }
    if let Some((_, rule)) = fields().find(|(field, rule)| joined(field) == full && rule.is_some()) {
        return rule;
    }
    if let Some(meant) = meant::fields(&full) {
        return meant
            .into_iter()
            .find_map(|meant| fields().find(|(field, rule)| *rule == Some(meant) && *field == meant)?.1);
    }
    if let Some((_, rule)) = fields().find(|(field, rule)| plain(field) == name && rule.is_some()) {
        return rule;
    }
    if METADATA.contains(&&*name) {
        return None;
    }
    // Of equally near names, a rule is meant.
    let mut known: Vec<_> = fields().collect();
    known.sort_by_key(|(_, rule)| rule.is_none());
    let near = nearest(&as_seen(key), known.iter().map(|(field, _)| *field))?;
    known.iter().find(|(field, _)| *field == near)?.1
}

/// Returns the reason why a path cannot mean what it says, and a help; `None` for a good path. A `$` within a path is
/// an ordinary character.
pub(crate) fn mistaken_path(path: &str) -> Option<(&'static str, String)> {
    const NAME: &str = "write the path itself: variables of the shell have no value here";
    let bare = trim(path);
    if bare != path || path.starts_with(is_invisible) || path.ends_with(is_invisible) {
        let bare = path.trim_matches(|c| is_space(c) || is_invisible(c));
        return Some(("has blanks around it", format!("did you mean `{bare}`?")));
    }
    if let Some(inner) = without_quotes(path) {
        return Some(("has quotes around it, which are a part of the name", format!("did you mean `{inner}`?")));
    }
    if path.contains('\u{fffd}') {
        return Some(("is not valid UTF-8", "save the file as UTF-8".into()));
    }
    if path.contains(is_invisible) {
        return Some(("has a character that is not seen", "write the path without it".into()));
    }
    let first = path.split('/').next().unwrap_or_default();
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')'))
    };
    let braces = first.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let percents = first.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
    let variable = braces.or_else(|| first.strip_prefix('$')).or(percents);
    if variable.is_some_and(is_name) {
        let help = match variable {
            Some("HOME" | "USERPROFILE") => "`~/` is your home directory".into(),
            Some("PWD" | "CD") => "a path is relative to the project's directory".into(),
            _ => NAME.into(),
        };
        return Some(("begins with a variable, which is not replaced", help));
    }
    None
}

/// Returns a text without the quotes around it; `None` without quotes.
fn without_quotes(text: &str) -> Option<&str> {
    const OPENING: [char; 11] = ['"', '\'', '`', '“', '”', '„', '‘', '’', '‚', '«', '»'];
    let inner = text.strip_prefix(OPENING)?.strip_suffix(OPENING)?;
    Some(inner)
}

/// Returns true if a text can mean tools that a model is given: a name, or a beginning with a letter in it and `*`.
pub(crate) fn can_mean_tools(entry: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    match entry.strip_suffix('*') {
        Some(beginning) => beginning.contains(|c: char| c.is_ascii_alphabetic()) && beginning.chars().all(is_of_name),
        None => !entry.is_empty() && entry.chars().all(is_of_name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields that the seal leaves out, and `id` and `phases`, without which a file is an error.
    const OTHERS: [&str; 16] = [
        "id",
        "name",
        "emoji",
        "availableProfiles",
        "commandName",
        "initialMessage",
        "phases",
        "description",
        "sessionNamePrefix",
        "sessionNameMaxLength",
        "roleInstruction",
        "advanceReminder",
        "blockReasonTemplate",
        "completionMessage",
        "stopMessage",
        "notDoneReminder",
    ];

    #[test]
    fn every_field_that_the_seal_covers_is_a_rule() {
        for field in Phase::FIELDS.iter().chain(Workflow::FIELDS) {
            assert!(is_rule(field) || OTHERS.contains(&field.name), "{}", field.name);
        }
    }
}
