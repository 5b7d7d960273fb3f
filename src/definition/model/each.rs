//! The items for which a group is repeated: `each`.

use std::fmt;

use super::values::ValueName;

/// Where the items of a group come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Each {
    /// They stand in the file; at least one.
    Items(Vec<String>),
    /// A list of the run: one of [`Self::FORMS`].
    Of(ValueName),
}

impl Each {
    /// The forms of the names that it may have.
    pub const FORMS: [&str; 2] = [ValueName::INPUT, ValueName::OUTPUT];
}

/// The name of the list, or its items.
impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items(items) => write!(f, "[{}]", items.join(", ")),
            Self::Of(name) => name.fmt(f),
        }
    }
}
