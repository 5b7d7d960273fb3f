//! Reads a phase file.

use super::diagnostic::{Diagnostic, Needs, Place, Problem};
use super::fields::{Fields, texts};
use super::files::{Surroundings, WorkflowFiles, is_of_pi, tool_in_another_case};
use super::front_matter::{self, Document};
use super::nearest::nearest;
use super::schema::{PHASE_FIELDS, TOOLS_FIELDS, names};
use super::variables::{self, PHASE_VARIABLES, Unknown};
use super::yaml::{Step, Yaml};
use super::{Phase, ToolPolicy, gate, is_blank};

const FIELDS: [&str; PHASE_FIELDS.len()] = names(&PHASE_FIELDS);
const TOOLS: [&str; TOOLS_FIELDS.len()] = names(&TOOLS_FIELDS);
const NEEDS: Needs = Needs { what: "a phase", fields: &["id", "name", "emoji"] };

/// Reads a phase from the text of its file, and reports every diagnostic of it; those that do no harm only
/// where `check` tells what the phase is held against.
///
/// Specification: configuration reference, "Phase `.md` File Reference".
pub(super) fn read(
    file: &str,
    content: String,
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Phase> {
    let document = front_matter::split(content);
    if is_blank(document.front_matter()) {
        let place = Some(Place { line: 1, column: 1 });
        let problem = if document.is_unclosed() {
            Problem::UnclosedFrontMatter
        } else {
            Problem::NoFrontMatter
        };
        diagnostics.push(Diagnostic::of(file, problem).at(document.text(), place, 0));
        return None;
    }
    let has_body = !document.body().is_empty();
    if !has_body {
        let line = document.lines_before + document.front_matter().lines().count() + 1;
        let place = Some(Place { line, column: 1 });
        diagnostics.push(Diagnostic::of(file, Problem::NoInstructions).at(
            document.text(),
            place,
            0,
        ));
    }
    if check.is_some() {
        check_instructions(file, &document, diagnostics);
    }
    let mut fields = Fields::parse(
        file,
        document.front_matter(),
        document.lines_before,
        ("the front matter", NEEDS, &FIELDS),
        diagnostics,
    )?;
    let id = fields.required_text("id");
    let name = fields.required_text("name");
    let emoji = fields.required_text("emoji");
    let tools = tool_policy(&mut fields);
    let tools = check_case(&mut fields, files, check).and(tools);
    let profiles = profiles(&mut fields);
    let rules = fields.check_rules();
    let summary = fields.choice("summary", &["optional", "required"]);
    let gate = gate::read(&mut fields);
    if let Some(surroundings) = check {
        fields.check_keys();
        gate::check_attempts(&mut fields);
        check_names(&mut fields, surroundings);
    }
    has_body.then_some(())?;
    rules?;
    Some(Phase {
        id: id?,
        name: name?,
        emoji: emoji?,
        instructions: document.into_body(),
        tools: tools?,
        profiles,
        summary_required: summary? == 1,
        gate: gate?,
    })
}

/// Reports the variables that instructions do not know.
fn check_instructions(file: &str, document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let Place { line: first, column } = document.body_place();
    for unknown in variables::unknown(document.body(), &PHASE_VARIABLES) {
        let problem = Unknown::problem(unknown.name, None, &PHASE_VARIABLES);
        let mut diagnostic =
            Diagnostic::of(file, problem).at(document.body(), Some(unknown.place), first - 1);
        // The first line of the body is shown without the white space before it.
        if let Some(place) = diagnostic.place.as_mut().filter(|place| place.line == first) {
            place.column += column - 1;
        }
        diagnostics.push(diagnostic);
    }
}

/// Refuses names of tools in another case: they would allow and refuse nothing. Whether there is a tool of
/// exactly this name is asked for names only that are none of pi's own.
fn check_case(
    fields: &mut Fields,
    files: &dyn WorkflowFiles,
    check: Option<&Surroundings>,
) -> Option<()> {
    let mut tools = None;
    let mut sound = Some(());
    for list in TOOLS {
        let path = [Step::Key("tools"), Step::Key(list)];
        for (index, name) in fields.names_at(&path) {
            if is_of_pi(&name) {
                continue;
            }
            let tools: &Vec<String> = tools.get_or_insert_with(|| match check {
                Some(surroundings) => surroundings.tools.clone(),
                None => files.tools().unwrap_or_default(),
            });
            if let Some(tool) = tool_in_another_case(&name, tools) {
                let problem = Problem::ToolInAnotherCase { name, tool: tool.to_owned() };
                fields.diagnostic(&[path[0], path[1], Step::Item(index)], problem);
                sound = None;
            }
        }
    }
    sound
}

/// Reports the tools that pi does not have, and the profiles that nobody defines.
fn check_names(fields: &mut Fields, surroundings: &Surroundings) {
    for list in TOOLS {
        let path = [Step::Key("tools"), Step::Key(list)];
        for (index, name) in fields.names_at(&path) {
            let nearest = surroundings.nearest_tool(&name);
            let in_another_case = tool_in_another_case(&name, &surroundings.tools).is_some();
            if surroundings.lacks_tool(&name) && !in_another_case {
                let problem = Problem::UnknownTool { name, nearest };
                fields.diagnostic(&[path[0], path[1], Step::Item(index)], problem);
            }
        }
    }
    let Some(profiles) = &surroundings.profiles else { return };
    let list = Step::Key("availableProfiles");
    for (index, name) in fields.names_at(&[list]) {
        if !profiles.contains(&name) {
            let nearest = nearest(&name, profiles.iter().map(String::as_str)).map(Into::into);
            fields
                .diagnostic(&[list, Step::Item(index)], Problem::UnknownProfile { name, nearest });
        }
    }
}

fn tool_policy(fields: &mut Fields) -> Option<ToolPolicy> {
    let found = match fields.root.get("tools") {
        None | Some(Yaml::Null) => return Some(ToolPolicy::All),
        Some(tools @ Yaml::Map(entries)) => {
            let keys = entries.iter().map(|(key, _)| key.to_string());
            let unknown: Vec<String> = keys.filter(|key| !TOOLS.contains(&&**key)).collect();
            if !unknown.is_empty() {
                for field in unknown {
                    let path = [Step::Key("tools"), Step::Name(&field)];
                    let field = field.clone();
                    fields.diagnostic(
                        &path,
                        Problem::UnknownPart { of: "tools", field, known: &TOOLS },
                    );
                }
                return None;
            }
            tools
        }
        Some(other) => {
            let found = other.kind();
            let problem =
                Problem::WrongType { field: "tools".into(), expected: "a mapping", found };
            fields.diagnostic(&[Step::Key("tools")], problem);
            return None;
        }
    };
    let [blacklist, whitelist] = TOOLS.map(|list| tool_list(found, list));
    match (blacklist, whitelist) {
        (Ok(Some(_)), Ok(Some(_))) => {
            fields.diagnostic(&[Step::Key("tools")], Problem::BothToolLists);
            None
        }
        (Ok(Some(refused)), Ok(None)) => Some(ToolPolicy::Except(refused)),
        (Ok(None), Ok(Some(allowed))) => Some(ToolPolicy::Only(allowed)),
        (Ok(None), Ok(None)) => Some(ToolPolicy::All),
        (blacklist, whitelist) => {
            for (list, invalid) in TOOLS.into_iter().zip([blacklist.err(), whitelist.err()]) {
                let Some(found) = invalid else { continue };
                let field = format!("tools.{list}");
                let problem = Problem::WrongType { field, expected: "a list of tool names", found };
                fields.diagnostic(&[Step::Key("tools"), Step::Key(list)], problem);
            }
            None
        }
    }
}

/// One of the two lists, if it is there; or what stands in its place.
fn tool_list(tools: &Yaml, list: &str) -> Result<Option<Vec<String>>, &'static str> {
    match tools.get(list) {
        None | Some(Yaml::Null) => Ok(None),
        Some(Yaml::List(items)) => texts(items).map(Some).ok_or("a list"),
        Some(other) => Err(other.kind()),
    }
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
