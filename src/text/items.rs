//! The items of groups that are repeated, in `/workflow :status`.

use crate::run::{Active, NumberedPhase, PhasePath, RunState, Visit};

use super::questions::counted;
use super::ways::short;

/// Maximum number of listed items of a group: the items around the current one.
const MAX_ITEMS: usize = 9;
/// Maximum number of items in [`ended`].
const MAX_ENDED: usize = 5;

/// Returns a line for each item of the groups that begin with the phase, and the newest summary of each item that is
/// over; of many items only the items around the current one. `before` is the phase before it in the list.
pub(super) fn lines(active: &Active, at: &NumberedPhase, before: Option<&NumberedPhase>) -> Vec<String> {
    let is_in = |path: &PhasePath, scope: &PhasePath| {
        path.len() >= scope.len() && path.at_depth(scope.len()).scope_key() == scope.scope_key()
    };
    let begins = |scope: &PhasePath| !before.is_some_and(|before| is_in(&before.path, scope));
    let scopes = at.path.scopes().filter(|scope| scope.last().is_some_and(|of| of.item.is_some()));
    scopes.filter(begins).flat_map(|scope| of_group(active, &scope)).collect()
}

/// Returns the lines of the group with this scope, whatever its item.
fn of_group(active: &Active, scope: &PhasePath) -> Vec<String> {
    let (state, depth) = (active.state, scope.len().saturating_sub(1));
    let (outer, Some(group)) = (scope.at_depth(depth), scope.last()) else { return Vec::new() };
    let at = state.at(outer.clone());
    let items = at.items(depth, &group.workflow_key, active.library).unwrap_or_default();
    let current = &state.current_path;
    let is_inside = current.len() > depth && current.at_depth(depth).key() == outer.key();
    let now = match current.get(depth).filter(|_| is_inside).and_then(|segment| segment.item) {
        Some(item) => item,
        None if current.indices() > outer.indices() => items.len(),
        None => return vec![format!("○ {}", counted(items.len(), "item"))],
    };
    let first = now.saturating_sub(MAX_ITEMS / 2).min(items.len().saturating_sub(MAX_ITEMS));
    let mut lines = Vec::new();
    lines.extend((first > 0).then(|| format!("… {} before", counted(first, "item"))));
    for (index, item) in items.iter().enumerate().skip(first).take(MAX_ITEMS) {
        let mut scope = scope.clone();
        scope.set_item(index);
        let visits = visits_in(state, &scope);
        let mark = match index.cmp(&now) {
            std::cmp::Ordering::Less => mark(&visits),
            std::cmp::Ordering::Equal => "▸",
            std::cmp::Ordering::Greater => "○",
        };
        lines.push(format!("{mark} [{}/{}] {}", index + 1, items.len(), short(item)));
        let mut summaries = visits.iter().filter_map(|visit| visit.summary.as_ref());
        let summary = summaries.next_back().filter(|_| index < now);
        lines.extend(summary.map(|summary| format!("     {}", short(&summary.text))));
    }
    let after = items.len().saturating_sub(first + MAX_ITEMS);
    lines.extend((after > 0).then(|| format!("… {} behind", counted(after, "item"))));
    lines
}

/// Returns a line for each item of the innermost repeated group that is over, with its newest summary; of many only the
/// last ones. Items that are branches are not worked on one after another.
pub(super) fn ended(active: &Active) -> Vec<String> {
    let state = active.state;
    let Some(last) = state.current_path.iter().rposition(|segment| segment.item.is_some()) else { return Vec::new() };
    let scope = state.current_path.at_depth(last + 1);
    if state.progress().branch.as_ref().is_some_and(|branch| branch.key == scope.scope_key()) {
        return Vec::new();
    }
    let now = scope.last().and_then(|segment| segment.item).unwrap_or_default();
    let line = |index: usize| {
        let mut scope = scope.clone();
        scope.set_item(index);
        let item = state.at(scope.clone()).item(scope.len(), active.library);
        let (text, count) = item.map_or_else(Default::default, |item| (short(&item.text), item.count));
        let visits = visits_in(state, &scope);
        let summary = visits.iter().rev().find_map(|visit| visit.summary.as_ref());
        let summary = summary.map_or_else(String::new, |summary| format!(": {}", short(&summary.text)));
        format!("{} [{}/{count}] {text}{summary}", mark(&visits), index + 1)
    };
    (now.saturating_sub(MAX_ENDED)..now).map(line).collect()
}

/// Returns the visits of the phases in this scope, in their order.
fn visits_in<'a>(state: &'a RunState, scope: &PhasePath) -> Vec<&'a Visit> {
    let within = scope.within_scope();
    let visits = state.visits_by(|visit| Some(visit.step)).into_iter();
    visits.filter(|(key, _)| key.starts_with(&within)).map(|(_, visit)| visit).collect()
}

/// Returns the mark of an item that is over: `⤼` if the item was skipped, `✗` if its last phase was left with a check
/// that failed, else `✓`.
fn mark(visits: &[&Visit]) -> &'static str {
    match visits.last() {
        None => "⤼",
        Some(last) if last.skipped => "⤼",
        Some(last) if last.unfinished || last.evidence.iter().any(|check| !check.passed) => "✗",
        Some(_) => "✓",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::for_each;
    use crate::run::{Leaving, Outline, advance, begin, skip_item};

    fn moved(state: &RunState, library: &crate::definition::Library, leaving: Leaving) -> RunState {
        let next = match leaving {
            Leaving::Skipped => skip_item(state, library).unwrap().0,
            _ => advance(state, library).0,
        };
        next.moved_from(state, leaving, 0)
    }

    fn shown(state: &RunState, library: &crate::definition::Library) -> Vec<String> {
        let active = Active::resolve(state, library).unwrap();
        let phases = Outline::phases(&active, 1, 10);
        let before = std::iter::once(None).chain(phases.iter().map(Some));
        phases.iter().zip(before).flat_map(|(at, before)| lines(&active, at, before)).collect()
    }

    #[test]
    fn items_are_shown_with_how_they_ended() {
        let names: Vec<String> = (1..=20).map(|number| format!("task {number}")).collect();
        let library = for_each(&format!("[{}]", names.join(", ")));
        let run = RunState::new("w", "", 0, 0);
        let mut state = begin(&run, &library).0.begun(0);
        assert_eq!(shown(&state, &library), ["○ 20 items"], "the run is before it");
        // Behind the plan, two phases of the first item, and the second is skipped.
        for leaving in [Leaving::Done, Leaving::Done, Leaving::Done, Leaving::Skipped] {
            let active = Active::resolve(&state, &library).unwrap();
            let told = state.with_summary(active.phase, "It is done");
            state = moved(&told, &library, leaving);
        }
        let lines = shown(&state, &library);
        assert_eq!(
            lines[..5],
            ["✓ [1/20] task 1", "     It is done", "⤼ [2/20] task 2", "     It is done", "▸ [3/20] task 3"]
        );
        assert_eq!(lines.last().unwrap(), "… 11 items behind");
        let over = |state: &RunState| ended(&Active::resolve(state, &library).unwrap());
        assert_eq!(over(&state), ["✓ [1/20] task 1: It is done", "⤼ [2/20] task 2: It is done"]);
        for _ in 0..17 {
            state = moved(&state, &library, Leaving::Skipped);
        }
        let lines = shown(&state, &library);
        assert_eq!((&*lines[0], &*lines[1]), ("… 11 items before", "⤼ [12/20] task 12"));
        let numbers = over(&state).iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(numbers, ["[15/20]", "[16/20]", "[17/20]", "[18/20]", "[19/20]"]);
        state = moved(&state, &library, Leaving::Skipped);
        assert!(shown(&state, &library).iter().all(|line| !line.starts_with('▸')), "it is over");
    }
}
