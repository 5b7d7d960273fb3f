//! The seal of a workflow: a hash of every rule that holds for a run of it.
//!
//! | rule | not a rule |
//! | --- | --- |
//! | which workflows and phases there are, by key and id, in their order | names, emojis, descriptions |
//! | the root that each workflow comes from | the folder below the root |
//! | tool lists | `availableProfiles`, which are for information only |
//! | `write`, `hide`, `network` and `sandbox` of phases and of the workflow | `tests`, which a check runs |
//! | gates with all that is in them, `gateAttempts` | instructions, messages, templates |
//! | `parallel`, `need` and `decide` of groups | |
//! | `context` and `budget` of phases and of the workflow, `results` | |
//! | `summary: required`, `interactive`, `loopable`, `maxLoops`, `autoContinue` | `contextInjection`, session names |
//! | `model`, as it is written, and `thinking` | the user's aliases of models |
//! | `outcomes`, `when`, `with`, names and defaults of `inputs` | their types and descriptions |
//! | `outputs` with their types | their descriptions |
//! | values of inputs in paths and as bounds, in the seal of a run | other values of inputs |
//! | | `show`: what a user is offered and the model is shown |
//!
//! It covers the workflow and every workflow nested in it, at any depth.
//!
//! The hash is SHA-256 of an unambiguous sequence of bytes: a text is its length and its UTF-8, a number is 64
//! bits, the lower bytes first, a choice is a number, a list is its length and its items. A change of this form or of
//! the set of rules needs a new [`VERSION`].
//!
//! | version | rules |
//! | --- | --- |
//! | 1 | all but those of the later versions |
//! | 2 | with `write`, `network` and `sandbox` |
//! | 3 | with all others but `results`, `hide`, `outputs`, `env` of commands, bounds that are inputs, and the need of a folder of the run |
//! | 4 | with these, but without groups, and without ids and outcomes of entries that are nested workflows |
//! | 5 | with all others but `recheck` |
//! | 6 | all |
//!
//! A seal has the lowest version that covers the rules. Without the fields of a later version it is the one that was
//! stored before these fields existed, so it still holds, and it does not hold any more once there is one of them.

use crate::sorted::{Map, Set};

use sha2::{Digest, Sha256};

use super::bound_values::{BoundValue, BudgetBounds};
use super::budget::Measure;
use super::conditions::Condition;
use super::confinement::{Confinement, Sandbox};
use super::each::Each;
use super::gate::{Check, CheckKind, Command, Gate, Variable};
use super::inputs::{Given, Input};
use super::outcomes::{Outcome, Target, WayBound};
use super::outputs::Output;
use super::parallel::{Decide, Need, Parallel};
use super::results::Results;
use super::rule_inputs::bounds_of_inputs;
use super::value_type::{Bounds, ValueType};
use super::values::ValueName;
use super::work::{Answer, AnswerText, Question, Step, Work};
use super::workflow::{AutoContinue, ContextMode, Entry, EntryKind, Phase, ToolPolicy, Workflow};

/// The first version of the sequence of bytes that is hashed.
pub const FIRST_VERSION: u32 = 1;

/// The last version of it.
pub const VERSION: u32 = 6;

/// The version of the seal, and the hash of the rules of a workflow and of all nested in it, in hexadecimal digits.
pub(crate) fn hash(workflows: &[&Workflow]) -> (u32, String) {
    let has = |rule: fn(&Workflow) -> bool| workflows.iter().any(|workflow| rule(workflow));
    let needs_third = has(has_context) || has(has_models) || has(has_budget) || has(has_ways);
    let fourth = [has_results, has_hidden, has_outputs, has_env, has_bound_of_input, Workflow::names_run_dir];
    let version = if has(has_rechecks) {
        6
    } else if has(has_new_entries) || has(has_work) {
        5
    } else if fourth.into_iter().any(has) {
        4
    } else if needs_third {
        3
    } else if has(has_limits) {
        2
    } else {
        FIRST_VERSION
    };
    let mut rules = Rules { hasher: Sha256::new(), version };
    for workflow in workflows {
        rules.workflow(workflow);
    }
    (version, rules.finish())
}

/// The hash of rules with the values of inputs that they use, each with the name of its input.
pub fn with_values<'a>(hash: &str, values: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut rules = Rules { hasher: Sha256::new(), version: VERSION };
    rules.text(hash);
    for (name, value) in values {
        rules.text(name);
        rules.text(value);
    }
    rules.finish()
}

/// Returns true if a workflow is a group, or if an entry that is a nested workflow has an id or outcomes.
fn has_new_entries(workflow: &Workflow) -> bool {
    workflow.group.is_some()
        || workflow.phases.iter().any(|entry| match &entry.kind {
            EntryKind::Phase(_) => false,
            EntryKind::Workflow { id, outcomes, .. } => id.is_some() || !outcomes.is_empty(),
        })
}

/// Returns true if an entry of a workflow is worked through without the model, or is a conversation with the user.
fn has_work(workflow: &Workflow) -> bool {
    workflow.own_phases().any(|phase| phase.work != Work::Agent || phase.interactive || phase.on_budget.is_some())
}

/// Returns true if a workflow or one of its own phases has a limit.
fn has_limits(workflow: &Workflow) -> bool {
    workflow.confinement != Confinement::default()
        || workflow.own_phases().any(|phase| phase.confinement != Confinement::default())
}

/// Returns true if a workflow or one of its own phases hides files.
fn has_hidden(workflow: &Workflow) -> bool {
    workflow.confinement.hide.is_some() || workflow.own_phases().any(|phase| phase.confinement.hide.is_some())
}

fn checks(workflow: &Workflow) -> impl Iterator<Item = &Check> {
    workflow.own_phases().filter_map(|phase| phase.gate.as_ref()).flat_map(|gate| &gate.checks)
}

/// Returns true if a check of a gate is made again at the end.
fn has_rechecks(workflow: &Workflow) -> bool {
    checks(workflow).any(|check| check.recheck)
}

/// Returns true if a command of a gate gets values of the run.
fn has_env(workflow: &Workflow) -> bool {
    checks(workflow).any(|check| matches!(&check.kind, CheckKind::Run { command, .. } if !command.env().is_empty()))
}

/// Returns true if a phase of a workflow does not get all results.
fn has_results(workflow: &Workflow) -> bool {
    workflow.own_phases().any(|phase| phase.results != Results::All)
}

/// Returns true if a phase of a workflow has outputs.
fn has_outputs(workflow: &Workflow) -> bool {
    workflow.own_phases().any(|phase| !phase.outputs.is_empty())
}

/// Returns true if a workflow or one of its own phases has a `context`.
pub(crate) fn has_context(workflow: &Workflow) -> bool {
    workflow.context.is_some() || workflow.own_phases().any(|phase| phase.context.is_some())
}

/// Returns true if a phase of a workflow has a model or a thinking level.
pub(crate) fn has_models(workflow: &Workflow) -> bool {
    workflow.own_phases().any(|phase| !phase.model.is_empty() || phase.thinking.is_some())
}

/// Returns true if a workflow or one of its own phases has a budget.
fn has_budget(workflow: &Workflow) -> bool {
    !workflow.budget.is_empty() || workflow.own_phases().any(|phase| !phase.budget.is_empty())
}

/// Returns true if a workflow or one of its own phases has inputs, conditions or outcomes.
fn has_ways(workflow: &Workflow) -> bool {
    !workflow.inputs.is_empty()
        || workflow.phases.iter().any(|entry| !entry.when.is_empty())
        || workflow.own_phases().any(|phase| !phase.outcomes.is_empty())
}

/// Returns true if a workflow or a phase of it has the value of an input as a bound.
fn has_bound_of_input(workflow: &Workflow) -> bool {
    !bounds_of_inputs(workflow).is_empty()
}

fn count(bound: &BoundValue<u32>) -> BoundValue<u64> {
    match bound {
        BoundValue::Fixed(count) => BoundValue::Fixed(u64::from(*count)),
        BoundValue::Input(name) => BoundValue::Input(name.clone()),
    }
}

/// Hashes rules in a form in which no two are the same.
struct Rules {
    hasher: Sha256,
    /// See [`VERSION`].
    version: u32,
}

impl Rules {
    /// The hash in hexadecimal digits.
    fn finish(self) -> String {
        let hash = self.hasher.finalize();
        hash.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    }

    fn workflow(&mut self, workflow: &Workflow) {
        // Every field is named, here and below: another one does not compile until it is hashed or named as no rule.
        let Workflow {
            key,
            name: _,
            command_name: _,
            description: _,
            initial_message: _,
            show: _,
            loopable,
            session_name_prefix: _,
            session_name_max_length: _,
            role_instruction: _,
            advance_reminder: _,
            block_reason_template: _,
            completion_message: _,
            stop_message: _,
            not_done_reminder: _,
            confinement,
            budget,
            inputs,
            auto_continue,
            max_loops,
            context_injection: _,
            context,
            phases,
            // They are hashed beside it; the key of a group tells its place.
            groups: _,
            group: _,
            each,
            parallel,
            place: _,
            root,
            folder: _,
        } = workflow;
        self.limits(confinement);
        self.context(*context);
        self.budget(budget);
        self.ways(inputs);
        self.text(key);
        self.text(root);
        self.number(u64::from(*loopable));
        self.bound(&count(max_loops));
        self.option(auto_continue.as_ref(), |rules, auto_continue| {
            let AutoContinue { delay_seconds, max_per_phase, max_idle } = auto_continue;
            rules.number(u64::from(*delay_seconds));
            rules.number(u64::from(*max_per_phase));
            rules.number(u64::from(*max_idle));
        });
        self.list(phases, |rules, Entry { kind, when }| {
            match kind {
                EntryKind::Phase(phase) => rules.phase(phase),
                EntryKind::Workflow { key, with, id, label: _, outcomes } => {
                    rules.number(1);
                    rules.text(key);
                    rules.values(with);
                    if rules.version >= 5 {
                        rules.option(id.as_ref(), |rules, id| rules.text(id));
                        rules.outcomes(outcomes);
                    }
                }
            }
            if rules.version >= 3 {
                rules.list(when, |rules, Condition { of, values }| {
                    rules.text(&of.to_string());
                    rules.set(values);
                });
            }
        });
        if let Some(each) = each {
            self.each(each);
        }
        if let Some(parallel) = parallel {
            self.parallel(parallel);
        }
        // The next workflow begins with 0 or 1. Texts are no rules, but that the run needs its folder is one.
        if workflow.names_run_dir() {
            self.text(ValueName::RUN_DIR);
        }
    }

    fn phase(&mut self, phase: &Phase) {
        let Phase {
            id,
            name: _,
            emoji: _,
            instructions: _,
            file: _,
            work,
            tools,
            confinement,
            budget,
            on_budget,
            tests: _,
            profiles: _,
            summary_required,
            context,
            interactive,
            results,
            outcomes,
            outputs,
            gate,
            model,
            thinking,
        } = phase;
        self.number(0);
        self.limits(confinement);
        self.context(*context);
        self.budget(budget);
        if self.version >= 3 {
            self.list(model, |rules, name| rules.text(name));
            self.option(thinking.as_ref(), |rules, level| rules.text(level.name()));
            self.outcomes(outcomes);
        }
        if self.version >= 4 {
            let names = match results {
                Results::All => None,
                Results::Of(names) => Some(names),
            };
            self.option(names, |rules, names| rules.set(names));
        }
        if self.version >= 4 {
            self.list(outputs, |rules, Output { name, kind, is_optional, description: _ }| {
                rules.text(name);
                rules.value_type(kind);
                rules.number(u64::from(*is_optional));
            });
        }
        self.text(id);
        match tools {
            ToolPolicy::All => self.number(0),
            ToolPolicy::Except(names) => {
                self.number(1);
                self.set(names);
            }
            ToolPolicy::Only(names) => {
                self.number(2);
                self.set(names);
            }
        }
        self.number(u64::from(summary_required.unwrap_or(false)));
        self.option(gate.as_ref(), Self::gate);
        if self.version >= 5 {
            match work {
                Work::Agent if on_budget.is_some() => {
                    self.number(4);
                    self.number(u64::from(*interactive));
                    self.text(on_budget.as_ref().map_or("", Target::word));
                }
                Work::Agent if *interactive => self.number(3),
                other => self.work(other),
            }
        }
    }

    /// A conversation has the number 3, a phase with `onBudget` the number 4.
    fn work(&mut self, work: &Work) {
        match work {
            Work::Agent => self.number(0),
            Work::Run(Step { command, timeout_ms }) => {
                self.number(1);
                self.text(command.line());
                self.env(command);
                self.number(u64::from(*timeout_ms));
            }
            // The group has its rules.
            Work::Branches => self.number(5),
            Work::Ask(Question { text, answers }) => {
                self.number(2);
                self.text(text);
                self.list(answers, |rules, Answer { outcome, label, text }| {
                    rules.text(outcome);
                    rules.text(label);
                    rules.number(match text {
                        AnswerText::None => 0,
                        AnswerText::Optional => 1,
                        AnswerText::Required => 2,
                    });
                });
            }
        }
    }

    fn env(&mut self, command: &Command) {
        self.list(command.env(), |rules, Variable { name, value }| {
            rules.text(name);
            rules.text(&value.to_string());
        });
    }

    fn each(&mut self, each: &Each) {
        self.text("each");
        match each {
            Each::Items(items) => self.list(items, |rules, item| rules.text(item)),
            Each::Of(name) => self.text(&name.to_string()),
        }
    }

    fn parallel(&mut self, Parallel { at_once, need, decide }: &Parallel) {
        self.text("parallel");
        self.number(u64::from(*at_once));
        self.option(
            match need {
                Need::All => None,
                Need::AtLeast(number) => Some(number),
            },
            |rules, number| rules.number(u64::from(*number)),
        );
        self.option(decide.as_ref(), |rules, decide| match decide {
            Decide::First(names) => rules.list(names, |rules, name| rules.text(name)),
            Decide::Majority => rules.text(Decide::MAJORITY),
        });
    }

    fn outcomes(&mut self, outcomes: &[Outcome]) {
        self.list(outcomes, |rules, Outcome { name, target, of_entry: _, bound }| {
            rules.text(name);
            rules.text(target.word());
            if let Some(WayBound { max, then }) = bound {
                // No name begins with a blank: a list without bounds has other bytes.
                rules.text(" max");
                rules.number(u64::from(*max));
                rules.option(then.as_ref(), |rules, then| rules.text(then.word()));
            }
        });
    }

    fn limits(&mut self, confinement: &Confinement) {
        if self.version < 2 {
            return;
        }
        let Confinement { write, hide, network, sandbox } = confinement;
        if self.version >= 4 {
            self.option(hide.as_ref(), |rules, hide| rules.set(hide));
        }
        self.option(write.as_ref(), |rules, write| rules.set(write));
        self.option(network.as_ref(), |rules, network| rules.number(u64::from(*network)));
        self.option(sandbox.as_ref(), |rules, sandbox| {
            rules.number(match sandbox {
                Sandbox::Required => 0,
                Sandbox::Preferred => 1,
                Sandbox::Off => 2,
            });
        });
    }

    fn ways(&mut self, inputs: &[Input]) {
        if self.version < 3 {
            return;
        }
        self.list(inputs, |rules, Input { name, default, kind: _, description: _ }| {
            rules.text(name);
            rules.option(default.as_ref(), |rules, default| rules.text(default));
        });
    }

    fn values(&mut self, with: &Map<String, Given>) {
        if self.version < 3 {
            return;
        }
        self.number(with.len() as u64);
        for (name, given) in with {
            self.text(name);
            match given {
                Given::Value(value) => {
                    self.number(0);
                    self.text(value);
                }
                Given::List(items) => {
                    self.number(3);
                    self.list(items, |rules, item| rules.text(item));
                }
                Given::Name(ValueName::Input(name)) => {
                    self.number(1);
                    self.text(name);
                }
                Given::Name(name) => {
                    self.number(2);
                    self.text(&name.to_string());
                }
            }
        }
    }

    fn value_type(&mut self, kind: &ValueType) {
        match kind {
            ValueType::Text => self.number(0),
            ValueType::Number(Bounds { min, max }) => {
                self.number(1);
                for bound in [min, max] {
                    self.option(bound.as_ref(), |rules, bound| rules.number(bound.to_bits()));
                }
            }
            ValueType::Choice(options) => {
                self.number(2);
                self.set(options);
            }
            ValueType::Flag => self.number(3),
            ValueType::List { min, max } => {
                self.number(4);
                self.number(*min as u64);
                self.number(*max as u64);
            }
        }
    }

    fn budget(&mut self, BudgetBounds(bounds): &BudgetBounds) {
        if self.version >= 3 {
            for measure in Measure::ALL {
                self.option(bounds.get(&measure), Self::bound);
            }
        }
    }

    /// The value of an input is in the seal of the run.
    fn bound(&mut self, bound: &BoundValue<u64>) {
        match bound {
            BoundValue::Fixed(amount) => self.number(*amount),
            BoundValue::Input(name) => {
                // No amount is as large.
                self.number(u64::MAX);
                self.text(name);
            }
        }
    }

    fn context(&mut self, context: Option<ContextMode>) {
        if self.version < 3 {
            return;
        }
        self.option(context.as_ref(), |rules, context| {
            rules.number(match context {
                ContextMode::Shared => 0,
                ContextMode::Fresh => 1,
            });
        });
    }

    /// Names or paths whose order has no meaning, nor have duplicates.
    fn set(&mut self, items: &[String]) {
        let items: Set<&str> = items.iter().map(String::as_str).collect();
        self.number(items.len() as u64);
        for item in items {
            self.text(item);
        }
    }

    fn gate(&mut self, gate: &Gate) {
        let Gate { checks, attempts } = gate;
        self.bound(&count(attempts));
        self.list(checks, |rules, Check { label, kind, outcome, recheck }| {
            rules.text(label);
            if rules.version >= 6 {
                rules.number(u64::from(*recheck));
            }
            if rules.version >= 3 {
                rules.option(outcome.as_ref(), |rules, outcome| rules.text(outcome));
            }
            match kind {
                CheckKind::Run { command, timeout_ms } => {
                    rules.number(0);
                    rules.text(command.line());
                    rules.number(u64::from(*timeout_ms));
                    if rules.version >= 4 {
                        rules.env(command);
                    }
                }
                CheckKind::File { path, contains } => {
                    rules.number(1);
                    rules.text(path);
                    rules.option(contains.as_ref(), |rules, pattern| {
                        rules.text(&pattern.to_string());
                    });
                }
                CheckKind::Approve { question } => {
                    rules.number(2);
                    rules.text(question);
                }
            }
        });
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.hasher.update(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.hasher.update(number.to_le_bytes());
    }

    fn option<T>(&mut self, value: Option<&T>, take: impl Fn(&mut Self, &T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            take(self, value);
        }
    }

    fn list<T>(&mut self, items: &[T], take: impl Fn(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            take(self, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{Command, Library, Pattern, Target, Thinking, ValueType};

    fn seal(change: impl Fn(&mut [Workflow])) -> String {
        let mut workflows = vec![
            workflow("outer", &["a", "@inner", "z"]),
            workflow("inner", &["b", "@core"]),
            workflow("core", &["c"]),
            workflow("other", &["d"]),
        ];
        change(&mut workflows);
        let library = Library::new(workflows, &mut Vec::new());
        let (version, hash) = library.seal("outer").unwrap();
        format!("{version}:{hash}")
    }

    /// The seal of the same workflows, whether or not they are sound.
    fn unchecked(change: impl Fn(&mut [Workflow])) -> String {
        let mut workflows = vec![workflow("outer", &["a", "@inner", "z"]), workflow("inner", &["b"])];
        change(&mut workflows);
        let (version, hash) = hash(&workflows.iter().collect::<Vec<_>>());
        format!("{version}:{hash}")
    }

    /// The phase of this index.
    fn at(workflow: &mut Workflow, index: usize) -> &mut Phase {
        match &mut workflow.phases[index].kind {
            EntryKind::Phase(phase) => std::rc::Rc::make_mut(phase),
            EntryKind::Workflow { key, .. } => panic!("{key} is no phase"),
        }
    }

    fn gate(kind: CheckKind) -> Option<Gate> {
        let checks = vec![Check { label: "it".into(), kind, outcome: None, recheck: false }];
        Some(Gate { checks, attempts: 3.into() })
    }

    /// Every stored run relies on this value: another one needs another [`VERSION`].
    #[test]
    fn a_seal_is_the_same_for_ever() {
        let value = seal(|workflows| {
            workflows[0].loopable = false;
            workflows[1].auto_continue = None;
            let first = at(&mut workflows[0], 0);
            first.tools = ToolPolicy::Only(vec!["read".into(), "grep".into()]);
            first.summary_required = Some(true);
            first.gate = gate(CheckKind::Run { command: "make".into(), timeout_ms: 1000 });
            at(&mut workflows[1], 0).tools = ToolPolicy::Except(vec!["bash".into()]);
            at(&mut workflows[2], 0).gate = gate(CheckKind::File { path: "*.md".into(), contains: None });
        });
        assert_eq!(value, "1:25d5f868e38cae75fe91bee98bc6d3fa577bc30c6561b3c1ea3140175509963f");
    }

    /// The same for runs with limits.
    #[test]
    fn a_seal_of_limits_is_the_same_for_ever() {
        let value = seal(|workflows| {
            workflows[0].confinement = limits(Some(&["docs/", "a.md"]), Some(false), None);
            at(&mut workflows[0], 2).confinement = limits(Some(&[]), None, Some(Sandbox::Off));
            at(&mut workflows[2], 0).confinement = limits(None, Some(true), Some(Sandbox::Preferred));
        });
        assert_eq!(value, "2:ef1b408cc60f38f4e174dcb092dadad3a82759b5ef504b87b0581546e90d5367");
    }

    #[test]
    fn contexts_are_in_it() {
        let changes: [Change; 3] = [
            |w| w[0].context = Some(ContextMode::Shared),
            |w| at(&mut w[0], 0).context = Some(ContextMode::Shared),
            |w| at(&mut w[2], 0).context = Some(ContextMode::Fresh),
        ];
        for (index, change) in changes.iter().enumerate() {
            assert!(seal(change).starts_with("3:"), "{index}");
        }
        assert_ne!(seal(|w| w[0].context = Some(ContextMode::Fresh)), seal(changes[0]));
        assert_eq!(seal(|w| w[3].context = Some(ContextMode::Fresh)), seal(|_| {}), "it is not reached");
    }

    #[test]
    fn budgets_are_in_it() {
        let budget = |measure, amount| BudgetBounds::from([(measure, amount)]);
        let first = seal(|w| w[0].budget = budget(Measure::Cost, 1));
        assert!(first.starts_with("3:"));
        let mut seals = Set::from([first]);
        for measure in Measure::ALL {
            assert!(seals.insert(seal(|w| w[0].budget = budget(measure, 2))));
            assert!(seals.insert(seal(|w| w[2].budget = budget(measure, 2))));
            assert!(seals.insert(seal(|w| at(&mut w[2], 0).budget = budget(measure, 2))));
        }
        assert_eq!(seal(|w| w[3].budget = budget(Measure::Time, 1)), seal(|_| {}));
    }

    fn limits(write: Option<&[&str]>, network: Option<bool>, sandbox: Option<Sandbox>) -> Confinement {
        let write = write.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
        Confinement { write, network, sandbox, ..Confinement::default() }
    }

    /// The same for runs with contexts, models and budgets.
    #[test]
    fn a_seal_of_contexts_models_and_budgets_is_the_same_for_ever() {
        let value = seal(|workflows| {
            workflows[0].confinement = limits(Some(&["docs/", "a.md"]), Some(false), None);
            at(&mut workflows[0], 0).model = vec!["strong".into(), "a/b:high".into()];
            at(&mut workflows[2], 0).thinking = Some(Thinking::Low);
            workflows[0].context = Some(ContextMode::Fresh);
            at(&mut workflows[1], 0).context = Some(ContextMode::Shared);
            workflows[0].budget = [(Measure::Cost, 2_500_000), (Measure::Turns, 40)].into();
            at(&mut workflows[0], 0).budget = [(Measure::Time, 60_000)].into();
        });
        assert_eq!(value, "3:eb6c2052d615a9ceac0ed86a205139dfbaf0e37e076ee7ae2c5e2309088e4286");
    }

    /// The same for runs with inputs, outcomes and conditions.
    #[test]
    fn a_seal_of_ways_is_the_same_for_ever() {
        let value = seal(|w| {
            let name = |name: &str| name.to_owned();
            let input = |name: &str, kind, default: Option<&str>| Input {
                name: name.to_owned(),
                kind,
                default: default.map(str::to_owned),
                description: Some("D".into()),
            };
            w[0].inputs = vec![
                input("a", ValueType::Text, None),
                input("b", ValueType::Choice(vec![name("x"), name("y")]), Some("x")),
            ];
            let targets = [Target::Next, Target::Loop, Target::Done, Target::Entry(name("z"))];
            at(&mut w[0], 0).outcomes = targets.map(|target| Outcome::new(target.word().to_owned(), target)).into();
            at(&mut w[0], 0).gate = gate(CheckKind::Approve { question: "Q".into() });
            at(&mut w[0], 0).gate.as_mut().unwrap().checks[0].outcome = Some(name("next"));
            w[1].inputs = vec![input("i", ValueType::Flag, Some("true")), input("j", ValueType::Text, None)];
            let EntryKind::Workflow { with, .. } = &mut w[0].phases[1].kind else { panic!() };
            with.insert(name("i"), Given::Value(name("false")));
            with.insert(name("j"), Given::Name(ValueName::Input(name("a"))));
            let values = vec![name("x"), name("y"), name("x")];
            w[0].phases[2].when = vec![
                Condition { of: ValueName::Input(name("b")), values },
                Condition { of: ValueName::Outcome(name("a")), values: vec![name("next")] },
            ];
            w[1].phases[1].when = vec![Condition { of: ValueName::Input(name("i")), values: vec![name("true")] }];
        });
        assert_eq!(value, "3:3963db68f0f75a0db67913ada42db4db89b0bd427df7ee51f172fda14775d528");
    }

    #[test]
    fn models_and_levels_are_in_it() {
        let changes: [Change; 7] = [
            |_| {},
            |w| at(&mut w[0], 0).model = vec!["a".into()],
            |w| at(&mut w[0], 0).model = vec!["a".into(), "b".into()],
            |w| at(&mut w[0], 0).model = vec!["b".into(), "a".into()],
            |w| at(&mut w[2], 0).model = vec!["a".into()],
            |w| at(&mut w[2], 0).thinking = Some(Thinking::Off),
            |w| at(&mut w[2], 0).thinking = Some(Thinking::Max),
        ];
        let mut seals = Set::new();
        for (index, change) in changes.iter().enumerate() {
            let seal = seal(change);
            assert_eq!(seal.starts_with("3:"), index > 0, "{index}");
            assert!(seals.insert(seal), "{index}");
        }
        let other: Change = |w| at(&mut w[3], 0).thinking = Some(Thinking::Off);
        assert_eq!(seal(other), seal(|_| {}), "it is not reached");
    }

    #[test]
    fn inputs_outcomes_and_conditions_are_in_it() {
        fn outcome(workflow: &mut Workflow, name: &str, target: Target) {
            let outcome = Outcome::new(name, target);
            at(workflow, 0).outcomes.push(outcome);
        }
        fn input(workflow: &mut Workflow, default: Option<&str>) {
            let default = default.map(Into::into);
            let (name, kind) = ("i".into(), ValueType::Text);
            workflow.inputs.push(Input { name, kind, default, description: None });
        }
        fn when(workflow: &mut Workflow, values: &[&str]) {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            workflow.phases[0].when.push(Condition { of: ValueName::Input("i".into()), values });
        }
        fn gives(workflow: &mut Workflow, given: Given) {
            let EntryKind::Workflow { with, .. } = &mut workflow.phases[1].kind else { panic!() };
            with.insert("i".into(), given);
        }
        let changes: [Change; 14] = [
            |_| {},
            |w| outcome(&mut w[0], "x", Target::Next),
            |w| outcome(&mut w[0], "y", Target::Next),
            |w| outcome(&mut w[0], "x", Target::Done),
            |w| outcome(&mut w[2], "x", Target::Loop),
            |w| {
                outcome(&mut w[2], "x", Target::Loop);
                at(&mut w[2], 0).gate = gate(CheckKind::Approve { question: "?".into() });
            },
            |w| {
                outcome(&mut w[2], "x", Target::Loop);
                at(&mut w[2], 0).gate = gate(CheckKind::Approve { question: "?".into() });
                at(&mut w[2], 0).gate.as_mut().unwrap().checks[0].outcome = Some("x".into());
            },
            |w| input(&mut w[0], None),
            |w| input(&mut w[0], Some("a")),
            |w| input(&mut w[1], Some("a")),
            |w| {
                input(&mut w[1], Some("a"));
                gives(&mut w[0], Given::Value("b".into()));
            },
            |w| {
                input(&mut w[0], Some("a"));
                input(&mut w[1], Some("a"));
                gives(&mut w[0], Given::Name(ValueName::Input("i".into())));
            },
            |w| {
                input(&mut w[0], Some("a"));
                when(&mut w[0], &["a"]);
            },
            |w| {
                input(&mut w[0], Some("a"));
                when(&mut w[0], &["a", "b"]);
            },
        ];
        let mut seals = Set::new();
        for (index, change) in changes.iter().enumerate() {
            let seal = seal(change);
            assert_eq!(seal.starts_with("3:"), index > 0, "{index}");
            assert!(seals.insert(seal), "{index}");
        }
        assert_eq!(seal(|w| outcome(&mut w[3], "x", Target::Next)), seal(|_| {}));
    }

    /// A run that was sealed before there were limits is sealed with version 1.
    #[test]
    fn only_limits_need_the_second_version() {
        assert!(seal(|_| {}).starts_with("1:"));
        let changes: [Change; 5] = [
            |w| w[0].confinement.network = Some(true),
            |w| w[2].confinement.write = Some(vec![]),
            |w| at(&mut w[0], 0).confinement.sandbox = Some(Sandbox::Required),
            |w| at(&mut w[1], 0).confinement.network = Some(false),
            |w| at(&mut w[2], 0).confinement.write = Some(vec![]),
        ];
        for (index, change) in changes.iter().enumerate() {
            assert!(seal(change).starts_with("2:"), "{index}");
        }
        let other: Change = |w| w[3].confinement.write = Some(vec![]);
        assert_eq!(seal(other), seal(|_| {}), "it is not reached");
    }

    #[test]
    fn every_limit_is_in_it() {
        let changes: [Change; 15] = [
            |w| w[0].confinement.write = Some(vec![]),
            |w| w[0].confinement.write = Some(vec!["a".into()]),
            |w| w[0].confinement.write = Some(vec!["a".into(), "b".into()]),
            |w| w[0].confinement.write = Some(vec!["ab".into()]),
            |w| w[0].confinement.network = Some(false),
            |w| w[0].confinement.network = Some(true),
            |w| w[0].confinement.sandbox = Some(Sandbox::Required),
            |w| w[0].confinement.sandbox = Some(Sandbox::Preferred),
            |w| w[0].confinement.sandbox = Some(Sandbox::Off),
            |w| w[2].confinement.write = Some(vec![]),
            |w| at(&mut w[0], 0).confinement.write = Some(vec![]),
            |w| at(&mut w[0], 2).confinement.write = Some(vec![]),
            |w| at(&mut w[2], 0).confinement.write = Some(vec![]),
            |w| at(&mut w[2], 0).confinement.network = Some(false),
            |w| at(&mut w[2], 0).confinement.sandbox = Some(Sandbox::Off),
        ];
        let mut seals = Set::from([seal(|_| {})]);
        for (index, change) in changes.iter().enumerate() {
            assert!(seals.insert(seal(change)), "{index}");
        }
        let written = |paths: &[&str]| {
            let confinement = limits(Some(paths), None, None);
            seal(move |w| at(&mut w[0], 0).confinement = confinement.clone())
        };
        assert_eq!(written(&["a", "b"]), written(&["b", "a", "b"]));
    }

    #[test]
    fn what_is_hidden_is_in_it() {
        let of = |paths: &[&str]| {
            let paths: Vec<String> = paths.iter().map(|&path| path.into()).collect();
            seal(move |w| at(&mut w[0], 2).confinement.hide = Some(paths.clone()))
        };
        let root = seal(|w| w[0].confinement.hide = Some(vec![".env".into()]));
        assert!(of(&[]).starts_with("4:") && root.starts_with("4:"));
        let seals = [root, of(&[]), of(&[".env"]), of(&[".env", "a/"]), seal(|_| {})];
        assert_eq!(Set::from(seals).len(), 5);
        assert_eq!(of(&["a", "b"]), of(&["b", "a", "b"]));
    }

    #[test]
    fn checks_that_are_made_again_are_in_it() {
        let of = |recheck: bool| {
            let kind = CheckKind::Run { command: "a".into(), timeout_ms: 1 };
            let checks = vec![Check { label: "it".into(), kind, outcome: None, recheck }];
            seal(move |w| at(&mut w[0], 2).gate = Some(Gate { checks: checks.clone(), attempts: 3.into() }))
        };
        assert!(of(true).starts_with("6:"));
        assert!(of(false).starts_with("1:"), "without one it is the seal of an earlier version");
    }

    #[test]
    fn variables_of_commands_are_in_it() {
        let of = |variables: &[(&str, &str)]| {
            let variable =
                |&(name, value): &(&str, &str)| Variable { name: name.into(), value: ValueName::parse(value).unwrap() };
            let env = variables.iter().map(variable).collect();
            let command = Command::new("a".into(), env);
            seal(move |w| {
                at(&mut w[0], 2).gate = gate(CheckKind::Run { command: command.clone(), timeout_ms: 1 });
            })
        };
        let seals = [of(&[]), of(&[("A", "task")]), of(&[("B", "task")]), of(&[("A", "summary.a")])];
        assert!(seals[1].starts_with("4:") && !seals[0].starts_with("4:"));
        assert_eq!(Set::from(seals).len(), 4);
    }

    #[test]
    fn the_need_of_a_folder_is_in_it() {
        let of = |text: &str| {
            let text = text.to_owned();
            seal(move |w| at(&mut w[2], 0).instructions.clone_from(&text))
        };
        assert!(of("Write {runDir}/a.md").starts_with("4:"));
        assert_eq!(of("Write {runDir}/a.md"), of("Write {runDir}/b.md."));
        assert_eq!(of("Write {rundir}/a.md"), seal(|_| {}));
        let gate = gate(CheckKind::File { path: "{runDir}/a".into(), contains: None });
        let seals = [
            seal(|_| {}),
            of("{runDir}"),
            seal(|w| w[0].completion_message = Some("{runDir}".into())),
            seal(move |w| at(&mut w[2], 0).gate.clone_from(&gate)),
            seal(|w| w[1].confinement.write = Some(vec!["{runDir}/".into()])),
        ];
        assert_eq!(Set::from(seals).len(), 5);
        assert_eq!(seal(|w| w[3].initial_message = "{runDir}".into()), seal(|_| {}));
    }

    #[test]
    fn results_are_in_it_and_all_results_are_no_rule() {
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
            seal(move |w| at(&mut w[0], 2).results = Results::Of(names.clone()))
        };
        assert!(of(&[]).starts_with("4:"));
        assert_eq!(Set::from([of(&[]), of(&["a"]), of(&["a", "inner"]), seal(|_| {})]).len(), 4);
        assert_eq!(of(&["a", "inner"]), of(&["inner", "a", "a"]));
        assert_eq!(seal(|w| at(&mut w[0], 2).results = Results::All), seal(|_| {}));
    }

    #[test]
    fn ids_and_outcomes_of_nested_workflows_are_in_it() {
        let of = |own: Option<&str>, target: Option<Target>| {
            let own = own.map(ToOwned::to_owned);
            unchecked(move |w| match &mut w[0].phases[1].kind {
                EntryKind::Workflow { id, outcomes, .. } => {
                    *id = own.clone();
                    *outcomes = target.clone().map(|target| Outcome::new("x", target)).into_iter().collect();
                }
                EntryKind::Phase(_) => unreachable!(),
            })
        };
        let seals = [
            of(None, None),
            of(Some("i"), None),
            of(Some("j"), None),
            of(None, Some(Target::Next)),
            of(None, Some(Target::Entry("a".into()))),
        ];
        assert_eq!(Set::from(seals.clone()).len(), 5);
        assert!(seals[1..].iter().all(|seal| seal.starts_with("5:")), "{seals:?}");
        assert_eq!(seals[0], unchecked(|_| {}), "without them it is the seal of an earlier version");
    }

    #[test]
    fn conversations_are_in_it() {
        let of = |phases: &'static [(usize, usize)]| {
            seal(|w| phases.iter().for_each(|&(workflow, index)| at(&mut w[workflow], index).interactive = true))
        };
        let seals = [of(&[]), of(&[(0, 0)]), of(&[(0, 2)]), of(&[(2, 0)]), of(&[(0, 0), (2, 0)])];
        assert_eq!(Set::from(seals.clone()).len(), 5);
        assert!(seals[0].starts_with("1:"), "without one it is the seal of an earlier version");
        assert_eq!(seals[1], "5:23ff5da2f4d6ffbd35e7aa529887295b7fe199ad222e8d99bc8b92151c0a72cc");
    }

    #[test]
    fn bounds_of_ways_and_the_ends_of_budgets_are_in_it() {
        let bound = |max, then| Some(WayBound { max, then });
        let way = |bound: Option<WayBound>| {
            seal(move |w| {
                let outcome = Outcome { bound: bound.clone(), ..Outcome::new("x", Target::Loop) };
                at(&mut w[0], 0).outcomes = vec![outcome];
            })
        };
        let over = |target: Target, interactive| {
            seal(move |w| {
                let phase = at(&mut w[0], 0);
                (phase.on_budget, phase.interactive) = (Some(target.clone()), interactive);
            })
        };
        let seals = [
            seal(|_| {}),
            way(None),
            way(bound(1, None)),
            way(bound(2, None)),
            way(bound(2, Some(Target::Next))),
            way(bound(2, Some(Target::Stop))),
            over(Target::Next, false),
            over(Target::Next, true),
            over(Target::Stop, false),
        ];
        assert_eq!(Set::from(seals.clone()).len(), 9, "{seals:?}");
        assert!(seals[6..].iter().all(|seal| seal.starts_with("5:")), "{seals:?}");
    }

    #[test]
    fn values_of_with_are_in_it() {
        let gives = |given: Given| {
            unchecked(move |w| {
                // As in each workflow with inputs, the ways are in it.
                at(&mut w[0], 0).outcomes = vec![Outcome::new("x", Target::Next)];
                match &mut w[0].phases[1].kind {
                    EntryKind::Workflow { with, .. } => {
                        drop(with.insert("i".into(), given.clone()));
                    }
                    EntryKind::Phase(_) => unreachable!(),
                }
            })
        };
        let seals = [
            gives(Given::Value("output.a.b".into())),
            gives(Given::Name(ValueName::parse("output.a.b").unwrap())),
            gives(Given::List(vec!["b".into()])),
            gives(Given::List(vec!["b".into(), "c".into()])),
            gives(Given::List(vec!["c".into(), "b".into()])),
            gives(Given::Value("b\nc".into())),
        ];
        assert_eq!(Set::from(seals).len(), 6);
    }

    #[test]
    fn outputs_and_bounds_of_inputs_are_in_it() {
        let output = |name: &str, kind: ValueType, is_optional| {
            let output = Output { name: name.into(), kind, is_optional, description: None };
            unchecked(move |w| at(&mut w[0], 2).outputs = vec![output.clone()])
        };
        let (number, list) =
            (|min, max| ValueType::Number(Bounds { min, max }), |min, max| ValueType::List { min, max });
        let turns = |bound: BoundValue<u64>| {
            let budget = BudgetBounds([(Measure::Turns, bound)].into_iter().collect());
            unchecked(move |w| at(&mut w[0], 2).budget = budget.clone())
        };
        let input = |name: &str| BoundValue::Input(name.into());
        let seals = [
            output("a", ValueType::Text, false),
            output("b", ValueType::Text, false),
            output("a", ValueType::Text, true),
            output("a", ValueType::Flag, false),
            output("a", ValueType::Choice(vec!["x".into()]), false),
            output("a", number(None, None), false),
            output("a", number(Some(1.0), None), false),
            output("a", number(None, Some(1.0)), false),
            output("a", list(0, 1), false),
            output("a", list(1, 1), false),
            unchecked(|w| w[0].max_loops = BoundValue::Input("a".into())),
            unchecked(|w| w[1].max_loops = BoundValue::Input("a".into())),
            turns(input("a")),
            turns(input("b")),
        ];
        assert!(seals.iter().all(|seal| seal.starts_with("4:")));
        assert_eq!(Set::from(seals).len(), 14);
        assert!(turns(7.into()).starts_with("3:"));
        let of = |values: &[(&'static str, &'static str)]| with_values("h", values.iter().copied());
        let seals = [of(&[]), of(&[("a", "1")]), of(&[("a", "2")]), of(&[("a1", "")]), of(&[("a", "1"), ("b", "")])];
        assert_eq!(Set::from(seals).len(), 5);
    }

    type Change = fn(&mut [Workflow]);

    #[test]
    fn every_rule_of_every_phase_is_in_it() {
        let changes: [Change; 26] = [
            |w| w[0].loopable = false,
            |w| w[2].loopable = false,
            |w| w[0].max_loops = 21.into(),
            |w| w[1].max_loops = 0.into(),
            |w| w[0].root = "project".into(),
            |w| w[2].root = "project".into(),
            |w| w[0].auto_continue = None,
            |w| w[1].auto_continue = None,
            |w| w[0].auto_continue.as_mut().unwrap().max_per_phase = 11,
            |w| w[0].auto_continue.as_mut().unwrap().max_idle = 4,
            |w| w[0].auto_continue.as_mut().unwrap().delay_seconds = 0,
            |w| at(&mut w[0], 2).gate = gate(CheckKind::Approve { question: "?".into() }),
            |w| at(&mut w[0], 2).gate = gate(CheckKind::Approve { question: "!".into() }),
            |w| at(&mut w[0], 2).gate = gate(CheckKind::Run { command: "a".into(), timeout_ms: 1 }),
            |w| at(&mut w[0], 2).gate = gate(CheckKind::Run { command: "a".into(), timeout_ms: 2 }),
            |w| at(&mut w[2], 0).gate = gate(CheckKind::File { path: "a".into(), contains: None }),
            |w| {
                let contains = Some(Pattern::new("a").unwrap());
                at(&mut w[2], 0).gate = gate(CheckKind::File { path: "a".into(), contains });
            },
            |w| at(&mut w[0], 2).tools = ToolPolicy::Only(vec![]),
            |w| at(&mut w[2], 0).tools = ToolPolicy::Only(vec!["bash".into()]),
            |w| at(&mut w[2], 0).tools = ToolPolicy::Except(vec!["bash".into()]),
            |w| at(&mut w[2], 0).summary_required = Some(true),
            |w| at(&mut w[2], 0).id = "x".into(),
            |w| w[0].phases.swap(0, 2),
            |w| w[0].phases[1] = Entry::workflow("other"),
            |w| w[1].phases.truncate(1),
            |w| w[2].phases.push(Entry::phase(phase("e"))),
        ];
        let mut seals = Set::from([seal(|_| {})]);
        for (index, change) in changes.iter().enumerate() {
            assert!(seals.insert(seal(change)), "{index}");
        }
    }

    #[test]
    fn texts_and_other_workflows_are_not() {
        let changes: [Change; 6] = [
            |w| {
                let own = Some("own".to_owned());
                let names = [&mut w[1].name, &mut w[0].initial_message, &mut w[0].command_name];
                names.into_iter().for_each(|name| name.push_str(" 2"));
                w[0].description.clone_from(&own);
                w[0].role_instruction.clone_from(&own);
                w[0].advance_reminder.clone_from(&own);
                w[0].block_reason_template.clone_from(&own);
                w[0].completion_message.clone_from(&own);
                w[0].not_done_reminder = own;
                w[0].folder = "elsewhere".into();
            },
            |w| {
                let phase = at(&mut w[2], 0);
                (phase.name, phase.emoji, phase.instructions) = ("N".into(), "e".into(), "I".into());
                phase.profiles = Some(vec!["p".into()]);
            },
            |w| w[3].loopable = false,
            |w| at(&mut w[3], 0).tools = ToolPolicy::Only(vec![]),
            |w| w.swap(1, 3),
            |w| w[0].context_injection = crate::definition::ContextInjection::EveryRun,
        ];
        for (index, change) in changes.iter().enumerate() {
            assert_eq!(seal(change), seal(|_| {}), "{index}");
        }
        let only = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            seal(move |w| at(&mut w[0], 0).tools = ToolPolicy::Only(names.clone()))
        };
        assert_eq!(only(&["a", "b"]), only(&["b", "a", "b"]));
        assert_ne!(only(&["ab"]), only(&["a", "b"]));
    }
}
