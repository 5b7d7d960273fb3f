//! Reads a `workflow.yaml`.

use crate::sorted::Map;
use std::rc::Rc;

use super::fields::{Fields, keys, not_a_list};
use super::yaml::{Tree, Yaml};
use super::{conditions, each, inputs, models, outcomes, parallel, step};
use crate::definition::diagnostic::meant;
use crate::definition::diagnostic::{Diagnostic, FieldProblem, Mapping, PathPart, PhaseProblem};
use crate::definition::model::schema;
use crate::definition::model::{
    Condition, Each, GROUP_FIELDS, Given, Kind, MAX_PHASES, Outcome, OwnModel, OwnWork, Parallel, Show, Workflow,
    is_blank, is_command_name, last_part, nearest, title_case,
};

const FIELDS: [&str; Workflow::FIELDS.len()] = schema::names(Workflow::FIELDS);

const ENTRY: [&str; schema::ENTRY_FIELDS.len()] = schema::names(&schema::ENTRY_FIELDS);
const RUN: [&str; 8] = ["run", "id", "name", "when", "timeout", "env", "outputs", "outcomes"];
const ASK: [&str; 5] = ["ask", "id", "name", "when", "outcomes"];
/// The fields that only an entry with `run` can have.
const OF_RUN: [&str; 3] = ["timeout", "env", "outputs"];

/// An entry of `phases` as it is written.
pub(crate) struct EntryRef {
    pub kind: EntryRefKind,
    pub id: Option<String>,
    pub name: Option<String>,
    pub when: Vec<Condition>,
    pub outcomes: Vec<Outcome>,
    pub model: OwnModel,
}

impl EntryRef {
    /// An entry whose other fields are read with its kind.
    fn of(kind: EntryRefKind) -> Self {
        Self { kind, id: None, name: None, when: Vec::new(), outcomes: Vec::new(), model: OwnModel::default() }
    }
}

/// The readable part of a `workflow.yaml`.
pub(crate) struct WorkflowRead {
    /// The workflow without its entries.
    pub workflow: Workflow,
    pub entries: Vec<EntryRef>,
    pub has_errors: bool,
    pub tree: Rc<Tree>,
}

/// The phase or workflow that an entry names.
pub(crate) enum EntryRefKind {
    /// The path of a phase file, from the workflow's folder.
    File(String),
    /// The key of another workflow, and the values of its inputs.
    Workflow(String, Map<String, Given>),
    /// An entry without the model.
    Own(Box<OwnWork>),
    /// A phase without a file.
    Prompt,
    Group(GroupRef),
    /// The entry could not be read.
    Unknown,
}

/// A group as it is written: its own fields, and its entries.
pub(crate) struct GroupRef {
    pub loopable: bool,
    pub each: Option<Each>,
    pub parallel: Option<Parallel>,
    pub entries: Vec<EntryRef>,
}

/// Reads the fields of a `workflow.yaml`, and reports their errors; with `check` their warnings too. `None` if
/// it has no fields.
///
/// Specification: configuration reference, "`workflow.yaml` Field Reference" and "Validation Rules".
pub(crate) fn read(
    key: &str,
    folder: &str,
    file: &str,
    text: &str,
    check: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<WorkflowRead> {
    let of = (Mapping::Workflow, &FIELDS[..]);
    let mut fields = Fields::parse(file, text, 0, of, diagnostics)?;
    let workflow = Workflow::read(&mut fields);
    if let Some(task) = &workflow.default_task {
        fields.check_no_variables(&[PathPart::Key("defaultTask")], "defaultTask", task);
    }
    fields.check_keys();
    fields.check_values(Workflow::FIELDS);
    let entries = phases(&mut fields, &[]);
    if check {
        check_fields(&mut fields);
    }
    let mut workflow = Workflow { key: key.to_owned(), folder: folder.to_owned(), ..workflow };
    add_defaults(&mut workflow, &mut fields);
    Some(WorkflowRead { workflow, entries, has_errors: fields.has_errors, tree: fields.tree })
}

/// Adds the texts that the file leaves out. A workflow that only others start has no command name then.
fn add_defaults(workflow: &mut Workflow, fields: &mut Fields) {
    let folder = last_part(&workflow.key).to_owned();
    if fields.tree.root.get("commandName").is_none() && workflow.show == Show::User {
        if !is_command_name(&folder) {
            fields.report(&[], FieldProblem::FolderAsCommandName { folder: folder.clone() });
        }
        workflow.command_name.clone_from(&folder);
    }
    if workflow.name.is_empty() {
        workflow.name = title_case(&folder);
    }
    if workflow.initial_message.is_empty() {
        workflow.initial_message = "{description}".to_owned();
    }
}

/// Reports unknown variables, and other values without an effect.
fn check_fields(fields: &mut Fields) {
    fields.check_texts();
    for field in Workflow::FIELDS {
        if let Kind::Template(variables) = field.kind {
            fields.check_template(field.name, variables);
        }
    }
}

/// Returns the help for an entry of no kind, and the field that the help explains.
fn entry_help(entry: &Yaml) -> Option<(&str, String)> {
    if let Some(file) = keys(Some(entry)).find(|key| key.ends_with(".md")) {
        return Some((file, format!("did you mean `phase: {file}`?")));
    }
    if let Yaml::Map(fields) = entry
        && let [(key, Yaml::String(value))] = &fields[..]
        && !is_blank(value)
    {
        if nearest(key, ["subworkflow", "workflow"]).is_some() {
            return Some((key.as_str(), format!("did you mean `subworkflow: {value}`?")));
        } else if value.ends_with(".md") {
            return Some((key.as_str(), format!("did you mean `{value}`?")));
        }
    }
    let kinds = ["phase", "subworkflow", "prompt", "run", "ask", "phases"];
    keys(Some(entry)).filter(|key| !ENTRY.contains(key)).find_map(|key| {
        let near = || Some(format!("did you mean `{}` instead of `{key}`?", nearest(key, kinds)?));
        let meant = meant::help(key, &ENTRY, Mapping::Entry).map(|help| format!("`{key}`: {help}"));
        let help = meant.or_else(near)?;
        Some((key, help))
    })
}

/// Reads the group at a path; `at` are the indices of the entries that lead to the group.
fn group(fields: &mut Fields, here: &[PathPart], at: &[usize]) -> Option<GroupRef> {
    fields.within(here, |fields| {
        let loopable = fields.switch("loopable", true);
        let each = each::read(fields);
        let parallel = parallel::read(fields);
        let entries = phases(fields, at);
        GroupRef { loopable, each, parallel, entries }
    })
}

/// Maximum number of groups within each other.
const MAX_GROUPS: usize = 10;

/// Reads the entries of `phases`. `around` are the indices of the entries that lead to the group with these `phases`.
fn phases(fields: &mut Fields, around: &[usize]) -> Vec<EntryRef> {
    let items = match fields.tree.root.get("phases") {
        Some(Yaml::List(items)) => items.clone(),
        None => {
            fields.missing("phases");
            return Vec::new();
        }
        Some(other) => {
            let problem = not_a_list("phases".into(), "a list", other);
            fields.report(&[PathPart::Key("phases")], problem);
            return Vec::new();
        }
    };
    if items.len() > MAX_PHASES {
        fields.report(&[PathPart::Key("phases")], PhaseProblem::TooManyPhases { limit: MAX_PHASES });
        return Vec::new();
    }
    if items.is_empty() {
        fields.report(&[PathPart::Key("phases")], PhaseProblem::NoPhases);
    }
    let mut phases = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let here = [PathPart::Key("phases"), PathPart::Item(index)];
        let text = |key| match item.get(key) {
            Some(Yaml::String(text)) if !is_blank(text) => Some(text.clone()),
            _ => None,
        };
        if let Some(kind) = of_own(fields, around, index, item) {
            let when = conditions::read(fields, &here, item);
            phases.push(EntryRef { when, ..EntryRef::of(kind) });
            continue;
        }
        let kinds = ["phase", "subworkflow", "phases"].map(|kind| item.get(kind).is_some());
        let both = kinds.into_iter().filter(|is_there| *is_there).count() > 1;
        let mut explained = None;
        let kind = match (item, text("phase"), text("subworkflow")) {
            (Yaml::String(path), ..) => EntryRefKind::File(path.clone()),
            (Yaml::Map(_), Some(path), None) if !both => EntryRefKind::File(path),
            (Yaml::Map(_), None, Some(key)) if !both => {
                let with = inputs::read_given(fields, index, item);
                EntryRefKind::Workflow(key, with)
            }
            (Yaml::Map(_), None, None) if kinds == [false, false, true] && item.get("phases") != Some(&Yaml::Null) => {
                let is_deep = around.len() >= MAX_GROUPS;
                if is_deep {
                    fields.report(&here, PhaseProblem::GroupsTooDeep { limit: MAX_GROUPS });
                }
                let at = [around, &[index]].concat();
                let group = if is_deep { None } else { group(fields, &here, &at) };
                group.map_or(EntryRefKind::Unknown, EntryRefKind::Group)
            }
            _ => {
                // Otherwise `check_values` reports a field without a value.
                let mut kinds = ["phase", "subworkflow", "phases"].into_iter();
                if !kinds.any(|kind| item.get(kind) == Some(&Yaml::Null)) {
                    let (field, help) = entry_help(item).unzip();
                    explained = field;
                    fields.report(&here, PhaseProblem::BadPhaseEntry { found: item.kind(), help });
                }
                EntryRefKind::Unknown
            }
        };
        fields_of_others(fields, here, item, &kind);
        // The problem of an entry of no kind tells of its only field, and its help explains one field.
        let is_only = matches!(kind, EntryRefKind::Unknown) && keys(Some(item)).count() == 1;
        let unknown = keys(Some(item)).filter(|key| !is_only && !ENTRY.contains(key));
        for key in unknown.filter(|key| Some(*key) != explained) {
            let problem = FieldProblem::UnknownPart { of: "phases", field: key.to_owned(), known: &ENTRY };
            fields.report(&[here[0], here[1], PathPart::Name(key)], problem);
        }
        let names = |fields: &mut Fields| (fields.text_if_given("id"), fields.text_if_given("name"));
        let (id, name) = fields.within(&here, names).unwrap_or_default();
        let when = conditions::read(fields, &here, item);
        let outcomes = outcomes::read_of_entry(fields, &here, item);
        let model = fields.within(&here, models::read).unwrap_or_default();
        phases.push(EntryRef { kind, id, name, when, outcomes, model });
    }
    phases
}

/// Reports the fields of the entry at a path that only entries of other kinds have.
fn fields_of_others(fields: &mut Fields, here: [PathPart; 2], entry: &Yaml, kind: &EntryRefKind) {
    let own = match kind {
        EntryRefKind::File(_) => "phase",
        EntryRefKind::Workflow(..) => "subworkflow",
        EntryRefKind::Group(_) => "phases",
        EntryRefKind::Own(_) | EntryRefKind::Prompt | EntryRefKind::Unknown => return,
    };
    let others: [(&[&str], &str, &str); 3] = [
        (&OF_RUN, "run", "`run` beside it"),
        (&["with"], "subworkflow", "`subworkflow` beside it"),
        (&GROUP_FIELDS, "phases", "`phases` beside it, as in a group"),
    ];
    for (names, _, expected) in others.into_iter().filter(|(_, of, _)| *of != own) {
        for field in names.iter().filter(|field| !matches!(entry.get(field), None | Some(Yaml::Null))) {
            let problem = FieldProblem::bad(*field, expected, format!("`{own}`"));
            fields.report(&[here[0], here[1], PathPart::Name(field)], problem);
        }
    }
}

/// Returns the kind of an entry with `run`, `ask` or `prompt`, whose fields stand all in the entry; `None` for any other
/// entry.
fn of_own(fields: &mut Fields, around: &[usize], index: usize, item: &Yaml) -> Option<EntryRefKind> {
    if item.get("run").or(item.get("ask")).is_none() {
        return item.get("prompt").map(|_| EntryRefKind::Prompt);
    }
    let own = own_work(fields, around, index, item);
    let others = ["phase", "subworkflow", "phases"];
    let mut of_others = others.into_iter().chain(item.get("run").map(|_| "ask"));
    Some(match own {
        Some(own) if of_others.all(|kind| item.get(kind).is_none()) => EntryRefKind::Own(Box::new(own)),
        _ => EntryRefKind::Unknown,
    })
}

/// Reads an entry without the model. `around` is as for [`phases`].
fn own_work(fields: &mut Fields, around: &[usize], index: usize, item: &Yaml) -> Option<OwnWork> {
    let here = [PathPart::Key("phases"), PathPart::Item(index)];
    let is_question = item.get("run").is_none();
    let (kind, known): (_, &'static [&'static str]) = if is_question { ("ask", &ASK) } else { ("run", &RUN) };
    // An entry with an empty `run` or `ask` may be of another kind.
    let is_sure = item.get(kind) != Some(&Yaml::Null);
    for key in keys(Some(item)).filter(|key| is_sure && !known.contains(key)) {
        let (field, path) = (key.to_owned(), [here[0], here[1], PathPart::Name(key)]);
        match ENTRY.contains(&key) {
            true => fields.report(&path, PhaseProblem::Beside { field, kind }),
            false => fields.report(&path, FieldProblem::UnknownPart { of: "phases", field, known }),
        }
    }
    let read = if is_question { step::read_ask } else { step::read_run };
    fields.within(&here, |fields| read(fields, [around, &[index]].concat()))
}
