//! The form of a YAML text.

use super::description::{Description, ValueKind, error, warning};

#[derive(Debug, Clone, PartialEq)]
pub enum YamlProblem {
    NotYaml { words: String, help: String },
    LongYaml { limit: usize },
    OpenBrackets { limit: usize },
    TooManyKeys { limit: usize },
    SecondDocument,
    YamlDirective,
    UnknownTag { tag: String },
    WrongTag { tag: String, found: ValueKind },
    TaggedKey { tag: String },
    BadKey { found: ValueKind },
    DuplicateKey { key: String },
    MergeKey,
    NotAMapping { found: ValueKind },
    Comment { comment: String, text: String },
    ItemInText,
}

impl YamlProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NotYaml { words, help } => error(format!("not valid YAML: {words}")).help(help),
            Self::LongYaml { limit } => error(format!("more than {} KiB of YAML", limit / 1024)),
            Self::OpenBrackets { limit } => error(format!("more than {limit} open brackets")),
            Self::TooManyKeys { limit } => error(format!("more than {limit} keys in a mapping")),
            Self::SecondDocument => {
                error("expected one YAML document, found a second one").help("remove the line `---`")
            }
            Self::YamlDirective => error("YAML directives are not supported").help("remove this line"),
            Self::UnknownTag { tag } => error(format!("unknown YAML tag `{tag}`"))
                .help("put a value that begins with `!` in quotes")
                .marking(tag),
            Self::WrongTag { tag, found } => error(format!("the YAML tag `{tag}` does not fit {found}"))
                .help("remove the tag, or put a value that begins with `!` in quotes")
                .marking(tag),
            Self::TaggedKey { tag } => error("a key cannot have a YAML tag").help("remove the tag").marking(tag),
            Self::BadKey { found } => error(format!("expected a string as the key, found {found}")),
            Self::DuplicateKey { key } => {
                error(format!("duplicate key `{key}`")).help("remove one of the two").marking(key)
            }
            Self::MergeKey => error("merge keys are not supported").help("write the fields themselves").marking("<<"),
            Self::NotAMapping { found } => error(format!("expected a mapping of fields to values, found {found}"))
                .help("write each field in a line of its own, as `FIELD: VALUE`, with a space behind the `:`"),
            Self::ItemInText => warning("`- ` within a text is part of the text, not another item of a list")
                .help("indent each `-` of a list alike; or put the text in quotes")
                .marking("-"),
            Self::Comment { comment, text } => {
                warning(format!("`{comment}` is a comment: it is not part of the text before it"))
                    .help(format!("put the text in quotes, as `{text}`; or a space behind the `#` of a comment"))
                    .marking(comment)
            }
        }
    }
}
