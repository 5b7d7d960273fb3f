//! Validates parallel groups: the number of branches, ways from one branch to another, and files and values that two
//! branches share.

use super::known::Known;
use crate::definition::diagnostic::{
    Anchor, Anchored, FieldProblem, ParallelProblem, PathPart, Problem, Written, in_group,
};
use crate::definition::model::{
    COMMAND_TOOLS, CheckKind, Command, ContextMode, Each, Entry, EntryKind, FileEntry, Given, Limits, MAX_NESTING,
    Need, Parallel, Phase, Results, Sandbox, Target, ValueName, ValueType, Workflow, is_group_key, may_be_of_one_item,
    may_meet, most_items, relative, stem,
};
use crate::sorted::Set;

/// Returns the errors of a parallel group in a file with these entries.
pub(crate) fn errors<'a>(group: &'a Workflow, known: &Known<'a>, all: &[FileEntry<'a>]) -> Vec<Anchored> {
    let (Some(parallel), Some(place)) = (&group.parallel, &group.group) else { return Vec::new() };
    let mut errors = Errors { group, place: &place.at, known, all, anchored: Vec::new() };
    errors.count(parallel);
    let branches = errors.branches();
    for branch in &branches {
        errors.kind(branch);
    }
    if group.each.is_none() {
        errors.ways();
        errors.siblings();
        errors.writes(&branches);
    } else {
        errors.writes_of_items(&branches);
    }
    errors.anchored
}

/// A branch of the group: one of its entries, or all entries if the group is repeated.
struct Branch<'a> {
    name: &'a str,
    /// The phases of the branch, at any depth; a workflow that is nested several times counts once.
    phases: Vec<InBranch<'a>>,
    /// The parallel groups in the branch, with their places.
    groups: Vec<(&'a Workflow, Vec<usize>)>,
    first: Option<InBranch<'a>>,
}

/// A phase in a branch.
#[derive(Clone)]
struct InBranch<'a> {
    phase: &'a Phase,
    /// The workflow or the group that lists the phase.
    scope: &'a Workflow,
    /// The place, in the file of the group, of the entry of the phase, or of the nested workflow around the phase.
    at: Vec<usize>,
    /// The phase is an entry of the file, not of a nested workflow.
    is_of_file: bool,
    /// The innermost repeated group around the phase is the parallel group.
    is_of_item: bool,
}

struct Errors<'a, 'k> {
    group: &'a Workflow,
    /// The indices that lead to the group.
    place: &'a [usize],
    known: &'k Known<'a>,
    /// The entries of the file.
    all: &'k [FileEntry<'a>],
    anchored: Vec<Anchored>,
}

impl<'a> Errors<'a, '_> {
    fn report(&mut self, problem: impl Into<Problem>, at: &[PathPart]) {
        self.anchored.push(Anchored::new(self.group, problem, at));
    }

    /// Reports a problem at a field of a phase, or at the entry through which the branch comes to it.
    fn report_at(&mut self, at: &InBranch, problem: impl Into<Problem>, field: &'static str) {
        self.anchored.push(if at.is_of_file {
            Anchored::of_phase(at.phase, problem, &[PathPart::Key(field)])
        } else {
            let at = in_group(&at.at, &[PathPart::Key("subworkflow")]);
            Anchored::in_file(self.group.file(), problem, &at)
        });
    }

    /// Checks the number of branches, and the number of needed branches.
    fn count(&mut self, parallel: &Parallel) {
        let limit = Parallel::MAX;
        let most = match &self.group.each {
            None => {
                let found = self.group.phases.len();
                if found > limit {
                    let problem = ParallelProblem::TooManyBranches { limit, found };
                    self.report(problem, &[PathPart::Key("phases")]);
                }
                Some(found)
            }
            Some(Each::Items(items)) => {
                let found = items.len();
                if found > limit {
                    let problem = ParallelProblem::TooManyBranches { limit, found };
                    self.report(problem, &[PathPart::Key("each")]);
                }
                Some(found)
            }
            // Lists that are not there are reported elsewhere.
            Some(each @ Each::Of(_)) => {
                let found = most_items(self.group, self.all, &|key| self.known.workflows.get(key).copied());
                if let Some(max) = found.filter(|found| *found > limit) {
                    let (name, found) =
                        (each.to_string(), ValueType::List { min: 0, max, fields: Vec::new() }.expected());
                    self.report(ParallelProblem::UnboundedList { name, limit, found }, &[PathPart::Key("each")]);
                }
                found
            }
        };
        // A number above the limit is already reported.
        let most = most.filter(|most| (1..=limit).contains(most) || self.group.each.is_some());
        if let (Need::AtLeast(need), Some(most)) = (parallel.need, most.filter(|most| *most <= limit))
            && need as usize > most
        {
            let problem = FieldProblem::bad(
                "need",
                format!("`all` or a number from 1 to {most}, the number of branches"),
                need.to_string(),
            );
            self.report(problem, &[PathPart::Key("need")]);
        }
    }

    fn branches(&self) -> Vec<Branch<'a>> {
        let entries: Vec<(usize, &'a Entry)> = self.group.phases.iter().enumerate().collect();
        let of = |name: &'a str, entries: &[(usize, &'a Entry)]| {
            let (phases, groups) = (Vec::new(), Vec::new());
            let mut branch = Branch { name, phases, groups, first: None };
            let mut seen = Set::new();
            for (index, entry) in entries {
                let of = Around { at: self.group.place_of(*index), depth: 0, is_of_file: true, is_of_item: true };
                self.add(&mut branch, self.group, entry, &of, &mut seen);
                if branch.first.is_none() {
                    branch.first = branch.phases.first().cloned();
                }
            }
            branch
        };
        match &self.group.each {
            Some(_) => vec![of("", &entries)],
            None => entries.iter().map(|entry| of(entry.1.id(), std::slice::from_ref(entry))).collect(),
        }
    }

    /// Adds the phases of an entry to a branch, including the phases of nested workflows.
    fn add(
        &self,
        branch: &mut Branch<'a>,
        scope: &'a Workflow,
        entry: &'a Entry,
        around: &Around,
        seen: &mut Set<&'a str>,
    ) {
        let Around { at, depth, is_of_file, is_of_item } = around;
        if !self.known.fuel.spend(1) {
            return;
        }
        let key = match &entry.kind {
            EntryKind::Phase(phase) => {
                let (at, is_of_file, is_of_item) = (at.clone(), *is_of_file, *is_of_item);
                branch.phases.push(InBranch { phase, scope, at, is_of_file, is_of_item });
                return;
            }
            EntryKind::Workflow { key, .. } => key,
        };
        let Some(nested) = self.known.workflows.get(&**key).copied() else { return };
        if *depth > MAX_NESTING || !seen.insert(&nested.key) {
            return;
        }
        if nested.parallel.is_some() {
            branch.groups.push((nested, at.clone()));
            // Errors within a nested parallel group are errors of its own branches.
            return;
        }
        let is_in_file = *is_of_file && is_group_key(key);
        for (inner, entry) in nested.phases.iter().enumerate() {
            let around = Around {
                at: if is_in_file { nested.place_of(inner) } else { at.clone() },
                depth: depth + 1,
                is_of_file: is_in_file,
                is_of_item: *is_of_item && is_in_file && nested.each.is_none(),
            };
            self.add(branch, nested, entry, &around, seen);
        }
    }

    /// Reports the constructs that no branch can have: a parallel group, a conversation, a beginning in the earlier
    /// conversation.
    fn kind(&mut self, branch: &Branch<'a>) {
        for (nested, at) in &branch.groups {
            let is_of_file = nested.place_of(0).starts_with(at) && nested.file() == self.group.file();
            let inner = if is_of_file { "this".into() } else { format!("`{}`", nested.name) };
            let field = [PathPart::Name("parallel")];
            let at = in_group(at, if is_of_file { &field } else { &[PathPart::Key("subworkflow")] });
            let problem = ParallelProblem::Nested { inner };
            self.anchored.push(Anchored::in_file(self.group.file(), problem, &at));
        }
        for at in branch.phases.iter().filter(|at| at.phase.interactive) {
            let phase = at.phase.id.clone();
            self.report_at(at, ParallelProblem::Conversation { phase }, "interactive");
        }
        let is_shared = |at: &&InBranch| at.phase.is_of_agent() && at.phase.context == Some(ContextMode::Shared);
        if let Some(at) = branch.first.as_ref().filter(is_shared) {
            let phase = at.phase.id.clone();
            self.report_at(at, ParallelProblem::SharedContext { phase }, "context");
        }
    }

    /// Checks the targets of the entries: each target must end the branch.
    fn ways(&mut self) {
        let group = self.group;
        for (index, entry) in group.phases.iter().enumerate() {
            for outcome in entry.outcomes() {
                let then = outcome.bound.as_ref().and_then(|bound| bound.then.as_ref());
                let to: &[&str] = if outcome.bound.is_some() { &["to"] } else { &[] };
                let targets = [(Some(&outcome.target), to), (then, &["then"])];
                for (target, part) in targets {
                    let named = [&["outcomes", &*outcome.name], part].concat().join(".");
                    let problem = target.and_then(|target| leads_elsewhere(&named, target));
                    let Some(problem) = problem else { continue };
                    let part: Vec<PathPart> = part.iter().map(|part| PathPart::Key(part)).collect();
                    self.anchored.push(Anchored::of_outcome((group, index), outcome, problem, &part));
                }
            }
            let Some(phase) = entry.as_phase() else { continue };
            let over_budget = phase.on_budget.as_ref();
            let over_budget = over_budget.and_then(|target| leads_elsewhere("onBudget", target));
            let problem = over_budget.map(|of| Anchored::of_phase(phase, of, &[PathPart::Key("onBudget")]));
            self.anchored.extend(problem);
        }
    }

    /// Checks the values and results that a branch uses: none may come from a branch beside it.
    fn siblings(&mut self) {
        let (depth, all) = (self.place.len(), self.all);
        for of in all.iter().filter(|of| of.at.len() > depth && of.at.starts_with(self.place)) {
            let own = of.at.get(..=depth).unwrap_or_default();
            for (id, used) in self.uses(of) {
                if !self.known.fuel.spend(all.len()) {
                    return;
                }
                let called = || all.iter().filter(|other| other.entry.is_called(&id));
                let is_beside = |other: &FileEntry| {
                    other.at.len() > depth && other.at.starts_with(self.place) && !other.at.starts_with(own)
                };
                // The use of a later entry, where only earlier entries count, is already reported.
                let is_told = used.needs_earlier && !called().any(|other| other.is_before(&of.at));
                if is_told || called().count() == 0 || !called().all(is_beside) {
                    continue;
                }
                let name = used.found.clone();
                let problem = match used.field {
                    Some(field) => ParallelProblem::ValueBeside { field, name },
                    None => ParallelProblem::ValueInText { name },
                };
                let at = used.at.path();
                self.anchored.push(match used.file {
                    Some(file) => Anchored::in_file(file, problem, &at),
                    None => Anchored::in_file(self.group.file(), problem, &in_group(&of.at, &at)),
                });
            }
        }
    }

    /// Returns the ids of the entries whose values and results an entry of the file uses, each with its use.
    fn uses(&self, of: &FileEntry<'a>) -> Vec<(String, Use)> {
        let mut uses = Vec::new();
        let mut add = |name: &ValueName, used: Use| {
            if let ValueName::Output { phase: id, .. }
            | ValueName::Outcome(id)
            | ValueName::Summary(id)
            | ValueName::Log(id) = name
            {
                uses.push((id.clone(), used));
            }
        };
        let question = of.entry.as_phase().and_then(Phase::question);
        let answers = question.iter().flat_map(|question| &question.answers);
        let of_answers = answers.map(|of| (vec![PathPart::Key("outcomes"), PathPart::Key(&of.outcome)], &of.when));
        for (at, when) in std::iter::once((Vec::new(), &of.entry.when)).chain(of_answers) {
            for condition in when {
                let found = condition.of.to_string();
                let at = Anchor::of(&[&at[..], &[PathPart::Key("when"), PathPart::Name(&found)]].concat());
                add(&condition.of, Use { field: Some("when"), found, at, file: None, needs_earlier: true });
            }
        }
        let mut of_command = |command: &Command, before: &[PathPart], field, file: Option<&String>| {
            if let Some(name) = command.value() {
                let (found, at) = (name.to_string(), Anchor::of(&[before, &[PathPart::Key("run")]].concat()));
                add(name, Use { field: Some("run"), found, at, file: file.cloned(), needs_earlier: true });
            }
            for variable in command.env() {
                let at = Anchor::of(&[before, &[PathPart::Key("env"), PathPart::Key(&variable.name)]].concat());
                let found = variable.value.to_string();
                let file = file.cloned();
                add(&variable.value, Use { field: Some(field), found, at, file, needs_earlier: false });
            }
        };
        match &of.entry.kind {
            EntryKind::Workflow { key, with, .. } => {
                let group = self.known.workflows.get(&**key).filter(|_| is_group_key(key));
                if let Some(Each::Of(names)) = group.and_then(|group| group.each.as_ref()) {
                    for name in names {
                        let (found, at) = (name.to_string(), Anchor::of(&[PathPart::Key("each")]));
                        add(name, Use { field: Some("each"), found, at, file: None, needs_earlier: true });
                    }
                }
                for (input, given) in with {
                    let Given::Name(name) = given else { continue };
                    let at = Anchor::of(&[PathPart::Key("with"), PathPart::Key(input)]);
                    let found = name.to_string();
                    add(name, Use { field: Some("with"), found, at, file: None, needs_earlier: true });
                }
            }
            EntryKind::Phase(phase) => {
                let file = Some(&phase.file).filter(|_| phase.at.is_empty());
                if let Some(step) = phase.step() {
                    of_command(&step.command, &[], "env", None);
                }
                for (index, check) in phase.gate.iter().flat_map(|gate| &gate.checks).enumerate() {
                    if let CheckKind::Run { command, .. } = &check.kind {
                        let at = [PathPart::Key("gate"), PathPart::Item(index)];
                        of_command(command, &at, "gate.env", file);
                    }
                }
                let own = |found: &str, field, at| {
                    let (found, file) = (found.to_owned(), file.cloned());
                    Use { field, found, at, file, needs_earlier: false }
                };
                let is_looked_at = self.known.fuel.spend_on(&phase.instructions);
                for name in names_in(&phase.instructions).into_iter().filter(|_| is_looked_at) {
                    if let Ok(value) = ValueName::parse(name) {
                        let at = Anchor::of(&[PathPart::Name("id")]);
                        add(&value, own(name, None, at));
                    }
                }
                if let Some(question) = phase.question() {
                    for name in names_in(&question.text) {
                        let at = Anchor::of(&[PathPart::Key("ask")]);
                        let Ok(value) = ValueName::parse(name) else { continue };
                        let used = own(name, None, at);
                        add(&value, Use { file: None, ..used });
                    }
                }
                if let Results::Of(names) = &phase.results {
                    for (index, name) in names.iter().enumerate() {
                        let at = Anchor::of(&[PathPart::Key("results"), PathPart::Item(index)]);
                        add(&ValueName::Summary(name.clone()), own(name, Some("results"), at));
                    }
                }
            }
        }
        uses
    }

    /// Returns the phases of a branch that can write, each with the paths that it can write.
    fn writing<'b>(branch: &'b Branch<'a>) -> Vec<(&'b InBranch<'a>, Vec<Written>)> {
        let writing = branch.phases.iter().map(|at| (at, written(at.phase, at.scope)));
        writing.filter(|(_, written)| !written.is_empty()).collect()
    }

    /// Checks the files that two branches can write.
    fn writes(&mut self, branches: &[Branch<'a>]) {
        let writing: Vec<_> = branches.iter().map(Self::writing).collect();
        let fuel = self.known.fuel;
        // The stems of the earlier branches.
        let mut before: Vec<(String, ())> = Vec::new();
        for (second, of_second) in writing.iter().enumerate() {
            let of_branch = of_second.iter().flat_map(|(_, written)| written).map(|written| match written {
                Written::Path { path, .. } => stem(path),
                Written::Everything { .. } | Written::Unconfined { .. } => String::new(),
            });
            let mut own: Vec<(String, ())> = of_branch.map(|stem| (stem, ())).collect();
            own.sort_unstable();
            own.dedup();
            if !fuel.spend(own.len() + before.len()) {
                return;
            }
            let may_meet_one = own.iter().any(|(stem, ())| relative(stem, &before).is_some());
            before.append(&mut own);
            before.sort_unstable();
            if !may_meet_one {
                continue;
            }
            // Each branch is reported once, with the first branch that can write the same file.
            let pairs = writing.iter().enumerate().take(second);
            let met = pairs.flat_map(|(first, of_first)| {
                let all = of_first.iter().flat_map(|(_, written)| written);
                all.map(move |one| (first, one))
            });
            let met = met.flat_map(|(first, one)| {
                let all = of_second.iter().flat_map(|(_, written)| written);
                all.filter(|other| fuel.spend(STEPS_OF_PAIR) && do_meet(one, other))
                    .map(move |other| (first, one, other))
            });
            let Some((first, one, other)) = met.into_iter().next() else { continue };
            let name = |index: usize| branches.get(index).map_or("", |branch| branch.name).to_owned();
            let problem = ParallelProblem::WritesMeet {
                branches: [name(first), name(second)],
                files: [one.clone(), other.clone()],
            };
            self.report(problem, &[PathPart::Name("parallel")]);
        }
    }

    /// Checks the files that the branches of two items can write.
    fn writes_of_items(&mut self, branches: &[Branch<'a>]) {
        for branch in branches {
            for (at, written) in Self::writing(branch) {
                let is_of_one = |written: &&Written| match written {
                    Written::Path { path, .. } => at.is_of_item && may_be_of_one_item(path),
                    Written::Everything { .. } | Written::Unconfined { .. } => false,
                };
                let Some(files) = written.iter().find(|written| !is_of_one(written)) else { continue };
                let (phase, files) = (at.phase.id.clone(), files.clone());
                let problem = ParallelProblem::ItemsMeet { phase, files };
                match at.phase.limits.write {
                    Some(_) => self.report_at(at, problem, "write"),
                    None => self.report(problem, &[PathPart::Name("parallel")]),
                }
            }
        }
    }
}

/// The surroundings of an entry of a branch. See [`InBranch`].
struct Around {
    at: Vec<usize>,
    depth: usize,
    is_of_file: bool,
    is_of_item: bool,
}

/// A use of a value in an entry.
struct Use {
    /// `None` for a text.
    field: Option<&'static str>,
    found: String,
    at: Anchor,
    /// The file of the phase; `None` for the file of the workflow.
    file: Option<String>,
    /// The place accepts values of earlier entries only.
    needs_earlier: bool,
}

/// Returns the problem of a target of an entry that is a branch; `None` if the target ends the branch.
fn leads_elsewhere(field: &str, target: &Target) -> Option<FieldProblem> {
    match target {
        Target::Next | Target::Done | Target::Stop => None,
        Target::Loop | Target::End | Target::Entry(_) => Some(FieldProblem::bad(
            field,
            "`next`, `done` or `stop` of a branch of a parallel group",
            format!("`{}`", target.word()),
        )),
    }
}

/// Returns the paths that a phase can write; empty if the phase can write nothing.
fn written(phase: &Phase, scope: &Workflow) -> Vec<Written> {
    if !phase.may_write() {
        return Vec::new();
    }
    let limits = Limits::of(phase, scope);
    let name = || phase.id.clone();
    let runs_commands = COMMAND_TOOLS.iter().any(|tool| phase.tools.allows(tool));
    match &limits.write {
        None => vec![Written::Everything { phase: name() }],
        Some(_) if runs_commands && limits.sandbox == Sandbox::Off => {
            vec![Written::Unconfined { phase: name() }]
        }
        Some(paths) => paths.iter().map(|path| Written::Path { phase: name(), path: path.clone() }).collect(),
    }
}

/// Steps of the comparison of two paths.
const STEPS_OF_PAIR: usize = 10;

/// Returns true if two phases may write the same file.
fn do_meet(one: &Written, other: &Written) -> bool {
    match (one, other) {
        (Written::Path { path: one, .. }, Written::Path { path: other, .. }) => may_meet(one, other),
        _ => true,
    }
}

/// Returns the names in braces in a text, each once, in alphabetical order.
fn names_in(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = text.split('{').skip(1).filter_map(|behind| Some(behind.split_once('}')?.0)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
