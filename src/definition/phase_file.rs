//! Reads a phase file.

use super::fault::{Fault, Needs, Place, Problem};
use super::fields::{Fields, texts};
use super::files::Surroundings;
use super::front_matter::{self, Document};
use super::nearest::nearest;
use super::schema::{PHASE_FIELDS, TOOLS_FIELDS, names};
use super::variables::{self, PHASE_VARIABLES, Unknown};
use super::yaml::{Step, Yaml};
use super::{Phase, ToolPolicy, gate, is_blank};

const FIELDS: [&str; PHASE_FIELDS.len()] = names(&PHASE_FIELDS);
const TOOLS: [&str; TOOLS_FIELDS.len()] = names(&TOOLS_FIELDS);
const NEEDS: Needs = Needs { what: "a phase", fields: &["id", "name", "emoji"] };

/// Reads a phase from the text of its file, and reports every fault of it; those that do no harm only
/// where `check` tells what the phase is held against.
///
/// Specification: configuration reference, "Phase `.md` File Reference".
pub(super) fn read(
    file: &str,
    content: &str,
    check: Option<&Surroundings>,
    faults: &mut Vec<Fault>,
) -> Option<Phase> {
    let document = front_matter::split(content);
    if is_blank(&document.front_matter) {
        let place = Some(Place { line: 1, column: 1 });
        faults.push(Fault::of(file, Problem::NoFrontMatter).at(content, place, 0));
        return None;
    }
    if is_blank(&document.body) {
        let line = document.lines_before + document.front_matter.lines().count() + 1;
        let place = Some(Place { line, column: 1 });
        faults.push(Fault::of(file, Problem::NoInstructions).at(content, place, 0));
    }
    if check.is_some() {
        check_instructions(file, &document, faults);
    }
    let mut fields = Fields::parse(
        file,
        &document.front_matter,
        document.lines_before,
        ("the front matter", NEEDS, &FIELDS),
        faults,
    )?;
    let id = fields.required_text("id");
    let name = fields.required_text("name");
    let emoji = fields.required_text("emoji");
    let tools = tool_policy(&mut fields);
    let profiles = profiles(&mut fields);
    let summary = fields.choice("summary", &["optional", "required"]);
    let gate = gate::read(&mut fields);
    if let Some(surroundings) = check {
        fields.check_keys();
        fields.check_keys_at(&[Step::Key("tools")], &TOOLS);
        check_names(&mut fields, surroundings);
    }
    if is_blank(&document.body) {
        return None;
    }
    Some(Phase {
        id: id?,
        name: name?,
        emoji: emoji?,
        instructions: document.body,
        tools: tools?,
        profiles,
        summary_required: summary? == 1,
        gate: gate?,
    })
}

/// Reports the variables that instructions do not know.
fn check_instructions(file: &str, document: &Document, faults: &mut Vec<Fault>) {
    let Place { line: first, column } = document.body_place;
    for unknown in variables::unknown(&document.body, &PHASE_VARIABLES) {
        let problem = Unknown::problem(unknown.name, None, &PHASE_VARIABLES);
        let mut fault = Fault::of(file, problem).at(&document.body, Some(unknown.place), first - 1);
        // The first line of the body is shown without the white space before it.
        if let Some(place) = fault.place.as_mut().filter(|place| place.line == first) {
            place.column += column - 1;
        }
        faults.push(fault);
    }
}

/// Reports the tools that pi does not have, and the profiles that nobody defines.
fn check_names(fields: &mut Fields, surroundings: &Surroundings) {
    for list in TOOLS {
        let path = [Step::Key("tools"), Step::Key(list)];
        for (index, name) in fields.names_at(&path) {
            let nearest = surroundings.nearest_tool(&name);
            if surroundings.lacks_tool(&name) {
                let problem = Problem::UnknownTool { name, nearest };
                fields.fault(&[path[0], path[1], Step::Item(index)], problem);
            }
        }
    }
    let Some(profiles) = &surroundings.profiles else { return };
    let list = Step::Key("availableProfiles");
    for (index, name) in fields.names_at(&[list]) {
        if !profiles.contains(&name) {
            let nearest = nearest(&name, profiles.iter().map(String::as_str)).map(Into::into);
            fields.fault(&[list, Step::Item(index)], Problem::UnknownProfile { name, nearest });
        }
    }
}

fn tool_policy(fields: &mut Fields) -> Option<ToolPolicy> {
    let tools = match fields.root.get("tools") {
        None | Some(Yaml::Null) => return Some(ToolPolicy::All),
        Some(tools @ Yaml::Map(_)) => tools.clone(),
        Some(other) => {
            let found = other.kind();
            let problem =
                Problem::WrongType { field: "tools".into(), expected: "a mapping", found };
            fields.fault(&[Step::Key("tools")], problem);
            return None;
        }
    };
    let blacklist = tool_list(fields, &tools, "blacklist");
    let whitelist = tool_list(fields, &tools, "whitelist");
    match (blacklist?, whitelist?) {
        (Some(_), Some(_)) => {
            fields.fault(&[Step::Key("tools")], Problem::BothToolLists);
            None
        }
        (Some(refused), None) => Some(ToolPolicy::Except(refused)),
        (None, Some(allowed)) => Some(ToolPolicy::Only(allowed)),
        (None, None) => Some(ToolPolicy::All),
    }
}

/// One of the two lists: outer `None` if it is faulty, inner `None` if it is not there.
fn tool_list(fields: &mut Fields, tools: &Yaml, list: &'static str) -> Option<Option<Vec<String>>> {
    let value = match tools.get(list) {
        None | Some(Yaml::Null) => return Some(None),
        Some(value) => value,
    };
    if let Yaml::List(items) = value
        && let Some(names) = texts(items)
    {
        return Some(Some(names));
    }
    let problem = Problem::WrongType {
        field: format!("tools.{list}"),
        expected: "a list of tool names",
        found: value.kind(),
    };
    fields.fault(&[Step::Key("tools"), Step::Key(list)], problem);
    None
}

fn profiles(fields: &mut Fields) -> Option<Vec<String>> {
    let found = match fields.root.get("availableProfiles") {
        None | Some(Yaml::Null) => return None,
        Some(Yaml::List(items)) => match texts(items) {
            Some(names) => return Some(names),
            None => "a list of other things",
        },
        Some(other) => other.kind(),
    };
    fields.ignore("availableProfiles", "a list of names", found);
    None
}
