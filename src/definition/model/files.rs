//! The trait through which workflow files are read; the host side implements it.

use std::fmt;

use super::models::KnownModel;
use super::nearest::nearest;

/// A granted folder that holds workflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its name in the grant, for example `global`.
    pub name: String,
    /// Its location, as a user would write it.
    pub path: String,
    /// The package, if it is the folder of an installed pi package.
    pub package: Option<Package>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    /// The settings that list it.
    pub scope: PackageScope,
    /// The value of the field `pi-workflows.workflows` of its `package.json`, as JSON.
    pub workflows: String,
}

/// The settings that list a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageScope {
    User,
    Project,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name, without a path.
    pub name: String,
    pub kind: FileKind,
    /// Target of a link: its path from the root, without links. `None` if it is no link, or leads nowhere or
    /// out of the root.
    pub target: Option<String>,
}

/// The kind of a directory entry, after links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    /// Anything else; it cannot be read.
    Other,
}

/// The session that a call was made for is gone: its work ends, and nothing is read for it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stale;

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the session was replaced")
    }
}

/// A read that returned nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    Stale,
    File(FileError),
}

impl From<Stale> for ReadError {
    fn from(Stale: Stale) -> Self {
        Self::Stale
    }
}

impl From<FileError> for ReadError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// There is no such root, or it is not granted: pi does not trust the project.
    NoSuchRoot,
    NotFound,
    /// The path leads out of its root.
    OutsideRoot,
    /// The root must lie in the project, and a link leads out of it; the location of the root, as a user would write
    /// it.
    OutsideProject(String),
    /// A directory where a file is needed, or the other way round; or a device, a pipe, a socket.
    WrongKind,
    /// Larger than the host reads; its size in bytes.
    TooLarge(u64),
    /// A directory with more entries than the host lists; the number that it lists.
    TooMany(u32),
    /// The operating system's words.
    Failed(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchRoot => f.write_str("pi does not trust this project, so its files are not read"),
            Self::NotFound => f.write_str("there is no such file"),
            Self::OutsideRoot => f.write_str("it lies outside the workflows folder"),
            Self::OutsideProject(_) => f.write_str("a link leads out of the project"),
            Self::WrongKind => f.write_str("it is not a plain file"),
            Self::TooLarge(bytes) => write!(f, "it is too large ({bytes} bytes)"),
            Self::TooMany(most) => write!(f, "it has more than {most} entries"),
            Self::Failed(words) => f.write_str(words),
        }
    }
}

/// The names that a check of workflow files compares with.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    pub tools: Vec<String>,
    /// There may be other tools too: only a name that is similar to a known one is a diagnostic.
    pub more_tools: bool,
    /// The names of the defined subagent profiles, if they are known.
    pub profiles: Option<Vec<String>>,
    /// The folders of profiles that are not read because a link leads out of the project.
    pub profiles_outside: Vec<String>,
    /// The models that pi knows, if they are known.
    pub models: Option<Vec<KnownModel>>,
}

impl Surroundings {
    pub(crate) fn nearest_tool(&self, name: &str) -> Option<String> {
        nearest(name, self.tools.iter().map(String::as_str)).map(Into::into)
    }

    pub(crate) fn lacks_tool(&self, name: &str) -> bool {
        name != "workflow_step"
            && !self.tools.iter().any(|tool| tool == name)
            && (!self.more_tools || self.nearest_tool(name).is_some())
    }
}

/// A file that a tool would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteTarget {
    /// Its absolute path with `/`, after all links are followed. The file need not exist.
    pub path: String,
    /// A link was followed below the directory in which the path starts.
    pub linked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage {
    /// The host's name for it.
    pub id: String,
    pub text: String,
    pub images: u32,
}

/// Read access to the granted folders. Paths are relative to a root, with `/` between their parts.
pub trait WorkflowFiles {
    /// The names of the tools that there are, as far as they are known; pi's own need not be among them.
    fn tools(&self) -> Result<Vec<String>, Stale> {
        Ok(Vec::new())
    }

    /// The folders, least specific first: a workflow of a later one replaces one of the same key of an earlier. Those
    /// of packages come last: their keys differ from all others.
    fn roots(&self) -> Result<Vec<Root>, Stale>;

    /// The entries of a directory, sorted by name.
    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError>;

    /// The whole content of a file.
    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError>;

    /// The names that a check compares with.
    fn surroundings(&self) -> Result<Surroundings, Stale> {
        Ok(Surroundings { more_tools: true, ..Surroundings::default() })
    }

    /// The file that pi's `edit` and `write` would write if this were their argument `path`; the inner error is the
    /// reason, for the user, if it cannot be told.
    fn resolve_write(&self, _path: &str) -> Result<Result<WriteTarget, String>, Stale> {
        Ok(Err("the host does not tell".into()))
    }
}
