//! The workflows that the agent is offered: it may propose them to the user.

use super::inputs::Input;
use super::library::Library;
use super::value_type::ValueType;
use super::workflow::Workflow;

/// Maximum number of workflows that the agent is offered.
pub const MAX_OFFERED: usize = 20;
/// Maximum length of the lines of all offers together, in characters.
pub const MAX_OFFERS: usize = 3200;

/// A workflow with `whenToUse` that the user can start.
#[derive(Debug)]
pub struct Offer<'a> {
    /// The NAME of `/workflow NAME`.
    pub name: String,
    pub workflow: &'a Workflow,
    /// Its line for the agent: its name, the work it is for, and its inputs.
    pub line: String,
    /// The list of offers has room for it.
    pub fits: bool,
}

impl Library {
    /// Returns the workflows with `whenToUse` that the user can start, in the order of the library.
    pub fn offers(&self) -> Vec<Offer<'_>> {
        let (mut count, mut room) = (0, MAX_OFFERS);
        let offer = |(name, workflow): (String, _)| {
            let line = line(&name, workflow)?;
            let left = room.checked_sub(line.chars().count() + 1).filter(|_| count < MAX_OFFERED);
            if let Some(left) = left {
                (count, room) = (count + 1, left);
            }
            Some(Offer { name, workflow, line, fits: left.is_some() })
        };
        self.for_users().filter_map(offer).collect()
    }
}

fn line(name: &str, workflow: &Workflow) -> Option<String> {
    let inputs: Vec<String> = workflow.inputs.iter().filter(|own| own.is_proposable()).map(input).collect();
    let inputs = if inputs.is_empty() { String::new() } else { format!(" Inputs: {}.", inputs.join("; ")) };
    Some(format!("- {name}: {}{inputs}", workflow.when_to_use.as_ref()?))
}

impl Input {
    /// Returns true if the agent may propose a value: never of a type that becomes a command.
    pub fn is_proposable(&self) -> bool {
        use ValueType::{Choice, Flag, List, Number, Text};
        matches!(self.kind, Text(_) | Number(_) | Choice(_) | Flag | List { .. })
    }
}

fn input(input: &Input) -> String {
    let need = if input.is_required() { "" } else { ", optional" };
    format!("{} ({}{need})", input.name, input.kind.in_brief())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Show;
    use crate::definition::fixtures::workflow;

    fn library(count: usize, length: usize) -> Library {
        let offered = |number| {
            let mut own = workflow(&format!("w{number:02}"), &["a"]);
            own.when_to_use = Some("x".repeat(length));
            own
        };
        Library::new((0..count).map(offered).collect(), &mut Vec::new())
    }

    #[test]
    fn the_list_has_a_bound() {
        for (count, length, fit) in [(0, 9, 0), (20, 9, 20), (25, 9, 20), (20, 300, 10)] {
            let library = library(count, length);
            let offers = library.offers();
            assert_eq!(offers.len(), count);
            assert_eq!(offers.iter().filter(|offer| offer.fits).count(), fit, "{count} of {length}");
            let length: usize = offers.iter().filter(|offer| offer.fits).map(|offer| offer.line.len() + 1).sum();
            assert!(length <= MAX_OFFERS);
        }
    }

    #[test]
    fn only_what_the_user_can_start_is_offered() {
        let mut own = [workflow("a", &["x"]), workflow("b", &["x"]), workflow("c", &["x"])];
        own[0].when_to_use = Some("For a.".into());
        own[1].when_to_use = Some("For b.".into());
        own[1].show = Show::Workflows;
        let (kind, default) = (ValueType::Flag, Some("true".into()));
        own[0].inputs = vec![Input { name: "dry".into(), kind, default, is_optional: false, description: None }];
        let library = Library::new(own.into(), &mut Vec::new());
        let lines: Vec<String> = library.offers().into_iter().map(|offer| offer.line).collect();
        assert_eq!(lines, ["- a: For a. Inputs: dry (`true` or `false`, optional)."]);
    }
}
