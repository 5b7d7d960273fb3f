//! The texts of diagnostics, for users.

use crate::sorted::Map;

use crate::definition::{Diagnostic, Library, Severity, Workflow, on_one_line};

use super::questions::counted;

/// Returns the notice at the start of a session, on one line; `None` if no file has errors. A single error is given
/// with its place, several errors in one file with the file.
pub fn diagnostic_notice(library: &Library, diagnostics: &[Diagnostic]) -> Option<String> {
    let errors = count(diagnostics, Severity::Error);
    let mut of_errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error);
    let first = of_errors.next()?;
    let in_one_file = of_errors.all(|other| other.file == first.file);
    let what = match (library.left_out().len(), errors) {
        (_, 1) => format!("{}: {}", first.location(), first.message()),
        (_, errors) if in_one_file => format!("{}: {errors} errors", first.file),
        (0, errors) => format!("{} in workflow files", counted(errors, "error")),
        (1, _) => "1 workflow has errors".to_owned(),
        (workflows, _) => format!("{workflows} workflows have errors"),
    };
    Some(format!("{what}: /workflow :check"))
}

/// Returns all diagnostics, each with its place, the line there and its help; last, the number of diagnostics.
pub fn check_report(library: &Library, diagnostics: &[Diagnostic]) -> String {
    let mut blocks: Vec<String> = diagnostics.iter().map(diagnostic_text).collect();
    let workflows = || library.iter().filter(|workflow| !workflow.is_builtin());
    let mut summary = check_summary(workflows().count(), library.left_out().len(), diagnostics);
    summary.extend(package_counts(workflows()));
    blocks.push(summary);
    blocks.join("\n\n")
}

/// Returns the number of diagnostics; without diagnostics, the number of workflows.
pub fn check_summary(workflows: usize, left_out: usize, diagnostics: &[Diagnostic]) -> String {
    let warnings = count(diagnostics, Severity::Warning);
    let errors = diagnostics.len() - warnings;
    if diagnostics.is_empty() {
        return format!("{}, no errors.", counted(workflows, "workflow"));
    }
    let left_out = match left_out {
        0 => String::new(),
        1 => " 1 workflow is left out.".to_owned(),
        count => format!(" {count} workflows are left out."),
    };
    format!("{}, {}.{left_out}", counted(errors, "error"), counted(warnings, "warning"))
}

/// Returns the packages of these workflows, each with the number of its workflows, as a sentence behind another one;
/// `None` if no workflow comes from a package.
pub fn package_counts<'a>(workflows: impl Iterator<Item = &'a Workflow>) -> Option<String> {
    let mut packages: Map<&str, usize> = Map::new();
    for package in workflows.filter_map(Workflow::package) {
        *packages.entry(package).or_default() += 1;
    }
    let packages = packages.into_iter().map(|(package, count)| format!("{package} ({count})"));
    let packages: Vec<String> = packages.collect();
    (!packages.is_empty()).then(|| format!(" From packages: {}.", on_one_line(&packages.join(", "))))
}

/// Returns one diagnostic. Editors and terminals make a link of the first line.
pub fn diagnostic_text(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity() {
        Severity::Failure | Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut lines = vec![format!("{}: {severity}: {}", diagnostic.location(), diagnostic.message())];
    if let Some(excerpt) = &diagnostic.excerpt {
        lines.extend(excerpt.to_string().lines().map(|line| format!("  {line}")));
    }
    lines.extend(diagnostic.help().map(|help| format!("  help: {help}")));
    lines.join("\n")
}

fn count(diagnostics: &[Diagnostic], severity: Severity) -> usize {
    diagnostics.iter().filter(|diagnostic| diagnostic.severity() == severity).count()
}

#[cfg(test)]
mod tests;
