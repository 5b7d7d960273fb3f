//! Templates: the text before the first NUL is a template, the texts between the next ones are its values.

use pi_workflows::definition::{BudgetBounds, Entry, Library, OwnLimits, OwnModel, Phase, Results};
use pi_workflows::definition::{Show, ToolPolicy, Work, Workflow};
use pi_workflows::run::{Active, RunState};
use pi_workflows::text::{self, DefaultRole, resolve};

/// Values of the task, the summary and a tool's name. They contain no placeholders.
const MARKS: [&str; 3] = ["\u{e000}", "\u{e001}", "\u{e002}"];

/// # Panics
///
/// If a property is violated.
pub fn check(data: &[u8]) {
    let all = String::from_utf8_lossy(data);
    if MARKS.iter().any(|mark| all.contains(mark)) {
        return;
    }
    let mut parts = all.split('\0');
    let template = parts.next().unwrap_or_default();
    let mut value = || parts.next().map(str::trim).filter(|text| !text.is_empty()).unwrap_or("x");
    let values = [value(), value(), value()];

    assert_eq!(resolve(template, &[]), template, "nothing is known, and something changed");
    let variables = |values: [&'static str; 3]| {
        let [a, b, c] = values;
        [("a", a.into()), ("b", b.into()), ("c.d-e", c.into())]
    };
    let marked = resolve(template, &variables(MARKS));
    let own = [("a", values[0].into()), ("b", values[1].into()), ("c.d-e", values[2].into())];
    assert_eq!(resolve(template, &own), put_in(&marked, values), "a value was resolved again");

    let library = library(template);
    let told = texts(&library, values);
    for (marked, told) in texts(&library, MARKS).into_iter().zip(told) {
        assert_eq!(told, put_in(&marked, values), "a value was resolved again");
    }
}

fn put_in(marked: &str, values: [&str; 3]) -> String {
    let mut text = String::new();
    for c in marked.chars() {
        let mark = MARKS.iter().position(|mark| mark.starts_with(c));
        match mark.and_then(|index| values.get(index)) {
            Some(value) => text.push_str(value),
            None => text.push(c),
        }
    }
    text
}

/// Returns every text that is built from templates and from input of a user, a model or a session.
fn texts(library: &Library, [task, summary, tool]: [&str; 3]) -> Vec<String> {
    let Some(workflow) = library.get("w") else { return Vec::new() };
    let Some(first) = workflow.phases.first().and_then(Entry::as_phase) else { return Vec::new() };
    let mut state = RunState::new("w", task, 0, 0).begun(0).with_summary(first, summary);
    state.global_step_count = 1;
    if let Some(segment) = state.current_path.first_mut() {
        segment.phase_index = 1;
    }
    let Some(active) = Active::resolve(&state, library) else { return Vec::new() };
    vec![
        text::initial_message(workflow, library, &state),
        text::context_prompt(&active, DefaultRole::Worker),
        text::phase_instructions(&active),
        text::block_reason(&active, tool).unwrap_or_default(),
        text::completion_message(&state, workflow, library),
        text::command_cancelled_message(&state),
        text::not_done_reminder(&active),
        text::status(&active),
    ]
}

/// Returns a workflow in which every text is this template.
fn library(template: &str) -> Library {
    let phase = |id: &str| {
        let phase = Phase {
            id: id.into(),
            name: template.into(),
            emoji: "*".into(),
            instructions: template.into(),
            file: "w/a.md".into(),
            at: vec![],
            work: Work::Agent,
            tools: ToolPolicy::Only(vec![]),
            limits: OwnLimits::default(),
            budget: BudgetBounds::default(),
            profiles: None,
            summary_required: false,
            context: None,
            on_budget: None,
            interactive: false,
            outcomes: Vec::new(),
            outputs: Vec::new(),
            gate: None,
            model: OwnModel::default(),
            results: Results::All,
        };
        Entry::phase(phase)
    };
    let own = || Some(template.to_owned());
    let workflow = Workflow {
        key: "w".into(),
        name: template.into(),
        command_name: "w".into(),
        description: own(),
        when_to_use: own(),
        default_task: own(),
        initial_message: template.into(),
        show: Show::User,
        loopable: true,
        session_name_prefix: own(),
        session_name_max_length: None,
        role_instruction: own(),
        advance_reminder: own(),
        block_reason_template: own(),
        completion_message: own(),
        not_done_reminder: own(),
        limits: OwnLimits::default(),
        model: OwnModel::default(),
        budget: BudgetBounds::default(),
        auto_continue: true,
        inputs: Vec::new(),
        outputs: Vec::new(),
        given: Vec::new(),
        context: None,
        groups: Vec::new(),
        group: None,
        each: None,
        parallel: None,
        place: None,
        phases: vec![phase("first"), phase("second")],
        root: "global".into(),
        folder: "w".into(),
        dir: "/w".to_owned(),
        scripts: None,
    };
    Library::new(vec![workflow], &mut Vec::new())
}
