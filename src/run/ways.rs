//! The ways from the start of a workflow to its end, by the outcomes and outputs of its phases.
//!
//! A parallel group is one entry, with the outcomes that its branches may give it; how many of them come to their end
//! is no way. The agent's `loop`, failed gates and the user's controls are not ways.

use crate::sorted::{Map, Set};
use std::collections::VecDeque;

use crate::definition::{Input, Library, Workflow};

use super::choices::{OutputChoices, condition_values};
use super::{
    Active, Arrival, Leaving, Limit, LoopError, Outputs, PassedOverReason, PhasePath, RunState, WayBack, begin, leave,
    way_back, went_on,
};

/// Bounds of the search for ways.
#[derive(Debug, Clone, Copy)]
pub struct WayBounds {
    /// The number of times that outcomes lead back in one scope, where its `maxLoops` is not smaller.
    pub loops: u32,
    /// Maximum number of ways that are returned.
    pub ways: usize,
    /// Maximum number of steps of all ways that are returned, entries that are passed over included.
    pub steps: usize,
    /// Maximum number of transitions, each with a surcharge for the size of its state.
    pub work: usize,
}

/// A way from the start to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The values of the inputs that conditions use, by name.
    pub inputs: Map<String, String>,
    pub steps: Vec<WayStep>,
    pub end: WayEnd,
}

/// A part of a way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WayStep {
    /// The phase at the path is left.
    Phase {
        path: PhasePath,
        outcome: Option<String>,
        /// The outputs that conditions use.
        outputs: Outputs,
        /// The bound after which the outcome led elsewhere.
        went_on: Option<Limit>,
    },
    /// The steps since this phase was there last are taken this number of times more.
    Laps { more: u32 },
    /// The entry at the path is passed over.
    PassedOver { path: PhasePath, because: PassedOverReason },
}

/// The end of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayEnd {
    /// DONE.
    Done,
    /// The last outcome stops the run.
    Stopped,
    /// The last outcome came more often than this allows: the run pauses. `None` if the conditions of all phases to
    /// which it leads back do not hold.
    Paused { limit: Option<Limit> },
}

/// The ways through a workflow, the shortest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ways {
    pub ways: Vec<Way>,
    /// The number of other ways that were found.
    pub others: usize,
    /// There are more ways, which were not searched.
    pub is_cut: bool,
    /// There are more ways, with more loops.
    pub has_more_loops: bool,
}

/// The runs with which a search begins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WayStarts {
    /// A run for each combination of values of the inputs that conditions use.
    pub runs: Vec<RunState>,
    /// The names of these inputs.
    pub inputs: Set<String>,
    /// There are more combinations.
    pub is_cut: bool,
}

/// Maximum number of steps of a way that goes on after `maxLoops`, beyond those up to its phase.
const MAX_STEPS_AFTER: usize = 1000;
/// Maximum number of combinations of values of inputs.
const MAX_STARTS: usize = 1000;

impl WayStarts {
    /// Returns the runs of a workflow with these values of its inputs, and each combination of values of the others
    /// that conditions use and that have few values.
    ///
    /// # Errors
    ///
    /// The inputs that conditions use and that have no value, no default and many values.
    pub fn of<'a>(
        workflow: &'a Workflow,
        given: &Map<String, String>,
        library: &Library,
    ) -> Result<Self, Vec<&'a Input>> {
        let inputs = condition_values(&workflow.key, library, &mut Map::new());
        let inputs: Set<String> = inputs.into_keys().collect();
        let (mut combinations, mut is_cut) = (vec![given.clone()], false);
        let is_open = |input: &&Input| inputs.contains(&input.name) && !given.contains_key(&input.name);
        let (listed, others): (Vec<&Input>, Vec<&Input>) =
            workflow.inputs.iter().filter(is_open).partition(|input| !input.kind.options().is_empty());
        let missing: Vec<&Input> = others.into_iter().filter(|input| input.default.is_none()).collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        for input in listed {
            let with = |values: &Map<String, String>, option: &str| {
                let mut values = values.clone();
                values.insert(input.name.clone(), option.to_owned());
                values
            };
            let options = input.kind.options();
            combinations = combinations
                .iter()
                .flat_map(|values| options.iter().map(|option| with(values, option)))
                .take(MAX_STARTS + 1)
                .collect();
            is_cut |= combinations.len() > MAX_STARTS;
            combinations.truncate(MAX_STARTS);
        }
        let run = |values| RunState::new(&workflow.key, "", 0, 0).with_inputs(workflow, &values);
        Ok(Self { runs: combinations.into_iter().map(run).collect(), inputs, is_cut })
    }
}

/// Returns the ways of these runs, the shortest first.
pub fn ways(starts: &WayStarts, library: &Library, bounds: WayBounds) -> Ways {
    let found = Ways { is_cut: starts.is_cut, ..Ways::default() };
    let (ahead, links) = (VecDeque::new(), Vec::new());
    let (after_loops, steps, work) = (Map::new(), 0, 0);
    let mut search = Search { starts, library, bounds, ahead, links, after_loops, found, steps, work };
    for run in &starts.runs {
        let (state, arrival) = begin(run, library);
        search.go_on(&state, arrival, None);
    }
    while let Some((state, last)) = search.ahead.pop_front() {
        if search.work > bounds.work {
            search.found.is_cut = true;
            break;
        }
        search.leave(&state, last);
    }
    // They are listed also where others fill the list.
    while search.found.ways.len() > bounds.ways.saturating_sub(search.after_loops.len()) {
        let longest = search.found.ways.pop();
        search.steps -= longest.map_or(0, |way| way.steps.len());
        search.found.others += 1;
    }
    for (state, last) in std::mem::take(&mut search.after_loops).into_values() {
        search.end(&state, end_of(&state), last);
    }
    let is_phase = |step: &&WayStep| matches!(step, WayStep::Phase { .. });
    search.found.ways.sort_by_key(|way| way.steps.iter().filter(is_phase).count());
    search.found
}

/// The end of the way of a run that has ended.
fn end_of(state: &RunState) -> WayEnd {
    if state.is_stopped() { WayEnd::Stopped } else { WayEnd::Done }
}

/// Breadth first.
struct Search<'a> {
    starts: &'a WayStarts,
    library: &'a Library,
    bounds: WayBounds,
    /// Runs at a phase, each with its last step.
    ahead: VecDeque<(RunState, Option<usize>)>,
    /// The steps of all ways, each with the one before it.
    links: Vec<(WayStep, Option<usize>)>,
    /// The ends of the ways with more loops than the bound that go on after `maxLoops`, one for each phase with such an
    /// outcome.
    after_loops: Map<String, (RunState, Option<usize>)>,
    found: Ways,
    /// The number of steps of the ways that are returned.
    steps: usize,
    work: usize,
}

impl Search<'_> {
    /// Leaves a phase with each of its outcomes.
    fn leave(&mut self, state: &RunState, last: Option<usize>) {
        let Some(active) = Active::resolve(state, self.library) else { return };
        let choices = OutputChoices::of(&active);
        self.found.is_cut |= choices.is_cut;
        let exits = active
            .outcomes()
            .into_iter()
            .flat_map(|outcome| choices.with(&active, outcome).into_iter().map(move |outputs| (outcome, outputs)));
        for (outcome, outputs) in exits {
            let outputs = &outputs;
            let back = outcome.and_then(|outcome| self.way_back(&active, outcome, outputs));
            if let (Some(outcome), Some(back)) = (outcome, &back)
                && back.loops >= self.bounds.loops
                && back.left() > 0
            {
                self.found.has_more_loops = true;
                let key = state.current_path.key();
                if back.goes_on()
                    && !self.after_loops.contains_key(&key)
                    && let Some(end) = self.after_loops(state, outcome, outputs, last)
                {
                    self.after_loops.insert(key, end);
                }
                continue;
            }
            match self.take(state, outcome, outputs, last) {
                (last, Ok((new, arrival))) => self.go_on(&new, arrival, last),
                (last, Err(error)) => {
                    let limit = match error {
                        LoopError::Exhausted { max_loops } => Some(Limit::MaxLoops(max_loops)),
                        LoopError::UsedUp { max } => Some(Limit::Max(max)),
                        LoopError::Disabled | LoopError::PassedOver | LoopError::NotFound => None,
                    };
                    self.end(state, WayEnd::Paused { limit }, last);
                }
            }
        }
    }

    /// The scope in which this outcome of the phase leads back, with these outputs.
    fn way_back(&self, active: &Active, outcome: &str, outputs: &Outputs) -> Option<WayBack> {
        let leaving = active.state.with_outputs(active.phase, outputs.clone());
        way_back(&leaving, outcome, self.library)
    }

    /// Leaves a phase with this outcome and these outputs; an error if the run pauses.
    fn take(
        &mut self,
        state: &RunState,
        outcome: Option<&str>,
        outputs: &Outputs,
        last: Option<usize>,
    ) -> (Option<usize>, Result<(RunState, Arrival), LoopError>) {
        let progress = &state.progress;
        self.work += progress.outcomes.len() + progress.passed_over.len();
        self.work += state.current_path.len();
        let active = Active::resolve(state, self.library);
        let handing_over = active.map(|active| state.with_outputs(active.phase, outputs.clone()));
        let handing_over = handing_over.ok_or(LoopError::NotFound);
        let leaving = outcome.zip(handing_over.as_ref().ok());
        let went_on = leaving.and_then(|(outcome, state)| went_on(state, outcome, self.library));
        let left = handing_over.and_then(|state| leave(&state, outcome, self.library));
        let step = WayStep::Phase {
            path: state.current_path.clone(),
            outcome: outcome.map(ToOwned::to_owned),
            outputs: outputs.clone(),
            went_on,
        };
        let last = self.link(step, last);
        let moved = left.map(|(new, arrival)| {
            let mut new = new.moved_from(state, Leaving::Done, 0);
            new.progress.visits.clear();
            (new, arrival)
        });
        (Some(last), moved)
    }

    /// Takes an outcome that leads back as often as `maxLoops` allows, the phases between with the outcomes and outputs
    /// that they had last, and then goes on to the end. Loops that are like the one before are one step. `None` if that
    /// is not found.
    fn after_loops(
        &mut self,
        from: &RunState,
        outcome: &str,
        outputs: &Outputs,
        last: Option<usize>,
    ) -> Option<(RunState, Option<usize>)> {
        let (mut state, mut last) = (from.clone(), last);
        let mut before: Option<RunState> = None;
        let mut goes_on = false;
        for _ in 0..MAX_STEPS_AFTER {
            let active = Active::resolve(&state, self.library)?;
            let is_there = !goes_on && state.current_path == from.current_path;
            let leaving = state.with_outputs(active.phase, outputs.clone());
            let taken = match is_there {
                true => Some(outcome.to_owned()),
                false => onward(&active).map(ToOwned::to_owned),
            };
            let choices = OutputChoices::of(&active).with(&active, taken.as_deref());
            if is_there {
                let back = self.way_back(&active, outcome, outputs)?;
                let more = back.left();
                let is_alike = |before: &RunState| is_alike(before, &state, &back);
                let is_repeated = before.as_ref().is_some_and(is_alike);
                if more > 0 && is_repeated {
                    last = Some(self.link(WayStep::Laps { more }, last));
                    let progress = &mut state.progress;
                    *progress.loops.get_or_insert(&back.scope_key, u32::default) += more;
                    if let Some(way) = &back.way {
                        *progress.ways.get_or_insert(&way.key, u32::default) += more;
                    }
                }
                goes_on = more == 0 || is_repeated;
                let mut leaving = leaving;
                let key = state.current_path.key();
                leaving.progress.outcomes.insert(key, outcome.to_owned());
                before = Some(leaving);
            }
            let known = state.progress.outputs.get(&state.current_path.key());
            let known = known.map(|handed| &handed.values).filter(|_| !is_there);
            let known = known.filter(|known| choices.len() > 1 || choices.first() == Some(known));
            let given = if is_there { Some(outputs) } else { known.or_else(|| choices.first()) };
            let (step, moved) = self.take(&state, taken.as_deref(), given?, last);
            let (new, arrival) = moved.ok()?;
            last = self.passed(step, &new);
            state = new;
            match arrival {
                Arrival::Phase => {}
                Arrival::Done => return goes_on.then_some((state, last)),
            }
        }
        None
    }

    /// Adds the entries that the last step of a run passed over.
    fn passed(&mut self, mut last: Option<usize>, state: &RunState) -> Option<usize> {
        for (path, because) in passed_over(state) {
            last = Some(self.link(WayStep::PassedOver { path, because }, last));
        }
        last
    }

    /// Follows a run that has just arrived.
    fn go_on(&mut self, state: &RunState, arrival: Arrival, last: Option<usize>) {
        let state = state.passing_over_branches(self.library);
        let last = self.passed(last, &state);
        match arrival {
            Arrival::Phase => self.ahead.push_back((state, last)),
            Arrival::Done => self.end(&state, end_of(&state), last),
        }
    }

    fn link(&mut self, step: WayStep, before: Option<usize>) -> usize {
        self.links.push((step, before));
        self.links.len() - 1
    }

    fn end(&mut self, state: &RunState, end: WayEnd, mut last: Option<usize>) {
        let mut steps = Vec::new();
        while let Some((step, before)) = last.and_then(|last| self.links.get(last)) {
            if self.found.ways.len() >= self.bounds.ways || self.steps + steps.len() >= self.bounds.steps {
                self.found.others += 1;
                return;
            }
            steps.push(step.clone());
            last = *before;
        }
        steps.reverse();
        self.steps += steps.len();
        let values = state.progress.inputs.clone().into_iter();
        let inputs = values.filter(|(name, _)| self.starts.inputs.contains(name)).collect();
        self.found.ways.push(Way { inputs, steps, end });
    }
}

/// The outcome with which a phase was left last if it leads on, else its first one that does, else its first.
fn onward<'a>(active: &Active<'a>) -> Option<&'a str> {
    let outcomes = active.outcomes();
    let names = || outcomes.iter().copied().flatten();
    let key = active.state.current_path.key();
    let before = active.state.progress.outcomes.get(&key);
    let leads_on = |name: &&str| active.leads_on(name);
    let known = names().find(|name| before.is_some_and(|before| before == name));
    known.filter(leads_on).or_else(|| names().find(leads_on)).or_else(|| names().next())
}

/// Returns true if the same outcomes lead from both runs, which are at one phase, through the same steps until this way
/// back ends.
fn is_alike(a: &RunState, b: &RunState, back: &WayBack) -> bool {
    let others = |state: &RunState| -> Vec<(String, u32)> {
        let own = [Some(&back.scope_key), back.way.as_ref().map(|way| &way.key)];
        let counts = state.progress.loops.iter().chain(state.progress.ways.iter());
        let others = counts.filter(|(key, _)| own.iter().flatten().all(|own| own != key));
        others.map(|(key, count)| (key.to_owned(), *count)).collect()
    };
    let outputs = |state: &RunState| -> Vec<(String, Outputs)> {
        let outputs = state.progress.outputs.iter();
        outputs.map(|(key, handed)| (key.to_owned(), handed.values.clone())).collect()
    };
    a.progress.outcomes == b.progress.outcomes && outputs(a) == outputs(b) && others(a) == others(b)
}

impl Active<'_> {
    /// Returns true if this outcome of the phase leads neither back nor to the end of the run as stopped, nor nowhere.
    pub fn leads_on(&self, outcome: &str) -> bool {
        let after = self.after(Some(outcome));
        self.way_back(outcome).is_none() && after.is_some_and(|after| !after.is_stopped())
    }

    /// See [`way_back`].
    pub fn way_back(&self, outcome: &str) -> Option<WayBack> {
        way_back(self.state, outcome, self.library)
    }
}

/// The entries that the last step of a run passed over, in their order.
fn passed_over(state: &RunState) -> Vec<(PhasePath, PassedOverReason)> {
    let passed = state.progress.passed_over.iter();
    let passed = passed.filter(|(_, passed)| passed.step == state.global_step_count);
    let paths = passed.filter_map(|(key, passed)| Some((PhasePath::parse(key)?, passed.because.clone())));
    let mut ordered: Vec<(PhasePath, PassedOverReason)> = paths.collect();
    ordered.sort_by_cached_key(|(path, _)| path.indices());
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::{phase, workflow};
    use crate::definition::{
        Condition, Entry, EntryKind, Given, OnMaxLoops, Outcome, Target, ValueName, ValueType, WayBound,
    };

    const BOUNDS: WayBounds = WayBounds { loops: 3, ways: 100, steps: 10_000, work: 10_000 };

    fn with_outcomes(id: &str, outcomes: &[(&str, Target)]) -> Entry {
        let mut phase = phase(id);
        let outcome = |(name, target): &(&str, Target)| Outcome::new(*name, target.clone());
        phase.outcomes = outcomes.iter().map(outcome).collect();
        Entry::phase(phase)
    }

    fn library_of(workflows: Vec<Workflow>) -> Library {
        let mut diagnostics = Vec::new();
        let library = Library::new(workflows, &mut diagnostics);
        assert_eq!(diagnostics, []);
        library
    }

    fn search(library: &Library, bounds: WayBounds) -> Ways {
        let workflow = library.get("w").unwrap();
        ways(&WayStarts::of(workflow, &Map::new(), library).unwrap(), library, bounds)
    }

    /// The ways in short: the ids with the outcomes and outputs, `!` behind one that goes on; `-id` is passed over.
    fn in_short(ways: &Ways, library: &Library) -> Vec<String> {
        let id = |path: &PhasePath| {
            let last = path.last().unwrap();
            library.get(&last.workflow_key).unwrap().phases[last.phase_index].id().to_owned()
        };
        let step = |step: &WayStep| match step {
            WayStep::Phase { path, outcome, outputs, went_on } => {
                let outcome = outcome.as_ref().map_or(String::new(), |name| format!(":{name}"));
                let outputs = outputs.iter().map(|(name, value)| format!(":{name}={}", value.text()));
                let outputs: String = outputs.collect();
                format!("{}{outcome}{outputs}{}", id(path), if went_on.is_some() { "!" } else { "" })
            }
            WayStep::Laps { more } => format!("+{more}"),
            WayStep::PassedOver { path, .. } => format!("-{}", id(path)),
        };
        let way = |Way { steps, end, .. }: &Way| {
            let steps: Vec<String> = steps.iter().map(step).collect();
            let end = match end {
                WayEnd::Done => "DONE",
                WayEnd::Stopped => "STOP",
                WayEnd::Paused { .. } => "PAUSE",
            };
            format!("{} {end}", steps.join(" "))
        };
        ways.ways.iter().map(way).collect()
    }

    /// `a` (`on`, `out`), then `b` (`ok`, `back`) with loops.
    fn looping(max_loops: u32, on_max_loops: OnMaxLoops) -> Library {
        let mut root = workflow("w", &["a", "b", "c"]);
        root.phases[0] = with_outcomes("a", &[("on", Target::Next), ("out", Target::Done)]);
        root.phases[1] = with_outcomes("b", &[("ok", Target::Next), ("back", Target::Entry("b".into()))]);
        (root.max_loops, root.on_max_loops) = (max_loops.into(), on_max_loops);
        library_of(vec![root])
    }

    #[test]
    fn the_shortest_way_comes_first_and_the_bound_of_loops_ends_the_others() {
        let library = looping(2, OnMaxLoops::Pause);
        let found = search(&library, BOUNDS);
        assert_eq!(
            in_short(&found, &library),
            [
                "a:out -b -c DONE",
                "a:on b:ok c DONE",
                "a:on b:back b:ok c DONE",
                "a:on b:back b:back b:back PAUSE",
                "a:on b:back b:back b:ok c DONE",
            ]
        );
        assert!(!found.has_more_loops && !found.is_cut && found.others == 0);
        let library = looping(1, OnMaxLoops::Next);
        assert_eq!(
            in_short(&search(&library, BOUNDS), &library)[2..],
            ["a:on b:back b:ok c DONE", "a:on b:back b:back! c DONE"]
        );
    }

    #[test]
    fn one_way_goes_on_after_more_loops_than_the_bound() {
        let library = looping(50, OnMaxLoops::Next);
        let found = search(&library, WayBounds { loops: 1, ..BOUNDS });
        assert_eq!(
            in_short(&found, &library)[2..],
            ["a:on b:back b:ok c DONE", "a:on b:back b:back +48 b:back! c DONE"]
        );
        assert!(found.has_more_loops && !found.is_cut && found.others == 0);
        // It is one of those that are listed.
        let found = search(&library, WayBounds { loops: 1, ways: 2, ..BOUNDS });
        assert_eq!(in_short(&found, &library), ["a:out -b -c DONE", "a:on b:back b:back +48 b:back! c DONE"]);
        assert_eq!(found.others, 2);
        // The phase that is passed over at first is in no loop.
        let mut root = workflow("w", &["a", "b", "@s", "d"]);
        root.phases[0] = with_outcomes("a", &[("c", Target::Entry("d".into())), ("n", Target::Next)]);
        root.phases[3] = with_outcomes("d", &[("ok", Target::Next), ("back", Target::Entry("b".into()))]);
        (root.max_loops, root.on_max_loops) = (u32::MAX.into(), OnMaxLoops::Next);
        let mut nested = workflow("s", &["x", "y"]);
        nested.phases[0] = with_outcomes("x", &[("again", Target::Loop), ("on", Target::Done)]);
        let library = library_of(vec![root, nested]);
        let found = search(&library, WayBounds { loops: 0, ..BOUNDS });
        assert_eq!(
            in_short(&found, &library),
            [
                "a:c -b -s d:ok DONE",
                "a:n b x:on -y d:ok DONE",
                "a:c -b -s d:back b x:on -y d:back b x:on -y +4294967293 d:back! DONE"
            ]
        );
    }

    #[test]
    fn a_bounded_way_leads_elsewhere_after_its_last_time() {
        let ways_of = |bound: WayBound, loops: u32| {
            let mut root = workflow("w", &["a", "b", "c"]);
            let ok = Outcome::new("ok", Target::Next);
            let back = Outcome::new("no", Target::Entry("a".into()));
            let mut b = phase("b");
            b.outcomes = vec![ok, Outcome { bound: Some(bound), ..back }];
            root.phases[1] = Entry::phase(b);
            let library = library_of(vec![root]);
            let found = search(&library, WayBounds { loops, ..BOUNDS });
            (in_short(&found, &library), found.has_more_loops)
        };
        let of = |max, then| WayBound { max, then };
        let (all, more) = ways_of(of(1, Some(Target::Stop)), 3);
        assert_eq!(all, ["a b:ok c DONE", "a b:no a b:no! STOP", "a b:no a b:ok c DONE"]);
        assert!(!more);
        let (all, _) = ways_of(of(1, None), 3);
        assert_eq!(all, ["a b:ok c DONE", "a b:no a b:no PAUSE", "a b:no a b:ok c DONE"]);
        let (all, more) = ways_of(of(9, Some(Target::Next)), 1);
        assert_eq!(all, ["a b:ok c DONE", "a b:no a b:ok c DONE", "a b:no a b:no a +7 b:no! c DONE"]);
        assert!(more);
        // `then` may lead back too.
        let (all, _) = ways_of(of(1, Some(Target::Entry("b".into()))), 1);
        assert_eq!(all, ["a b:ok c DONE", "a b:no a b:ok c DONE"]);
    }

    #[test]
    fn the_search_is_bounded() {
        let library = looping(50, OnMaxLoops::Pause);
        let found = search(&library, WayBounds { loops: 1, ..BOUNDS });
        assert!(found.has_more_loops && !found.is_cut);
        assert_eq!(found.ways.len(), 3);
        let found = search(&library, WayBounds { loops: 50, ways: 2, ..BOUNDS });
        assert_eq!((found.ways.len(), found.others, found.is_cut), (2, 51, false));
        let found = search(&library, WayBounds { loops: 50, steps: 7, ..BOUNDS });
        assert_eq!((found.ways.len(), found.others), (2, 51));
        let found = search(&library, WayBounds { loops: 50, work: 20, ..BOUNDS });
        assert!(found.is_cut && found.ways.len() < 10);
        // No end within the bounds.
        let keys: Vec<String> = (0..=60).map(|level| format!("w{level:02}")).collect();
        let mut all: Vec<Workflow> = keys
            .windows(2)
            .map(|pair| workflow(&pair[0], &[&format!("@{}", pair[1]), &format!("@{}", pair[1])]))
            .collect();
        all.extend([workflow("w60", &["leaf"]), workflow("w", &["@w00"])]);
        let found = search(&library_of(all), BOUNDS);
        assert_eq!((found.ways.len(), found.is_cut), (0, true));
    }

    fn input(name: &str, kind: ValueType) -> Input {
        Input { name: name.into(), kind, default: None, description: None }
    }

    fn when(name: &str, value: &str) -> Vec<Condition> {
        vec![Condition { of: ValueName::Input(name.into()), values: vec![value.into()] }]
    }

    #[test]
    fn inputs_that_conditions_use_have_all_their_values() {
        let options = || ValueType::Choice(vec!["x".into(), "y".into()]);
        let mut root = workflow("w", &["a", "@s"]);
        root.inputs = vec![
            input("unused", options()),
            input("own", ValueType::Flag),
            input("handed", options()),
            input("text", ValueType::Text),
        ];
        root.phases[0].when = when("own", "true");
        let with = [("inner", "handed"), ("idle", "unused")]
            .map(|(inner, outer)| (inner.to_owned(), Given::Name(ValueName::Input(outer.into()))));
        let EntryKind::Workflow { with: own, .. } = &mut root.phases[1].kind else { panic!() };
        *own = with.into();
        let mut nested = workflow("s", &["b"]);
        nested.inputs = vec![input("inner", options()), input("idle", options())];
        nested.phases[0].when = when("inner", "y");
        let library = library_of(vec![root.clone(), nested.clone()]);
        let found = search(&library, BOUNDS);
        let named = |way: &Way| {
            let values: Vec<String> = way.inputs.iter().map(|(name, value)| format!("{name}={value}")).collect();
            values.join(" ")
        };
        let named: Vec<String> = found.ways.iter().map(named).collect();
        assert_eq!(in_short(&found, &library), ["-a -b DONE", "a -b DONE", "-a b DONE", "a b DONE"]);
        assert_eq!(named, ["handed=x own=false", "handed=x own=true", "handed=y own=false", "handed=y own=true"]);
        // A text has no list of values.
        nested.phases[0].when = when("inner", "z");
        nested.inputs[0].kind = ValueType::Text;
        let EntryKind::Workflow { with, .. } = &mut root.phases[1].kind else { panic!() };
        with.insert("inner".into(), Given::Name(ValueName::Input("text".into())));
        let library = library_of(vec![root, nested]);
        let workflow = library.get("w").unwrap();
        let missing = WayStarts::of(workflow, &Map::new(), &library).unwrap_err();
        assert_eq!(missing, [&workflow.inputs[3]]);
        let given = Map::from([("text".into(), "z".into()), ("own".into(), "true".into())]);
        assert_eq!(WayStarts::of(workflow, &given, &library).unwrap().runs.len(), 1);
    }

    /// The ways through a workflow with these entries, in short. `plan` gives a list `tasks`, `a` has the outcome `ok`.
    fn ways_of_file(entries: &str, bounds: WayBounds) -> Vec<String> {
        let mut files = crate::definition::fixtures::Files::default();
        let head = "name: W\ncommandName: w\ninitialMessage: Go\nmaxLoops: 3\nonMaxLoops: next\n";
        files.global.insert("w/workflow.yaml".into(), format!("{head}phases:\n{entries}"));
        let review = "write: []\noutcomes: { issues: next, clean: next }\n";
        for (id, lines) in [
            ("plan", "outputs: { tasks: { type: list } }\n"),
            ("a", "outcomes: { ok: loop }\n"),
            ("b", ""),
            ("r1", review),
            ("r2", review),
        ] {
            let text = format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{lines}---\nDo it.\n");
            files.global.insert(format!("w/{id}.md"), text);
        }
        let (library, _) = Library::load(&files).unwrap();
        in_short(&search(&library, bounds), &library)
    }

    #[test]
    fn a_parallel_group_is_one_entry() {
        let outcomes = "{ issues: { to: a, max: 1, then: stop }, clean: next }";
        let entries = format!(
            "  - {{ run: x, id: a }}\n  - {{ id: g, parallel: true, decide: [issues, clean], outcomes: {outcomes}, phases: [r1.md, r2.md] }}\n  - b.md\n"
        );
        let expected =
            ["a:ok g:clean b DONE", "a:ok g:issues a:ok g:issues! STOP", "a:ok g:issues a:ok g:clean b DONE"];
        assert_eq!(ways_of_file(&entries, BOUNDS), expected);
    }

    #[test]
    fn branches_are_passed_over_and_a_group_without_any_has_no_outcome() {
        let when = "when: { outcome.a: failed }";
        let entries = format!(
            "  - {{ run: x, id: a, outcomes: {{ failed: next }} }}\n  - {{ id: g, parallel: true, decide: [clean], phases: [{{ phase: r1.md, {when} }}, {{ phase: r2.md, {when} }}] }}\n  - b.md\n"
        );
        let expected = ["a:failed g:clean b DONE", "a:ok -r1 -r2 g b DONE"];
        let mut found = ways_of_file(&entries, BOUNDS);
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_list_may_have_no_items() {
        let entries = "  - plan.md\n  - { id: g, each: output.plan.tasks, phases: [b.md] }\n";
        let expected = ["plan:tasks= -g DONE", "plan:tasks=(tasks 1)\n(tasks 2) b b DONE"];
        assert_eq!(ways_of_file(entries, BOUNDS), expected);
    }

    #[test]
    fn a_step_that_has_failed_has_no_outputs() {
        let entries = "  - { run: x, id: s, outputs: { h: { type: flag } }, outcomes: { failed: next } }\n  - { phase: b.md, when: { output.s.h: [true, false] } }\n";
        let expected = ["s:failed -b DONE", "s:ok:h=true b DONE", "s:ok:h=false b DONE"];
        assert_eq!(ways_of_file(entries, BOUNDS), expected);
    }

    #[test]
    fn a_way_that_goes_on_after_max_loops_may_be_stopped() {
        let entries = "  - { id: g, maxLoops: 3, outcomes: { ok: stop }, phases: [a.md] }\n";
        let bounds = WayBounds { loops: 1, ..BOUNDS };
        assert_eq!(ways_of_file(entries, bounds), ["a:ok a:ok +1 a:ok! STOP"]);
    }
}
