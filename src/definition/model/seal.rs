//! The seal of a workflow: a hash of every rule that holds for a run of it, and for a run also of the values of inputs in
//! paths and as bounds. Where a type is declared, each of its fields is a `rule` or a `text`, see
//! `fields!`; the types below have their rules here.
//!
//! The seal covers the workflow and every workflow nested in it, at any depth.
//!
//! The hash is SHA-256 of an unambiguous sequence of bytes, as [`Hash`] writes it. A change of this sequence, which a
//! new version of Rust may bring too, or of the set of rules needs a new [`VERSION`]; a test with a fixed value notices
//! the change.

use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};

use crate::sorted::Set;

use super::inputs::Input;
use super::models::OwnModel;
use super::outcomes::Outcome;
use super::own_limits::OwnLimits;
use super::scripts::hexadecimal;
use super::value_type::{Bounds, Output};
use super::values::ValueName;
use super::workflow::{EntryKind, Results, ToolPolicy, Workflow};

/// The version of the sequence of bytes that is hashed.
pub const VERSION: u32 = 3;

/// Returns the hash of the rules of a workflow and of all workflows nested in it, in hexadecimal digits.
pub(crate) fn hash(workflows: &[&Workflow]) -> String {
    let mut rules = Rules(Sha256::new());
    for workflow in workflows {
        // Texts are no rules, but the need for a folder of the run is a rule.
        (workflow, workflow.names(&ValueName::RunDir)).hash(&mut rules);
    }
    hexadecimal(rules.0)
}

/// Returns the hash of rules and of the values of the inputs that the rules use, each with the name of its input.
pub fn with_values<'a>(hash: &str, values: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut rules = Rules(Sha256::new());
    hash.hash(&mut rules);
    values.for_each(|value| value.hash(&mut rules));
    hexadecimal(rules.0)
}

/// Hashes rules as unambiguous bytes.
struct Rules(Sha256);

/// Lengths and the numbers of choices have 64 bits on any system.
impl Hasher for Rules {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_i64(number as i64);
    }

    /// See [`hexadecimal`].
    fn finish(&self) -> u64 {
        0
    }
}

/// The rules of types, each as a value that is hashed. A pattern names every field: `_` for a field that is no rule.
macro_rules! rules {
    ($($of:pat => $type:ident: $rules:expr;)*) => {$(
        impl Hash for $type {
            fn hash<H: Hasher>(&self, rules: &mut H) {
                let $of = self;
                $rules.hash(rules);
            }
        }
    )*};
}

rules! {
    Input { name, default, is_optional, kind: _, description: _ } => Input: (name, default, is_optional);
    Output { name, kind, is_optional, max_items, description: _ } => Output: (name, kind, is_optional, max_items);
    Outcome { name, target, of_entry: _, bound } => Outcome: (name, target, bound);
    OwnModel { names, of_entry: _ } => OwnModel: names;
    OwnLimits { write, hide, network, sandbox } => OwnLimits:
        (write.as_deref().map(set), hide.as_deref().map(set), network, sandbox);
    Bounds { min, max } => Bounds: (min.map(f64::to_bits), max.map(f64::to_bits));
    results => Results: match results {
        Results::All => None,
        Results::Of(names) => Some(set(names)),
    };
    tools => ToolPolicy: match tools {
        ToolPolicy::All => ("all", Set::new()),
        ToolPolicy::Except(names) => ("except", set(names)),
        ToolPolicy::Only(names) => ("only", set(names)),
    };
    kind => EntryKind: match kind {
        EntryKind::Phase(phase) => (Some(phase), None),
        EntryKind::Workflow { key, with, id, name: _, outcomes, model } => (None, Some((key, with, id, outcomes, model))),
    };
}

/// Returns names or paths as a set: order and duplicates have no meaning.
fn set(items: &[String]) -> Set<&str> {
    items.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::model::scripts::{ScriptFiles, Scripts};
    use crate::definition::{
        Answer, AnswerText, BoundValue, BudgetBounds, Check, CheckKind, Command, Condition, ContextMode, Entry, Gate,
        Given, Library, Measure, Need, Parallel, Pattern, Phase, Question, Sandbox, Step, Target, ValueType, Variable,
        WayBound, Work, WorkflowOutput,
    };
    use crate::sorted::Map;

    type Change = fn(&mut [Workflow]);

    fn changed(change: impl Fn(&mut [Workflow])) -> Vec<Workflow> {
        let mut workflows = vec![
            workflow("outer", &["a", "@inner", "z"]),
            workflow("inner", &["b", "@core"]),
            workflow("core", &["c"]),
            workflow("other", &["d"]),
        ];
        change(&mut workflows);
        workflows
    }

    /// The seal of the first workflow, which does not reach the last one.
    fn seal(change: impl Fn(&mut [Workflow])) -> String {
        Library::new(changed(change), &mut Vec::new()).seal("outer").unwrap()
    }

    /// The phase of this index.
    fn at(workflow: &mut Workflow, index: usize) -> &mut Phase {
        match &mut workflow.phases[index].kind {
            EntryKind::Phase(phase) => std::rc::Rc::make_mut(phase),
            EntryKind::Workflow { key, .. } => panic!("{key} is no phase"),
        }
    }

    /// The nested workflow in the first one.
    type Nested<'a> = (&'a mut Map<String, Given>, &'a mut Option<String>, &'a mut Vec<Outcome>, &'a mut OwnModel);

    fn nested(w: &mut [Workflow]) -> Nested<'_> {
        match &mut w[0].phases[1].kind {
            EntryKind::Workflow { with, id, outcomes, model, .. } => (with, id, outcomes, model),
            EntryKind::Phase(phase) => panic!("{} is no workflow", phase.id),
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.into()).collect()
    }

    fn gate(kind: CheckKind) -> Option<Gate> {
        let checks = vec![Check { name: "it".into(), kind, outcome: None }];
        Some(Gate { checks, attempts: 3.into() })
    }

    fn run(line: &str, timeout_ms: u32, env: &[(&str, &str)]) -> CheckKind {
        let variable =
            |&(name, value): &(&str, &str)| Variable { name: name.into(), value: ValueName::parse(value).unwrap() };
        CheckKind::Run {
            command: Command::new(line.into(), env.iter().map(variable).collect()),
            timeout: timeout_ms.into(),
        }
    }

    fn when(of: &str, values: &[&str]) -> Vec<Condition> {
        vec![Condition { of: ValueName::parse(of).unwrap(), values: names(values) }]
    }

    fn answer(when: Vec<Condition>) -> Answer {
        Answer { outcome: "x".into(), name: "X".into(), text: AnswerText::None, when }
    }

    fn output(name: &str, kind: ValueType, is_optional: bool) -> Vec<Output> {
        vec![Output { name: name.into(), kind, is_optional, max_items: None, description: None }]
    }

    fn input(default: Option<&str>) -> Vec<Input> {
        let default = default.map(Into::into);
        vec![Input { name: "i".into(), kind: ValueType::TEXT, default, is_optional: false, description: None }]
    }

    fn handed(name: &str, of: &str) -> Vec<WorkflowOutput> {
        vec![WorkflowOutput { name: name.into(), of: ValueName::parse(of).unwrap() }]
    }

    fn number(min: Option<f64>, max: Option<f64>) -> ValueType {
        ValueType::Number(Bounds { min, max })
    }

    fn bounded(max: BoundValue<u32>, then: Option<Target>) -> Vec<Outcome> {
        vec![Outcome { bound: Some(WayBound { max, then }), ..Outcome::new("x", Target::Loop) }]
    }

    fn parallel(at_once: BoundValue<u32>) -> Parallel {
        Parallel { at_once, need: Need::All }
    }

    fn scripts(files: &[(&str, &str)]) -> Option<std::rc::Rc<Scripts>> {
        let mut read = ScriptFiles::default();
        files.iter().for_each(|(path, text)| assert!(read.add(path, text.as_bytes())));
        Scripts::of(read, "/w", "w").map(Into::into)
    }

    fn of_input<T>(name: &str) -> BoundValue<T> {
        BoundValue::Input(name.into())
    }

    /// Each change gives a seal that differs from all others.
    #[test]
    fn every_rule_is_in_it() {
        let changes: &[Change] = &[
            |_| {},
            |w| w[0].root = "project".into(),
            |w| w[2].root = "project".into(),
            |w| w[0].loopable = false,
            |w| w[2].loopable = false,
            |w| w[0].auto_continue = false,
            |w| w[0].inputs = input(None),
            |w| w[0].inputs = input(Some("d")),
            |w| {
                w[0].inputs = input(None);
                w[0].inputs[0].is_optional = true;
            },
            |w| w[1].outputs = handed("a", "output.b.x"),
            |w| w[1].outputs = handed("a", "output.b.y"),
            |w| w[1].outputs = handed("b", "output.b.x"),
            |w| w[0].context = Some(ContextMode::Shared),
            |w| w[0].context = Some(ContextMode::Fresh),
            |w| at(&mut w[2], 0).context = Some(ContextMode::Fresh),
            |w| w[0].parallel = Some(parallel(2.into())),
            |w| w[0].parallel = Some(parallel(of_input("a"))),
            |w| w[0].limits.write = Some(vec![]),
            |w| w[0].limits.write = Some(names(&["a", "b"])),
            |w| w[0].limits.write = Some(names(&["ab"])),
            |w| w[0].limits.hide = Some(vec![]),
            |w| w[0].limits.network = Some(false),
            |w| w[0].limits.network = Some(true),
            |w| w[0].limits.sandbox = Some(Sandbox::Required),
            |w| w[0].limits.sandbox = Some(Sandbox::Preferred),
            |w| w[0].limits.sandbox = Some(Sandbox::Off),
            |w| at(&mut w[2], 0).limits.hide = Some(names(&[".env"])),
            |w| w[0].budget = BudgetBounds::from([(Measure::Cost, 1)]),
            |w| w[0].budget = BudgetBounds::from([(Measure::Turns, 1)]),
            |w| at(&mut w[2], 0).budget = BudgetBounds::from([(Measure::Turns, 2)]),
            |w| at(&mut w[2], 0).budget = BudgetBounds([(Measure::Turns, of_input("a"))].into_iter().collect()),
            |w| at(&mut w[0], 0).on_budget = Some(Target::Next),
            |w| at(&mut w[0], 0).on_budget = Some(Target::Stop),
            |w| at(&mut w[0], 0).interactive = true,
            |w| at(&mut w[0], 0).work = Work::Run(Step { command: "a".into(), timeout: 1.into() }),
            |w| at(&mut w[0], 0).work = Work::Run(Step { command: "a".into(), timeout: 2.into() }),
            |w| at(&mut w[0], 0).work = Work::Run(Step { command: "a".into(), timeout: of_input("a") }),
            |w| at(&mut w[0], 0).work = Work::Ask(Question { text: "?".into(), answers: vec![] }),
            |w| at(&mut w[0], 0).work = Work::Ask(Question { text: "?".into(), answers: vec![answer(vec![])] }),
            |w| {
                let answers = vec![answer(when("input.b", &["x"]))];
                at(&mut w[0], 0).work = Work::Ask(Question { text: "?".into(), answers });
            },
            |w| at(&mut w[0], 0).work = Work::Branches,
            |w| at(&mut w[0], 0).summary_required = true,
            |w| at(&mut w[0], 2).id = "x".into(),
            |w| at(&mut w[0], 2).tools = ToolPolicy::Only(vec![]),
            |w| at(&mut w[0], 2).tools = ToolPolicy::Only(names(&["bash"])),
            |w| at(&mut w[0], 2).tools = ToolPolicy::Except(names(&["bash"])),
            |w| at(&mut w[2], 0).tools = ToolPolicy::Except(names(&["bash"])),
            |w| at(&mut w[0], 2).model.names = names(&["a", "b"]),
            |w| at(&mut w[0], 2).model.names = names(&["b", "a"]),
            |w| at(&mut w[0], 2).model.names = names(&[":off"]),
            |w| w[0].model.names = names(&["a", "b"]),
            |w| w[1].model.names = names(&[":off"]),
            |w| nested(w).3.names = names(&["a", "b"]),
            |w| nested(w).3.names = names(&[":off"]),
            |w| at(&mut w[0], 2).results = Results::Of(vec![]),
            |w| at(&mut w[0], 2).results = Results::Of(names(&["a"])),
            |w| at(&mut w[0], 2).outputs = output("a", ValueType::TEXT, false),
            |w| at(&mut w[0], 2).outputs = output("b", ValueType::TEXT, false),
            |w| at(&mut w[0], 2).outputs = output("a", ValueType::TEXT, true),
            |w| at(&mut w[0], 2).outputs = output("a", ValueType::Flag, false),
            |w| at(&mut w[0], 2).outputs = output("a", ValueType::Text(7), false),
            |w| {
                let fields = output("f", ValueType::Flag, false);
                at(&mut w[0], 2).outputs = output("a", ValueType::List { min: 0, max: 1, fields }, false);
            },
            |w| at(&mut w[0], 2).outputs = output("a", ValueType::Choice(names(&["x"])), false),
            |w| at(&mut w[0], 2).outputs = output("a", number(None, None), false),
            |w| at(&mut w[0], 2).outputs = output("a", number(Some(1.0), None), false),
            |w| at(&mut w[0], 2).outputs = output("a", number(None, Some(1.0)), false),
            |w| at(&mut w[0], 2).outputs = output("a", ValueType::List { min: 0, max: 1, fields: vec![] }, false),
            |w| at(&mut w[0], 2).outputs = output("a", ValueType::List { min: 1, max: 1, fields: vec![] }, false),
            |w| {
                at(&mut w[0], 2).outputs = output("a", ValueType::List { min: 1, max: 1, fields: vec![] }, false);
                at(&mut w[0], 2).outputs[0].max_items = Some("a".into());
            },
            |w| at(&mut w[0], 0).outcomes = vec![Outcome::new("x", Target::Loop)],
            |w| at(&mut w[0], 0).outcomes = vec![Outcome::new("x", Target::End)],
            |w| at(&mut w[0], 0).outcomes = vec![Outcome::new("x", Target::Entry("z".into()))],
            |w| at(&mut w[0], 0).outcomes = bounded(1.into(), None),
            |w| at(&mut w[0], 0).outcomes = bounded(2.into(), None),
            |w| at(&mut w[0], 0).outcomes = bounded(of_input("a"), None),
            |w| at(&mut w[0], 0).outcomes = bounded(2.into(), Some(Target::Next)),
            |w| at(&mut w[0], 2).gate = gate(run("a", 1, &[])),
            |w| at(&mut w[0], 2).gate = gate(run("a", 2, &[])),
            |w| {
                let command = Command::new("a".into(), vec![]);
                at(&mut w[0], 2).gate = gate(CheckKind::Run { command, timeout: of_input("a") });
            },
            |w| at(&mut w[0], 2).gate = gate(run("a", 1, &[("A", "task")])),
            |w| at(&mut w[0], 2).gate = gate(run("a", 1, &[("A", "summary.a")])),
            |w| at(&mut w[0], 2).gate = gate(CheckKind::File { path: "a".into(), contains: None }),
            |w| {
                let contains = Some(Pattern::new("a").unwrap());
                at(&mut w[0], 2).gate = gate(CheckKind::File { path: "a".into(), contains });
            },
            |w| {
                at(&mut w[0], 2).gate = gate(run("a", 1, &[]));
                at(&mut w[0], 2).gate.as_mut().unwrap().checks[0].outcome = Some("x".into());
            },
            |w| {
                at(&mut w[0], 2).gate = gate(run("a", 1, &[]));
                at(&mut w[0], 2).gate.as_mut().unwrap().attempts = 4.into();
            },
            |w| at(&mut w[2], 0).instructions = "Write {runDir}/a.md".into(),
            |w| w[0].completion_message = Some("{runDir}".into()),
            |w| w[0].phases[2].when = when("input.b", &["x"]),
            |w| w[0].phases[2].when = when("input.b", &[]),
            |w| w[0].phases[2].when = when("outcome.b", &["x"]),
            |w| w[0].phases[2].when = when("outcome.b", &["x", "y"]),
            |w| *nested(w).1 = Some("i".into()),
            |w| *nested(w).2 = vec![Outcome::new("x", Target::Next)],
            |w| drop(nested(w).0.insert("i".into(), Given::Value("output.a.b".into()))),
            |w| drop(nested(w).0.insert("i".into(), Given::Name(ValueName::parse("output.a.b").unwrap()))),
            |w| drop(nested(w).0.insert("i".into(), Given::List(names(&["b", "c"])))),
            |w| drop(nested(w).0.insert("i".into(), Given::Value("b\nc".into()))),
            |w| w[0].phases.swap(0, 2),
            |w| w[0].phases[1] = Entry::workflow("other"),
            |w| w[1].phases.truncate(1),
            |w| w[2].phases.push(Entry::phase(phase("e"))),
            |w| w[0].scripts = scripts(&[("a", "x")]),
            |w| w[1].scripts = scripts(&[("a", "x")]),
            |w| w[0].scripts = scripts(&[("b", "x")]),
            |w| w[0].scripts = scripts(&[("a", "")]),
            |w| w[0].scripts = scripts(&[("a", "x"), ("b", "x")]),
        ];
        let mut seals = Set::new();
        for (index, change) in changes.iter().enumerate() {
            assert!(seals.insert(hash(&changed(change).iter().collect::<Vec<_>>())), "{index}");
        }
    }

    #[test]
    fn texts_other_workflows_and_the_order_of_sets_are_not() {
        let changes: [Change; 6] = [
            |w| {
                let own = Some("own".to_owned());
                let names = [&mut w[1].name, &mut w[0].initial_message, &mut w[0].command_name];
                names.into_iter().for_each(|name| name.push_str(" 2"));
                w[0].description.clone_from(&own);
                w[0].when_to_use.clone_from(&own);
                w[0].default_task.clone_from(&own);
                w[0].role_instruction.clone_from(&own);
                w[0].advance_reminder.clone_from(&own);
                w[0].block_reason_template.clone_from(&own);
                w[0].completion_message.clone_from(&own);
                w[0].not_done_reminder = own;
                w[0].folder = "elsewhere".into();
                w[0].dir = "/elsewhere".into();
            },
            |w| {
                let phase = at(&mut w[2], 0);
                (phase.name, phase.emoji, phase.instructions) = ("N".into(), "e".into(), "I".into());
                phase.profiles = Some(names(&["p"]));
            },
            |w| w[3].loopable = false,
            |w| at(&mut w[3], 0).tools = ToolPolicy::Only(vec![]),
            |w| w[3].initial_message = "{runDir}".into(),
            |w| w.swap(1, 3),
        ];
        for (index, change) in changes.iter().enumerate() {
            assert_eq!(seal(change), seal(|_| {}), "{index}");
        }
        let only = |of: &[&str]| seal(|w| at(&mut w[0], 0).tools = ToolPolicy::Only(names(of)));
        assert_eq!(only(&["a", "b"]), only(&["b", "a", "b"]));
        assert_ne!(only(&["ab"]), only(&["a", "b"]));
    }

    #[test]
    fn values_of_inputs_are_in_that_of_a_run() {
        let of = |values: &[(&'static str, &'static str)]| with_values("h", values.iter().copied());
        let seals = [of(&[]), of(&[("a", "1")]), of(&[("a", "2")]), of(&[("a1", "")]), of(&[("a", "1"), ("b", "")])];
        assert_eq!(Set::from(seals).len(), 5);
    }

    /// Every stored run relies on this value: another value needs another [`VERSION`].
    #[test]
    fn a_seal_is_the_same_for_ever() {
        assert_eq!(seal(|_| {}), "9ce9aafda2be7cba2185297da6dfec89c976c11c6a099dbe5b4be8c6f59eff53");
    }
}
