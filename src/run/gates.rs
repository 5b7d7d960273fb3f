//! The gates ahead of a run, and the evidence of their checks.

use serde::Serialize;

use crate::definition::{Gate, Library, OnGateFail, Workflow};

use super::progress::MAX_EVIDENCE;
use super::{Active, LoopError, RunState, Segment, enter, phase_key, restart, scope_key};

/// A gate that a run must pass to leave its phase.
#[derive(Debug, Clone)]
pub struct GateAhead<'a> {
    pub gate: &'a Gate,
    /// The name of the phase or workflow that has it.
    pub of: &'a str,
    /// The identity of the gate: [`phase_key`] of its phase, or [`scope_key`] of its workflow.
    pub key: String,
    /// The name of the root that its files come from.
    pub root: &'a str,
    /// The number of scopes on the path down to the workflow that it belongs to, that one included.
    pub depth: usize,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The label of the check.
    pub label: String,
    /// The check passed.
    pub passed: bool,
    /// The result in words: the end of the command, the file that matched, the user's answer.
    pub result: String,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// The number of the attempt to leave the phase, from 1.
    pub attempt: u32,
    /// The end of the command's output; empty for other checks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

impl<'a> Active<'a> {
    /// The gates that `next` must pass: that of the phase, then those of the workflows that end with
    /// it, the innermost first.
    pub fn gates_ahead(&self) -> Vec<GateAhead<'a>> {
        let path = &self.state.current_path;
        let mut gates: Vec<GateAhead> = Vec::new();
        gates.extend(self.phase.gate.as_ref().map(|gate| GateAhead {
            gate,
            of: &self.phase.name,
            key: phase_key(path),
            root: &self.scope.root,
            depth: path.len(),
        }));
        gates.extend(self.ending_scopes().filter_map(|(depth, scope)| {
            let gate = scope.gate.as_ref()?;
            let key = scope_key(path.get(..depth).unwrap_or_default());
            Some(GateAhead { gate, of: &scope.name, key, root: &scope.root, depth })
        }));
        gates
    }

    /// The workflows that end with the current phase, the innermost first; each with its depth, see
    /// [`GateAhead::depth`].
    pub fn ending_scopes(&self) -> impl Iterator<Item = (usize, &'a Workflow)> {
        let path = self.state.current_path.iter().enumerate().rev();
        let scopes = path.filter_map(|(index, segment)| {
            Some((index + 1, segment, self.library.get(&segment.workflow_key)?))
        });
        let ending = scopes.take_while(|(_, segment, scope)| {
            segment.phase_index.saturating_add(1) >= scope.phases.len()
        });
        ending.map(|(depth, _, scope)| (depth, scope))
    }
}

impl RunState {
    /// Returns the run with this evidence of its current phase, in place of that of an earlier attempt.
    pub fn with_evidence(&self, mut evidence: Vec<Evidence>) -> Self {
        let mut new = self.clone();
        evidence.drain(..evidence.len().saturating_sub(MAX_EVIDENCE));
        if let Some(visit) = new.progress.visits.get_mut(&phase_key(&self.current_path)) {
            visit.evidence = evidence;
        }
        new.forget_oldest();
        new
    }

    /// Returns the run with one more failed attempt of this gate, and the number of failed attempts.
    pub fn gate_failed(&self, key: &str) -> (Self, u32) {
        let mut new = self.clone();
        let attempts = new.progress.gate_attempts.entry(key.to_owned()).or_default();
        *attempts = attempts.saturating_add(1);
        let times = *attempts;
        (new, times)
    }

    /// Returns the run, moved to where a failure of the gate leads; `None` if it stays. A way back counts as a restart
    /// of the scope.
    ///
    /// # Errors
    ///
    /// If the scope was restarted as often as it allows, or cannot be restarted.
    pub fn after_gate_failure(
        &self,
        on_fail: &OnGateFail,
        depth: usize,
        library: &Library,
    ) -> Result<Option<Self>, LoopError> {
        let mut new = self.clone();
        new.current_path.truncate(depth.max(1));
        let id = match on_fail {
            OnGateFail::Stay => return Ok(None),
            OnGateFail::Loop => return restart(&new, library).map(Some),
            OnGateFail::Phase(id) => id,
        };
        let last = new.current_path.last_mut().ok_or(LoopError::NotFound)?;
        let scope = library.get(&last.workflow_key).ok_or(LoopError::NotFound)?;
        let index = scope.position(id).ok_or(LoopError::NotFound)?;
        *last = Segment { phase_index: index, ..last.clone() };
        let loops = new.progress.loops.entry(scope_key(&new.current_path)).or_default();
        if *loops >= scope.max_loops {
            return Err(LoopError::Exhausted { max_loops: scope.max_loops });
        }
        *loops += 1;
        new.global_step_count = new.global_step_count.saturating_add(1);
        Ok(Some(enter(&new, library)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::workflow;
    use crate::definition::{Check, CheckKind};

    fn gate(label: &str, on_fail: OnGateFail) -> Option<Gate> {
        let kind = CheckKind::Approve { question: label.into() };
        Some(Gate { checks: vec![Check { label: label.into(), kind }], attempts: 3, on_fail })
    }

    #[test]
    fn the_gates_of_all_that_ends_are_ahead() {
        let mut outer = workflow("outer", &["a", "@inner"]);
        outer.gate = gate("outer", OnGateFail::Phase("a".into()));
        let mut inner = workflow("inner", &["b", "c"]);
        inner.gate = gate("inner", OnGateFail::Loop);
        let library = Library::new(vec![outer, inner], &mut Vec::new());
        let at = |path: &[(&str, usize)]| RunState {
            current_path: path
                .iter()
                .map(|(key, index)| Segment { workflow_key: (*key).into(), phase_index: *index })
                .collect(),
            ..RunState::new("outer", "", 0, 0)
        };
        let ahead = |state: &RunState| -> Vec<String> {
            let active = Active::resolve(state, &library).unwrap();
            active
                .gates_ahead()
                .iter()
                .map(|ahead| format!("{} {}", ahead.of, ahead.depth))
                .collect()
        };
        assert_eq!(ahead(&at(&[("outer", 0)])), [""; 0]);
        assert_eq!(ahead(&at(&[("outer", 1), ("inner", 0)])), [""; 0]);
        let last = at(&[("outer", 1), ("inner", 1)]);
        assert_eq!(ahead(&last), ["The inner 2", "The outer 1"]);

        let back = |on_fail: OnGateFail, depth| {
            last.after_gate_failure(&on_fail, depth, &library)
                .unwrap()
                .map(|state| phase_key(&state.current_path))
        };
        assert_eq!(back(OnGateFail::Stay, 2), None);
        assert_eq!(back(OnGateFail::Loop, 2).as_deref(), Some("outer:1/inner:0"));
        assert_eq!(back(OnGateFail::Loop, 1).as_deref(), Some("outer:0"));
        assert_eq!(back(OnGateFail::Phase("a".into()), 1).as_deref(), Some("outer:0"));
        assert_eq!(back(OnGateFail::Phase("b".into()), 2).as_deref(), Some("outer:1/inner:0"));
        assert_eq!(
            last.after_gate_failure(&OnGateFail::Phase("z".into()), 2, &library),
            Err(LoopError::NotFound)
        );
    }
}
