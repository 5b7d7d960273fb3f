//! Paths below a root, with `/` between their parts.

/// The name at the end of a path.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns true if a name can be that of a command: ASCII letters, digits, `_` and `-`.
pub(crate) fn is_command_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// Returns true if a name means the workflow with this key: the name is the key, or the key without the package.
pub fn is_key(key: &str, name: &str) -> bool {
    !is_group_key(key) && (key == name || last_part(key) == name)
}

/// The package in the key `PACKAGE/FOLDER` of a package's workflow, or of a group in one.
pub(crate) fn package_of(key: &str) -> Option<&str> {
    let file = key.split_once(GROUP).map_or(key, |(file, _)| file);
    file.rsplit_once('/').map(|(package, _)| package)
}

/// Stands between the key of the file and the place of the group in the key of a group. No folder has such a name.
const GROUP: &str = "//";

/// The key of the group to which these indices of entries lead in the file of a workflow, for example `release//2.0`.
pub(crate) fn group_key(file: &str, at: &[usize]) -> String {
    let at: Vec<String> = at.iter().map(usize::to_string).collect();
    format!("{file}{GROUP}{}", at.join("."))
}

pub fn is_group_key(key: &str) -> bool {
    key.contains(GROUP)
}

pub fn is_within(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Joins two paths, of which either may be empty.
pub(crate) fn join(parent: &str, name: &str) -> String {
    match (parent, name) {
        ("", name) => name.to_owned(),
        (parent, "") => parent.to_owned(),
        (parent, name) => [parent, "/", name].concat(),
    }
}

/// The path of a phase file from its root; `None` if it is absolute or leads out of the root.
///
/// A backslash separates too, so that a workflow written on Windows works elsewhere.
pub(crate) fn resolve(folder: &str, path: &str) -> Option<String> {
    resolve_folder(folder, path).filter(|path| !path.is_empty())
}

/// Like `resolve` for a folder, which may be the root: the empty path.
pub(crate) fn resolve_folder(folder: &str, path: &str) -> Option<String> {
    let is_separator = |byte: u8| matches!(byte, b'/' | b'\\');
    let absolute = match path.as_bytes() {
        [first, ..] if is_separator(*first) => true,
        [drive, b':', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    };
    if absolute {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn phase_paths_stay_in_their_root() {
        for (path, resolved) in [
            ("a.md", Some("review/a.md")),
            ("./a.md", Some("review/a.md")),
            ("../_shared/a.md", Some("_shared/a.md")),
            ("..\\_shared\\a.md", Some("_shared/a.md")),
            ("x/../a.md", Some("review/a.md")),
            ("../../a.md", None),
            ("..", None),
            ("../..", None),
            ("/etc/passwd", None),
            ("\\\\server\\share\\a.md", None),
            ("C:\\a.md", None),
            ("c:/a.md", None),
            ("x/../../../a.md", None),
        ] {
            assert_eq!(resolve("review", path).as_deref(), resolved, "{path}");
        }
    }
}
