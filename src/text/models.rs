//! The notice that a phase has none of its models.

use crate::definition::{Lack, ModelSetting, Phase, on_one_line};

use super::names::short_name;

/// Returns the notice that none of a phase's models can be used.
pub fn no_model(phase: &Phase, lacks: &[Lack], user: &ModelSetting) -> String {
    let lacks: Vec<String> = lacks.iter().map(words).collect();
    let lacks = if lacks.is_empty() { "it names none".to_owned() } else { lacks.join(", ") };
    format!(
        "Workflow: no model for the phase \"{}\": {lacks}. It uses yours, {}.",
        short_name(&phase.name),
        on_one_line(&user.model.to_string())
    )
}

fn words(lack: &Lack) -> String {
    match lack {
        Lack::NoAlias(name) => format!("models.yaml has no `{}`", on_one_line(name)),
        Lack::Unknown(name) => format!("pi does not know `{}`", on_one_line(name)),
        Lack::NoKey(name) => format!("there is no key for `{}`", on_one_line(name)),
    }
}
