//! Reads a phase file.

use super::fault::{Fault, Place, Problem};
use super::fields::{Fields, texts};
use super::front_matter;
use super::yaml::{Step, Yaml};
use super::{Phase, ToolPolicy, is_blank};

/// Reads a phase from the text of its file, and reports every fault of it.
///
/// Specification: configuration reference, "Phase `.md` File Reference".
pub(super) fn read(file: &str, content: &str, faults: &mut Vec<Fault>) -> Option<Phase> {
    let document = front_matter::split(content);
    if is_blank(&document.front_matter) {
        let place = Some(Place { line: 1, column: 1 });
        faults.push(Fault { file: file.to_owned(), place, problem: Problem::NoFrontMatter });
        return None;
    }
    if is_blank(&document.body) {
        let line = document.lines_before + document.front_matter.lines().count() + 1;
        let place = Some(Place { line, column: 1 });
        faults.push(Fault { file: file.to_owned(), place, problem: Problem::NoInstructions });
    }
    let mut fields = Fields::parse(
        file,
        &document.front_matter,
        document.lines_before,
        "the front matter",
        faults,
    )?;
    let id = fields.required_text("id");
    let name = fields.required_text("name");
    let emoji = fields.required_text("emoji");
    let tools = tool_policy(&mut fields);
    let profiles = profiles(&mut fields);
    let summary = fields.choice("summary", &["optional", "required"]);
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
    })
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
