//! Faults in workflow files, as people read them.

use crate::definition::{Fault, Library, Severity};

/// The one line at the start of a session; `None` if no file has errors. A single file is named, a single error told
/// with its place.
pub fn fault_notice(library: &Library, faults: &[Fault]) -> Option<String> {
    let errors = count(faults, Severity::Error);
    let mut of_errors = faults.iter().filter(|fault| fault.severity() == Severity::Error);
    let first = of_errors.next()?;
    let in_one_file = of_errors.all(|other| other.file == first.file);
    let what = match (library.left_out().len(), errors) {
        (_, 1) => format!("{}: {}", first.location(), first.message()),
        (_, errors) if in_one_file => format!("{}: {errors} errors", first.file),
        (0, errors) => format!("{} in workflow files", plural(errors, "error")),
        (1, _) => "1 workflow has errors".to_owned(),
        (workflows, _) => format!("{workflows} workflows have errors"),
    };
    Some(format!("{what}: /workflow :check"))
}

/// All faults, each with its place, what stands there, and how it can be mended; last, how many.
pub fn check_report(library: &Library, faults: &[Fault]) -> String {
    let mut blocks: Vec<String> = faults.iter().map(diagnostic).collect();
    blocks.push(check_summary(library.iter().count(), library.left_out().len(), faults));
    blocks.join("\n\n")
}

/// The number of faults; without faults, that of workflows.
pub fn check_summary(workflows: usize, left_out: usize, faults: &[Fault]) -> String {
    let (errors, warnings) = (count(faults, Severity::Error), count(faults, Severity::Warning));
    if faults.is_empty() {
        return format!("{}, no faults.", plural(workflows, "workflow"));
    }
    let left_out = match left_out {
        0 => String::new(),
        1 => " 1 workflow is left out.".to_owned(),
        count => format!(" {count} workflows are left out."),
    };
    format!("{}, {}.{left_out}", plural(errors, "error"), plural(warnings, "warning"))
}

/// One fault. The first line is of the form that editors and terminals make into a link.
pub fn diagnostic(fault: &Fault) -> String {
    let severity = match fault.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut lines = vec![format!("{}: {severity}: {}", fault.location(), fault.message())];
    if let Some(excerpt) = &fault.excerpt {
        lines.extend(excerpt.to_string().lines().map(|line| format!("  {line}")));
    }
    lines.extend(fault.help().map(|help| format!("  help: {help}")));
    lines.join("\n")
}

fn count(faults: &[Fault], severity: Severity) -> usize {
    faults.iter().filter(|fault| fault.severity() == severity).count()
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests;
