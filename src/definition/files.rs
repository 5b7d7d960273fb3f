//! The one way to files and what belongs to them: a small trait that the host side implements.

use std::fmt;

use super::nearest::nearest;

/// A granted folder that holds workflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its name in the grant, for example `global`.
    pub name: String,
    /// Where it is, as a user would write it.
    pub path: String,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name, without a path.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Target of a link: its path from the root, without links. `None` if it is no link, or leads nowhere or
    /// out of the root.
    pub target: Option<String>,
}

/// What a directory entry is, after links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// Anything else; it cannot be read.
    Other,
}

/// Why a file or a directory could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// The session that the work was for is gone.
    Stale,
    /// There is no such root, or it is not granted: pi does not trust the project.
    NoSuchRoot,
    /// There is no such file.
    NotFound,
    /// The path leads out of its root.
    OutsideRoot,
    /// The root must lie in the project, and a link leads out of it; where the root is, as a user would write it.
    OutsideProject(String),
    /// A directory where a file is needed, or the other way round; or a device, a pipe, a socket.
    WrongKind,
    /// Larger than the host reads; its size in bytes.
    TooLarge(u64),
    /// A directory with more entries than the host lists; how many it lists.
    TooMany(u32),
    /// One load has read as much as it may: files and directories are read no more.
    TotalReached,
    /// The operating system's words.
    Failed(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale => f.write_str("the session was replaced"),
            Self::NoSuchRoot => {
                f.write_str("pi does not trust this project, so its files are not read")
            }
            Self::NotFound => f.write_str("there is no such file"),
            Self::OutsideRoot => f.write_str("it lies outside the workflows folder"),
            Self::OutsideProject(_) => f.write_str("a link leads out of the project"),
            Self::WrongKind => f.write_str("it is not a plain file"),
            Self::TooLarge(bytes) => write!(f, "it is too large ({bytes} bytes)"),
            Self::TooMany(most) => write!(f, "it has more than {most} entries"),
            Self::TotalReached => f.write_str("too much was read before it"),
            Self::Failed(words) => f.write_str(words),
        }
    }
}

/// The names of pi's own tools.
const PI_TOOLS: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

/// The tool that a name means but for its case: one of pi's own, or one of these; `None` for a name that is
/// spelt as it should be, or that means no known tool.
pub(super) fn tool_in_another_case<'a>(name: &str, tools: &'a [String]) -> Option<&'a str> {
    let mut known = PI_TOOLS.into_iter().chain(tools.iter().map(String::as_str));
    let meant = known.clone().find(|tool| tool.eq_ignore_ascii_case(name))?;
    known.all(|tool| tool != name).then_some(meant)
}

/// Tests if this is the name of one of pi's own tools.
pub(super) fn is_of_pi(name: &str) -> bool {
    PI_TOOLS.contains(&name)
}

impl FileError {
    /// Tests if nothing more can be read after this error.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::Stale | Self::TotalReached)
    }
}

/// What definitions are held against when they are checked.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The names of the tools that there are.
    pub tools: Vec<String>,
    /// Whether there may be more tools than these. Only a slip is a diagnostic then.
    pub more_tools: bool,
    /// The names of the subagent profiles that somebody defines, where that is known.
    pub profiles: Option<Vec<String>>,
    /// The folders of profiles that are not read because a link leads out of the project.
    pub profiles_outside: Vec<String>,
}

impl Surroundings {
    pub(super) fn nearest_tool(&self, name: &str) -> Option<String> {
        nearest(name, self.tools.iter().map(String::as_str)).map(Into::into)
    }

    pub(super) fn lacks_tool(&self, name: &str) -> bool {
        name != "workflow_step"
            && !self.tools.iter().any(|tool| tool == name)
            && (!self.more_tools || self.nearest_tool(name).is_some())
    }
}

/// Read access to the granted folders, and what is known beside them. Paths are relative to a root, with `/` between their parts.
pub trait WorkflowFiles {
    /// The folders, least specific first: a workflow of a later one replaces one of an earlier.
    fn roots(&self) -> Result<Vec<Root>, FileError>;

    /// The entries of a directory, sorted by name.
    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, FileError>;

    /// The whole content of a file.
    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, FileError>;

    /// Takes down what is asked and answered from now on, in place of what was taken down before; or no longer.
    fn keep_record(&self, _on: bool) {}

    /// Whether all that was taken down would be answered the same again. In doubt it says no.
    fn unchanged(&self) -> bool {
        false
    }

    /// The names of the tools that there are, as far as they are known; pi's own need not be among them.
    fn tools(&self) -> Result<Vec<String>, FileError> {
        Ok(Vec::new())
    }

    /// What definitions are held against when they are checked.
    fn surroundings(&self) -> Result<Surroundings, FileError> {
        Ok(Surroundings { more_tools: true, ..Surroundings::default() })
    }

    /// A text that identifies the project's directory: it is another one where another directory takes its path.
    /// `None` where the system does not tell, and then no answer about the project can be remembered.
    fn project_identity(&self) -> Option<String> {
        None
    }
}
