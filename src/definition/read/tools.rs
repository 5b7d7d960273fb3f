//! Reads the field `tools`.

use super::fields::{Fields, is_blank_text, not_a_list, texts};
use super::yaml::Yaml;
use crate::definition::diagnostic::{FieldProblem, PathPart, ToolProblem, ValueKind, items_meant};
use crate::definition::model::schema::names;
use crate::definition::model::{Stale, Surroundings, TOOLS_FIELDS, ToolPolicy, is_of_pi, tool_in_another_case};

const TOOLS: [&str; TOOLS_FIELDS.len()] = names(&TOOLS_FIELDS);

/// Reads `tools`; all tools after an error.
pub(crate) fn read(fields: &mut Fields) -> ToolPolicy {
    tool_policy(fields).unwrap_or_default()
}

/// Refuses names of tools in another case: such names would allow and refuse nothing. `registered` asks the host for
/// the tools, and is called only if a name is not one of pi's own tools.
pub(crate) fn check_case(
    fields: &mut Fields,
    registered: &dyn Fn() -> Result<Vec<String>, Stale>,
    check: Option<&Surroundings>,
) -> Result<(), Stale> {
    let mut tools = None;
    for list in TOOLS {
        let path = [PathPart::Key("tools"), PathPart::Key(list)];
        for (index, name) in fields.names_at(&path) {
            if is_of_pi(&name) {
                continue;
            }
            let tools: &Vec<String> = match (&mut tools, check) {
                (Some(tools), _) => tools,
                (tools, Some(surroundings)) => tools.insert(surroundings.tools.clone()),
                (tools, None) => tools.insert(registered()?),
            };
            if let Some(tool) = tool_in_another_case(&name, tools) {
                let problem = ToolProblem::ToolInAnotherCase { name, tool: tool.to_owned() };
                fields.report(&[path[0], path[1], PathPart::Item(index)], problem);
            }
        }
    }
    Ok(())
}

pub(crate) fn check_names(fields: &mut Fields, surroundings: &Surroundings) {
    for list in TOOLS {
        let path = [PathPart::Key("tools"), PathPart::Key(list)];
        for (index, name) in fields.names_at(&path) {
            let suggestion = surroundings.nearest_tool(&name);
            let in_another_case = tool_in_another_case(&name, &surroundings.tools).is_some();
            if surroundings.lacks_tool(&name) && !in_another_case && can_mean_tools(&name) {
                let problem = ToolProblem::UnknownTool { name, suggestion };
                fields.report(&[path[0], path[1], PathPart::Item(index)], problem);
            }
        }
    }
}

fn tool_policy(fields: &mut Fields) -> Option<ToolPolicy> {
    if !fields.check_part(&[PathPart::Key("tools")], "tools", &TOOLS) {
        return None;
    }
    let found = match fields.tree.root.get("tools") {
        None | Some(Yaml::Null) => return Some(ToolPolicy::All),
        Some(tools @ Yaml::Map(_)) => tools,
        Some(other) => {
            let names: Vec<String> = match other {
                Yaml::String(text) => vec![text.clone()],
                other => texts(other.items()).unwrap_or_default(),
            };
            let names = names.iter().flat_map(|text| items_meant(text, true)).map(ToOwned::to_owned).collect();
            let problem = ToolProblem::ToolsAsList { found: other.kind(), names };
            fields.report(&[PathPart::Key("tools")], problem);
            return None;
        }
    };
    let [blacklist, whitelist] = TOOLS.map(|list| tool_list(found, list));
    let no_tool = TOOLS.iter().zip([&blacklist, &whitelist]).find_map(|(list, names)| {
        let names = names.as_ref().ok()?.as_ref()?;
        let index = names.iter().position(|name| !can_mean_tools(name))?;
        Some((list, index, names.get(index)?.clone()))
    });
    if let Some((list, index, name)) = no_tool {
        let path = [PathPart::Key("tools"), PathPart::Key(list), PathPart::Item(index)];
        fields.report(&path, ToolProblem::NotATool { name });
        return None;
    }
    match (blacklist, whitelist) {
        (Ok(Some(_)), Ok(Some(_))) => {
            fields.report(&[PathPart::Key("tools")], ToolProblem::BothToolLists);
            None
        }
        (Ok(Some(refused)), Ok(None)) => Some(ToolPolicy::Except(refused)),
        (Ok(None), Ok(Some(allowed))) => Some(ToolPolicy::Only(allowed)),
        (Ok(None), Ok(None)) => Some(ToolPolicy::All),
        (blacklist, whitelist) => {
            for (list, invalid) in TOOLS.into_iter().zip([blacklist.err(), whitelist.err()]) {
                let Some(BadList { item, problem }) = invalid else { continue };
                let path = [Some(PathPart::Key("tools")), Some(PathPart::Key(list)), item.map(PathPart::Item)];
                let path: Vec<PathPart> = path.into_iter().flatten().collect();
                fields.report(&path, problem);
            }
            None
        }
    }
}

/// A value in the place of a list of names.
struct BadList {
    /// The item that is not a name; `None` if the value is not a list.
    item: Option<usize>,
    problem: FieldProblem,
}

/// Returns one of the two lists, if the list is given.
fn tool_list(tools: &Yaml, list: &str) -> Result<Option<Vec<String>>, BadList> {
    match tools.get(list) {
        None | Some(Yaml::Null) => Ok(None),
        Some(Yaml::List(items)) => {
            let is_empty = |item: &Yaml| matches!(item, Yaml::Null) || is_blank_text(item);
            let empty = items.iter().position(is_empty).map(|index| (index, ValueKind::Null));
            let names = empty.map_or_else(|| texts(items), Err);
            names.map(Some).map_err(|(index, found)| {
                let problem = FieldProblem::wrong_type(format!("tools.{list}"), "the name of a tool", found);
                BadList { item: Some(index), problem }
            })
        }
        Some(other) => {
            let problem = not_a_list(format!("tools.{list}"), "a list of tool names", other);
            Err(BadList { item: None, problem })
        }
    }
}

/// Returns true if a text can mean tools that a model is given: a name, or a beginning with a letter in it and `*`.
fn can_mean_tools(entry: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    match entry.strip_suffix('*') {
        Some(beginning) => beginning.contains(|c: char| c.is_ascii_alphabetic()) && beginning.chars().all(is_of_name),
        None => !entry.is_empty() && entry.chars().all(is_of_name),
    }
}
