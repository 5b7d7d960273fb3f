//! The model and the thinking level of a phase, through the interface.

use super::host::*;

const FLOW: &str = "name: Two\ncommandName: two\ninitialMessage: Go\nphases: [look.md, do.md]\n";
const LOOK: &str = "---\nid: look\nname: Look\nemoji: 👀\nmodel: [strnog, strong]\nthinking: max\n---\nLook.\n";
const DO: &str = "---\nid: do\nname: Do\nemoji: 🔨\n---\nDo.\n";

/// A session of pi with the model `scripted/scripted`.
pub fn session() -> Pi {
    let mut host = Host::with_files([
        ("global/models.yaml", "strong: [one/paid, one/big:high]"),
        ("global/two/workflow.yaml", FLOW),
        ("global/two/look.md", LOOK),
        ("global/two/do.md", DO),
    ]);
    host.models = vec![known("one/paid", false), known("one/big", true)];
    host.start_session()
}

/// The settings since the last call.
fn set(pi: &mut Pi) -> Vec<String> {
    let calls = std::mem::take(&mut pi.host().calls).into_iter();
    let kinds = ["set-model", "set-thinking-level", "append-entry workflow:state", "notify"];
    let calls = calls.filter(|call| kinds.iter().any(|kind| call.starts_with(kind)));
    calls.map(|call| call.split(" {").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn it_is_set_with_the_phase_and_given_back_after_it() {
    let mut pi = session();
    pi.command("workflow", "two Fix it");
    let expected = ["append-entry workflow:state", "set-model one/big", "set-thinking-level ThinkingLevel::Max"];
    assert_eq!(set(&mut pi), expected);
    for event in [
        Event::ThinkingLevelSelect(level_selection(ThinkingLevel::Medium, true)),
        Event::ModelSelect(model_selection("one/big", true)),
        Event::ThinkingLevelSelect(level_selection(ThinkingLevel::Max, true)),
    ] {
        assert_eq!(pi.event(event), "none");
    }
    assert_eq!(set(&mut pi), [""; 0]);
    pi.step("next");
    let expected =
        ["append-entry workflow:state", "set-model scripted/scripted", "set-thinking-level ThinkingLevel::Off"];
    assert_eq!(set(&mut pi), expected);
}

#[test]
fn a_choice_of_the_user_is_stored() {
    let mut pi = session();
    pi.command("workflow", "two Fix it");
    let _ = set(&mut pi);
    pi.host().model = Some(model("one/other"));
    pi.event(Event::ModelSelect(model_selection("one/other", false)));
    assert_eq!(set(&mut pi), ["append-entry workflow:state"]);
    pi.step("next");
    assert_eq!(set(&mut pi), ["append-entry workflow:state"]);
}

#[test]
fn a_host_that_sets_none_is_reported() {
    let mut pi = session();
    pi.host().failing.insert("set-model", "The manifest does not grant it.");
    pi.command("workflow", "two Fix it");
    let expected = [
        "append-entry workflow:state",
        "set-model one/big",
        "notify error: Workflow: The manifest does not grant it.",
        "set-thinking-level ThinkingLevel::Max",
    ];
    assert_eq!(set(&mut pi), expected);
}

#[test]
fn a_host_that_does_not_tell_changes_nothing() {
    for function in ["models", "current-model"] {
        let mut pi = session();
        pi.host().failing.insert(function, "not now");
        pi.command("workflow", "two Fix it");
        let set = set(&mut pi);
        assert!(!set.iter().any(|call| call.starts_with("set-model")), "{function}: {set:?}");
    }
}

#[test]
fn a_check_compares_with_the_models_of_pi() {
    let mut pi = session();
    pi.command("workflow", ":check");
    let calls = pi.host().calls.join("\n");
    assert!(calls.contains("unknown alias `strnog` of a model"), "{calls}");
    assert!(calls.contains("did you mean `strong`?"), "{calls}");
    assert!(!calls.contains("unknown model"), "{calls}");
}
