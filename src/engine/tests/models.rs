//! The model and the thinking level of a phase.

use super::*;
use crate::definition::{KnownModel, Model, ModelSetting, Thinking};
use crate::run::{Pick, restore};

const MODELS: [(&str, &str, bool); 5] =
    [("a", "user", true), ("a", "big", true), ("b", "small", true), ("b", "paid", false), ("c", "x/y:z", true)];

/// The level that pi chooses for a model.
const OF_PI: Option<Thinking> = Some(Thinking::Medium);

fn model(name: &str) -> Model {
    let (provider, id) = name.split_once('/').unwrap();
    Model { provider: provider.into(), id: id.into() }
}

/// A session of pi with the model `a/user` at the level `low`, and a workflow of phases with these lines.
fn with(phases: &[&str]) -> Session {
    let ids = ["a", "b", "c", "d"];
    let mut session = Session::new(&[("w", &ids[..phases.len()])]);
    for (id, lines) in ids.iter().zip(phases) {
        let file = format!("---\nid: {id}\nname: {id}\nemoji: '*'\n{lines}\n---\nDo {id}.");
        session.files.global.insert(format!("w/{id}.md"), file);
    }
    let aliases = "models: { strong: [b/paid, 'a/big:high'], fast: b/small }";
    session.files.global.insert("settings.yaml".into(), aliases.into());
    let known = MODELS.map(|(provider, id, available)| KnownModel {
        model: Model { provider: provider.into(), id: id.into() },
        available,
        priced: id != "free",
        context_window: if id == "small" { 500 } else { 0 },
    });
    session.files.models = Some(known.into());
    session.select("a/user", Some(Thinking::Low));
    session
}

impl Session {
    fn select(&mut self, name: &str, thinking: Option<Thinking>) {
        *self.files.setting.borrow_mut() = Some(ModelSetting { model: model(name), thinking });
    }

    /// The model and the level in use.
    fn uses(&self) -> String {
        self.files.setting.borrow().as_ref().unwrap().to_string()
    }

    /// Performs the effects as pi does, and returns the notices.
    fn obey(&mut self, effects: &[Effect]) -> Vec<String> {
        let mut setting = self.files.setting.borrow_mut();
        let setting = setting.as_mut().unwrap();
        let mut notices = Vec::new();
        for effect in effects {
            match effect {
                Effect::SetModel(model) => {
                    *setting = ModelSetting { model: model.clone(), thinking: OF_PI };
                }
                Effect::SetThinking(level) => setting.thinking = Some(*level),
                Effect::Notify { text, .. } if text.contains("no model") => {
                    notices.push(text.clone());
                }
                _ => {}
            }
        }
        notices
    }

    /// Runs a command, and returns the model in use.
    fn run(&mut self, arguments: &str) -> String {
        let effects = self.command("workflow", arguments).effects;
        let _ = self.obey(&effects);
        self.uses()
    }

    fn leave(&mut self) -> String {
        let (effects, _) = self.step_output("next");
        let _ = self.obey(&effects);
        self.uses()
    }

    /// The user selects a model in pi, which sets a level too.
    fn pick_model(&mut self, name: &str) {
        self.select(name, OF_PI);
        for pick in [Pick::Thinking, Pick::Model] {
            let effects = self.on(Event::Select { pick, own: false }).effects;
            let _ = self.obey(&effects);
        }
    }

    fn pick_thinking(&mut self, level: Thinking) {
        let name = self.files.setting.borrow().as_ref().unwrap().model.to_string();
        self.select(&name, Some(level));
        let effects = self.on(Event::Select { pick: Pick::Thinking, own: false }).effects;
        let _ = self.obey(&effects);
    }

    /// Ends pi at once, and starts it again from its stored state.
    fn restart(&mut self, stored: Option<String>) -> String {
        self.engine = Engine::default();
        let stored = restore(stored);
        let facts = Facts::default();
        let effects = self.on(Event::Session { stored, in_view: None, facts }).effects;
        let _ = self.obey(&effects);
        self.uses()
    }
}

/// The newest state among effects, as it is stored.
fn stored(effects: &[Effect]) -> Option<String> {
    effects.iter().rev().find_map(|effect| match effect {
        Effect::AppendEntry { custom_type: "workflow:state", data } => Some(data.to_string()),
        _ => None,
    })
}

#[test]
fn each_phase_has_its_model_and_the_end_has_the_users() {
    let phases = ["model: [b/none, strong]", "model: ':max'", "", "model: fast:off"];
    let mut session = with(&phases);
    assert_eq!(session.run("w x"), "a/big:high");
    assert_eq!(session.leave(), "a/user:max");
    assert_eq!(session.leave(), "a/user:low");
    assert_eq!(session.leave(), "b/small");
    assert_eq!(session.leave(), "a/user:low");
}

#[test]
fn the_level_is_set_after_the_model_and_the_state_before_both() {
    let mut session = with(&["model: strong", ""]);
    let kinds = |effects: Vec<Effect>| -> Vec<&str> {
        let kind = |effect: &Effect| match effect {
            Effect::AppendEntry { custom_type: "workflow:state", .. } => Some("state"),
            Effect::SetModel(_) => Some("model"),
            Effect::SetThinking(_) => Some("level"),
            Effect::SendUserMessage(_) => Some("prompt"),
            _ => None,
        };
        effects.iter().filter_map(kind).collect()
    };
    let effects = session.command("workflow", "w x").effects;
    let _ = session.obey(&effects);
    assert_eq!(kinds(effects), ["state", "model", "level", "prompt"]);
    assert_eq!(kinds(session.step_output("next").0), ["state", "model", "level"]);
}

#[test]
fn a_phase_that_names_no_level_gets_that_of_pi() {
    let mut session = with(&["model: strong", "model: a/big", "model: a/user", ""]);
    assert_eq!(session.run("w x"), "a/big:high");
    assert_eq!(session.leave(), "a/big:medium");
    assert_eq!(session.leave(), "a/user:medium");
    assert_eq!(session.leave(), "a/user:low");
}

/// A nested workflow in a workflow, each with fields of its own, and an entry around it.
#[test]
fn the_nearest_model_around_a_phase_holds() {
    for (outer, entry, inner, phase, model) in [
        ("model: fast", "", "", "", "b/small:medium"),
        ("model: fast:max", "", "", "", "b/small:max"),
        ("model: fast", "model: strong", "", "", "a/big:high"),
        ("model: fast", "model: strong", "model: c/x/y:z", "", "a/big:high"),
        ("model: fast", "", "model: c/x/y:z", "", "c/x/y:z:medium"),
        ("model: fast", "model: strong", "", "model: c/x/y:z:low", "c/x/y:z:low"),
        ("model: fast:max", "", "", "model: strong", "a/big:high"),
        ("model: strong", "model: strong:minimal", "", "", "a/big:minimal"),
        ("", "", "", "", "a/user:low"),
        ("model: ':max'", "", "", "", "a/user:max"),
    ] {
        let mut session = with(&[""]);
        let yaml = |lines: &str, phases: &str| format!("{lines}\nphases: [{phases}]\n");
        let entry = if entry.is_empty() { String::new() } else { format!(", {entry}") };
        let files = [
            ("w/workflow.yaml", yaml(outer, &format!("{{ subworkflow: n{entry} }}, a.md"))),
            ("n/workflow.yaml", yaml(inner, "{ phases: [n.md], loopable: false }")),
            ("n/n.md", format!("---\nid: n\n{phase}\n---\nDo it.\n")),
        ];
        session.files.global.extend(files.map(|(path, text)| (path.to_owned(), text)));
        assert_eq!(session.run("w x"), model, "{outer:?} {entry:?} {inner:?} {phase:?}");
    }
}

#[test]
fn a_phase_without_model_and_level_changes_nothing() {
    let mut session = with(&["", ""]);
    let mut effects = session.command("workflow", "w x").effects;
    effects.extend(session.step_output("next").0);
    session.select("b/small", None);
    effects.extend(session.on(Event::Select { pick: Pick::Model, own: false }).effects);
    effects.extend(session.step_output("next").0);
    let sets = |effect: &Effect| matches!(effect, Effect::SetModel(_) | Effect::SetThinking(_));
    assert!(!effects.iter().any(sets));
    assert!(
        !effects
            .iter()
            .filter_map(|effect| stored(std::slice::from_ref(effect)))
            .any(|state| state.contains("usersModel"))
    );
}

#[test]
fn a_run_that_is_cancelled_or_replaced_gives_back_the_users() {
    let mut session = with(&["model: strong", ""]);
    assert_eq!(session.run("w x"), "a/big:high");
    assert_eq!(session.run(":cancel"), "a/user:low");
    assert_eq!(session.run("w x"), "a/big:high");
    // Another run in its place: the user's model is remembered.
    let Reply::Ask { ticket, .. } = session.command("workflow", "w y").reply else { panic!() };
    let yes = Event::Answer { ticket, answer: Answer::Confirmed(true) };
    let effects = session.on(yes).effects;
    let _ = session.obey(&effects);
    assert_eq!(session.uses(), "a/big:high");
    assert_eq!(session.leave(), "a/user:low");
}

#[test]
fn a_pause_gives_back_the_users_and_the_end_of_it_sets_that_of_the_phase() {
    let mut session = with(&["model: strong", ""]);
    assert_eq!(session.run("w x"), "a/big:high");
    assert_eq!(session.run(":pause"), "a/user:low");
    // A choice in the pause is the user's own.
    session.pick_model("b/small");
    assert_eq!(session.run(":resume"), "a/big:high");
    assert_eq!(session.leave(), "b/small:medium");
}

#[test]
fn a_model_that_the_user_picks_after_an_error_or_escape_holds_for_the_visit() {
    for stop in [Stop::Failed, Stop::Aborted] {
        let mut session = with(&["model: strong", "model: strong", ""]);
        let _ = session.run("w x");
        let effects = session.stop_as(stop, true);
        let _ = session.obey(&effects);
        assert_eq!(session.uses(), "a/user:low");
        session.pick_model("b/small");
        let state = session.stored_run().unwrap().clone();
        let stored = serde_json::to_string(&state).unwrap();
        assert_eq!(session.restart(Some(stored)), "b/small:medium");
        assert_eq!(session.run(":resume"), "b/small:medium");
        assert_eq!(session.leave(), "a/big:high");
        assert_eq!(session.leave(), "b/small:medium");
    }
}

#[test]
fn a_model_that_the_user_picks_holds_for_the_visit() {
    let mut session = with(&["model: strong", "model: strong", ""]);
    let _ = session.run("w x");
    session.pick_model("b/small");
    assert_eq!(session.uses(), "b/small:medium");
    assert_eq!(session.run(":pause"), "b/small:medium");
    assert_eq!(session.run(":resume"), "b/small:medium");
    assert_eq!(session.leave(), "a/big:high");
    assert_eq!(session.leave(), "b/small:medium");
}

#[test]
fn a_level_that_the_user_picks_holds_for_the_visit() {
    let mut session = with(&["model: strong:max", "model: ':max'", ""]);
    let _ = session.run("w x");
    session.pick_thinking(Thinking::Minimal);
    assert_eq!(session.uses(), "a/big:minimal");
    assert_eq!(session.run(":pause"), "a/user:minimal");
    assert_eq!(session.run(":resume"), "a/big:minimal");
    assert_eq!(session.leave(), "a/user:max");
    assert_eq!(session.leave(), "a/user:minimal");
}

#[test]
fn what_the_engine_sets_is_no_choice_of_the_user() {
    let mut session = with(&["model: strong", ""]);
    let _ = session.run("w x");
    for pick in [Pick::Thinking, Pick::Model] {
        assert_eq!(session.on(Event::Select { pick, own: true }), Output::default());
    }
    assert_eq!(session.leave(), "a/user:low");
}

#[test]
fn without_a_model_the_run_goes_on_with_the_users_and_says_so_once() {
    let phase = "model: [strange, b/paid, d/e]";
    let mut session = with(&[phase, "", "model: b/paid:max"]);
    let effects = session.command("workflow", "w x").effects;
    let told = [
        "Workflow: no model for the phase \"a\": your settings have no model `strange`, there is no key for `b/paid`, pi does not know `d/e`. It uses yours, a/user.",
    ];
    assert_eq!(session.obey(&effects), told);
    assert_eq!(session.uses(), "a/user:low");
    let _ = session.run(":next");
    let effects = session.command("workflow", ":back").effects;
    assert_eq!(session.obey(&effects), [""; 0]);
    let _ = session.run(":next");
    let effects = session.command("workflow", ":next").effects;
    assert_eq!(session.obey(&effects).len(), 1);
    assert_eq!(session.uses(), "a/user:low");
}

#[test]
fn a_host_that_does_not_tell_changes_nothing() {
    for models in [None, Some(vec![])] {
        let mut session = with(&["model: strong", ""]);
        session.files.models = models;
        assert_eq!((session.run("w x"), session.leave()), ("a/user:low".into(), "a/user:low".into()));
    }
    let mut session = with(&["model: strong:max", ""]);
    *session.files.setting.borrow_mut() = None;
    let effects = session.command("workflow", "w x").effects;
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::SetModel(_))));
}

#[test]
fn after_a_crash_the_users_is_known() {
    let mut session = with(&["model: strong", ""]);
    let effects = session.command("workflow", "w x").effects;
    // Before the model was set.
    let state = stored(&effects);
    assert_eq!(session.restart(state.clone()), "a/big:high");
    assert_eq!(session.leave(), "a/user:low");
    // After the model was set, which pi's session remembers too.
    session.select("a/big", Some(Thinking::High));
    assert_eq!(session.restart(state.clone()), "a/big:high");
    assert_eq!(session.leave(), "a/user:low");
    // The user starts pi with another model.
    session.select("b/small", OF_PI);
    assert_eq!(session.restart(state), "a/big:high");
    assert_eq!(session.leave(), "b/small:medium");
}

#[test]
fn a_crash_before_the_users_was_set_again_is_made_good() {
    for end in ["next", "cancel", "pause"] {
        let mut session = with(&["model: strong", ""]);
        let _ = session.run("w x");
        let effects = session.command("workflow", &format!(":{end}")).effects;
        assert_eq!(session.uses(), "a/big:high");
        assert_eq!(session.restart(stored(&effects)), "a/user:low", "{end}");
    }
}

#[test]
fn a_crash_between_the_users_model_and_its_level_is_made_good() {
    for end in ["next", "cancel", "pause"] {
        let mut session = with(&["model: strong", "model: fast:max", ""]);
        let _ = session.run("w x");
        assert_eq!(session.run(":next"), "b/small:max");
        let effects = session.command("workflow", &format!(":{end}")).effects;
        session.select("a/user", OF_PI);
        assert_eq!(session.restart(stored(&effects)), "a/user:low", "{end}");
    }
}

#[test]
fn a_choice_after_the_phase_outlives_a_restart() {
    for end in ["next", "cancel", "pause"] {
        let mut session = with(&["model: strong", ""]);
        let _ = session.run("w x");
        let _ = session.run(&format!(":{end}"));
        // The user chooses the model that the run had set.
        session.select("a/big", Some(Thinking::High));
        let select = || Event::Select { pick: Pick::Model, own: false };
        let effects = session.on(select()).effects;
        assert_eq!(session.on(select()).effects, [], "{end}: it is stored once");
        assert_eq!(session.restart(stored(&effects)), "a/big:high", "{end}");
    }
}

#[test]
fn a_pick_outlives_a_restart() {
    let mut session = with(&["model: strong", ""]);
    let _ = session.run("w x");
    session.select("b/small", OF_PI);
    let effects = session.on(Event::Select { pick: Pick::Model, own: false }).effects;
    assert_eq!(session.restart(stored(&effects)), "b/small:medium");
    assert_eq!(session.leave(), "b/small:medium");
}

#[test]
fn another_branch_has_its_own_model() {
    let mut session = with(&["model: strong", "model: fast", ""]);
    let effects = session.command("workflow", "w x").effects;
    let first = stored(&effects);
    let _ = session.obey(&effects);
    assert_eq!(session.leave(), "b/small:medium");
    let go = |session: &mut Session, state: Option<&String>| {
        let event = |stored| Event::Session { stored, in_view: None, facts: Facts::default() };
        let effects = session.on(event(restore(state))).effects;
        let _ = session.obey(&effects);
        session.uses()
    };
    assert_eq!(go(&mut session, first.as_ref()), "a/big:high");
    assert_eq!(go(&mut session, None), "a/user:low");
    assert_eq!(go(&mut session, first.as_ref()), "a/big:high");
}

#[test]
fn a_run_whose_rules_do_not_hold_uses_the_users() {
    let mut session = with(&["model: strong", ""]);
    let _ = session.run("w x");
    let file = session.files.global["w/a.md"].clone();
    session.files.global.insert("w/a.md".into(), file.replace("strong", "fast"));
    let effects = session.on(Event::Input { from_user: true }).effects;
    let _ = session.obey(&effects);
    assert_eq!(session.uses(), "a/big:high");
    // The files are read with the next command.
    assert_eq!(session.run(":check"), "a/user:low");
    let effects = session.resume("").effects;
    let _ = session.obey(&effects);
    assert_eq!(session.uses(), "b/small:medium");
    assert_eq!(session.leave(), "a/user:low");
}

#[test]
fn the_status_names_the_model_of_each_visit() {
    let mut session = with(&["model: strong", "", "model: fast"]);
    let _ = session.run("w x");
    session.pick_thinking(Thinking::Max);
    let _ = session.leave();
    let effects = session.command("workflow", ":status").effects;
    let content = effects.iter().find_map(|effect| match effect {
        Effect::AppendEntry { data, .. } => data["content"].as_str(),
        _ => None,
    });
    let lines: Vec<&str> = content.unwrap().lines().filter(|line| line.contains("s, ")).collect();
    assert_eq!(lines, ["✓ 1. * a  0s, a/big:max", "▸ 2. * b  0s, a/user:max"]);
}

/// Whatever happens, the user's model is set where no phase names another.
#[test]
fn the_users_model_is_never_lost() {
    let mut random = 88_172_645_463_325_252_u64;
    let mut any = |most: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % most as u64).unwrap()
    };
    for _ in 0..200 {
        let mut session = with(&["model: strong", "model: ':max'", "", "model: fast:high"]);
        let mut user = session.files.setting.borrow().clone().unwrap();
        let mut newest = None;
        let mut log = Vec::new();
        for _ in 0..25 {
            let action = any(11);
            let mut effects = match action {
                // The task id of another run would be the same: the clock of these tests stands still.
                0 if session.engine.run.running().is_some() => Vec::new(),
                0 => session.command("workflow", "w x").effects,
                1..=6 => {
                    let controls = [":next", ":back", ":pause", ":resume", ":skip", ":cancel"];
                    session.command("workflow", controls[action - 1]).effects
                }
                7 => {
                    let (provider, id, _) = MODELS[any(3)];
                    session.select(&format!("{provider}/{id}"), OF_PI);
                    user = session.files.setting.borrow().clone().unwrap();
                    let mut effects = Vec::new();
                    for pick in [Pick::Thinking, Pick::Model] {
                        effects.extend(session.on(Event::Select { pick, own: false }).effects);
                    }
                    effects
                }
                8 => {
                    let level = Some(Thinking::ALL[any(7)]);
                    user.thinking = level;
                    session.files.setting.borrow_mut().as_mut().unwrap().thinking = level;
                    session.on(Event::Select { pick: Pick::Thinking, own: false }).effects
                }
                _ => Vec::new(),
            };
            newest = stored(&effects).or(newest);
            log.push((action, session.uses()));
            if action >= 9 || any(10) == 0 {
                // pi ends, at times before it has set the model, and starts again.
                if any(2) == 0 {
                    let _ = session.obey(&std::mem::take(&mut effects));
                }
                let _ = session.restart(newest.clone());
                log.push((100, session.uses()));
            } else {
                let _ = session.obey(&effects);
            }
            let active = session.engine.run.active();
            let active = active.filter(|active| active.state.progress().paused.is_none());
            let visit = active.and_then(|active| active.state.progress().visits.get(&active.state.current_path.key()));
            let picked = visit.and_then(|visit| visit.picked);
            let of_user = |name| ModelSetting { model: model(name), ..user.clone() }.to_string();
            let expected = match (active.map(|active| &*active.phase.id), picked) {
                (Some("a"), None) => "a/big:high".to_owned(),
                (Some("a"), Some(Pick::Thinking)) => of_user("a/big"),
                (Some("b"), None) => ModelSetting { thinking: Some(Thinking::Max), ..user.clone() }.to_string(),
                (Some("d"), None) => "b/small:high".to_owned(),
                (Some("d"), Some(Pick::Thinking)) => of_user("b/small"),
                _ => user.to_string(),
            };
            assert_eq!(session.uses(), expected, "{log:?}");
        }
    }
}

#[test]
fn a_small_context_window_is_told_once_in_a_run() {
    let told = |session: &mut Session| {
        let effects = session.on(Event::BeforeAgentStart { role: DefaultRole::Worker }).effects;
        let notices = effects.into_iter().filter_map(|effect| match effect {
            Effect::Notify { level: Level::Warning, text } => Some(text),
            _ => None,
        });
        notices.filter(|text| text.contains("context window")).count()
    };
    let mut session = with(&["", "model: b/small"]);
    assert_eq!(session.run("w Do it"), "a/user:low");
    assert_eq!(told(&mut session), 0, "its window is not known");
    let mut session = with(&["model: b/small", ""]);
    assert_eq!(session.run("w Do it"), "b/small:medium");
    assert_eq!(told(&mut session), 1);
    let _ = session.on(Event::Compacted);
    assert_eq!(told(&mut session), 0, "told once");
}

#[test]
fn branches_begin_with_the_users_model_behind_a_phase_with_another_one() {
    let of_children = |effects: &[Effect]| -> Vec<String> {
        let setting = |effect: &Effect| match effect {
            Effect::StartChild(start) => Some(start.setting.as_ref()?.to_string()),
            _ => None,
        };
        effects.iter().filter_map(setting).collect()
    };
    for group in ["", ", model: fast"] {
        let mut session = with(&["model: strong", "write: []", "write: []"]);
        let yaml = format!("phases: [a.md, {{ id: both, parallel: true, phases: [b.md, c.md]{group} }}]");
        session.files.global.insert("w/workflow.yaml".into(), yaml);
        assert_eq!(session.run("w x"), "a/big:high");
        let input = r#"{"action":"next","summary":"Done."}"#;
        let effects = session.on(Event::Step { input, nested: false }).effects;
        assert_eq!(of_children(&effects), ["a/user:low", "a/user:low"], "{group:?}");
        let _ = session.obey(&effects);
        assert_eq!(session.uses(), "a/user:low", "{group:?}");
    }
}
