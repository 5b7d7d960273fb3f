//! A gate that is still open when an answer comes.

use crate::engine::context::Cx;
use crate::engine::effect::Reply;
use crate::engine::gate::state::OpenGate;
use crate::engine::state::Engine;

/// Continues with a gate after an answer only if the gate still stands: it was not withdrawn, the run is where the gate
/// was opened, and its rules hold.
pub(super) fn if_stands<T>(
    gate: OpenGate,
    then: impl FnOnce(&mut Engine, OpenGate, T, &mut Cx) -> Reply,
) -> impl FnOnce(&mut Engine, T, &mut Cx) -> Reply {
    if_stands_or_record(gate, |_, _| {}, then)
}

/// Like [`if_stands`], but keeps the answer in the gate if only the rules do not hold.
pub(super) fn if_stands_or_record<T>(
    mut gate: OpenGate,
    record: impl FnOnce(&mut OpenGate, T),
    then: impl FnOnce(&mut Engine, OpenGate, T, &mut Cx) -> Reply,
) -> impl FnOnce(&mut Engine, T, &mut Cx) -> Reply {
    move |engine, answer, cx| {
        if !gate.stand.stands(engine.running()) {
            return engine.gate_overtaken(&gate, cx);
        }
        if let Some(reason) = engine.held() {
            record(&mut gate, answer);
            return engine.gate_held(&gate, &reason, cx);
        }
        then(engine, gate, answer, cx)
    }
}
