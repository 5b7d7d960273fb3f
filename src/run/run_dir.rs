//! The folder of a run in the project.

use serde::{Serialize, Serializer};

use crate::definition::SAMPLE_RUN_DIR;

/// The folder of a run in the project. The host makes its name. Only the name is stored; by the name, a fork of the
/// session finds the folder to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    name: String,
    path: Option<String>,
}

/// The folder of all folders of runs, as the package's manifest grants it.
const PLACE: &str = ".pi/workflow-runs";

/// The length of a name.
const LENGTH: usize = 20;

impl RunDir {
    /// The folder that the host has made: its name, and its path from the working directory.
    pub fn opened(name: String, path: String) -> Self {
        Self { name, path: Some(path) }
    }

    /// The folder that a session names; `None` if the text cannot be the name of a folder.
    pub fn stored(name: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_name = name.len() == LENGTH && name.bytes().all(is_digit);
        is_name.then(|| Self { name: name.to_owned(), path: None })
    }

    /// A sample, for previews.
    pub fn sample() -> Self {
        Self { name: String::new(), path: Some(SAMPLE_RUN_DIR.to_owned()) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its path for the user: also where the host has not opened it.
    pub fn shown(&self) -> String {
        self.path.clone().unwrap_or_else(|| format!("{PLACE}/{}", self.name))
    }

    /// Its path from the working directory, with `/`; `None` while the host has not opened it for this session.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}

/// Only the name is stored.
impl Serialize for RunDir {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_the_host_makes_are_read() {
        let name = "0123456789abcdef0123";
        let stored = RunDir::stored(name).unwrap();
        assert_eq!((stored.name(), stored.path()), (name, None));
        for other in [
            "",
            "../../etc",
            "/etc",
            "..",
            "0123456789abcdef012",
            "0123456789abcdef01234",
            "0123456789ABCDEF0123",
            "0123456789abcdef/123",
            "../../../../../../..",
            "0123456789abcdef012\n",
            "0123456789abcdef01\u{e9}",
        ] {
            assert_eq!(RunDir::stored(other), None, "{other}");
        }
    }
}
