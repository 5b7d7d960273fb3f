//! Validates the values of inputs that rules use: in paths, and as bounds.

use crate::sorted::Set;

use super::flow::{Errors, FIELD_OF_ITEM, listed};
use crate::definition::diagnostic::{FieldProblem, PathPart, Problem};
use crate::definition::model::{
    BoundField, CheckKind, Gate, Given, Group, Input, MAX_GATE_ATTEMPTS, MAX_ITEMS, MAX_TIMEOUT_MS, OwnLimits,
    Parallel, PathVariable, Phase, RUN_DIR_IN_BRACES, RuleUse, TypeOf, ValueName, ValueType, WayBound, Workflow,
    bounds_of_inputs, group_key, is_narrowed, refusal, type_of, variables,
};

impl<'a> Errors<'a, '_> {
    /// Checks the variables in the paths of a phase, or of the workflow.
    pub(super) fn paths(&mut self, gate: Option<&Gate>, limits: &OwnLimits, phase: Option<&Phase>) {
        let checks = gate.iter().flat_map(|gate| &gate.checks).enumerate();
        let files = checks.filter_map(|(index, check)| match &check.kind {
            CheckKind::File { path, .. } => {
                let at = vec![PathPart::Key("gate"), PathPart::Item(index), PathPart::Key("file")];
                Some(("gate.file", path, at))
            }
            CheckKind::Run { .. } => None,
        });
        let written = limits.write.iter().flatten().enumerate();
        let written = written.map(|(index, path)| ("write", path, vec![PathPart::Key("write"), PathPart::Item(index)]));
        for (field, path, at) in files.chain(written) {
            for variable in variables(path) {
                let Some((expected, found, suggestion)) = self.unknown_in_path((field, phase), path, &variable) else {
                    continue;
                };
                self.report_in(phase, FieldProblem::bad(field, expected, found).suggest(suggestion), &at);
            }
        }
    }

    /// Returns the expected and the found variable, and a suggestion, for a variable that this path cannot have.
    fn unknown_in_path(
        &self,
        of: (&str, Option<&Phase>),
        path: &str,
        variable: &PathVariable,
    ) -> Option<(String, String, Option<String>)> {
        let name = match variable {
            PathVariable::ItemNumber if self.is_repeated() => return None,
            PathVariable::ItemNumber => {
                return Some(("`{itemNumber}` in a group with `each`".into(), format!("`{path}`"), None));
            }
            PathVariable::RunDir => {
                let rest = path.strip_prefix(RUN_DIR_IN_BRACES);
                let is_wrong = rest.is_none_or(|rest| !(rest.is_empty() || rest.starts_with('/')));
                let expected = "`{runDir}` at the beginning of a path, and `/` behind it";
                return is_wrong.then(|| (expected.into(), format!("`{path}`"), None));
            }
            PathVariable::Input(name) => name,
            PathVariable::Item | PathVariable::ItemField(_) => return self.wrong_item_in_path(of, path, variable),
        };
        let inputs = &self.workflow.inputs;
        match self.workflow.input(name).map(|input| (&input.kind, input.is_optional)) {
            Some((ValueType::List { .. }, _)) => {
                Some(("an input that is no list".into(), format!("`{variable}`"), None))
            }
            Some((_, true)) => Some(("an input that is not optional".into(), format!("`{variable}`"), None)),
            Some((_, false)) => None,
            None => {
                let names: Set<&str> = inputs.iter().map(|input| &*input.name).collect();
                let meant = self.fuel.nearest(name, names.iter().copied()).map(|meant| format!("{{input.{meant}}}"));
                Some((listed(&names, "an input of the workflow"), format!("`{variable}`"), meant))
            }
        }
    }

    /// Returns the expected and the found variable, and a suggestion, for a variable of an item that this path of a field
    /// cannot have: items narrow what a branch of a parallel group may write, and nothing else.
    fn wrong_item_in_path(
        &self,
        (field, phase): (&str, Option<&Phase>),
        path: &str,
        variable: &PathVariable,
    ) -> Option<(String, String, Option<String>)> {
        let found = |expected: &str, found: &str| Some((expected.to_owned(), format!("`{found}`"), None));
        let group = self.workflow.group.as_ref().and_then(|Group { file, at }| {
            let mut groups = (1..=at.len()).rev().filter_map(|depth| at.get(..depth));
            groups.find_map(|at| self.known.workflows.get(&*group_key(file, at)).filter(|group| group.each.is_some()))
        });
        if field != "write" || phase.is_none() || group.is_none_or(|group| group.parallel.is_none()) {
            let expected = format!("`{variable}` only in `write` of a phase in a parallel group with `each`");
            return found(&expected, path);
        }
        if !is_narrowed(path) {
            return found(&format!("a folder of the project before `{variable}`, as in `src/{variable}/`"), path);
        }
        let PathVariable::ItemField(name) = variable else {
            let names = self.fields_of_item();
            let meant = names.iter().next().map(|name| format!("{{item.{name}}}"));
            return (!names.is_empty())
                .then(|| ("a field of the item, which is a record".into(), format!("`{variable}`"), meant));
        };
        let get = |key: &str| self.known.workflows.get(key).copied();
        match type_of((self.workflow, &[]), &variable.value(), self.all, &get).map(TypeOf::of_one) {
            Some(ValueType::Text(_) | ValueType::Choice(_)) => None,
            Some(kind) => {
                Some(("a text or a choice".into(), format!("`{variable}`, which is {}", kind.expected()), None))
            }
            None => {
                let names = self.fields_of_item();
                let meant = self.fuel.nearest(name, names.iter().copied()).map(|meant| format!("{{item.{meant}}}"));
                Some((listed(&names, FIELD_OF_ITEM), format!("`{variable}`"), meant))
            }
        }
    }

    /// Checks the inputs whose values are bounds: each must be a number with bounds within the bounds of the field.
    pub(super) fn bounds(&mut self) {
        let workflow: &'a Workflow = self.workflow;
        for ((phase, field), name) in bounds_of_inputs(workflow) {
            use PathPart::{Item, Key};
            let (at, min, max) = match field {
                BoundField::GateAttempts => (vec![Key("gateAttempts")], 1.0, f64::from(MAX_GATE_ATTEMPTS)),
                BoundField::AtOnce => (vec![Key("parallel")], 1.0, Parallel::MOST_AT_ONCE as f64),
                BoundField::Budget(measure) => {
                    let (min, max) = measure.range();
                    (vec![Key("budget"), Key(measure.name())], min, max)
                }
                BoundField::Way(index, outcome) => {
                    let entry = phase.map_or(vec![Key("phases"), Item(index)], |_| Vec::new());
                    let own = [Key("outcomes"), Key(&outcome.name), Key("max")];
                    ([&entry[..], &own].concat(), 1.0, f64::from(WayBound::LIMIT))
                }
                BoundField::Items(output) => {
                    let least = if let ValueType::List { min, .. } = output.kind { min.max(1) } else { 1 };
                    (vec![Key("outputs"), Key(&output.name), Key("max")], least as f64, MAX_ITEMS as f64)
                }
                BoundField::Timeout(check) => {
                    let gate = check.map_or(Vec::new(), |check| vec![Key("gate"), Item(check)]);
                    ([&gate[..], &[Key("timeout")]].concat(), 1e-3, f64::from(MAX_TIMEOUT_MS) / 1e3)
                }
            };
            let input = workflow.input(name);
            let fits = |bound: Option<f64>| bound.is_some_and(|bound| (min..=max).contains(&bound));
            let why = match input.map(|input| &input.kind) {
                Some(_) if input.is_some_and(|input| input.is_optional) => ", which is optional".to_owned(),
                Some(ValueType::Number(bounds)) if fits(bounds.min) && fits(bounds.max) => continue,
                Some(kind) => format!(", which is {}", kind.expected()),
                None => String::new(),
            };
            let known = workflow.inputs.iter().map(|input| &*input.name);
            let meant = self.fuel.nearest(name, known).filter(|_| input.is_none());
            let names = at.iter().filter_map(|part| if let Key(key) = part { Some(*key) } else { None });
            let names: Vec<&str> = names.skip_while(|name| *name == "phases").collect();
            let problem = FieldProblem::bad(
                names.join("."),
                format!("an input that is a number, with `min` and `max` from {min} to {max}"),
                format!("`input.{name}`{why}"),
            )
            .suggest(meant.map(|meant| format!("input.{meant}")));
            self.report_in(phase, problem, &at);
        }
    }

    /// Checks the values of inputs that are part of paths: options and defaults.
    pub(super) fn inputs_in_paths(&mut self) {
        let used = self.known.rule_inputs(&self.workflow.key);
        let workflow: &'a Workflow = self.workflow;
        let is_used = |input: &&Input| used.get(&*input.name) == Some(&RuleUse::Path);
        for input in workflow.inputs.iter().filter(is_used) {
            // A list in a path is reported at the path.
            if matches!(input.kind, ValueType::List { .. }) {
                continue;
            }
            let values = input.kind.options().into_iter().chain(input.default.as_deref());
            let Some((value, why)) = values.into_iter().find_map(|value| Some((value, refusal(value)?))) else {
                continue;
            };
            let problem = in_rule(RuleUse::Path, format!("inputs.{}", input.name), &format!("`{value}`"), why);
            self.report(problem, &[PathPart::Key("inputs"), PathPart::Key(&input.name)]);
        }
    }

    /// Returns the problem of a value that `with` gives to an input that a rule uses; `None` for a good value.
    pub(super) fn bad_in_rule(as_what: RuleUse, name: &str, given: &Given) -> Option<Problem> {
        let (found, why) = match given {
            Given::Value(_) if as_what == RuleUse::Bound => return None,
            Given::Value(value) => (format!("`{value}`"), refusal(value)?),
            Given::Name(
                of @ (ValueName::Output { .. }
                | ValueName::Outcome(_)
                | ValueName::Summary(_)
                | ValueName::Item
                | ValueName::ItemField(_)),
            ) => (format!("`{of}`"), "is what the agent gives"),
            Given::Name(_) | Given::List(_) => return None,
        };
        Some(in_rule(as_what, format!("with.{name}"), &found, why))
    }
}

/// Returns the problem of a value that a rule cannot use, for this reason.
fn in_rule(as_what: RuleUse, field: String, found: &str, why: &str) -> Problem {
    let expected = match as_what {
        RuleUse::Path => "a value that can be part of the path in `gate.file` or `write`",
        RuleUse::Bound => "a value that can be a bound, as in `gateAttempts`",
    };
    FieldProblem::bad(field, expected, format!("{found}, which {why}")).into()
}
