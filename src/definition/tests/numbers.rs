//! Numbers and booleans without quotes, where a text is meant.

use super::*;

const NUMBERS: [&str; 9] =
    ["3.10", "1234567890123456789", "+49301234", "1e3", "0x1F", "-0", "1.0", "007.50", "123456789.10"];

#[test]
fn a_text_is_as_the_file_has_it() {
    for number in NUMBERS {
        let flow = format!(
            "inputs:\n  a: {{ type: choice, options: [x, {number}], default: {number} }}\n  b: {{ type: text, default: {number} }}\n  \
             c: {{ type: list, default: [{number}, {number}] }}\n\
             phases:\n  - phase: a.md\n    when: {{ input.a: {number} }}\n  - subworkflow: n\n    with: {{ d: {number}, e: [{number}] }}\n"
        );
        let nested = "show: workflows\ninputs: { d: { type: text }, e: { type: list } }\nphases: [n.md]\n";
        let phase = PHASE.replacen("emoji", "tools: { blacklist: [3.10] }\nemoji", 1);
        let files = [("w/workflow.yaml", &*flow), ("w/a.md", &*phase), ("n/workflow.yaml", nested), ("n/n.md", "Do.")];
        let (library, diagnostics) = load(&files);
        let flow = library.get("w").unwrap_or_else(|| panic!("{diagnostics:?}"));
        let defaults: Vec<_> = flow.inputs.iter().map(|input| input.default.clone().unwrap()).collect();
        assert_eq!(defaults, [number.to_owned(), number.to_owned(), format!("{number}\n{number}")]);
        assert_eq!(flow.phases[0].when[0].values, [number]);
        let EntryKind::Workflow { with, .. } = &flow.phases[1].kind else { panic!() };
        assert_eq!(with.get("d"), Some(&Given::Value(number.into())));
        assert_eq!(with.get("e"), Some(&Given::List(vec![number.into()])));
        let EntryKind::Phase(phase) = &flow.phases[0].kind else { panic!() };
        assert_eq!(phase.tools, ToolPolicy::Except(vec!["3.10".into()]));
    }
}

/// A number means what it meant, in any form.
#[test]
fn a_number_or_flag_is_one() {
    for (kind, value, condition) in
        [("number", "1.0", "1"), ("number", "1e3", "1000"), ("flag", "True", "true"), ("flag", "true", "TRUE")]
    {
        let flow = format!(
            "inputs: {{ a: {{ type: {kind}, default: {value} }} }}\nphases:\n  - phase: a.md\n    when: {{ input.a: {condition} }}\n"
        );
        let (library, diagnostics) = load(&[("w/workflow.yaml", &flow), ("w/a.md", PHASE)]);
        let flow = library.get("w").unwrap_or_else(|| panic!("{value}: {diagnostics:?}"));
        let input = &flow.inputs[0];
        assert!(input.kind.is_one_of(input.default.as_deref().unwrap(), &flow.phases[0].when[0].values), "{value}");
    }
}

#[test]
fn a_text_that_cannot_be_a_number_needs_quotes() {
    for number in NUMBERS.into_iter().chain(["true", "False"]).filter(|number| *number != "007.50") {
        for (flow, phase) in [
            (format!("name: {number}\n"), String::new()),
            (format!("initialMessage: {number}\n"), String::new()),
            (String::new(), format!("write: [{number}]\n")),
            (String::new(), format!("gate: [{{ run: {number} }}]\n")),
            (String::new(), format!("gate: [{{ run: x, name: {number} }}]\n")),
            (format!("model: {number}\n"), String::new()),
        ] {
            let flow = format!("{flow}phases: [a.md, {{ id: b, prompt: Do it. }}]\n");
            let phase = PHASE.replacen("emoji", &format!("{phase}emoji"), 1);
            let mut files = Files::default();
            files.global.insert("w/workflow.yaml".into(), flow.clone());
            files.global.insert("w/a.md".into(), phase.clone());
            let (library, diagnostics) = Library::load(&files).unwrap();
            assert!(library.get("w").is_none(), "{flow}{phase}");
            let helps: Vec<_> = diagnostics.iter().filter_map(Diagnostic::help).collect();
            assert_eq!(helps, ["put the value in quotes"], "{flow}{phase}: {diagnostics:?}");
        }
    }
}

/// The text of a number is a number of JSON.
#[test]
fn a_number_is_stored_as_one() {
    for (written, stored) in [
        ("0x1F", "31"),
        ("0o17", "15"),
        ("-0x5", "-5"),
        ("1e3", "1000"),
        ("+5", "5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("'0x1F'", "31"),
        ("1e300", "1e300"),
        ("1.50", "1.50"),
        ("-7", "-7"),
        ("12345678901234567890", "12345678901234567890"),
    ] {
        let flow = format!(
            "inputs: {{ a: {{ type: number, default: {written} }} }}\nphases: [{{ phase: a.md, when: {{ input.a: {written} }} }}, {{ subworkflow: n, with: {{ a: {written} }} }}]\n"
        );
        let nested = "show: workflows\ninputs: { a: { type: number } }\nphases: [n.md]\n";
        let files = [("w/workflow.yaml", &*flow), ("w/a.md", PHASE), ("n/workflow.yaml", nested), ("n/n.md", "Do.")];
        let (library, diagnostics) = load(&files);
        let input = &library.get("w").unwrap_or_else(|| panic!("{written}: {diagnostics:?}")).inputs[0];
        assert_eq!(input.default.as_deref(), Some(stored), "{written}");
        assert_eq!(input.kind.value(stored).as_deref(), Some(stored));
        serde_json::from_str::<f64>(stored).unwrap();
    }
    let number = ValueType::Number(Bounds::default());
    for text in ["0x", "0xg", "0x1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "inf", "1e999", "0x-1", "0x+1", "1_000", ""] {
        assert_eq!(number.value(text), None, "{text}");
    }
}
