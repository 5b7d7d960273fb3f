//! Types of values: of inputs, and of outputs.

use super::words::{either, is_blank, trim};

/// Maximum length of a value, and of an item of a list, in characters. State entries of the run hold the values.
pub const MAX_VALUE: usize = 1000;
/// Maximum of the `max` of a text.
pub const MAX_TEXT: usize = 10_000;
/// Maximum length of all records of a list together, in bytes of JSON. Such a list fits into a text of a state entry.
pub const MAX_RECORDS: usize = 60_000;
/// Maximum number of items of a list.
pub const MAX_ITEMS: usize = 100;
/// Maximum length of all items of a list together, in characters. In UTF-8 such a list fits into a text of a state
/// entry.
pub const MAX_LIST: usize = 16_000;

/// Type of a value. A value is a text; the value of a list has one item on each line.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum ValueType {
    /// Any text that is not blank, with at most this many characters.
    Text(usize),
    Number(Bounds),
    /// One of these texts.
    Choice(Vec<String>),
    /// `true` or `false`.
    Flag,
    /// A command line that the user consents to before it runs: one line, at most [`MAX_VALUE`] characters.
    Command,
    /// Texts of one line, not blank; or records.
    List {
        /// The least number of items.
        min: usize,
        /// The greatest number of items, at most [`MAX_ITEMS`].
        max: usize,
        /// The fields of a record; empty for a list of texts. No field is a list of records.
        fields: Vec<Output>,
    },
}

/// A value that the agent gives when it leaves a phase, or a field of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    pub kind: ValueType,
    /// The phase can be left without the output, a record can lack the field.
    pub is_optional: bool,
    /// The input of the workflow that gives the greatest number of items of a list; the `max` of the type is then the
    /// greatest number of all lists.
    pub max_items: Option<String>,
    /// Its meaning, for the agent.
    pub description: Option<String>,
}

impl Output {
    /// Returns the output with the greatest number of its items; `value_of` returns the value of an input.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn resolved(&self, value_of: impl Fn(&str) -> f64) -> Self {
        let mut resolved = self.clone();
        if let (Some(name), ValueType::List { min, max, .. }) = (resolved.max_items.take(), &mut resolved.kind) {
            *max = (value_of(&name) as usize).max(*min).min(*max);
        }
        resolved
    }
}

/// Bounds of a number, both inclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bounds {
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Bounds {
    fn contain(&self, number: f64) -> bool {
        self.min.is_none_or(|min| min <= number) && self.max.is_none_or(|max| number <= max)
    }

    /// Returns the number within the bounds that is nearest to a number; of NaN the least.
    pub fn nearest(&self, number: f64) -> f64 {
        number.max(self.min.unwrap_or(number)).min(self.max.unwrap_or(f64::INFINITY))
    }
}

impl ValueType {
    /// A text without a `max`.
    pub const TEXT: Self = Self::Text(MAX_VALUE);

    /// Returns the stored form of the value that a text means; `None` if the text is not of the type.
    pub fn value(&self, text: &str) -> Option<String> {
        let text = trim(text);
        let is_valid = match self {
            Self::Text(max) => !text.is_empty() && text.chars().count() <= *max,
            Self::Number(bounds) => {
                let number = number(text).filter(|number| bounds.contain(*number))?;
                return Some(if is_plain_decimal(text) { text.to_owned() } else { in_json(number) });
            }
            Self::Choice(options) => options.iter().any(|option| option == text),
            Self::Flag => return flag(text),
            Self::Command => !text.is_empty() && text.chars().count() <= MAX_VALUE && !text.contains(char::is_control),
            Self::List { fields, .. } if !fields.is_empty() => return self.records(text),
            Self::List { .. } => return self.list(&Vec::from_iter(text.lines())),
        };
        is_valid.then(|| text.to_owned())
    }

    /// Returns the value of a list with these items; `None` if the list is not of the type. Blank items are left out.
    pub fn list(&self, items: &[impl AsRef<str>]) -> Option<String> {
        let Self::List { min, max, fields } = self else { return None };
        if !fields.is_empty() {
            let lines: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
            return self.records(&lines.join("\n"));
        }
        let items = items.iter().map(|item| trim(item.as_ref()));
        let items: Vec<&str> = items.filter(|item| !is_blank(item)).collect();
        let length = |item: &&str| item.chars().count();
        let is_item = |item: &&str| length(item) <= MAX_VALUE && !item.contains(['\n', '\r']);
        let is_valid = (*min..=*max).contains(&items.len())
            && items.iter().all(is_item)
            && items.iter().map(length).sum::<usize>() <= MAX_LIST;
        is_valid.then(|| items.join("\n"))
    }

    /// Returns true for a list whose items are given one by one.
    pub fn is_list_of_texts(&self) -> bool {
        matches!(self, Self::List { fields, .. } if fields.is_empty())
    }

    /// Returns the possible values of a choice or a flag; empty for any other type.
    pub fn options(&self) -> Vec<&str> {
        match self {
            Self::Choice(options) => options.iter().map(String::as_str).collect(),
            Self::Flag => vec!["true", "false"],
            Self::Text(_) | Self::Number(_) | Self::Command | Self::List { .. } => Vec::new(),
        }
    }

    /// Returns true if a value of this type is one of these values.
    pub fn is_one_of(&self, value: &str, values: &[String]) -> bool {
        values.iter().any(|other| match self {
            Self::Number(_) => number(other).is_some() && number(other) == number(value),
            Self::Flag => flag(other).as_deref() == Some(value),
            Self::Text(_) | Self::Choice(_) | Self::Command | Self::List { .. } => other == value,
        })
    }

    /// Returns true if each value of the other type is a value of this type too.
    pub fn accepts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List { min, max, fields }, Self::List { min: least, max: most, fields: others }) => {
                min <= least && most <= max && accept(fields, others)
            }
            (_, Self::List { .. }) | (Self::List { .. }, _) => false,
            // Nothing else becomes a command: an agent may have given it.
            (Self::Command, other) => *other == Self::Command,
            (Self::Text(max), Self::Text(most)) => most <= max,
            (Self::Text(max), Self::Number(_) | Self::Command) => *max >= MAX_VALUE,
            (Self::Number(bounds), Self::Number(other)) => {
                bounds.min.is_none_or(|min| other.min.is_some_and(|least| min <= least))
                    && bounds.max.is_none_or(|max| other.max.is_some_and(|most| most <= max))
            }
            (_, Self::Choice(_) | Self::Flag) => other.options().into_iter().all(|option| self.value(option).is_some()),
            (_, Self::Text(_) | Self::Number(_) | Self::Command) => false,
        }
    }

    /// Returns a sample value with this name, for a preview.
    pub fn sample(&self, name: &str) -> String {
        match self {
            Self::Text(max) => format!("({name})").chars().take(*max).collect(),
            Self::Command => "true".to_owned(),
            Self::Number(Bounds { min, max }) => {
                let number = match (min, max) {
                    (Some(min), _) if *min > 1.0 => *min,
                    (_, Some(max)) if *max < 1.0 => *max,
                    _ => 1.0,
                };
                number.to_string()
            }
            Self::Choice(_) | Self::Flag => self.options().first().copied().unwrap_or("").into(),
            Self::List { min, max, fields } => {
                let count = (*min).max(2).min(*max);
                let item = |n: usize| match &fields[..] {
                    [] => format!("({name} {n})"),
                    fields => Self::sample_of_record(fields, &|field| format!("({field} {n})")),
                };
                let items: Vec<String> = (1..=count).map(item).collect();
                items.join("\n")
            }
        }
    }

    /// Returns the type in a few words.
    pub fn in_brief(&self) -> String {
        match self {
            Self::Text(_) => "text".to_owned(),
            Self::Number(Bounds { min: None, max: None }) => "number".to_owned(),
            Self::Command => "command".to_owned(),
            Self::Choice(_) | Self::Flag | Self::Number(_) => self.expected(),
            Self::List { fields, .. } if fields.is_empty() => "list".to_owned(),
            Self::List { fields, .. } => {
                let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
                format!("list of records with {}", names.join(", "))
            }
        }
    }

    /// Returns the possible values in words.
    pub fn expected(&self) -> String {
        match self {
            Self::Text(max) => format!("a text of 1 to {max} characters"),
            Self::Command => format!("a command of one line and at most {MAX_VALUE} characters"),
            Self::Number(Bounds { min, max }) => match (min, max) {
                (None, None) => "a number".into(),
                (Some(min), None) => format!("a number of at least {min}"),
                (None, Some(max)) => format!("a number of at most {max}"),
                (Some(min), Some(max)) => format!("a number from {min} to {max}"),
            },
            Self::Choice(_) | Self::Flag => either(&self.options()),
            Self::List { min, max, fields } => {
                let count = match (min, max) {
                    (0, max) => format!("at most {max}"),
                    (min, max) if min == max => min.to_string(),
                    (min, max) => format!("{min} to {max}"),
                };
                if !fields.is_empty() {
                    let fields: Vec<String> = fields.iter().map(in_record).collect();
                    let records = if *max == 1 { "record" } else { "records" };
                    return format!("a list of {count} {records} {{ {} }}", fields.join(", "));
                }
                let texts = if *max == 1 { "text" } else { "texts" };
                let each = format!("of one line and at most {MAX_VALUE} characters");
                format!("a list of {count} {texts} {each}, {MAX_LIST} in all")
            }
        }
    }
}

/// Returns the finite number that a text means, in any form of YAML.
fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let radix = match digits.get(..2) {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => return text.parse().ok().filter(|number: &f64| number.is_finite()),
    };
    let digits = digits.get(2..).filter(|digits| !digits.starts_with('+'))?;
    #[allow(clippy::cast_precision_loss, reason = "a number is one of JavaScript's")]
    let number = u64::from_str_radix(digits, radix).ok()? as f64;
    Some(if text.starts_with('-') { -number } else { number })
}

/// Returns true for digits without an exponent that are a number of JSON: they are kept as they are written.
fn is_plain_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole) && are_digits(fraction) && (whole == "0" || !whole.starts_with('0'))
}

/// Returns a number as JSON has it.
fn in_json(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-6..1e21 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// Returns the flag that a text means; YAML also has `True` and `TRUE`.
fn flag(text: &str) -> Option<String> {
    ["true", "false"].into_iter().find(|word| word.eq_ignore_ascii_case(text)).map(ToOwned::to_owned)
}

/// Returns true if records with these fields accept each record with the other fields.
fn accept(fields: &[Output], others: &[Output]) -> bool {
    let named = |fields: &'_ [Output], name: &str| fields.iter().position(|field| field.name == *name);
    let has_all = others.iter().all(|other| named(fields, &other.name).is_some());
    has_all
        && fields.iter().all(|field| match others.iter().find(|other| other.name == field.name) {
            Some(other) => field.kind.accepts(&other.kind) && (field.is_optional || !other.is_optional),
            None => field.is_optional && !others.is_empty(),
        })
        && fields.is_empty() == others.is_empty()
}

/// Returns a field of a record in words.
fn in_record(Output { name, kind, is_optional, .. }: &Output) -> String {
    let optional = if *is_optional { ", optional" } else { "" };
    let kind = match kind {
        ValueType::Text(MAX_VALUE) => "text".to_owned(),
        ValueType::List { .. } => "list of texts".to_owned(),
        kind => kind.expected(),
    };
    format!("{name}: {kind}{optional}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(min: usize, max: usize) -> ValueType {
        ValueType::List { min, max, fields: vec![] }
    }

    fn number(min: Option<f64>, max: Option<f64>) -> ValueType {
        ValueType::Number(Bounds { min, max })
    }

    #[test]
    fn lists_have_an_item_on_each_line() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(list(0, 3).value(" a \n\n b\r\n"), some("a\nb"));
        assert_eq!(list(0, 3).value(""), some(""));
        assert_eq!(list(1, 3).value(" \n "), None);
        assert_eq!(list(0, 2).value("a\nb\nc"), None);
        assert_eq!(list(0, 2).list(&["a", " ", "b"]), some("a\nb"));
        assert_eq!(list(0, 2).list(&["a\nb"]), None);
        assert_eq!(list(0, 2).list(&["a\rb"]), None);
        assert_eq!(list(0, 2).list(&["ä".repeat(MAX_VALUE)]), Some("ä".repeat(MAX_VALUE)));
        assert_eq!(list(0, 2).list(&["ä".repeat(MAX_VALUE + 1)]), None);
        assert_eq!(list(0, 100).list(&vec!["x".repeat(200); 81]), None);
        assert_eq!(ValueType::TEXT.list(&["a"]), None);
    }

    #[test]
    fn numbers_are_within_their_bounds() {
        for (kind, text, is_valid) in [
            (number(None, None), "-1e300", true),
            (number(None, None), "inf", false),
            (number(None, None), "NaN", false),
            (number(Some(1.0), None), "1", true),
            (number(Some(1.0), None), "0.9", false),
            (number(None, Some(2.0)), "2.0", true),
            (number(None, Some(2.0)), "2.1", false),
        ] {
            assert_eq!(kind.value(text).is_some(), is_valid, "{text}");
        }
    }

    #[test]
    fn a_type_accepts_another_one_with_each_of_its_values() {
        let choice = |options: &[&str]| ValueType::Choice(options.iter().map(|&option| option.into()).collect());
        for (kind, other, accepts) in [
            (ValueType::TEXT, number(None, None), true),
            (ValueType::TEXT, list(0, 1), false),
            (list(0, 1), ValueType::TEXT, false),
            (list(0, 5), list(1, 5), true),
            (list(1, 5), list(0, 5), false),
            (list(0, 5), list(0, 6), false),
            (number(Some(1.0), None), number(Some(2.0), None), true),
            (number(Some(1.0), None), number(None, Some(2.0)), false),
            (number(Some(1.0), Some(3.0)), choice(&["1", "2"]), true),
            (number(Some(1.0), Some(3.0)), choice(&["1", "4"]), false),
            (choice(&["a", "b"]), choice(&["a"]), true),
            (choice(&["a"]), choice(&["a", "b"]), false),
            (choice(&["a"]), ValueType::TEXT, false),
        ] {
            assert_eq!(kind.accepts(&other), accepts, "{kind:?} {other:?}");
        }
    }

    #[test]
    fn a_sample_is_of_the_type() {
        for kind in [
            ValueType::TEXT,
            number(None, None),
            number(Some(3.0), None),
            number(None, Some(-3.0)),
            ValueType::Flag,
            ValueType::Choice(vec!["a".into()]),
            list(0, 100),
            list(0, 1),
            list(5, 5),
            list(0, 0),
        ] {
            let sample = kind.sample("n");
            assert_eq!(kind.value(&sample), Some(sample.clone()), "{kind:?}");
        }
    }
}
