//! Variables in the paths of `gate.file` and `write`.
//!
//! Values are literal text. In a resolved path a backslash stands before each character of a value that has a meaning
//! in a glob. A path in a file has no backslashes: they are read as `/`.

use std::borrow::Cow;
use std::fmt;

use super::inputs::is_name;
use super::values::{SAMPLE_RUN_DIR, ValueName};

/// Characters that mean something in a glob.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];
const SPECIAL: [char; 8] = ['*', '?', '[', ']', '{', '}', '!', ','];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathVariable {
    /// `{input.NAME}`: the input of this name of the workflow.
    Input(String),
    /// `{itemNumber}`: the number of the item of the innermost group around it that is repeated, from 1.
    ItemNumber,
    /// `{runDir}`: the folder of the run.
    RunDir,
    /// `{item}`: the item of that group, which is a plain name. Only in `write` of a branch of an item.
    Item,
    /// `{item.FIELD}`: the field of this name of that item, as [`Self::Item`].
    ItemField(String),
}

impl PathVariable {
    fn parse(name: &str) -> Option<Self> {
        match ValueName::parse(name).ok()? {
            ValueName::RunDir => Some(Self::RunDir),
            ValueName::ItemNumber => Some(Self::ItemNumber),
            ValueName::Item => Some(Self::Item),
            ValueName::ItemField(name) => is_name(&name).then_some(Self::ItemField(name)),
            ValueName::Input(name) => is_name(&name).then_some(Self::Input(name)),
            _ => None,
        }
    }

    /// Returns the value that the variable stands for.
    pub fn value(&self) -> ValueName {
        match self {
            Self::Input(name) => ValueName::Input(name.clone()),
            Self::ItemNumber => ValueName::ItemNumber,
            Self::RunDir => ValueName::RunDir,
            Self::Item => ValueName::Item,
            Self::ItemField(name) => ValueName::ItemField(name.clone()),
        }
    }

    /// Returns true if the value is the item itself, or a part of it.
    pub fn is_of_item(&self) -> bool {
        matches!(self, Self::Item | Self::ItemField(_))
    }

    /// Returns the reason why a value cannot stand for the variable, in words that follow "the value".
    fn refusal(&self, value: &str) -> Option<&'static str> {
        refusal(value).or_else(|| item_refusal(value).filter(|_| self.is_of_item()))
    }
}

/// The variable as it is written.
impl fmt::Display for PathVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.value())
    }
}

/// The parts of a path: texts, and variables between them.
fn parts(path: &str) -> Vec<Result<PathVariable, &str>> {
    let (mut parts, mut rest, mut from) = (Vec::new(), path, 0);
    while let Some(at) = rest.get(from..).and_then(|later| later.find('{')).map(|at| from + at) {
        let behind = rest.get(at + 1..).unwrap_or_default();
        let variable = behind.split_once('}').and_then(|(name, after)| Some((PathVariable::parse(name)?, after)));
        match variable {
            Some((variable, after)) => {
                parts.push(Err(rest.get(..at).unwrap_or_default()));
                parts.push(Ok(variable));
                (rest, from) = (after, 0);
            }
            None => from = at + 1,
        }
    }
    parts.push(Err(rest));
    parts
}

pub fn variables(path: &str) -> Vec<PathVariable> {
    parts(path).into_iter().filter_map(Result::ok).collect()
}

/// Returns a path with a plain name in the place of each variable, for checks that do not depend on the values.
pub fn with_names(path: &str) -> String {
    let name = |part| match part {
        Ok(PathVariable::Input(name) | PathVariable::ItemField(name)) => Cow::Owned(name),
        Ok(PathVariable::Item) => "item".into(),
        Ok(PathVariable::ItemNumber) => "1".into(),
        Ok(PathVariable::RunDir) => SAMPLE_RUN_DIR.into(),
        Err(text) => Cow::Borrowed(text),
    };
    parts(path).into_iter().map(name).collect()
}

/// Returns a path with these texts in the place of its variables, whatever they are.
pub(crate) fn replaced(path: &str, text_of: impl Fn(&PathVariable) -> Option<String>) -> String {
    let text = |part| match part {
        Ok(variable) => text_of(&variable).map_or_else(|| Cow::Owned(variable.to_string()), Cow::Owned),
        Err(text) => Cow::Borrowed(text),
    };
    parts(path).into_iter().map(text).collect()
}

/// Returns a path with the values of its variables.
///
/// # Errors
///
/// If a variable has no value, or a value that cannot be part of a path; the error is the reason in words.
pub fn resolve(path: &str, value_of: impl Fn(&PathVariable) -> Option<String>) -> Result<String, String> {
    // `plain` has another name in the place of each value of an item.
    let (mut resolved, mut plain) = (String::with_capacity(path.len()), String::new());
    for part in parts(path) {
        match part {
            Err(text) => {
                resolved.push_str(text);
                plain.push_str(text);
            }
            Ok(variable) => {
                let value = value_of(&variable).ok_or_else(|| format!("`{variable}` has no value"))?;
                if let Some(why) = variable.refusal(&value) {
                    return Err(format!("the value of `{variable}` {why}"));
                }
                let begin = resolved.len();
                for c in value.replace('\\', "/").chars() {
                    resolved.extend(SPECIAL.contains(&c).then_some('\\'));
                    resolved.push(c);
                }
                plain.push_str(if variable.is_of_item() { "x" } else { resolved.get(begin..).unwrap_or_default() });
            }
        }
    }
    let of_git = |path: &str| path.split('/').filter(|part| begins_with_git(part)).count();
    if of_git(&resolved) > of_git(&plain) {
        return Err("the values of the item give a component that begins with `.git`".to_owned());
    }
    Ok(resolved)
}

fn begins_with_git(part: &str) -> bool {
    part.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case(".git"))
}

/// Returns the reason why a value cannot be part of a path, in words that follow "the value"; `None` if it can.
pub fn refusal(value: &str) -> Option<&'static str> {
    let path = value.replace('\\', "/");
    let is_drive = path.get(1..2) == Some(":");
    Some(if path.trim().is_empty() {
        "is empty"
    } else if path.starts_with('/') || is_drive {
        "is an absolute path"
    } else if path.split('/').any(|part| part.trim() == "..") {
        "has a component `..`"
    } else if path.starts_with('~') {
        "begins with `~`"
    } else if path.starts_with('-') {
        "begins with `-`"
    } else if path.contains(char::is_control) {
        "has a control character"
    } else {
        return None;
    })
}

/// Returns the reason why a value is no plain name, or several with `/` between them. An agent may have given an item: its
/// value only narrows what stands around it in a path.
fn item_refusal(value: &str) -> Option<&'static str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+@=() /".contains(c);
    let has = |is_wrong: fn(&str) -> bool| value.split('/').any(is_wrong);
    Some(if !value.chars().all(is_plain) {
        "has a character that no plain name has"
    } else if has(str::is_empty) {
        "has an empty component"
    } else if has(|part| part.trim() != part || part.ends_with('.')) {
        "has a component that begins or ends with a blank, or ends with a dot"
    } else if has(begins_with_git) {
        "has a component that begins with `.git`"
    } else {
        return None;
    })
}

/// Returns the place of the first wildcard of a path. The braces of a variable are no wildcard.
pub(crate) fn wildcard(path: &str) -> Option<usize> {
    let mut from = 0;
    for part in parts(path) {
        match part {
            Err(text) => {
                let mut is_escaped = false;
                for (at, c) in text.char_indices() {
                    let is_literal = is_escaped;
                    is_escaped = !is_literal && c == '\\';
                    if !is_literal && WILDCARDS.contains(&c) {
                        return Some(from + at);
                    }
                }
                from += text.len();
            }
            Ok(variable) => from += variable.to_string().len(),
        }
    }
    None
}

/// Returns a path, or a part of it, without the backslashes of its literal characters.
pub fn unescaped(path: &str) -> Cow<'_, str> {
    if !path.contains('\\') {
        return Cow::Borrowed(path);
    }
    let mut characters = path.chars();
    let mut plain = String::with_capacity(path.len());
    while let Some(c) = characters.next() {
        plain.extend(if c == '\\' { characters.next() } else { Some(c) });
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(path: &str, value: &str) -> Result<String, String> {
        let is_a = |variable: &_| *variable == PathVariable::Input("a".into());
        resolve(path, |variable| is_a(variable).then(|| value.to_owned()))
    }

    #[test]
    fn values_are_literal_text() {
        for (path, value, expected) in [
            ("docs/{input.a}.md", "plan", "docs/plan.md"),
            ("docs/{input.a}/{b,c}/*.md", "x/y", "docs/x/y/{b,c}/*.md"),
            ("{input.a}{input.a}", "x", "xx"),
            ("docs/{input.a}/", "*", r"docs/\*/"),
            ("docs/{input.a}", "[a]{b,c}?!", r"docs/\[a\]\{b\,c\}\?\!"),
            ("docs/{input.a}", "{input.a}", r"docs/\{input.a\}"),
            ("docs/{input.a}", r"x\y", "docs/x/y"),
            ("docs/{inputs.a}/{input.}/{input.b c}", "x", "docs/{inputs.a}/{input.}/{input.b c}"),
            ("{{input.a}", "x", "{x"),
        ] {
            let text = resolved(path, value).unwrap();
            assert_eq!(text, expected, "{path}");
            let plain = path.replace("{input.a}", &value.replace('\\', "/"));
            assert_eq!(unescaped(&text), plain, "{path}");
        }
        assert_eq!(wildcard(r"docs/\*/\{a\}"), None);
        assert_eq!(wildcard(r"docs/\**"), Some(7));
        assert_eq!(wildcard("docs/{input.a}"), None);
        assert_eq!(wildcard("docs/{input.a}/*"), Some(15));
        assert_eq!(with_names("a/{input.x}/{b,c}"), "a/x/{b,c}");
        assert_eq!(variables("{runDir}/{rundir}/a"), [PathVariable::RunDir]);
        let path = resolve("{runDir}/*.md", |_| Some(".pi/workflow-runs/a".into()));
        assert_eq!(path.as_deref(), Ok(".pi/workflow-runs/a/*.md"));
        assert_eq!(resolve("{runDir}/a", |_| None), Err("`{runDir}` has no value".into()));
    }

    #[test]
    fn items_give_no_name_of_git_together() {
        let resolved = |path: &str, first: &str, second: &str| {
            let value = |variable: &PathVariable| match variable {
                PathVariable::ItemField(name) if name == "a" => Some(first.to_owned()),
                _ => Some(second.to_owned()),
            };
            resolve(path, value).is_ok()
        };
        assert!(!resolved("src/{item.a}{item.b}/", ".g", "it"));
        assert!(!resolved("src/{item.a}/.{item.b}/", "x", "git/hooks"));
        assert!(!resolved("src/.{item.b}/", "", "GIT"));
        assert!(resolved("src/{item.a}{item.b}/", "a.g", "it"));
        assert!(resolved("src/.gitlab/{item.b}/", "", "x"), "the author's own name");
    }

    #[test]
    fn values_that_lead_elsewhere_are_refused() {
        for (value, why) in [
            ("", "is empty"),
            ("  ", "is empty"),
            ("/etc/passwd", "is an absolute path"),
            (r"\etc", "is an absolute path"),
            ("C:/x", "is an absolute path"),
            ("..", "has a component `..`"),
            ("a/../../b", "has a component `..`"),
            (r"a\..\b", "has a component `..`"),
            ("a/.. /b", "has a component `..`"),
            ("~", "begins with `~`"),
            ("~/.ssh", "begins with `~`"),
            ("-rf", "begins with `-`"),
            ("a\nb", "has a control character"),
            ("a\u{1b}[2J", "has a control character"),
        ] {
            let expected = format!("the value of `{{input.a}}` {why}");
            assert_eq!(resolved("docs/{input.a}", value), Err(expected), "{value:?}");
        }
        assert_eq!(resolved("{input.b}", "x"), Err("`{input.b}` has no value".into()));
        for value in ["a", "a/b", "a..b", "..a", ".", "./a", "a b", "ä", "a-b", "a~"] {
            assert_eq!(refusal(value), None, "{value}");
        }
    }

    #[test]
    fn an_item_is_a_plain_name() {
        let of = |value: &str| resolve("src/{item.a}/b", |_| Some(value.to_owned()));
        for value in ["a", "a/b", "Bücher (neu)", "v1.2_x+y@z=1", "..a", ".config", "x.git"] {
            assert_eq!(of(value), Ok(format!("src/{value}/b")));
        }
        let long = "x/".repeat(50_000);
        for value in [
            "",
            " ",
            "/",
            "/a",
            "a/",
            "a//b",
            "a/.",
            ".",
            "..",
            "a/..",
            "../a",
            "a/../b",
            "a.",
            "a. ",
            " a",
            "a /b",
            "~",
            "~/a",
            "-a",
            ".git",
            "a/.git",
            ".GIT/hooks",
            ".gitmodules",
            "*",
            "a*",
            "a?",
            "[a]",
            "{a,b}",
            "a,b",
            "!a",
            "{input.a}",
            "a\\b",
            "\\",
            "a\nb",
            "a\0",
            "a\u{1b}[31m",
            "a\u{202e}b",
            "a\u{200c}",
            "e\u{301}",
            "C:",
            "C:/a",
            "a:b",
            "$(a)",
            "`a`",
            "a;b",
            "a|b",
            "a&b",
            "a>b",
            "\"a\"",
            "'a'",
            "a\u{a0}",
            &long,
        ] {
            assert!(of(value).is_err(), "{value:?}");
        }
        // The value of an input may be a glob's text, which is literal.
        assert!(resolve("src/{input.a}/", |_| Some("[a]".into())).is_ok());
    }
}
