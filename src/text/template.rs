//! Templates: text with `{variable}` in it.

use std::borrow::Cow;

/// The variables of a template, each with its value.
pub type Variables<'a> = [(&'static str, Cow<'a, str>)];

/// Puts the values of variables in the place of `{name}`.
///
/// A name consists of ASCII letters, digits and `_`. One that is not among the variables stays as it
/// is written, braces and all. Values are not resolved again.
///
/// Specification: template variables, "Resolution rules".
pub fn resolve(template: &str, variables: &Variables) -> String {
    let mut resolved = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        resolved.push_str(before);
        let name_end =
            after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
        let (name, behind) = after.split_at(name_end);
        let value = behind
            .strip_prefix('}')
            .and_then(|_| variables.iter().find(|(known, _)| *known == name));
        rest = match (value, behind.strip_prefix('}')) {
            (Some((_, value)), Some(behind)) => {
                resolved.push_str(value);
                behind
            }
            _ => {
                resolved.push('{');
                after
            }
        };
    }
    resolved.push_str(rest);
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_variables_are_replaced_once_and_others_stay() {
        let variables: &Variables = &[("a", "{b}".into()), ("b", "B".into()), ("x_1", "X".into())];
        for (template, expected) in [
            ("{a}{b}", "{b}B"),
            ("{x_1}!", "X!"),
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
