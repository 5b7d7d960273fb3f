//! The trait through which workflow files are read; the host side implements it. The totals of one load.

use std::fmt;

use super::models::KnownModel;
use super::nearest::nearest;
use super::tools::means_tool;

/// A granted folder that holds workflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The name of the root in the grant, for example `global`.
    pub name: String,
    /// The location of the root, as a user would write it.
    pub path: String,
    /// Its absolute path with `/`.
    pub location: String,
    /// The installed pi package that the folder belongs to, if any.
    pub package: Option<Package>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    /// The settings that list the package.
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
    /// The target of a link: its path from the root, without links. `None` if the entry is not a link, or if the link
    /// leads nowhere or out of the root.
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

/// The session that a call was made for is gone: its work ends, and no more files are read for the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stale;

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the session was replaced")
    }
}

/// The reason why a file or a directory could not be read.
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
    /// The root does not exist, or is not granted because pi does not trust the project.
    NoSuchRoot,
    NotFound,
    /// The path leads out of its root.
    OutsideRoot,
    /// A link leads out of the project, in which the root must lie; the location of the root, as a user would write it.
    OutsideProject(String),
    /// A directory where a file is needed, or the other way round; or a device, a pipe, a socket.
    WrongKind,
    /// The file is larger than the host reads; its size in bytes.
    TooLarge(u64),
    /// The directory has more entries than the host lists; the maximum number of entries.
    TooMany(u32),
    /// Another error, in the words of the operating system.
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
            && !self.tools.iter().any(|tool| means_tool(name, tool))
            && (!self.more_tools || self.nearest_tool(name).is_some())
    }
}

/// A file that a tool would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteTarget {
    /// The absolute path with `/`, after all links are followed. The file need not exist.
    pub path: String,
    /// A link was followed below the directory in which the path starts.
    pub linked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage {
    /// The host's name for the message.
    pub id: String,
    pub text: String,
    pub images: u32,
}

/// Read access to the granted folders. Paths are relative to a root, with `/` between their parts.
pub trait WorkflowFiles {
    /// Returns the names of the known tools; pi's own tools need not be among them.
    fn tools(&self) -> Result<Vec<String>, Stale> {
        Ok(Vec::new())
    }

    /// Returns the roots, least specific first: a workflow in a later root replaces the workflow with the same key in
    /// an earlier root. The roots of packages come last; the keys of their workflows begin with the package.
    fn roots(&self) -> Result<Vec<Root>, Stale>;

    /// Returns the entries of a directory, sorted by name.
    fn list(&self, root: &str, path: &str) -> Result<Vec<DirEntry>, ReadError>;

    /// Returns the whole content of a file.
    fn read(&self, root: &str, path: &str) -> Result<Vec<u8>, ReadError>;

    /// Returns the names that validation compares with.
    fn surroundings(&self) -> Result<Surroundings, Stale> {
        Ok(Surroundings { more_tools: true, ..Surroundings::default() })
    }

    /// Returns the file that pi's `edit` and `write` would write for the argument `path`. The inner error is the
    /// reason, for the user, why the host cannot tell the file.
    fn resolve_write(&self, _path: &str) -> Result<Result<WriteTarget, String>, Stale> {
        Ok(Err("the host does not tell".into()))
    }
}

/// The rest of a path below a directory; empty for the directory itself, `None` elsewhere.
pub(crate) fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() || directory.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns the file to which the fixed part of a rule leads.
pub(crate) fn resolve_fixed(fixed: &str, host: &dyn WorkflowFiles) -> Result<Result<WriteTarget, String>, Stale> {
    // pi's tools remove an `@` at the beginning of their argument; a rule with one names a file.
    if fixed.starts_with('@') {
        return host.resolve_write(&format!("./{fixed}"));
    }
    host.resolve_write(if fixed.is_empty() { "." } else { fixed })
}

/// Maximum number of directory entries of one load, with the phases that workflows list and the checks of their gates.
pub const MAX_ENTRIES: usize = 50_000;

/// Maximum number of bytes that one load reads.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Maximum depth of nested workflows.
pub const MAX_NESTING: usize = 100;

/// A total of one load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Entries,
    Bytes,
}
