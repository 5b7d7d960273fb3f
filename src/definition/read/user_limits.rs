//! Reads the user's `limits.yaml`.

use super::fields::Fields;
use super::own_limits::{self, PathVariables};
use super::tools;
use crate::definition::diagnostic::{Diagnostic, LimitProblem, Mapping};
use crate::definition::model::schema::names;
use crate::definition::model::{LIMITS_FIELDS, Stale, Surroundings, UserLimits, WorkflowFiles};

const FIELDS: [&str; LIMITS_FIELDS.len()] = names(&LIMITS_FIELDS);

/// Reads limits, and reports the errors in them; with `check` their warnings too. `None` after an error: limits that
/// are partly understood are not reliable.
pub(crate) fn read(
    (file, text): (&str, &str),
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Option<UserLimits>, Stale> {
    let of = (Mapping::Other, &FIELDS[..]);
    let Some(mut fields) = Fields::parse(file, text, 0, of, diagnostics) else { return Ok(None) };
    fields.check_own_keys(LimitProblem::NoLimit);
    fields.check_values(&LIMITS_FIELDS);
    let tools = tools::read(&mut fields);
    tools::check_case(&mut fields, &|| files.tools(), check)?;
    let limits = own_limits::read(&mut fields, PathVariables::None);
    if let Some(surroundings) = check {
        tools::check_names(&mut fields, surroundings);
    }
    Ok((!fields.has_errors).then(|| UserLimits { file: file.to_owned(), tools, limits }))
}
