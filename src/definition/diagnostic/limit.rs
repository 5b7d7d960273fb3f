//! The fields `write`, `hide`, `network` and `sandbox`.

use super::description::{Description, ValueKind, error, warning};

#[derive(Debug, Clone, PartialEq)]
pub enum LimitProblem {
    NotPaths { field: &'static str, found: ValueKind },
    TooManyPaths { field: &'static str, limit: usize },
    HiddenGlob { path: String },
    HidesProject { path: String },
    MistakenPath { field: &'static str, path: String, why: &'static str, help: String },
    ControlCharacter { field: &'static str },
    ExcludedPath { path: String },
    ParentAfterWildcard { path: String },
    CommandsInFolder { path: String, folder: String },
    MaybeFolder { field: &'static str, path: String },
    LinkedPath { path: String, target: String },
    UnwritableGateFile { path: String, file: String },
    NoToolWrites,
    CommandsWrite,
    NetworkWithoutSandbox,
    UnusedSandbox,
    VariableOfRun { variable: String },
    OpenLimits,
}

impl LimitProblem {
    pub(crate) fn describe(&self) -> Description {
        match self {
            Self::NotPaths { field, found } => {
                let effect = if *field == "hide" { "hides" } else { "allows" };
                error(format!("`{field}`: expected a list of paths, found {found}"))
                    .help(format!("write a list such as `{field}: [docs/]`; `{field}: []` {effect} nothing"))
            }
            Self::HiddenGlob { path } => {
                error(format!("`hide`: `{path}` is a pattern; only files and folders can be hidden"))
                    .help("list the file, or the folder that it is in")
            }
            Self::HidesProject { path } => {
                warning(format!("`hide`: `{path}` contains the project, so every command is refused"))
                    .help("list the files and folders in it that are to be hidden")
            }
            Self::TooManyPaths { field, limit } => error(format!("`{field}` must not have more than {limit} entries"))
                .help("list the folders that the files are in"),
            Self::MistakenPath { field, path, why, help } => {
                error(format!("`{field}`: the path `{path}` {why}")).help(help)
            }
            Self::ControlCharacter { field } => error(format!("`{field}`: a path cannot have control characters")),
            Self::ExcludedPath { path } => {
                error(format!("`write`: `{path}` begins with `!`, and a path cannot be excluded"))
                    .help("list only what may be written; a file whose name begins with `!` is `[!]NAME`")
            }
            Self::ParentAfterWildcard { path } => {
                error(format!("`write`: `..` stands behind a wildcard in `{path}`")).help("write the path without `..`")
            }
            Self::CommandsInFolder { path, folder } => warning(format!(
                "`write`: commands can write everything in `{folder}`, not only `{path}`"
            ))
            .help("a sandbox knows folders and files, but no wildcards; `edit` and `write` are held to the glob"),
            Self::MaybeFolder { field, path } => {
                warning(format!("`{field}`: `{path}` names a file, unless there is a folder of this name"))
                    .help(format!("did you mean `{path}/`?"))
            }
            Self::LinkedPath { path, target } => {
                warning(format!("`write`: `{path}` leads through a link, so it allows nothing"))
                    .help(format!("list the path to which it leads: {target}"))
            }
            Self::UnwritableGateFile { path, file } => warning(format!(
                "`gate.file`: `write` in {file} does not allow `{path}` to be written, here or in an earlier phase"
            ))
            .help(format!("add `{path}` to `write`")),
            Self::NoToolWrites => {
                warning("unused `write`: `tools.whitelist` has none of `edit`, `write`, `bash` and `powershell`")
                    .help("add one of them to the whitelist, or use `write: []`")
            }
            Self::CommandsWrite => {
                warning("`tools.blacklist` refuses `edit` and `write`, but commands of `bash` can change files too")
                    .help(
                        "to look only, write `write: []` in place of the two: no tool and no command can change a file",
                    )
            }
            Self::NetworkWithoutSandbox => {
                warning("`network: false` has no effect with `sandbox: off`: only a sandbox can refuse the network")
                    .help("remove `sandbox: off`, or use `sandbox: preferred`")
            }
            Self::UnusedSandbox => warning("unused `sandbox`: there is no `write` and no `network: false`")
                .help("add the limit that commands are held to, or remove `sandbox`")
                .marking("sandbox"),
            Self::VariableOfRun { variable } => error(format!("`write`: `{variable}` has a value in a run only"))
                .help("these limits hold without a run too: list a folder")
                .marking(variable),
            Self::OpenLimits => warning("`sandbox: off`: a command of the agent can change this file")
                .help("remove `sandbox: off`, or use `sandbox: preferred`"),
        }
    }
}
