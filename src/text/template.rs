//! Templates: text with `{variable}` in it.

use std::borrow::Cow;

/// The variables of a template, each with its value.
pub type Variables<'a> = [(&'static str, Cow<'a, str>)];

/// Replaces each `{name}` by the value of the variable.
///
/// A name consists of ASCII letters, digits, `_`, `.`, `-`, `/` and `@`. An unknown name stays as it is written, with
/// its braces. Values are not resolved again.
///
/// Specification: template variables, "Overview".
pub fn resolve(template: &str, variables: &Variables) -> String {
    resolve_with(template, |name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| Cow::Borrowed(&**value))
    })
}

/// Replaces each `{name}` by the result of a function; `None` stands for an unknown name.
pub(super) fn resolve_with<'a>(template: &str, value_of: impl Fn(&str) -> Option<Cow<'a, str>>) -> String {
    let mut resolved = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        resolved.push_str(before);
        let name_end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
        let (name, behind) = after.split_at(name_end);
        let value = behind.strip_prefix('}').and_then(|behind| Some((value_of(name)?, behind)));
        rest = match value {
            Some((value, behind)) => {
                resolved.push_str(&value);
                // A phase without an emoji has no blank before its name.
                behind.strip_prefix(' ').filter(|_| value.is_empty() && name.ends_with("Emoji")).unwrap_or(behind)
            }
            None => {
                resolved.push('{');
                after
            }
        };
    }
    resolved.push_str(rest);
    resolved
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_emoji_leaves_no_blank() {
        let resolved = |emoji: &str| {
            let variables = [("phaseEmoji", emoji.to_owned().into()), ("phaseName", "".into()), ("id", "a".into())];
            resolve("in {phaseEmoji} {id}. {phaseName} {phaseEmoji}", &variables)
        };
        assert_eq!(resolved("*"), "in * a.  *");
        assert_eq!(resolved(""), "in a.  ");
    }

    #[test]
    fn known_variables_are_replaced_once_and_others_stay() {
        let variables: &Variables = &[
            ("a", "{b}".into()),
            ("b", "B".into()),
            ("x_1", "X".into()),
            ("a.b-c", "D".into()),
            ("a.@b/c", "E".into()),
        ];
        for (template, expected) in [
            ("{a}{b}", "{b}B"),
            ("{x_1}!", "X!"),
            ("{a.b-c}{a.b}", "D{a.b}"),
            ("{a.@b/c}{a/b}{b/{b}", "E{a/b}{b/B"),
            ("{unknown} {a", "{unknown} {a"),
            ("{{b}}", "{B}"),
            ("{}{ b }{b", "{}{ b }{b"),
            ("{é}{b}", "{é}B"),
            ("", ""),
            ("}{", "}{"),
            ("{__proto__}{constructor}", "{__proto__}{constructor}"),
        ] {
            assert_eq!(resolve(template, variables), expected, "{template}");
        }
    }
}
