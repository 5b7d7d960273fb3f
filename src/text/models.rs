//! Notices about the models of a run.

use crate::definition::{Model, ModelSetting, Phase, Unavailable, on_one_line};

use super::names::short_name;

/// Returns the notice that none of a phase's models can be used.
pub fn no_model(phase: &Phase, unavailable: &[Unavailable], user: &ModelSetting) -> String {
    let unavailable: Vec<String> = unavailable.iter().map(words).collect();
    let unavailable = if unavailable.is_empty() { "it names none".to_owned() } else { unavailable.join(", ") };
    format!(
        "Workflow: no model for the phase \"{}\": {unavailable}. It uses yours, {}.",
        short_name(&phase.name),
        on_one_line(&user.model.to_string())
    )
}

/// Returns the notice that a context window, in tokens, has room for less than four prompts of a phase; `None` if the
/// window has more room, or if its size is not known. The tokens of a prompt are estimated as pi does.
pub fn small_window(model: &Model, window: u32, prompt: &str) -> Option<String> {
    let tokens = u32::try_from(prompt.encode_utf16().count().div_ceil(4)).unwrap_or(u32::MAX);
    let is_small = window > 0 && window / 4 < tokens;
    is_small.then(|| {
        format!(
            "Workflow: the context window of {} has {window} tokens, and the prompt of the phase alone takes about {tokens}. pi will compact the conversation often, and the agent may lose the thread. A model with a larger window is better here.",
            on_one_line(&model.to_string())
        )
    })
}

fn words(model: &Unavailable) -> String {
    match model {
        Unavailable::NoAlias(name) => format!("your settings have no model `{}`", on_one_line(name)),
        Unavailable::Unknown(name) => format!("pi does not know `{}`", on_one_line(name)),
        Unavailable::NoKey(name) => format!("there is no key for `{}`", on_one_line(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_small_below_four_prompts() {
        let model = Model { provider: "local".into(), id: "tiny".into() };
        for (window, characters, is_small) in
            [(0, 4000, false), (4000, 4000, false), (3999, 4000, true), (4000, 4001, true), (1, 0, false), (1, 1, true)]
        {
            let notice = small_window(&model, window, &"x".repeat(characters));
            assert_eq!(notice.is_some(), is_small, "{window} {characters}");
        }
        let expected = "Workflow: the context window of local/tiny has 8000 tokens, and the prompt of the phase alone takes about 2500. ";
        assert!(small_window(&model, 8000, &"😀".repeat(5000)).unwrap().starts_with(expected));
    }
}
